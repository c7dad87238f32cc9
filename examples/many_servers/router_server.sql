-- On the router, for each server:  psql "$router" -v server=a -v conninfo="$a" -f router_server.sql
-- The words of conninfo (host=db1 port=5432 dbname=app) become the options of the foreign server.
\set ON_ERROR_STOP on

-- extensions: conditions with id_shard(), id_floor() and the like are evaluated where the rows are.
-- async_capable: a query of all shards asks the servers at the same time.
-- updatable: the router only reads. Writers go to the shard's own server, which makes the id.
SELECT string_agg(format('%s %L', word[1], word[2]), ', ') AS options
  FROM regexp_matches(:'conninfo', '(\w+)=(\S+)', 'g') AS word \gset
CREATE SERVER :server FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (:options, extensions 'pg_snowid', async_capable 'true', updatable 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER :server OPTIONS (user :'USER');
