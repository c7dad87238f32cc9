-- PostgreSQL 17 and later with nothing preloaded: a plain CREATE EXTENSION is enough.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT shared_memory FROM snowid.status;
SELECT id_shard(next_id(5)), snowflake_worker(snowflake_id(3, 7));
CREATE TABLE nopreload_photo (id bigint PRIMARY KEY DEFAULT next_id(1500), n integer);
INSERT INTO nopreload_photo (n) SELECT n FROM generate_series(1, 10000) AS n;
SELECT count(*) FROM nopreload_photo;

-- A new session goes on from there.
SELECT max(id) AS last FROM nopreload_photo \gset
\c
SELECT next_id(1500) > :last AS increases;
SELECT count(*) FROM snowid.generators WHERE shard_id = 1500;
DROP TABLE nopreload_photo;

-- A setting made before the library is loaded hides what the server says: it isn't loaded then.
\c
SET pg_snowid.worker_id = 7;
SELECT id_shard(1024);
\echo :SQLSTATE
RESET pg_snowid.worker_id;
SELECT id_shard(1024), current_setting('pg_snowid.worker_id');
\c
CREATE ROLE regress_snowid_nopreload;
SET ROLE regress_snowid_nopreload;
SET pg_snowid.max_clock_regression = '1d';
SELECT next_id(5);
\echo :SQLSTATE
RESET ALL;
SELECT id_shard(next_id(5)), current_setting('pg_snowid.max_clock_regression') AS max_clock_regression;
RESET ROLE;
DROP ROLE regress_snowid_nopreload;

-- A background worker leases the worker ID, and only a preloaded library has one: the static settings don't
-- serve in silence, not even where a preloaded library would refuse the endpoints.
\getenv here PG_ABS_SRCDIR
\set reload :here '/include/reload.sql'
ALTER SYSTEM SET pg_snowid.datacenter_id = 3;
ALTER SYSTEM SET pg_snowid.worker_id = 7;
ALTER SYSTEM SET pg_snowid.etcd_endpoints = 'http://user:secret@127.0.0.1:2379';
\set setting pg_snowid.etcd_endpoints
\set value http://user:secret@127.0.0.1:2379
\i :reload
SELECT snowflake_id();
\echo :SQLSTATE
SELECT snowflake_ids(10);
\echo :SQLSTATE
SELECT snowid.release_worker();
\echo :SQLSTATE
SELECT snowflake_worker(snowflake_id(3, 7)), id_shard(next_id(5));
SELECT worker_source, datacenter_id, worker_id, lease_until, lease_problem FROM snowid.status;
ALTER SYSTEM RESET pg_snowid.etcd_endpoints;
\set value ''
\i :reload
SELECT snowflake_worker(snowflake_id());
ALTER SYSTEM RESET pg_snowid.datacenter_id;
ALTER SYSTEM RESET pg_snowid.worker_id;
SELECT pg_reload_conf();
