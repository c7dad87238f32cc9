-- The high-water mark of a database: no id at or above it, none below where it was found. It needs
-- databases of its own; what it is for, crashes and failovers, is in tests/t.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
DROP DATABASE IF EXISTS regress_snowid_mark;
DROP DATABASE IF EXISTS regress_snowid_copy;
RESET client_min_messages;
\getenv here PG_ABS_SRCDIR
\set include :here '/include/error_of.sql'
\set admin_database :DBNAME
CREATE DATABASE regress_snowid_mark TEMPLATE template0;
\c regress_snowid_mark
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE EXTENSION pg_snowid;

-- It stands some 2 s ahead of the clock from the start, and above each id.
SELECT high_water - clock_timestamp() BETWEEN interval '0' AND '2 s' AS ahead, high_water_ahead BETWEEN '0' AND '2 s' AS ahead,
       high_water_raises > 0 AS raised FROM snowid.status;
SELECT id_timestamp(next_id(1600)) < high_water AS below FROM snowid.status;
SELECT timestamptz 'epoch' + last_value * interval '1 ms' = high_water AS is_it FROM snowid.high_water, snowid.status;

-- It keeps ahead while ids are drawn, also in a read-only transaction and in a parallel worker.
SELECT high_water AS before FROM snowid.status \gset
BEGIN READ ONLY;
SELECT id_shard(next_id(1600)) FROM pg_sleep(1.1);
SELECT id_shard(next_id(1600)) FROM pg_sleep(1.1);
SELECT high_water > :'before' AS raised, high_water > g.last_at AS above FROM snowid.status, snowid.generators g WHERE shard_id = 1600;
SELECT locktype, relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'snowid.high_water'::regclass AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_transaction_id;
COMMIT;
CREATE TABLE filled AS SELECT n FROM generate_series(1, 1000) AS n;
ANALYZE filled;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT high_water AS before FROM snowid.status, pg_sleep(2.1) \gset
SELECT count(DISTINCT id) FROM (SELECT next_id(1600) AS id FROM filled OFFSET 0) AS ids;
SELECT high_water > :'before' AS raised, high_water > g.last_at AS above FROM snowid.status, snowid.generators g WHERE shard_id = 1600;
RESET parallel_leader_participation;

-- A rollback doesn't take it back.
BEGIN;
SELECT id_shard(next_id(1600)) FROM pg_sleep(1.1);
SELECT high_water AS before FROM snowid.status \gset
ROLLBACK;
SELECT high_water = :'before' AS stays FROM snowid.status;

-- Set back: it is raised again, and no id comes again.
SELECT next_id(1600) AS last \gset
SELECT setval('snowid.high_water', 1);
SELECT next_id(1600) > :last AS increases FROM pg_sleep(2.1);
SELECT next_id(1600) > :last AS increases FROM pg_sleep(2.1);
SELECT high_water > g.last_at AS above FROM snowid.status, snowid.generators g WHERE shard_id = 1600;
-- Set forward by no more than a server leads the clock, as a restore does: ids go on from there.
SELECT (extract(epoch FROM clock_timestamp() + interval '1.8 s') * 1000)::bigint AS mark \gset
SELECT setval('snowid.high_water', :mark) = :mark AS set;
SELECT id_shard(next_id(1600)) FROM pg_sleep(1.1);
SELECT extract(epoch FROM id_timestamp(next_id(1601))) * 1000 >= :mark AS from_there;
-- Set further, as a restore of a database that was ahead does: refused, and what it may hold is never made
-- again, until the clock is near or a superuser accepts it. Only then it moves shards.
SELECT (extract(epoch FROM clock_timestamp() + interval '20 s') * 1000)::bigint AS mark \gset
SELECT setval('snowid.high_water', :mark) = :mark AS set FROM pg_sleep(2.1);
\set ECHO none
\i :include
\set ECHO all
SELECT * FROM pg_temp.error_of('SELECT next_id(1600) FROM pg_sleep(2.1)') \gx
SELECT * FROM pg_temp.error_of('SELECT next_ids(1605, 10)') \gx
SELECT code, message FROM pg_temp.error_of('SELECT snowflake_id(16, 0)');
SELECT code, message FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '30 s', 1602)) $$);
SELECT code, message FROM pg_temp.error_of('SELECT snowid.accept_clock()');
SELECT last_value = :mark AS untouched FROM snowid.high_water;
SELECT count(*) AS moved FROM snowid.generators
 WHERE last_at > clock_timestamp() + interval '5 s' AND (shard_id IN (1600, 1605) OR (datacenter_id, worker_id) = (16, 0));
SELECT snowid.accept_high_water();
SELECT extract(epoch FROM id_timestamp(next_id(1605))) * 1000 >= :mark AS from_there;
SELECT snowid.accept_high_water() AS again;
-- snowid.advance moves it first.
SELECT make_id(clock_timestamp() + interval '30 s', 1602) AS given \gset
SELECT snowid.advance(:given) > :given AS advanced;
SELECT high_water > id_timestamp(:given) AS above FROM snowid.status;

-- It is not for everyone.
CREATE ROLE regress_snowid_mark;
SET ROLE regress_snowid_mark;
SELECT last_value FROM snowid.high_water;
\echo :SQLSTATE
SELECT setval('snowid.high_water', 1);
\echo :SQLSTATE
SELECT snowid.accept_clock();
\echo :SQLSTATE
SELECT snowid.accept_high_water();
\echo :SQLSTATE
SELECT snowid_internal.init_high_water();
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_snowid_mark;

-- A database whose mark is implausibly old, at the first look at it, isn't trusted until someone says so.
SELECT setval('snowid.high_water', 1577836800000);
\c :admin_database
CREATE DATABASE regress_snowid_copy TEMPLATE regress_snowid_mark;
\c regress_snowid_copy
\set ECHO none
\i :include
\set ECHO all
SELECT * FROM pg_temp.error_of('SELECT next_id(1604)') \gx
SELECT * FROM pg_temp.error_of('SELECT next_ids(1604, 10)') \gx
SELECT snowid.accept_clock();
SELECT id_shard(next_id(1604));
SELECT high_water > clock_timestamp() AS ahead FROM snowid.status;

-- Without it there are no ids.
ALTER SEQUENCE snowid.high_water RENAME TO lost;
SELECT pg_sleep(2.1);
SELECT next_id(1603);
\echo :SQLSTATE
ALTER SEQUENCE snowid.lost RENAME TO high_water;
SELECT id_shard(next_id(1603));

\c :admin_database
DROP DATABASE regress_snowid_copy;
DROP DATABASE regress_snowid_mark;
