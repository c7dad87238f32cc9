-- On the router: what its queries send to the servers.  psql "$router" -f queries.sql
\set ON_ERROR_STOP on
SELECT max(id) AS id FROM photos WHERE id_shard(id) = 2 \gset

SELECT server, conninfo FROM shard_map WHERE shard_id = id_shard(:id);

EXPLAIN (VERBOSE, COSTS OFF)
SELECT * FROM photos WHERE id = :id AND id_shard(id) = id_shard(:id);

EXPLAIN (VERBOSE, COSTS OFF)
SELECT * FROM photos WHERE id_timestamp(id) >= '2026-01-01+00' AND id_timestamp(id) < '2026-01-02+00';

EXPLAIN (VERBOSE, COSTS OFF)
SELECT * FROM photos WHERE id >= (SELECT id_floor(now() - interval '1 hour'));

SET enable_partitionwise_aggregate = on;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT id_shard(id), count(*) FROM photos GROUP BY id_shard(id);
