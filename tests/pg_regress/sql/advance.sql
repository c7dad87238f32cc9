-- Moving generators forward: ids made elsewhere must not come again.
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

-- Not ahead of the clock: a no-op. The floor returned is what can come next at the earliest.
SELECT next_id(8000) AS last \gset
SELECT snowid.advance(:last) = :last + 1 AS is_next;
SELECT snowid.advance(make_id('2020-01-01 00:00:00+00', 8000)) = :last + 1 AS is_next;
SELECT snowid.advance(8000::bigint << 10) = :last + 1 AS is_next;
SELECT next_id(8000) > :last AS increases, id_timestamp(next_id(8000)) BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now;

-- Ahead: the next id is the floor, later ones follow.
SELECT make_id(clock_timestamp() + interval '3 s', 8001, 7) AS given \gset
SELECT snowid.advance(:given) AS floor \gset
SELECT :floor = :given + 1 AS floor_is_next;
SELECT next_id(8001) AS first, next_id(8001) AS second \gset
SELECT :first = :floor AS is_floor, :second > :first AS increases, id_shard(:first);
SELECT snowid.advance(:given) = :second + 1 AS repeated_is_no_op, snowid.advance(:given - 8388608) = :second + 1 AS lower_is_no_op;
-- The last sequence of a millisecond
SELECT make_id(clock_timestamp() + interval '4 s', 8001, 1023) AS given \gset
SELECT snowid.advance(:given) AS floor \gset
SELECT :floor = make_id(id_timestamp(:given) + interval '1 ms', 8001, 0) AS floor_is_in_the_next_ms;
SELECT next_id(8001) AS first \gset
SELECT :first >= :floor AS at_least_floor, :first > :given AS greater;
-- Other shards stay where they are.
SELECT id_timestamp(next_id(8002)) <= clock_timestamp() AS is_now;

-- That isn't taken for a clock gone back.
SELECT clock_regressions AS before FROM (SELECT snowid.advance(make_id(clock_timestamp() + interval '3 s', 8003)) AS id) AS a,
       snowid.generators WHERE kind = 'shard' AND shard_id = 8003 AND a.id > 0 \gset
SELECT count(next_id(8003)) FROM generate_series(1, 100);
SELECT clock_regressions = :before AS not_counted FROM snowid.generators WHERE shard_id = 8003;

-- With an epoch: the same shard, in that count
SELECT make_id(clock_timestamp() + interval '3 s', 8004, 3, '2025-01-01 00:00:00+00') AS given \gset
SELECT snowid.advance(:given, '2025-01-01 00:00:00+00') AS floor \gset
SELECT :floor = :given + 1 AS floor_is_next;
SELECT next_id(8004, '2025-01-01 00:00:00+00') AS first, next_id(8004) AS first_default \gset
SELECT :first = :floor AS is_floor, id_timestamp(:first_default) >= id_timestamp(:first, '2025-01-01 00:00:00+00') AS follows;

-- A worker
SELECT make_snowflake_id(clock_timestamp() + interval '3 s', 9, 1, 4095) AS given \gset
SELECT snowid.advance_snowflake(:given) AS floor \gset
SELECT :floor = make_snowflake_id(snowflake_timestamp(:given) + interval '1 ms', 9, 1, 0) AS floor_is_in_the_next_ms;
SELECT snowflake_id(9, 1) AS first \gset
SELECT :first >= :floor AS at_least_floor, snowflake_datacenter(:first), snowflake_worker(:first);
SELECT make_snowflake_id(clock_timestamp() + interval '3 s', 9, 2, 0, '2025-01-01 00:00:00+00') AS given \gset
SELECT snowid.advance_snowflake(:given, '2025-01-01 00:00:00+00') AS floor \gset
SELECT :floor = :given + 1 AS floor_is_next, snowflake_id(9, 2, '2025-01-01 00:00:00+00') = :floor AS is_floor;
SELECT snowflake_timestamp(snowflake_id(9, 3)) <= clock_timestamp() AS other_is_now;

-- After an import
CREATE TABLE advance_photo (id bigint PRIMARY KEY DEFAULT next_id(8005));
INSERT INTO advance_photo SELECT make_id(clock_timestamp() + interval '2 s', 8005, n) FROM generate_series(0, 999) AS n;
SELECT snowid.advance(max(id)) > max(id) AS advanced FROM advance_photo;
SELECT max(id) AS imported FROM advance_photo \gset
WITH new AS (INSERT INTO advance_photo SELECT FROM generate_series(1, 3000) RETURNING id)
SELECT count(*), min(id) > :imported AS greater FROM new;
DROP TABLE advance_photo;

-- Refused
SELECT snowid.advance(-1);
\echo :SQLSTATE
SELECT snowid.advance_snowflake(-9223372036854775808);
\echo :SQLSTATE
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '1 day', 8006)) $$) \gx
SELECT * FROM pg_temp.error_of('SELECT snowid.advance(9223372036854775807)') \gx
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(next_id(8006), '2026-01-01 00:00:00+00') $$) \gx
SELECT * FROM pg_temp.error_of('SELECT snowid.advance_snowflake(9223372036854775807)') \gx
SELECT snowid.advance(0, 'infinity');
\echo :SQLSTATE
SELECT snowid.advance(0, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT snowid.advance_snowflake(0, '-infinity');
\echo :SQLSTATE
-- An epoch whose ids are used up has no next.
SELECT next_id(8007) > 0 AS drawn;
SELECT snowid.advance(make_id('1990-01-01 00:00:00+00', 8007, 0, '1990-01-01 00:00:00+00'), '1990-01-01 00:00:00+00');
\echo :SQLSTATE
-- Nothing of it has moved the shard.
SELECT id_timestamp(next_id(8006)) <= clock_timestamp() AS is_now;

-- NULL
SELECT snowid.advance(NULL) IS NULL, snowid.advance(NULL, '2025-01-01+00') IS NULL, snowid.advance(0, NULL) IS NULL,
       snowid.advance_snowflake(NULL) IS NULL, snowid.advance_snowflake(NULL, '2025-01-01+00') IS NULL, snowid.advance_snowflake(0, NULL) IS NULL;
