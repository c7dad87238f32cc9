-- Reading ids. IMMUTABLE: the result depends on the arguments alone. All 64 bits are read as
-- unsigned. LEAKPROOF where no argument raises an error: else row-level security and security_barrier
-- views would keep conditions on them from the indexes. An epoch can be one that isn't finite, so those
-- that take one are functions of their own, and the epoch is no argument with a default as elsewhere.

CREATE FUNCTION @extschema@.id_timestamp(id bigint) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION @extschema@.id_timestamp(bigint) IS 'when the ID was made, to the millisecond';

CREATE FUNCTION @extschema@.id_timestamp(id bigint, epoch timestamptz) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION @extschema@.id_timestamp(bigint, timestamptz) IS
    'when the ID, counted from the epoch given, was made, to the millisecond';

CREATE FUNCTION @extschema@.id_shard(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_shard';
COMMENT ON FUNCTION @extschema@.id_shard(bigint) IS 'the ID''s logical shard, 0 to 8191';

CREATE FUNCTION @extschema@.id_sequence(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_sequence';
COMMENT ON FUNCTION @extschema@.id_sequence(bigint) IS
    'the ID''s number within its millisecond and shard, 0 to 1023';

CREATE FUNCTION @extschema@.decode_id(id bigint, OUT created_at timestamptz, OUT shard_id integer, OUT sequence integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_decode_id';
COMMENT ON FUNCTION @extschema@.decode_id(bigint) IS 'the ID''s time, shard and sequence';

CREATE FUNCTION @extschema@.decode_id(id bigint, epoch timestamptz, OUT created_at timestamptz, OUT shard_id integer, OUT sequence integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_decode_id';
COMMENT ON FUNCTION @extschema@.decode_id(bigint, timestamptz) IS
    'the time, shard and sequence of an ID counted from the epoch given';

CREATE FUNCTION @extschema@.snowflake_timestamp(id bigint) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_snowflake_timestamp';
COMMENT ON FUNCTION @extschema@.snowflake_timestamp(bigint) IS
    'when the ID in Twitter''s layout was made, to the millisecond';

CREATE FUNCTION @extschema@.snowflake_timestamp(id bigint, epoch timestamptz) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_timestamp';
COMMENT ON FUNCTION @extschema@.snowflake_timestamp(bigint, timestamptz) IS
    'when the ID in Twitter''s layout, counted from the epoch given, was made, to the millisecond';

CREATE FUNCTION @extschema@.snowflake_datacenter(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_snowflake_datacenter';
COMMENT ON FUNCTION @extschema@.snowflake_datacenter(bigint) IS
    'the datacenter of an ID in Twitter''s layout, 0 to 31';

CREATE FUNCTION @extschema@.snowflake_worker(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_snowflake_worker';
COMMENT ON FUNCTION @extschema@.snowflake_worker(bigint) IS 'the worker of an ID in Twitter''s layout, 0 to 31';

CREATE FUNCTION @extschema@.snowflake_sequence(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_snowflake_sequence';
COMMENT ON FUNCTION @extschema@.snowflake_sequence(bigint) IS
    'the number within its millisecond and worker of an ID in Twitter''s layout, 0 to 4095';

CREATE FUNCTION @extschema@.decode_snowflake(id bigint, OUT created_at timestamptz, OUT datacenter_id integer, OUT worker_id integer, OUT sequence integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_decode_snowflake';
COMMENT ON FUNCTION @extschema@.decode_snowflake(bigint) IS
    'the time, datacenter, worker and sequence of an ID in Twitter''s layout';

CREATE FUNCTION @extschema@.decode_snowflake(id bigint, epoch timestamptz, OUT created_at timestamptz, OUT datacenter_id integer, OUT worker_id integer, OUT sequence integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_decode_snowflake';
COMMENT ON FUNCTION @extschema@.decode_snowflake(bigint, timestamptz) IS
    'the time, datacenter, worker and sequence of an ID in Twitter''s layout, counted from the epoch given';
