-- Settings: what they are, and that no user can change them in a session. How they act is in alter_system.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Loads the library, so that the settings are known where it isn't preloaded.
SELECT id_shard(1024);

SELECT name, vartype, boot_val, unit, context, min_val, max_val
  FROM pg_settings WHERE name LIKE 'pg\_snowid.%' AND name NOT IN ('pg_snowid.etcd_endpoints', 'pg_snowid.etcd_prefix', 'pg_snowid.max_databases', 'pg_snowid.node_name') ORDER BY name;
-- What a start fixes, where the library is loaded at the start.
SELECT name, vartype, boot_val, context = CASE shared_memory WHEN 'preloaded' THEN 'postmaster' ELSE 'sighup' END AS fixed
  FROM pg_settings, snowid.status WHERE name IN ('pg_snowid.etcd_endpoints', 'pg_snowid.etcd_prefix', 'pg_snowid.max_databases', 'pg_snowid.node_name') ORDER BY name;
-- Each is described. No rows.
SELECT name FROM pg_settings WHERE name LIKE 'pg\_snowid.%' AND (coalesce(short_desc, '') = '' OR coalesce(extra_desc, '') = '');

-- Not for ordinary users
CREATE ROLE regress_snowid_settings;
SET ROLE regress_snowid_settings;
SET pg_snowid.datacenter_id = 1;
\echo :SQLSTATE
SET pg_snowid.worker_id = 1;
\echo :SQLSTATE
SET LOCAL pg_snowid.max_clock_regression = '1h';
\echo :SQLSTATE
SELECT set_config('pg_snowid.sequence_spread', '0', false);
\echo :SQLSTATE
ALTER ROLE regress_snowid_settings SET pg_snowid.worker_id = 1;
\echo :SQLSTATE
ALTER SYSTEM SET pg_snowid.worker_id = 1;
\echo :SQLSTATE
SELECT current_setting('pg_snowid.sequence_spread') IS NOT NULL AS readable;
SET pg_snowid.etcd_lease = '1h';
\echo :SQLSTATE
\set VERBOSITY sqlstate
SET pg_snowid.etcd_endpoints = 'http://127.0.0.1:2379';
-- What tells of the server's inside isn't shown; of texts only the database's shards are.
SHOW pg_snowid.etcd_endpoints;
SELECT name FROM pg_settings WHERE name LIKE 'pg\_snowid.%' AND vartype = 'string';
\set VERBOSITY default
RESET ROLE;
DROP ROLE regress_snowid_settings;

-- Nor for superusers in a session, a role or a database: a server is one worker.
SET pg_snowid.worker_id = 1;
\echo :SQLSTATE
ALTER DATABASE :DBNAME SET pg_snowid.worker_id = 1;
\echo :SQLSTATE

-- Out of range: nothing is changed.
ALTER SYSTEM SET pg_snowid.datacenter_id = 32;
\echo :SQLSTATE
ALTER SYSTEM SET pg_snowid.worker_id = -2;
\echo :SQLSTATE
ALTER SYSTEM SET pg_snowid.sequence_spread = 1024;
\echo :SQLSTATE
ALTER SYSTEM SET pg_snowid.sequence_spread = 'many';
\echo :SQLSTATE
\set VERBOSITY sqlstate
ALTER SYSTEM SET pg_snowid.etcd_lease = '4s';
ALTER SYSTEM SET pg_snowid.etcd_lease = '2d';
ALTER SYSTEM SET pg_snowid.max_clock_difference = '-1ms';
ALTER SYSTEM SET pg_snowid.max_clock_regression = '-1ms';
ALTER SYSTEM SET pg_snowid.max_clock_regression = '30 days';
\set VERBOSITY default

-- There is no setting for a password, which others could read where the library isn't loaded: it is in a file.
SHOW pg_snowid.etcd_password;
\echo :SQLSTATE

-- Misspelt
SET pg_snowid.worker = 1;
\echo :SQLSTATE
SHOW pg_snowid.worker;
\echo :SQLSTATE
