\echo Use "CREATE EXTENSION pg_snowid" to load this file. \quit

-- The script runs with the rights of a superuser, and the schema that it is installed into may be another's:
-- no name is looked up there. Public functions are written with their schema. Update scripts begin with this too.
SET LOCAL search_path = pg_catalog, pg_temp;

-- With those rights it could create where its owner can't, and change what others' calls mean.
DO $target$
DECLARE
    owner oid;
    target oid;
    name text;
BEGIN
    SELECT e.extowner, n.oid, n.nspname INTO STRICT owner, target, name
      FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_snowid';
    IF starts_with(name, 'pg_') OR name = 'information_schema' THEN
        RAISE EXCEPTION USING ERRCODE = 'reserved_name',
            MESSAGE = format('pg_snowid cannot be created in schema "%s"', name),
            DETAIL = 'It is one of PostgreSQL''s own.',
            HINT = 'Name another: CREATE EXTENSION pg_snowid SCHEMA ...';
    ELSIF NOT has_schema_privilege(owner, target, 'CREATE') THEN
        RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
            MESSAGE = format('permission denied for schema %s', name),
            DETAIL = format('The functions of pg_snowid would be created there, and role "%s" lacks CREATE on it.',
                pg_get_userbyid(owner)),
            HINT = 'Name a schema of your own: CREATE EXTENSION pg_snowid SCHEMA ...';
    END IF;
END
$target$;
