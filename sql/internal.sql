-- What the functions of the extension call. First, public functions a second time: here nobody else can add an
-- overload, and no text of a body needs the name of the public schema, which can be renamed.

CREATE FUNCTION snowid_internal.make_id(created_at timestamptz, shard_id bigint, sequence bigint, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_make_id';
COMMENT ON FUNCTION snowid_internal.make_id(timestamptz, bigint, bigint, timestamptz) IS
    'make_id, for the extension''s own functions';

CREATE FUNCTION snowid_internal.id_floor(created_at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_floor';
COMMENT ON FUNCTION snowid_internal.id_floor(timestamptz, timestamptz) IS
    'id_floor, for the extension''s own functions';

CREATE FUNCTION snowid_internal.id_timestamp(id bigint) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION snowid_internal.id_timestamp(bigint) IS
    'id_timestamp, for the extension''s own functions';

CREATE FUNCTION snowid_internal.id_timestamp(id bigint, epoch timestamptz) RETURNS timestamptz
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_timestamp';
COMMENT ON FUNCTION snowid_internal.id_timestamp(bigint, timestamptz) IS
    'id_timestamp, for the extension''s own functions';

CREATE FUNCTION snowid_internal.id_shard(id bigint) RETURNS integer
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_shard';
COMMENT ON FUNCTION snowid_internal.id_shard(bigint) IS
    'id_shard, for the extension''s own functions';

CREATE FUNCTION snowid_internal.decode_as(layout snowid.layouts, id bigint, OUT created_at timestamptz, OUT fields jsonb)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_decode_as';
COMMENT ON FUNCTION snowid_internal.decode_as(snowid.layouts, bigint) IS
    'decode_as, for the extension''s own functions';

CREATE FUNCTION snowid_internal.floor_as(layout snowid.layouts, created_at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_floor_as';
COMMENT ON FUNCTION snowid_internal.floor_as(snowid.layouts, timestamptz) IS
    'floor_as, for the extension''s own functions';

CREATE FUNCTION snowid_internal.check_epoch(epoch timestamptz) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_check_epoch';
COMMENT ON FUNCTION snowid_internal.check_epoch(timestamptz) IS
    'the epoch, or an error if it is infinite, no whole millisecond, or in the future';

-- Looked up, since the schema can be renamed.
CREATE FUNCTION snowid_internal.home() RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN (SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_snowid');
COMMENT ON FUNCTION snowid_internal.home() IS 'the schema of the public functions, quoted';

-- The owner of that schema can rename it and make another of its name, also after home() was asked: so what was
-- made by its name is looked at. Only superusers make functions with a library.
CREATE FUNCTION snowid_internal.check_calls(catalog regclass, object oid) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $check$
DECLARE
    own CONSTANT text := (SELECT p.probin FROM pg_proc p WHERE p.oid = 'snowid_internal.id_shard(bigint)'::regprocedure);
BEGIN
    IF (SELECT bool_and(p.probin IS NOT DISTINCT FROM own) FROM pg_depend d JOIN pg_proc p ON p.oid = d.refobjid
         WHERE d.classid = catalog AND d.objid = object AND d.refclassid = 'pg_proc'::regclass) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the schema of pg_snowid''s functions was renamed meanwhile',
            DETAIL = 'Another has its name, and what would be called there is not of pg_snowid.',
            HINT = 'See whose schema that is, then call again.';
    END IF;
END
$check$;
COMMENT ON FUNCTION snowid_internal.check_calls(regclass, oid) IS
    'an error if a default or a function that was just made calls anything but a function of pg_snowid';
