-- Public functions a second time, for the functions of this schema to call: here nobody else can add an overload, and
-- no text of a body needs the name of the public schema, which can be renamed.

CREATE FUNCTION snowid.make_id(created_at timestamptz, shard_id integer, sequence integer, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_make_id';
COMMENT ON FUNCTION snowid.make_id(timestamptz, integer, integer, timestamptz) IS
    'make_id, for the functions of this schema';

CREATE FUNCTION snowid.id_floor(created_at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_floor';
COMMENT ON FUNCTION snowid.id_floor(timestamptz, timestamptz) IS
    'id_floor, for the functions of this schema';

CREATE FUNCTION snowid.id_timestamp(id bigint) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION snowid.id_timestamp(bigint) IS
    'id_timestamp, for the functions of this schema';

CREATE FUNCTION snowid.id_timestamp(id bigint, epoch timestamptz) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION snowid.id_timestamp(bigint, timestamptz) IS
    'id_timestamp, for the functions of this schema';

CREATE FUNCTION snowid.id_shard(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_shard';
COMMENT ON FUNCTION snowid.id_shard(bigint) IS
    'id_shard, for the functions of this schema';

CREATE FUNCTION snowid.decode_as(layout snowid.layouts, id bigint, OUT created_at timestamptz, OUT fields jsonb)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_decode_as';
COMMENT ON FUNCTION snowid.decode_as(snowid.layouts, bigint) IS
    'decode_as, for the functions of this schema';

CREATE FUNCTION snowid.floor_as(layout snowid.layouts, created_at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_floor_as';
COMMENT ON FUNCTION snowid.floor_as(snowid.layouts, timestamptz) IS
    'floor_as, for the functions of this schema';
