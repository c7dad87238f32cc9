-- Composing ids and floors: what is in range makes an id, what is not is an error.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT make_id('2025-01-01 00:00:00+00', 5), make_id('2025-01-01 00:00:00+00', 5, 7),
       make_id('2025-01-01 00:00:00+00', 5, 7, '2025-01-01 00:00:00+00');
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 3, 7), make_snowflake_id('2025-01-01 00:00:00+00', 3, 7, 42),
       make_snowflake_id('2025-01-01 00:00:00+00', 3, 7, 42, '2025-01-01 00:00:00+00');
SELECT make_id(created_at => '2025-01-01 00:00:00+00', shard_id => 5, sequence => 7, epoch => '2024-01-01 00:00:00+00');

-- An instant within a millisecond is of that millisecond, also before 2000 where timestamptz is negative.
SELECT make_id('2011-01-01 00:00:00.000999+00', 0), make_id('2011-01-01 00:00:00.001+00', 0),
       make_id('1999-12-31 23:59:59.999999+00', 0, 0, '1999-12-31 23:59:59.999+00'),
       make_id('1999-12-31 23:59:59.998999+00', 0, 0, '1999-12-31 23:59:59.998+00');
SELECT id_floor('2011-01-01 00:00:00.001999+00'), snowflake_floor('2010-11-04 01:42:54.658999+00');

-- Fields out of range
SELECT make_id('2025-01-01 00:00:00+00', -1);
\echo :SQLSTATE
SELECT make_id('2025-01-01 00:00:00+00', 8192);
\echo :SQLSTATE
SELECT make_id('2025-01-01 00:00:00+00', 0, -1);
\echo :SQLSTATE
SELECT make_id('2025-01-01 00:00:00+00', 0, 1024);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', -1, 0);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 32, 0);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, -1);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, 32);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, 0, -1);
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, 0, 4096);
\echo :SQLSTATE
SELECT make_id('2025-01-01 00:00:00+00', -2147483648), make_id('2025-01-01 00:00:00+00', 2147483647);
\echo :SQLSTATE

-- The last positive millisecond works, one past it is refused.
SELECT make_id('2045-11-03 19:53:47.775999+00', 8191, 1023), id_floor('2045-11-03 19:53:47.775+00');
SELECT make_id('2045-11-03 19:53:47.776+00', 0);
\echo :SQLSTATE
SELECT id_floor('2045-11-03 19:53:47.776+00');
\echo :SQLSTATE
SELECT make_snowflake_id('2080-07-10 17:30:30.208999+00', 31, 31, 4095), snowflake_floor('2080-07-10 17:30:30.208+00');
SELECT make_snowflake_id('2080-07-10 17:30:30.209+00', 0, 0);
\echo :SQLSTATE
SELECT snowflake_floor('2080-07-10 17:30:30.209+00');
\echo :SQLSTATE
SELECT make_id('2059-11-04 19:53:47.775+00', 8191, 1023, '2025-01-01 00:00:00+00');
SELECT make_id('2059-11-04 19:53:47.776+00', 8191, 1023, '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT make_id('294276-12-31 23:59:59.999999+00', 0);
\echo :SQLSTATE
SELECT make_id('294276-12-31 23:59:59.999999+00', 0, 0, '294276-12-31 23:59:59+00');

-- Before the epoch there are no ids: the floor is 0, so that id >= floor holds for all.
SELECT make_id('2010-12-31 23:59:59.999999+00', 0);
\echo :SQLSTATE
SELECT make_snowflake_id('2010-11-04 01:42:54.656999+00', 0, 0);
\echo :SQLSTATE
SELECT make_id('2024-12-31 23:59:59.999999+00', 0, 0, '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT make_id('4714-11-24 00:00:00+00 BC', 0);
\echo :SQLSTATE
SELECT id_floor('2011-01-01 00:00:00+00'), id_floor('2010-12-31 23:59:59.999999+00'),
       id_floor('4714-11-24 00:00:00+00 BC'), id_floor('-infinity'),
       id_floor('2024-12-31 23:59:59.999999+00', '2025-01-01 00:00:00+00'), id_floor('-infinity', '2025-01-01 00:00:00+00');
SELECT snowflake_floor('2010-11-04 01:42:54.657+00'), snowflake_floor('2010-11-04 01:42:54.656999+00'),
       snowflake_floor('-infinity'), snowflake_floor('2024-12-31 23:59:59.999999+00', '2025-01-01 00:00:00+00');
SELECT id_floor('2025-01-01 00:00:00.001+00', '2025-01-01 00:00:00+00'),
       snowflake_floor('2025-01-01 00:00:00.001+00', '2025-01-01 00:00:00+00');

-- Infinity
SELECT make_id('infinity', 0);
\echo :SQLSTATE
SELECT make_id('-infinity', 0);
\echo :SQLSTATE
SELECT make_snowflake_id('infinity', 0, 0);
\echo :SQLSTATE
SELECT make_snowflake_id('-infinity', 0, 0);
\echo :SQLSTATE
SELECT id_floor('infinity');
\echo :SQLSTATE
SELECT snowflake_floor('infinity');
\echo :SQLSTATE
SELECT id_floor('infinity', '2025-01-01 00:00:00+00');
\echo :SQLSTATE

-- Not an epoch
SELECT make_id('2025-01-01 00:00:00+00', 0, 0, 'infinity');
\echo :SQLSTATE
SELECT make_id('2025-01-01 00:00:00+00', 0, 0, '2024-01-01 00:00:00.0005+00');
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, 0, 0, '-infinity');
\echo :SQLSTATE
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 0, 0, 0, '1990-01-01 00:00:00.0005+00');
\echo :SQLSTATE
SELECT id_floor('2025-01-01 00:00:00+00', '-infinity');
\echo :SQLSTATE
SELECT id_floor('-infinity', '2024-01-01 00:00:00.000001+00');
\echo :SQLSTATE
SELECT snowflake_floor('2025-01-01 00:00:00+00', 'infinity');
\echo :SQLSTATE
SELECT snowflake_floor('2025-01-01 00:00:00+00', '2024-01-01 00:00:00.000001+00');
\echo :SQLSTATE

-- NULL
SELECT make_id(NULL, 0, 0) IS NULL, make_id('2025-01-01+00', NULL, 0) IS NULL, make_id('2025-01-01+00', 0, NULL) IS NULL,
       make_id(NULL, 0, 0, '2011-01-01+00') IS NULL, make_id('2025-01-01+00', 0, 0, NULL) IS NULL;
SELECT make_snowflake_id(NULL, 0, 0) IS NULL, make_snowflake_id('2025-01-01+00', NULL, 0) IS NULL,
       make_snowflake_id('2025-01-01+00', 0, NULL) IS NULL, make_snowflake_id('2025-01-01+00', 0, 0, NULL) IS NULL,
       make_snowflake_id(NULL, 0, 0, 0, '2011-01-01+00') IS NULL, make_snowflake_id('2025-01-01+00', 0, 0, 0, NULL) IS NULL;
SELECT id_floor(NULL) IS NULL, id_floor(NULL, '2011-01-01+00') IS NULL, id_floor('2025-01-01+00', NULL) IS NULL,
       snowflake_floor(NULL) IS NULL, snowflake_floor(NULL, '2011-01-01+00') IS NULL, snowflake_floor('2025-01-01+00', NULL) IS NULL;

-- An instant is the same id in every TimeZone, and errors tell it in UTC.
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SELECT make_id('2025-01-01 05:30:00+05:30', 5), id_floor('2025-01-01 05:30:00');
SELECT make_id('2010-12-31 00:00:00+00', 0);
\echo :SQLSTATE
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- What is composed decodes to the same fields over the whole range, and floors order as instants do.
SELECT count(*), bool_and((id_timestamp(id), id_shard(id), id_sequence(id)) = (instant, shard, seq)) AS decodes,
       bool_and(id = ms << 23 | (shard << 10) | seq) AS has_the_bits,
       bool_and(id_floor(instant) <= id AND id < id_floor(instant + interval '1 millisecond')) AS is_within_floors
  FROM generate_series(0, 20000) AS n,
       LATERAL (SELECT n * 26179030465 % 1099511627776, n * 4051 % 8192, n * 677 % 1024) AS fields (ms, shard, seq),
       LATERAL (SELECT timestamptz '2011-01-01 00:00:00+00' + ms * interval '1 millisecond') AS i (instant),
       make_id(instant, shard, seq) AS id;
SELECT count(*),
       bool_and((snowflake_timestamp(id), snowflake_datacenter(id), snowflake_worker(id), snowflake_sequence(id))
                = (instant, datacenter, worker, seq)) AS decodes,
       bool_and(id = ms << 22 | (datacenter << 17) | (worker << 12) | seq) AS has_the_bits,
       bool_and(snowflake_floor(instant) <= id
                AND id < snowflake_floor(instant + interval '1 millisecond')) AS is_within_floors
  FROM generate_series(0, 20000) AS n,
       LATERAL (SELECT n * 26179030465 % 2199023255551, n * 13 % 32, n * 7 % 32, n * 677 % 4096)
         AS fields (ms, datacenter, worker, seq),
       LATERAL (SELECT timestamptz '2010-11-04 01:42:54.657+00' + ms * interval '1 millisecond') AS i (instant),
       make_snowflake_id(instant, datacenter, worker, seq) AS id;
