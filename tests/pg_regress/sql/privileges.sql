-- Who may do what.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE ROLE regress_snowid_user;
CREATE ROLE regress_snowid_monitor IN ROLE pg_monitor;
CREATE SCHEMA privileges_app;

-- Anyone generates and decodes.
SET ROLE regress_snowid_user;
SELECT id_shard(next_id(1400)), id_shard(next_id(1400, '2025-01-01 00:00:00+00')), (SELECT count(*) FROM next_ids(1400, 10)),
       snowflake_worker(snowflake_id(14, 5));
SELECT * FROM decode_id(make_id('2025-01-01 00:00:00+00', 5));
-- No one else than who administers uses the schema snowid.
SELECT * FROM snowid.generators;
\echo :SQLSTATE
SELECT * FROM snowid.status;
\echo :SQLSTATE
SELECT * FROM snowid_internal.read_generators();
\echo :SQLSTATE
SELECT * FROM snowid_internal.read_status();
\echo :SQLSTATE
SELECT snowid.advance(0);
\echo :SQLSTATE
SELECT snowid.advance_snowflake(0);
\echo :SQLSTATE
SELECT snowid.bind_schema('privileges_app', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
CREATE TABLE snowid.mine ();
\echo :SQLSTATE
CREATE TABLE snowid_internal.mine ();
\echo :SQLSTATE
RESET ROLE;
-- PUBLIC may call what reads layouts and computes the parts of tickets and ranges. In the other schema it may call what
-- the planner puts into plans, and what administering functions, which run with their caller's rights, are made of: with
-- those rights it does nothing that plain SQL doesn't. Of a new function here its author knows why PUBLIC needs it.
SELECT p.oid::regprocedure FROM pg_proc p
 WHERE p.pronamespace IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) AND has_function_privilege('regress_snowid_user', p.oid, 'EXECUTE')
 ORDER BY p.oid::regprocedure::text COLLATE "C";
-- It reads layouts and what the catalogue tells, and writes nothing.
SELECT c.oid::regclass, has_table_privilege('regress_snowid_user', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS writes FROM pg_class c
 WHERE c.relnamespace IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) AND has_table_privilege('regress_snowid_user', c.oid, 'SELECT, INSERT, UPDATE, DELETE')
 ORDER BY c.relname;

-- Monitoring roles read the views.
SET ROLE regress_snowid_monitor;
SELECT count(*) FROM snowid.status;
SELECT count(*) > 0 AS generators FROM snowid.generators;
SELECT snowid.advance(0);
\echo :SQLSTATE
SELECT snowid.bind_schema('privileges_app', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
RESET ROLE;

-- Who is granted bind_schema binds the schemas that are theirs, and no others.
GRANT EXECUTE ON FUNCTION snowid.bind_schema TO regress_snowid_user;
SET ROLE regress_snowid_user;
SELECT snowid.bind_schema('privileges_app', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
RESET ROLE;
GRANT CREATE, USAGE ON SCHEMA privileges_app TO regress_snowid_user;
SET ROLE regress_snowid_user;
SELECT snowid.bind_schema('privileges_app', epoch => '2025-01-01 00:00:00+00');
SELECT id_shard(privileges_app.next_id(1401));
RESET ROLE;
SELECT DISTINCT proowner::regrole FROM pg_proc WHERE pronamespace = 'privileges_app'::regnamespace;

-- A bound schema is used as its owner grants.
REVOKE USAGE ON SCHEMA privileges_app FROM regress_snowid_user;
SET ROLE regress_snowid_user;
SELECT privileges_app.next_id(1401);
\echo :SQLSTATE
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA privileges_app CASCADE;
RESET client_min_messages;
REVOKE EXECUTE ON FUNCTION snowid.bind_schema FROM regress_snowid_user;

-- The extension is trusted: who may create in a database may create it there, administers it, and grants that on.
\set admin_database :DBNAME
CREATE DATABASE regress_snowid_trusted TEMPLATE template0;
CREATE ROLE regress_snowid_admin;
GRANT CREATE ON DATABASE regress_snowid_trusted TO regress_snowid_admin;
\c regress_snowid_trusted
CREATE SCHEMA app AUTHORIZATION regress_snowid_admin;
SET SESSION AUTHORIZATION regress_snowid_user;
CREATE EXTENSION pg_snowid SCHEMA app;
\echo :SQLSTATE
SET SESSION AUTHORIZATION regress_snowid_admin;
CREATE EXTENSION pg_snowid SCHEMA app;
SELECT id_shard FROM app.next_id(1402) AS id, app.id_shard(id);
SELECT app.id_shard(snowid.advance(app.next_id(1402)));
SELECT app.snowflake_worker(snowid.advance_snowflake(app.snowflake_id(14, 6)));
SELECT count(*) FROM snowid.status;
SELECT count(*) > 0 AS generators FROM snowid.generators;
SELECT snowid.bind_schema('app', epoch => '2025-01-01 00:00:00+00', shard_id => 1403);
\echo :SQLSTATE
CREATE SCHEMA mine;
SELECT snowid.bind_schema('mine', epoch => '2025-01-01 00:00:00+00', shard_id => 1403);
SELECT app.id_shard(mine.next_id());
GRANT EXECUTE ON FUNCTION snowid.advance, snowid_internal.read_status TO regress_snowid_user;
GRANT SELECT ON snowid.status TO regress_snowid_user;
SET SESSION AUTHORIZATION regress_snowid_user;
SELECT snowid.advance(0) > 0 AS advanced;
SELECT count(*) FROM snowid.status;
SELECT count(*) FROM snowid.generators;
\echo :SQLSTATE
SET SESSION AUTHORIZATION regress_snowid_admin;
SET client_min_messages = warning;
DROP EXTENSION pg_snowid CASCADE;
RESET SESSION AUTHORIZATION;
\c :admin_database
DROP DATABASE regress_snowid_trusted;
DROP ROLE regress_snowid_user, regress_snowid_monitor, regress_snowid_admin;
