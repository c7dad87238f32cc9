-- On the router, a database of its own anywhere, once:  psql "$router" -f router.sql
\set ON_ERROR_STOP on

CREATE EXTENSION pg_snowid;
CREATE EXTENSION postgres_fdw;

-- The partitions are the shards' tables; router_shard.sql makes them. The id has no default here: next_id()
-- would be evaluated on the router, which would be a second server that makes ids of the shard.
CREATE TABLE photos (
    id      bigint NOT NULL CHECK (id >= 0),
    caption text NOT NULL
) PARTITION BY LIST (id_shard(id));

CREATE VIEW shard_servers AS
SELECT s.oid, s.srvname AS server,
       (SELECT string_agg(option_name || '=' || option_value, ' ') FROM pg_options_to_table(s.srvoptions)
         WHERE option_name NOT IN ('extensions', 'async_capable', 'updatable')) AS conninfo
  FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
 WHERE w.fdwname = 'postgres_fdw';

-- Which server has which shard. It is read from the partitions, so it cannot differ from them.
CREATE VIEW shard_map AS
SELECT substring(pg_get_expr(c.relpartbound, 0) FROM '\d+')::integer AS shard_id, s.server, s.conninfo
  FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_foreign_table t ON t.ftrelid = c.oid
  JOIN shard_servers s ON s.oid = t.ftserver
 WHERE i.inhparent = 'photos'::regclass;
