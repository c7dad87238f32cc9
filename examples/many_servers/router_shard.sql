-- On the router: from now on this server has the shard.
--   psql "$router" -v shard=1 -v server=b -f router_shard.sql
\set ON_ERROR_STOP on
\set schema shard_:shard
\set partition photos_:shard
\if :{?patience} \else \set patience 10s \endif

-- It waits for the queries that read photos, and new ones wait for it: not for long.
BEGIN;
SET LOCAL lock_timeout = :'patience';
SET LOCAL client_min_messages = warning;
DROP FOREIGN TABLE IF EXISTS :partition;
CREATE FOREIGN TABLE :partition PARTITION OF photos FOR VALUES IN (:shard)
    SERVER :server OPTIONS (schema_name :'schema', table_name 'photos');
COMMIT;
