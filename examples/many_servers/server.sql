-- On each server that holds shards, once:  psql "$a" -f server.sql
\set ON_ERROR_STOP on

CREATE EXTENSION pg_snowid;

-- What writers meet where a shard is not, or is about to leave. The SQLSTATE is that of a standby: drivers
-- and pools take it for "look for the right server".
CREATE FUNCTION shard_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'read_only_sql_transaction',
        MESSAGE = format('schema "%s" is closed to writes on this server', tg_table_schema),
        HINT = 'Look up the shard''s server in shard_map, and try again there.';
END $$;
