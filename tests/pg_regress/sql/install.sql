-- Who may install it, and into which schema.
\set SHOW_CONTEXT never
\set admin_database :DBNAME
CREATE DATABASE regress_snowid_install TEMPLATE template0;
CREATE ROLE regress_snowid_installer;
CREATE ROLE regress_snowid_other;
GRANT CREATE ON DATABASE regress_snowid_install TO regress_snowid_installer;
\c regress_snowid_install
CREATE SCHEMA others AUTHORIZATION regress_snowid_other;
GRANT USAGE ON SCHEMA others TO regress_snowid_installer;

-- Not where the one who creates it could create nothing: what others call there would change.
SET SESSION AUTHORIZATION regress_snowid_installer;
CREATE EXTENSION pg_snowid SCHEMA others;
\echo :SQLSTATE
CREATE EXTENSION pg_snowid SCHEMA public;
\echo :SQLSTATE
SET search_path = others;
CREATE EXTENSION pg_snowid;
\echo :SQLSTATE
RESET search_path;
-- Nor among PostgreSQL's own, not even by a superuser.
CREATE EXTENSION pg_snowid SCHEMA pg_catalog;
\echo :SQLSTATE
RESET SESSION AUTHORIZATION;
CREATE EXTENSION pg_snowid SCHEMA pg_catalog;
\echo :SQLSTATE
CREATE EXTENSION pg_snowid SCHEMA pg_toast;
\echo :SQLSTATE
CREATE EXTENSION pg_snowid SCHEMA information_schema;
\echo :SQLSTATE
SELECT count(*) FROM pg_extension WHERE extname = 'pg_snowid';
SELECT count(*) FROM pg_namespace WHERE nspname ~ '^snowid';

-- Where another lets one create.
GRANT CREATE ON SCHEMA others TO regress_snowid_installer;
SET SESSION AUTHORIZATION regress_snowid_installer;
CREATE EXTENSION pg_snowid SCHEMA others;
SELECT others.id_shard(others.next_id(1410));
DROP EXTENSION pg_snowid;
RESET SESSION AUTHORIZATION;

-- Not beside schemas of the names of its own, in which their owner could put what it calls.
CREATE SCHEMA snowid;
CREATE EXTENSION pg_snowid SCHEMA others;
\echo :SQLSTATE
ALTER SCHEMA snowid RENAME TO snowid_internal;
CREATE EXTENSION pg_snowid SCHEMA others;
\echo :SQLSTATE
DROP SCHEMA snowid_internal;

-- A role of any name creates it and administers it.
CREATE ROLE "regress_snowid_""it's\ $$owner$";
GRANT CREATE ON DATABASE regress_snowid_install TO "regress_snowid_""it's\ $$owner$";
SET SESSION AUTHORIZATION "regress_snowid_""it's\ $$owner$";
CREATE SCHEMA mine;
CREATE EXTENSION pg_snowid SCHEMA mine;
SELECT mine.id_shard(snowid.advance(mine.next_id(1411)));
SELECT count(*) FROM snowid.status;
GRANT SELECT ON snowid.status TO regress_snowid_other;
DROP EXTENSION pg_snowid;

-- A schema of such a name is refused by PostgreSQL: names are put into the script as text.
\set VERBOSITY sqlstate
CREATE SCHEMA "it's";
CREATE EXTENSION pg_snowid SCHEMA "it's";
CREATE SCHEMA "a ""quoted"" one";
CREATE EXTENSION pg_snowid SCHEMA "a ""quoted"" one";
CREATE SCHEMA "$owner$";
CREATE EXTENSION pg_snowid SCHEMA "$owner$";
CREATE SCHEMA "back\slash";
CREATE EXTENSION pg_snowid SCHEMA "back\slash";
\set VERBOSITY default
-- Any other is taken.
CREATE SCHEMA "select; %s";
CREATE EXTENSION pg_snowid SCHEMA "select; %s";
SELECT snowid_internal.home();
SELECT "select; %s".id_shard("select; %s".next_id(1412));
SELECT snowid.bind_schema('mine', shard_id => 1412);
SELECT "select; %s".id_shard(mine.next_id());
RESET SESSION AUTHORIZATION;

\c :admin_database
DROP DATABASE regress_snowid_install;
DROP ROLE regress_snowid_installer, regress_snowid_other, "regress_snowid_""it's\ $$owner$";
