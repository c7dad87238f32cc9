-- Two schemas beside that of the public functions. Nobody else can create in them: what stands there is called by its
-- name, by all that is below.

CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'administration of pg_snowid';
GRANT USAGE ON SCHEMA snowid TO PUBLIC;

-- Plans, views and bodies of functions call it with the rights of their user. What is there and open to PUBLIC computes
-- from its arguments, or does what its caller could do in SQL; all else is closed where it is made.
CREATE SCHEMA snowid_internal;
COMMENT ON SCHEMA snowid_internal IS 'what pg_snowid calls itself: not for use, and may change with every version';
GRANT USAGE ON SCHEMA snowid_internal TO PUBLIC;

-- Who created the extension administers it, and grants that on; for this script alone, end.sql drops it. The role is
-- looked up: its name may have any character.
CREATE FUNCTION snowid_internal.for_owner(privileges text, object text) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $owner$
BEGIN
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', object);
    EXECUTE format('GRANT %s ON %s TO %I WITH GRANT OPTION', privileges, object,
        (SELECT pg_get_userbyid(e.extowner) FROM pg_extension e WHERE e.extname = 'pg_snowid'));
END
$owner$;
