-- What the settings do. This test changes settings of the server with ALTER SYSTEM, and resets them at its end.
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

\set reload :here '/include/reload.sql'
-- Loads the library, so that the settings are known where it isn't preloaded.
SELECT id_shard(1024);
SELECT EXISTS (SELECT FROM pg_settings WHERE name LIKE 'pg\_snowid.%' AND sourcefile LIKE '%postgresql.auto.conf') AS in_use \gset
\if :in_use
\echo 'This server has settings of pg_snowid made by ALTER SYSTEM, which this test would lose.'
\quit
\endif

-- No worker
ALTER SYSTEM SET pg_snowid.datacenter_id = -1;
ALTER SYSTEM SET pg_snowid.worker_id = -1;
ALTER SYSTEM SET pg_snowid.max_clock_regression = '90s';
\set setting pg_snowid.max_clock_regression
\set value 90s
\i :reload
SELECT snowflake_id();
\echo :SQLSTATE
SELECT snowflake_id('2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowflake_ids(10);
\echo :SQLSTATE
SELECT * FROM snowflake_ids(10, '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowflake_worker(snowflake_id(7, 9)) AS named;
SELECT datacenter_id, worker_id, max_clock_regression FROM snowid.status;

-- Half a worker
ALTER SYSTEM SET pg_snowid.datacenter_id = 7;
\set setting pg_snowid.datacenter_id
\set value 7
\i :reload
SELECT snowflake_id();
\echo :SQLSTATE

-- A worker
ALTER SYSTEM SET pg_snowid.worker_id = 30;
\set setting pg_snowid.worker_id
\set value 30
\i :reload
SELECT datacenter_id, worker_id FROM snowid.status;
SELECT snowflake_datacenter(id), snowflake_worker(id), id > 0 AS positive,
       snowflake_timestamp(id) BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now FROM snowflake_id() AS id;
SELECT snowflake_datacenter(id), snowflake_worker(id),
       snowflake_timestamp(id, '2025-01-01 00:00:00+00') BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now
  FROM snowflake_id('2025-01-01 00:00:00+00') AS id;
WITH ids AS MATERIALIZED (SELECT snowflake_ids(50000) AS id)
SELECT count(*), count(DISTINCT id), bool_and(increases) AS strictly_increasing, max(in_ms) <= 4096 AS at_most_4096_per_ms,
       bool_and((snowflake_datacenter(id), snowflake_worker(id)) = (7, 30)) AS of_worker
  FROM (SELECT id, id > lag(id) OVER () AS increases, count(*) OVER (PARTITION BY id >> 22) AS in_ms FROM ids) AS steps;
SELECT count(DISTINCT id), bool_and(snowflake_timestamp(id, '2025-01-01 00:00:00+00') BETWEEN now() - interval '1 ms' AND clock_timestamp()) AS is_now
  FROM snowflake_ids(5000, '2025-01-01 00:00:00+00') AS id;
-- One worker, named or not, is one sequence.
SELECT snowflake_id() AS first, snowflake_id(7, 30) AS second, snowflake_id() AS third \gset
SELECT :first < :second AND :second < :third AS increase;
SELECT count(*) FROM snowflake_ids(0);
SELECT snowflake_ids(-1);
\echo :SQLSTATE
SELECT snowflake_ids(10000001);
\echo :SQLSTATE
SELECT snowflake_id('infinity');
\echo :SQLSTATE
SELECT snowflake_ids(1, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT snowflake_id('1950-01-01 00:00:00+00');
\echo :SQLSTATE
-- A bound schema's snowflake_id() has the schema's epoch and the server's worker.
CREATE SCHEMA alter_system_app;
SELECT snowid.bind_schema('alter_system_app', epoch => '2025-01-01 00:00:00+00');
SELECT datacenter_id, worker_id, created_at BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now
  FROM alter_system_app.snowflake_id() AS id, alter_system_app.decode_snowflake(id);
SELECT count(DISTINCT id) FROM alter_system_app.snowflake_ids(5000) AS id;
SET client_min_messages = warning;
DROP SCHEMA alter_system_app CASCADE;
RESET client_min_messages;

-- How far the clock may stand behind: a shard that is some 30 s ahead of it goes on from there ...
SELECT snowid.advance(make_id(clock_timestamp() + interval '30 s', 7000, 1000)) AS floor, next_id(7000) AS id,
       next_id(7000) AS next \gset
SELECT :id = :floor AND :next = :id + 1 AS goes_on;
-- ... and fails where less is tolerated, with one id as with many, until the clock is near.
ALTER SYSTEM SET pg_snowid.max_clock_regression = '1s';
\set setting pg_snowid.max_clock_regression
\set value 1s
\i :reload
SELECT setting, unit FROM pg_settings WHERE name = 'pg_snowid.max_clock_regression';
SELECT * FROM pg_temp.error_of('SELECT next_id(7000)') \gx
SELECT * FROM pg_temp.error_of('SELECT next_ids(7000, 10)') \gx
SELECT id_shard(next_id(7001)) AS other_shard;
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '2 s', 7002)) $$) \gx
-- A shard just ahead of the clock: ids go on at the pace of real time, 1024 a ms, no further than tolerated.
SELECT snowid.advance(make_id(clock_timestamp() + interval '0.9 s', 7003)) > 0 AS advanced;
SELECT count(*), count(DISTINCT id), max(in_ms) <= 1024 AS at_most_1024_per_ms,
       id_timestamp(max(id)) - clock_timestamp() < interval '1 s' AS within
  FROM (SELECT id, count(*) OVER (PARTITION BY id >> 23) AS in_ms FROM next_ids(7003, 100000) AS id) AS ids;
-- None tolerated
ALTER SYSTEM SET pg_snowid.max_clock_regression = 0;
\set value 0
\i :reload
SELECT * FROM pg_temp.error_of('SELECT next_id(7000)') \gx
SELECT count(DISTINCT id) FROM next_ids(7004, 10000) AS id;

-- No spread: a millisecond starts at sequence 0.
ALTER SYSTEM SET pg_snowid.sequence_spread = 0;
\set setting pg_snowid.sequence_spread
\set value 0
\i :reload
CREATE TEMP TABLE alter_system_ids (id bigint);
DO $$
BEGIN
    FOR i IN 1 .. 50 LOOP
        INSERT INTO alter_system_ids VALUES (next_id(7005));
        PERFORM pg_sleep(0.002);
    END LOOP;
END
$$;
SELECT count(*), max(id_sequence(id)) FROM alter_system_ids;
-- All of it
ALTER SYSTEM SET pg_snowid.sequence_spread = 1023;
\set value 1023
\i :reload
TRUNCATE alter_system_ids;
DO $$
BEGIN
    FOR i IN 1 .. 200 LOOP
        INSERT INTO alter_system_ids VALUES (next_id(7005));
        PERFORM pg_sleep(0.002);
    END LOOP;
END
$$;
SELECT count(DISTINCT id), max(id_sequence(id)) > 512 AS wide FROM alter_system_ids;
SELECT count(DISTINCT id) FROM next_ids(7005, 10000) AS id;

-- As it was
ALTER SYSTEM RESET pg_snowid.datacenter_id;
ALTER SYSTEM RESET pg_snowid.worker_id;
ALTER SYSTEM RESET pg_snowid.max_clock_regression;
ALTER SYSTEM RESET pg_snowid.sequence_spread;
SELECT count(*) FROM pg_file_settings WHERE name LIKE 'pg\_snowid.%' AND sourcefile LIKE '%postgresql.auto.conf';
\set setting pg_snowid.max_clock_regression
\set value 1min
\i :reload
