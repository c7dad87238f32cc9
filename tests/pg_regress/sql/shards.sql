-- pg_snowid.shards: a superuser gives a database its shards, and nobody there reaches another's. How databases
-- that share shards stand in each other's way is in tests/t.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
DROP DATABASE IF EXISTS regress_snowid_tenant;
RESET client_min_messages;
\set admin_database :DBNAME
\getenv here PG_ABS_SRCDIR
\set include :here '/include/error_of.sql'
SELECT id_shard(next_id(7800)), id_shard(next_id(7810)), snowflake_worker(snowflake_id(18, 0));

-- What it may be. Loads the library, so that the setting is known where it isn't preloaded.
SHOW pg_snowid.shards;
SET pg_snowid.shards = '8192';
SET pg_snowid.shards = '0-8192';
SET pg_snowid.shards = '9-8';
SET pg_snowid.shards = '1,,2';
SET pg_snowid.shards = 'one';
SET pg_snowid.shards = 'é"';
\echo :SQLSTATE
SET pg_snowid.shards = '8190, 0 - 1, 77';
SELECT id_shard(next_id(0)), id_shard(next_id(1)), id_shard(next_id(77)), id_shard(next_id(8190));
SELECT next_id(8191);
\echo :SQLSTATE
-- A refused value and an undone one leave what was.
SET pg_snowid.shards = '8192';
SELECT next_id(8191);
BEGIN;
SET LOCAL pg_snowid.shards = '8191';
SELECT id_shard(next_id(8191));
ROLLBACK;
SELECT next_id(8191);
SET pg_snowid.shards = ' ';
SELECT id_shard(next_id(8191));
RESET pg_snowid.shards;

-- A database of its own, with an owner of its own.
CREATE ROLE regress_snowid_tenant;
CREATE DATABASE regress_snowid_tenant TEMPLATE template0 OWNER regress_snowid_tenant;
ALTER DATABASE regress_snowid_tenant SET pg_snowid.shards = '7800-7809';
\c regress_snowid_tenant
SET SESSION AUTHORIZATION regress_snowid_tenant;
CREATE EXTENSION pg_snowid;
\set ECHO none
\i :include
\set ECHO all
SELECT id_shard(next_id(7800)), id_shard(next_id(7809, '2025-01-01 00:00:00+00'));
SELECT count(*) FROM next_ids(7801, 1000);
SELECT * FROM pg_temp.error_of('SELECT next_id(7810)') \gx
SELECT code, message FROM pg_temp.error_of('SELECT next_id(7799)');
SELECT code, message FROM pg_temp.error_of($$ SELECT next_id(7810, '2025-01-01 00:00:00+00') $$);
SELECT code, message FROM pg_temp.error_of('SELECT next_ids(7810, 10)');
SELECT code, message FROM pg_temp.error_of('SELECT next_id(8192)');
-- So are functions that are bound, columns' defaults, what administers, also in a parallel worker.
CREATE SCHEMA mine;
SELECT snowid.bind_schema('mine', shard_id => 7802);
SELECT id_shard(mine.next_id());
CREATE SCHEMA others;
SELECT snowid.bind_schema('others', shard_id => 7810);
SELECT code, message FROM pg_temp.error_of('SELECT others.next_id()');
SELECT code, message FROM pg_temp.error_of('SELECT others.next_ids(10)');
CREATE TABLE tenant_photo (id bigint DEFAULT next_id(7810), n integer);
SELECT code, message FROM pg_temp.error_of('INSERT INTO tenant_photo (n) VALUES (1)');
SELECT code, message FROM pg_temp.error_of('SELECT snowid.advance(make_id(clock_timestamp(), 7810))');
INSERT INTO tenant_photo VALUES (NULL, 1);
ALTER TABLE tenant_photo ADD created timestamptz DEFAULT now();
CALL snowid.backfill('tenant_photo', 'id', 'created', 7810);
CALL snowid.backfill('tenant_photo', 'id', 'created', 7803);
SELECT id_shard(id) FROM tenant_photo;
CREATE TABLE tenant_rows AS SELECT n FROM generate_series(1, 1000) AS n;
ANALYZE tenant_rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT count(DISTINCT id) FROM (SELECT next_id(7804) AS id FROM tenant_rows OFFSET 0) AS ids;
SELECT code, message FROM pg_temp.error_of('SELECT count(id) FROM (SELECT next_id(7810) AS id FROM tenant_rows OFFSET 0) AS ids');
RESET parallel_leader_participation;
-- An ordinary user can't change it, in no way.
SELECT code, message FROM pg_temp.error_of($$ SET pg_snowid.shards = '' $$);
SELECT code, message FROM pg_temp.error_of($$ SET LOCAL pg_snowid.shards = '7810' $$);
SELECT code, message FROM pg_temp.error_of($$ SELECT set_config('pg_snowid.shards', '', false) $$);
SELECT code, message FROM pg_temp.error_of($$ ALTER DATABASE regress_snowid_tenant SET pg_snowid.shards = '' $$);
SELECT code, message FROM pg_temp.error_of('ALTER DATABASE regress_snowid_tenant RESET pg_snowid.shards');
SELECT code, message FROM pg_temp.error_of($$ ALTER ROLE regress_snowid_tenant SET pg_snowid.shards = '' $$);
SELECT code, message FROM pg_temp.error_of($$ CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SET pg_snowid.shards = '' RETURN next_id(7810) $$);
RESET pg_snowid.shards;
RESET ALL;
SHOW pg_snowid.shards;
-- Also its own shards it advances near the clock only: the mark that remembers it holds for workers too.
SELECT snowid.advance(make_id(clock_timestamp() + interval '1 s', 7805)) > 0 AS advanced;
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '20 s', 7805)) $$) \gx
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance_snowflake(make_snowflake_id(clock_timestamp() + interval '20 s', 18, 0)) $$) \gx
SELECT snowflake_worker(snowid.advance_snowflake(make_snowflake_id(clock_timestamp() + interval '1 s', 18, 1)));
-- It sees what is its own.
SELECT DISTINCT shard_id, last_id IS NOT NULL AND last_at IS NOT NULL AS seen FROM snowid.generators WHERE kind = 'shard' ORDER BY shard_id;
SELECT count(*) > 0 AS workers, bool_and(last_id IS NULL AND last_at IS NULL) AS unseen FROM snowid.generators WHERE kind = 'worker';
SELECT last_at > clock_timestamp() AS own, last_ahead > '0' AS own_ahead FROM snowid.status;
RESET SESSION AUTHORIZATION;
SELECT bool_and(shard_id BETWEEN 7800 AND 7809) AS own, bool_and(last_id IS NOT NULL) AS seen FROM snowid.generators WHERE kind = 'shard';
SELECT bool_and(last_id IS NOT NULL) AS seen FROM snowid.generators WHERE kind = 'worker';

-- Without it the same owner stays near the clock, and sees no IDs: others may have drawn them.
\c :admin_database
ALTER DATABASE regress_snowid_tenant RESET pg_snowid.shards;
\c regress_snowid_tenant
SET SESSION AUTHORIZATION regress_snowid_tenant;
\set ECHO none
\i :include
\set ECHO all
SELECT id_shard(next_id(7810));
SELECT id_shard(snowid.advance(make_id(clock_timestamp() + interval '1 s', 7811)));
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '20 s', 7811)) $$) \gx
SELECT * FROM pg_temp.error_of($$ SELECT snowid.advance(make_id(clock_timestamp() + interval '70 s', 7811)) $$) \gx
SELECT id_timestamp(next_id(7811)) <= clock_timestamp() + interval '1 s' AS near;
SELECT count(*) > 0 AS generators, count(last_id) + count(last_at) AS seen FROM snowid.generators;
SELECT last_at IS NULL AND last_ahead IS NULL AS unseen FROM snowid.status;
RESET SESSION AUTHORIZATION;
-- Who monitors does see them, and a superuser, who advances further too.
GRANT pg_monitor TO regress_snowid_tenant;
SET SESSION AUTHORIZATION regress_snowid_tenant;
SELECT bool_and(last_id IS NOT NULL) AS seen FROM snowid.generators WHERE shard_id BETWEEN 7800 AND 7810;
SELECT last_at IS NOT NULL AS seen FROM snowid.status;
RESET SESSION AUTHORIZATION;
SELECT id_shard(snowid.advance(make_id(clock_timestamp() + interval '20 s', 7811)));

\c :admin_database
DROP DATABASE regress_snowid_tenant;
DROP ROLE regress_snowid_tenant;
