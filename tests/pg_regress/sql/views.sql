-- The views: snowid.generators and snowid.status.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- A row a shard or worker in use
SELECT next_id(900) AS id, snowflake_id(10, 3) AS snowflake \gset
SELECT kind, shard_id, datacenter_id, worker_id, last_id = :id AS is_last, last_at = id_timestamp(:id) AS of_last,
       waits >= 0 AS waits, clock_regressions >= 0 AS clock_regressions
  FROM snowid.generators WHERE shard_id = 900;
SELECT kind, shard_id, datacenter_id, worker_id, last_id = :snowflake AS is_last, last_at = snowflake_timestamp(:snowflake) AS of_last,
       waits >= 0 AS waits, clock_regressions >= 0 AS clock_regressions
  FROM snowid.generators WHERE (datacenter_id, worker_id) = (10, 3);
-- None for one that isn't
SELECT shard AS unused FROM generate_series(2000, 6999) AS shard
 WHERE NOT EXISTS (SELECT FROM snowid.generators WHERE shard_id = shard) LIMIT 1 \gset
SELECT next_id(:unused) > 0 AS drawn;
SELECT count(*) FROM snowid.generators WHERE shard_id = :unused;
SELECT kind, count(*) = count(DISTINCT (shard_id, datacenter_id, worker_id)) AS each_once, min(last_id) >= 0 AS not_negative,
       min(shard_id) >= 0 AND max(shard_id) <= 8191 AS shards, max(datacenter_id) <= 31 AND max(worker_id) <= 31 AS workers
  FROM snowid.generators GROUP BY kind ORDER BY kind;
-- Reading draws nothing.
SELECT last_id = :id AS is_last FROM snowid.generators WHERE shard_id = 900;
-- The last id is counted from the default epoch, whatever epoch it was made with.
SELECT next_id(900, '2025-01-01 00:00:00+00') AS id \gset
SELECT last_at = id_timestamp(:id, '2025-01-01 00:00:00+00') AS of_last,
       last_id = make_id(id_timestamp(:id, '2025-01-01 00:00:00+00'), 900, id_sequence(:id)) AS is_last
  FROM snowid.generators WHERE shard_id = 900;
-- Waits are counted.
SELECT waits AS before FROM snowid.generators WHERE shard_id = 900 \gset
SELECT count(next_id(900)) FROM generate_series(1, 50000);
SELECT waits > :before AS waited FROM snowid.generators WHERE shard_id = 900;

-- One row
SELECT count(*) FROM snowid.status;
SELECT version ~ '^\d+\.\d+\.\d+$' AS version, last_at > now() - interval '1 minute' AS last_at,
       last_ahead >= interval '0' AND last_ahead <= max_clock_regression AS last_ahead,
       next_id_exhausts_at, snowflake_id_exhausts_at, shared_memory IN ('preloaded', 'dsm registry') AS shared_memory,
       (datacenter_id IS NULL OR datacenter_id BETWEEN 0 AND 31) AS datacenter_id, (worker_id IS NULL OR worker_id BETWEEN 0 AND 31) AS worker_id,
       max_clock_regression >= interval '0' AS max_clock_regression, sequence_spread BETWEEN 0 AND 1023 AS sequence_spread
  FROM snowid.status;
SELECT last_at = (SELECT max(last_at) FROM snowid.generators) AS greatest FROM snowid.status;
-- The instants it names are the first that have no id.
SELECT id_floor(next_id_exhausts_at - interval '1 ms') > 0 AS last FROM snowid.status;
SELECT id_floor(next_id_exhausts_at) FROM snowid.status;
\echo :SQLSTATE
SELECT snowflake_floor(snowflake_id_exhausts_at - interval '1 ms') > 0 AS last FROM snowid.status;
SELECT snowflake_floor(snowflake_id_exhausts_at) FROM snowid.status;
\echo :SQLSTATE
