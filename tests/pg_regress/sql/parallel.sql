-- Generating in parallel workers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE TABLE parallel_rows AS SELECT n FROM generate_series(1, 200000) AS n;
ANALYZE parallel_rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

-- Runs a statement and tells how many workers it had.
CREATE FUNCTION pg_temp.workers(statement text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || statement INTO plan;
    RETURN jsonb_path_query_first(plan, 'strict $.**."Workers Launched"');
END
$$;

-- The ids are drawn in the workers, below Gather.
EXPLAIN (VERBOSE, COSTS OFF) SELECT next_id(400), snowflake_id(4, 0) FROM parallel_rows;

SELECT pg_temp.workers('CREATE TABLE parallel_ids AS
    SELECT next_id(400) AS id, snowflake_id(4, 0) AS snowflake FROM parallel_rows') > 0 AS in_parallel;
SELECT count(*), count(DISTINCT id), count(DISTINCT snowflake), bool_and(id_shard(id) = 400) FROM parallel_ids;
SELECT max(count) <= 1024 AS at_most_1024_per_ms FROM (SELECT count(*) FROM parallel_ids GROUP BY id >> 23) AS ms;
DROP TABLE parallel_ids;

-- Workers alone, and blocks
SET parallel_leader_participation = off;
SELECT pg_temp.workers('CREATE TABLE parallel_ids AS
    SELECT next_id(400) AS id, next_ids(401, 2) AS block FROM parallel_rows WHERE n <= 50000') > 0 AS in_parallel;
SELECT count(*), count(DISTINCT id), count(DISTINCT block) FROM parallel_ids;
RESET parallel_leader_participation;

-- Decoding too
SELECT pg_temp.workers('SELECT count(DISTINCT id_timestamp(id)) FROM parallel_ids WHERE id_shard(id) = 400') > 0 AS in_parallel;

DROP TABLE parallel_ids, parallel_rows;
