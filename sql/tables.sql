-- The rule for every table of the extension, which tests/pg_regress/sql/catalogue.sql holds it to:
-- - a primary key: else UPDATE and DELETE fail where a publication FOR ALL TABLES has it;
-- - a BEFORE trigger that checks what is written, and no row security, with which an owner's pg_dump fails;
-- - marked for dumps, since what it holds is the user's: what comes with the extension is in code;
-- - rows that come by replication are not taken, and empty nothing: each database has its own. By the trigger
--   function below, in three triggers, enabled for replicas, the one for rows before any other.
-- A sequence can have no trigger: what FOR ALL SEQUENCES of PostgreSQL 19 writes into snowid.high_water is a value
-- like any that is set from outside, and the generator's to judge.

-- Not by session_replication_role, under which dumps are restored too. As the superuser who owns the function and may
-- ask for the origin: nobody is granted it for triggers of his own.
CREATE FUNCTION snowid_internal.keep_local_rows() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $keep$
DECLARE
    here CONSTANT regclass := TG_RELID;
    -- Until the end of the transaction
    stash CONSTANT text := format('snowid.rows_of_%s', TG_RELID);
    rows text;
BEGIN
    IF NOT pg_replication_origin_session_is_setup() OR pg_trigger_depth() > 1 THEN
        RETURN coalesce(NEW, OLD); -- not what was sent: this database's own, or what is put back
    ELSIF TG_OP = 'TRUNCATE' AND TG_WHEN = 'BEFORE' THEN
        EXECUTE format('SELECT json_agg(r) FROM %s r', here) INTO rows;
        PERFORM set_config(stash, coalesce(rows, '[]'), true);
    ELSIF TG_OP = 'TRUNCATE' THEN
        EXECUTE format('INSERT INTO %s SELECT * FROM json_populate_recordset(NULL::%1$s, $1)', here)
          USING current_setting(stash)::json;
    END IF;
    RETURN NULL;
END
$keep$;
COMMENT ON FUNCTION snowid_internal.keep_local_rows() IS
    'trigger that skips what replication does to a table''s rows, and puts them back where it has truncated the table';
REVOKE ALL ON FUNCTION snowid_internal.keep_local_rows() FROM PUBLIC;
