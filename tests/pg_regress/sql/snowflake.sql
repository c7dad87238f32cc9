-- Generating ids in Twitter's layout, for a worker that is named. What the settings do is in alter_system.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT snowflake_id(5, 0) AS first, snowflake_id(5, 0) AS second \gset
SELECT :first < :second AS increase, :first > 0 AS positive;
SELECT clock_timestamp() AS before, snowflake_id(5, 1) AS id, snowflake_id(5, 1, '2025-01-01 00:00:00+00') AS id_2025,
       clock_timestamp() AS after \gset
SELECT created_at BETWEEN date_trunc('milliseconds', :'before'::timestamptz) AND :'after' AS is_now,
       datacenter_id, worker_id, sequence BETWEEN 0 AND 4095 AS sequence_in_range
  FROM decode_snowflake(:id);
SELECT created_at BETWEEN date_trunc('milliseconds', :'before'::timestamptz) AND :'after' AS is_now,
       datacenter_id, worker_id, sequence BETWEEN 0 AND 4095 AS sequence_in_range
  FROM decode_snowflake(:id_2025, '2025-01-01 00:00:00+00');

-- Every worker of every datacenter
SELECT count(*), count(DISTINCT id),
       bool_and((snowflake_datacenter(id), snowflake_worker(id)) = (datacenter, worker)) AS is_right
  FROM (SELECT datacenter, worker, snowflake_id(datacenter, worker) AS id
          FROM generate_series(0, 31) AS datacenter, generate_series(0, 31) AS worker) AS ids;

-- Workers and shards don't disturb each other, though some have the same number.
SELECT id_timestamp(next_id(165)) - snowflake_timestamp(snowflake_id(5, 5)) BETWEEN interval '-1 second' AND '1 second' AS both_now;

-- 200,000 ids in one statement
WITH ids AS MATERIALIZED (SELECT n, snowflake_id(5, 2) AS id FROM generate_series(1, 200000) AS n)
SELECT count(*), count(DISTINCT id), bool_and(increases) AS strictly_increasing, max(in_ms) <= 4096 AS at_most_4096_per_ms
  FROM (SELECT id, id > lag(id) OVER (ORDER BY n) AS increases, count(*) OVER (PARTITION BY id >> 22) AS in_ms FROM ids) AS steps;

-- As a default
CREATE TABLE snowflake_row (id bigint PRIMARY KEY DEFAULT snowflake_id(5, 3), n integer);
INSERT INTO snowflake_row (n) SELECT n FROM generate_series(1, 10000) AS n;
SELECT count(*), bool_and(snowflake_worker(id) = 3), bool_and(snowflake_datacenter(id) = 5) FROM snowflake_row;
DROP TABLE snowflake_row;

-- Refused
SELECT snowflake_id(-1, 0);
\echo :SQLSTATE
SELECT snowflake_id(32, 0);
\echo :SQLSTATE
SELECT snowflake_id(0, -1);
\echo :SQLSTATE
SELECT snowflake_id(0, 32);
\echo :SQLSTATE
SELECT snowflake_id(5, 4, 'infinity');
\echo :SQLSTATE
SELECT snowflake_id(5, 4, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
\set VERBOSITY terse
SELECT snowflake_id(5, 4, '2999-01-01 00:00:00+00');
\set VERBOSITY default
\echo :SQLSTATE
SELECT snowflake_id(5, 4, '1950-01-01 00:00:00+00');
\echo :SQLSTATE

-- NULL
SELECT snowflake_id(NULL, 0) IS NULL, snowflake_id(0, NULL) IS NULL, snowflake_id(NULL, 0, '2025-01-01+00') IS NULL,
       snowflake_id(0, NULL, '2025-01-01+00') IS NULL, snowflake_id(0, 0, NULL) IS NULL, snowflake_id(NULL) IS NULL;
SELECT count(*) FROM snowflake_ids(NULL);
SELECT count(*) FROM snowflake_ids(1, NULL);
