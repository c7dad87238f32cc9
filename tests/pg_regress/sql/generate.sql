-- Generating: what ids are made of, and what is refused.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

\getenv here PG_ABS_SRCDIR
\set include :here '/include/error_of.sql'
\set ECHO none
\i :include
\set ECHO all

-- Ids increase, carry the shard asked for and the time of now.
SELECT next_id(100) AS first, next_id(100) AS second, next_id(100) AS third \gset
SELECT :first < :second AND :second < :third AS increase, :first > 0 AS positive;
SELECT id_shard(next_id(0)), id_shard(next_id(1)), id_shard(next_id(8191));
SELECT id_shard(next_id(0, '2025-01-01 00:00:00+00')), id_shard(next_id(8191, '2025-01-01 00:00:00+00'));
SELECT clock_timestamp() AS before, next_id(101) AS id, next_id(101, '2025-01-01 00:00:00+00') AS id_2025,
       clock_timestamp() AS after \gset
SELECT created_at BETWEEN date_trunc('milliseconds', :'before'::timestamptz) AND :'after' AS is_now,
       shard_id, sequence BETWEEN 0 AND 1023 AS sequence_in_range
  FROM decode_id(:id);
SELECT created_at BETWEEN date_trunc('milliseconds', :'before'::timestamptz) AND :'after' AS is_now,
       shard_id, sequence BETWEEN 0 AND 1023 AS sequence_in_range
  FROM decode_id(:id_2025, '2025-01-01 00:00:00+00');

-- One shard is one sequence, whatever the epoch: what one call issued no other does.
WITH ids AS MATERIALIZED (
    SELECT next_id(102) AS id, next_id(102, '2025-01-01 00:00:00+00') AS id_2025 FROM generate_series(1, 2000)
)
SELECT count(*), count(DISTINCT (created_at, sequence))
  FROM (SELECT created_at, sequence FROM ids, decode_id(id)
        UNION ALL
        SELECT created_at, sequence FROM ids, decode_id(id_2025, '2025-01-01 00:00:00+00')) AS decoded;
SELECT next_id(103, '2025-01-01 00:00:00+00') AS id_2025, next_id(103) AS id, next_id(103, '2020-01-01 00:00:00+00') AS id_2020 \gset
SELECT (id_timestamp(:id_2025, '2025-01-01 00:00:00+00'), id_sequence(:id_2025)) < (id_timestamp(:id), id_sequence(:id)) AS increase,
       (id_timestamp(:id), id_sequence(:id)) < (id_timestamp(:id_2020, '2020-01-01 00:00:00+00'), id_sequence(:id_2020)) AS increase;

-- An epoch may be as late as now, and as early as leaves positive ids.
SELECT date_trunc('milliseconds', clock_timestamp()) AS epoch, clock_timestamp() AS before \gset
SELECT next_id(104, :'epoch') BETWEEN 0 AND 60000 * 8388608::bigint AS fits, snowflake_id(1, 4, :'epoch') BETWEEN 0 AND 60000 * 4194304::bigint AS fits;
SELECT next_id(104, date_trunc('milliseconds', clock_timestamp() - interval '34.8 years')) > 9214364837600034816 AS just_positive;

-- Not a shard
SELECT next_id(-1);
\echo :SQLSTATE
SELECT next_id(8192);
\echo :SQLSTATE
SELECT next_id(2147483647), next_id(-2147483648);
\echo :SQLSTATE
SELECT next_id(8192, '2025-01-01 00:00:00+00');
\echo :SQLSTATE

-- Not an epoch
SELECT next_id(104, 'infinity');
\echo :SQLSTATE
SELECT next_id(104, '-infinity');
\echo :SQLSTATE
SELECT next_id(104, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT * FROM pg_temp.error_of($$ SELECT next_id(104, '2999-01-01 00:00:00+00') $$) \gx
SELECT * FROM pg_temp.error_of($$ SELECT next_id(104, '294276-12-31 23:59:59+00') $$) \gx
SELECT * FROM pg_temp.error_of($$ SELECT next_ids(104, 1, '2999-01-01 00:00:00+00') $$) \gx

-- An epoch whose positive ids are used up
SELECT next_id(104, '1990-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT next_ids(104, 1, '1990-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT next_id(104, '4714-11-24 00:00:00+00 BC');
\echo :SQLSTATE
SET timezone = 'Asia/Kolkata';
SELECT next_id(104, '1990-01-01 00:00:00+00');
\echo :SQLSTATE
SET timezone = 'UTC';

-- NULL: no id is drawn.
SELECT next_id(105) AS first \gset
SELECT next_id(NULL) IS NULL, next_id(NULL, '2025-01-01 00:00:00+00') IS NULL, next_id(105, NULL) IS NULL;

-- Nothing is folded into a constant or evaluated once: a call an id.
PREPARE draw AS SELECT next_id(106);
SET plan_cache_mode = force_generic_plan;
EXECUTE draw \gset one_
EXECUTE draw \gset two_
SELECT :one_next_id < :two_next_id AS increase;
DEALLOCATE draw;
RESET plan_cache_mode;
SELECT count(DISTINCT id) FROM (SELECT next_id(106) AS id FROM generate_series(1, 100)) AS ids;
SELECT count(DISTINCT id) FROM (SELECT next_id(shard) AS id FROM generate_series(1000, 1999) AS shard) AS ids;
DO $$
DECLARE
    last bigint := 0;
    id bigint;
BEGIN
    FOR i IN 1 .. 10000 LOOP
        id := next_id(106);
        ASSERT id > last;
        last := id;
    END LOOP;
END
$$;

-- A million ids in one statement
WITH ids AS MATERIALIZED (SELECT n, next_id(107) AS id FROM generate_series(1, 1000000) AS n)
SELECT count(*), count(DISTINCT id), bool_and(increases) AS strictly_increasing, max(in_ms) <= 1024 AS at_most_1024_per_ms
  FROM (SELECT id, id > lag(id) OVER (ORDER BY n) AS increases, count(*) OVER (PARTITION BY id >> 23) AS in_ms FROM ids) AS steps;

-- Where it waits for a millisecond it answers a timeout at once.
SET statement_timeout = '100ms';
SELECT clock_timestamp() AS before \gset
SELECT count(next_id(108)) FROM generate_series(1, 10000000);
\echo :SQLSTATE
RESET statement_timeout;
SELECT clock_timestamp() - :'before' < interval '2 seconds' AS at_once;
SELECT id_shard(next_id(108));
