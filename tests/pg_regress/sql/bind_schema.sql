-- snowid.bind_schema: a schema's own functions, with its epoch, its shard or both inside.
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

\set SHOW_CONTEXT never
CREATE SCHEMA bind_app;
SELECT snowid.bind_schema('bind_app', epoch => '2025-01-01 00:00:00+00');

-- What it makes, with the labels and the comments
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS result, l.lanname, p.provolatile, p.proisstrict, p.proparallel
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
 WHERE p.pronamespace = 'bind_app'::regnamespace ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_app'::regnamespace;
-- They are the user's, not the extension's.
SELECT count(*) FROM pg_depend WHERE classid = 'pg_proc'::regclass AND deptype = 'e'
   AND objid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'bind_app'::regnamespace);

-- They do what the public ones do with the epoch.
SELECT bind_app.make_id('2025-06-01 12:00:00+00', 5, 9) = make_id('2025-06-01 12:00:00+00', 5, 9, '2025-01-01 00:00:00+00') AS make_id,
       bind_app.make_id('2025-06-01 12:00:00+00', 5) = make_id('2025-06-01 12:00:00+00', 5, 0, '2025-01-01 00:00:00+00') AS make_id_0,
       bind_app.id_floor('2025-06-01 12:00:00+00') = id_floor('2025-06-01 12:00:00+00', '2025-01-01 00:00:00+00') AS id_floor,
       bind_app.make_snowflake_id('2025-06-01 12:00:00+00', 3, 7) = make_snowflake_id('2025-06-01 12:00:00+00', 3, 7, 0, '2025-01-01 00:00:00+00') AS make_snowflake_id,
       bind_app.snowflake_floor('2025-06-01 12:00:00+00') = snowflake_floor('2025-06-01 12:00:00+00', '2025-01-01 00:00:00+00') AS snowflake_floor;
SELECT bind_app.id_timestamp(8388608), bind_app.snowflake_timestamp(4194304);
SELECT * FROM bind_app.decode_id(8393731);
SELECT * FROM bind_app.decode_snowflake(4616234);
SELECT (bind_app.decode_id(bind_app.next_id(1300))).shard_id,
       bind_app.id_timestamp(bind_app.next_id(1300)) BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now;
SELECT count(DISTINCT id), bool_and(id_shard(id) = 1301) FROM bind_app.next_ids(1301, 3000) AS id;
SELECT bind_app.snowflake_timestamp(bind_app.snowflake_id(13, 0)) BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now;
SELECT bind_app.next_id(NULL) IS NULL, bind_app.id_timestamp(NULL) IS NULL, bind_app.make_id('2025-06-01 12:00:00+00', NULL) IS NULL;
SELECT bind_app.next_id(8192);
\echo :SQLSTATE
SELECT bind_app.make_id('2024-12-31 23:59:59.999+00', 0);
\echo :SQLSTATE

-- The planner inlines them: a default costs what next_id(5, epoch) costs.
EXPLAIN (VERBOSE, COSTS OFF) SELECT bind_app.next_id(5), bind_app.snowflake_id(3, 7);
CREATE TABLE bind_app.photo (
    id bigint PRIMARY KEY DEFAULT bind_app.next_id(1302),
    created_at timestamptz GENERATED ALWAYS AS (bind_app.id_timestamp(id)) STORED
);
CREATE INDEX bind_photo_at ON bind_app.photo (bind_app.id_timestamp(id));
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO bind_app.photo DEFAULT VALUES;
EXPLAIN (VERBOSE, COSTS OFF) SELECT n, bind_app.id_timestamp(n) FROM generate_series(1, 10) AS n;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT 1 FROM bind_app.photo WHERE bind_app.id_timestamp(id) >= '2026-01-01 00:00:00+00';
EXPLAIN (COSTS OFF) SELECT id FROM bind_app.photo WHERE id >= bind_app.id_floor('2026-01-01 00:00:00+00');
RESET enable_seqscan;
RESET enable_bitmapscan;
INSERT INTO bind_app.photo SELECT FROM generate_series(1, 1000);
SELECT count(*), bool_and(created_at >= now() - interval '1 minute'), bool_and(id_shard(id) = 1302) FROM bind_app.photo;

-- Nothing in them depends on search_path, neither when they are made nor when they run.
CREATE SCHEMA bind_fake;
CREATE FUNCTION bind_fake.next_id(bigint, timestamptz) RETURNS bigint LANGUAGE sql AS 'SELECT -1::bigint';
CREATE FUNCTION bind_fake.make_id(timestamptz, bigint, bigint, timestamptz) RETURNS bigint LANGUAGE sql AS 'SELECT -1::bigint';
CREATE FUNCTION bind_fake.make_id(timestamptz, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT -1::bigint';
CREATE FUNCTION bind_fake.quote_ident(text) RETURNS text LANGUAGE sql AS $$ SELECT 'bind_fake' $$;
CREATE FUNCTION bind_fake.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'SELECT 1' $$;
CREATE SCHEMA bind_path;
SET search_path = bind_fake, public, pg_catalog;
SELECT bind_app.next_id(1300) > 0 AS real, bind_app.make_id('2025-01-01 00:00:00.001+00', 0) AS real;
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 00:00:00+00');
SELECT bind_path.next_id(1300) > 0 AS real, bind_path.make_id('2025-01-01 00:00:00.001+00', 0) AS real;
SET search_path = '';
SELECT bind_app.next_id(1300) > 0 AS real, bind_path.make_id('2025-01-01 00:00:00.001+00', 0) AS real;
INSERT INTO bind_app.photo DEFAULT VALUES;
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 00:00:00+00');
RESET search_path;
-- Nor on TimeZone and DateStyle: what is bound again to the same epoch is the same.
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 05:30:00+05:30');
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_path'::regnamespace;

-- An epoch and a shard: one schema a logical shard
CREATE SCHEMA bind_shard;
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00+00', shard_id => 1310);
SELECT p.oid::regprocedure AS function FROM pg_proc p WHERE p.pronamespace = 'bind_shard'::regnamespace ORDER BY 1;
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_shard'::regnamespace;
EXPLAIN (VERBOSE, COSTS OFF) SELECT bind_shard.next_id();
SELECT shard_id, created_at BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now FROM bind_shard.next_id() AS id, bind_shard.decode_id(id);
SELECT count(DISTINCT id), bool_and(id_shard(id) = 1310) FROM bind_shard.next_ids(3000) AS id;
SELECT bind_shard.make_id('2025-01-01 00:00:00.001+00') = 8388608 + 1310 * 1024 AS make_id, bind_shard.make_id('2025-01-01 00:00:00.001+00', 7) = 8388608 + 1310 * 1024 + 7 AS make_id;
CREATE TABLE bind_shard.photo (id bigint PRIMARY KEY DEFAULT bind_shard.next_id(), n integer);
INSERT INTO bind_shard.photo (n) SELECT n FROM generate_series(1, 1000) AS n;
SELECT count(*), bool_and(id_shard(id) = 1310) FROM bind_shard.photo;

-- A shard alone: the default epoch
CREATE SCHEMA bind_default;
SELECT snowid.bind_schema('bind_default', shard_id => 1311);
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_default'::regnamespace;
EXPLAIN (VERBOSE, COSTS OFF) SELECT bind_default.next_id(), bind_default.snowflake_id(3, 7);
SELECT bind_default.make_id('2025-01-01 00:00:00+00') = make_id('2025-01-01 00:00:00+00', 1311) AS make_id, bind_default.id_timestamp(3706503089356805120);

-- A second binding: the same is fine, another is refused unless it is asked for.
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00+00', shard_id => 1310);
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00+00', shard_id => 1312);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00.001+00', shard_id => 1310);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_shard', shard_id => 1310);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_default', epoch => '2025-01-01 00:00:00+00', replace => false);
\echo :SQLSTATE
SELECT id_shard(bind_shard.next_id()) AS unchanged;
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00.001+00', shard_id => 1312, replace => true);
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_shard'::regnamespace;
INSERT INTO bind_shard.photo (n) VALUES (0) RETURNING id_shard(id), bind_shard.id_timestamp(id) BETWEEN now() - interval '1 ms' AND clock_timestamp() AS is_now;
-- Without the shard next_id() has no place, which is what the default uses.
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00.001+00', replace => true);
\echo :SQLSTATE
SELECT p.oid::regprocedure AS unchanged FROM pg_proc p WHERE p.pronamespace = 'bind_shard'::regnamespace AND p.proname LIKE 'next%' ORDER BY 1;
DROP TABLE bind_shard.photo;
SELECT snowid.bind_schema('bind_shard', epoch => '2025-01-01 00:00:00.001+00', replace => true);
SELECT p.oid::regprocedure AS function FROM pg_proc p WHERE p.pronamespace = 'bind_shard'::regnamespace AND p.proname ~ '^(next|make)' ORDER BY 1;
SELECT DISTINCT obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'bind_shard'::regnamespace;

-- Odd names
CREATE SCHEMA "bind Größe '""x""' %I $bind$ \";
SELECT snowid.bind_schema('bind Größe ''"x"'' %I $bind$ \', epoch => '2025-01-01 00:00:00+00', shard_id => 1313);
SELECT id_shard("bind Größe '""x""' %I $bind$ \".next_id());
SELECT snowid.bind_schema('bind Größe ''"x"'' %I $bind$ \', epoch => '2025-01-02 00:00:00+00', shard_id => 1313);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind Größe ''"x"'' %I $bind$ \', epoch => '2025-01-02 00:00:00+00', replace => true);
SELECT id_shard("bind Größe '""x""' %I $bind$ \".next_id(1313));
CREATE SCHEMA "Bind_App";
SELECT snowid.bind_schema('Bind_App', epoch => '2025-02-01 00:00:00+00');
SELECT "Bind_App".id_timestamp(0), bind_app.id_timestamp(0);

-- The view tells what next_id draws and counts from by what it calls, for everyone, whatever a comment says or whoever
-- made it; and what no call of next_id alone is, or no shard, is none of them.
BEGIN;
CREATE SCHEMA bind_hand;
CREATE FUNCTION bind_hand.next_id() RETURNS bigint LANGUAGE sql RETURN public.next_id(1316, '2025-01-01 05:45:00+05:45');
COMMENT ON FUNCTION bind_hand.next_id() IS 'bound by pg_snowid to epoch 2024-01-01 00:00:00+00, shard 5';
CREATE SCHEMA bind_forged;
CREATE FUNCTION bind_forged.next_id() RETURNS bigint LANGUAGE sql RETURN 5::bigint;
COMMENT ON FUNCTION bind_forged.next_id() IS 'bound by pg_snowid to epoch 2024-01-01 00:00:00+00, shard 5';
CREATE FUNCTION bind_forged.next_id(integer) RETURNS bigint LANGUAGE sql RETURN public.next_id(5) + 1;
CREATE FUNCTION bind_forged.next_id(text) RETURNS bigint LANGUAGE sql RETURN public.next_id(99999999999);
CREATE FUNCTION bind_forged.next_id(name) RETURNS bigint LANGUAGE sql AS 'SELECT public.next_id(5)';
CREATE FUNCTION bind_forged.next_id(shard_id bigint) RETURNS bigint LANGUAGE sql RETURN public.next_id(shard_id);
CREATE FUNCTION bind_forged.next_id(shard_id bigint, epoch timestamptz) RETURNS bigint LANGUAGE sql RETURN public.next_id(shard_id, epoch);
SET LOCAL timezone = 'Asia/Kolkata';
SET LOCAL datestyle = 'SQL, DMY';
SET LOCAL search_path = bind_forged;
SET LOCAL quote_all_identifiers = on;
CREATE ROLE regress_snowid_reader;
SET LOCAL ROLE regress_snowid_reader;
SELECT schema_name, shard_id, epoch AT TIME ZONE 'UTC' AS epoch_utc FROM snowid.bound_schemas WHERE schema_name ~* '^bind' ORDER BY schema_name COLLATE "C";
RESET ROLE;
SELECT count(*) FROM snowid.bound_schemas WHERE schema_name ~* '^bind' AND owner = current_user;
ROLLBACK;

-- No such schema
SELECT snowid.bind_schema('bind_missing', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowid.bind_schema('', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowid.bind_schema('BIND_APP', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE

-- Functions that were not made by it stay.
CREATE SCHEMA bind_own;
CREATE FUNCTION bind_own.next_id(shard_id bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
SELECT snowid.bind_schema('bind_own', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_own', epoch => '2025-01-01 00:00:00+00', replace => true);
\echo :SQLSTATE
SELECT p.oid::regprocedure AS function FROM pg_proc p WHERE p.pronamespace = 'bind_own'::regnamespace;
-- With a shard inside there is no next_id(bigint) to make.
SELECT snowid.bind_schema('bind_own', epoch => '2025-01-01 00:00:00+00', shard_id => 1314);
SELECT bind_own.next_id(5) AS own, id_shard(bind_own.next_id());

-- Nor is anything adopted for what its comment says: not what belongs to another role, who could give it another body
-- later, to be run by whoever inserts; nor what is no plain function. A role that may create in the schema tries.
CREATE SCHEMA bind_trap;
CREATE ROLE regress_snowid_trap;
GRANT CREATE, USAGE ON SCHEMA bind_trap TO regress_snowid_trap;
SET ROLE regress_snowid_trap;
CREATE FUNCTION bind_trap.id_timestamp(id bigint) RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
COMMENT ON FUNCTION bind_trap.id_timestamp(bigint) IS 'bound by pg_snowid to epoch 2025-01-01 00:00:00+00';
RESET ROLE;
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-01 00:00:00+00', replace => true);
\echo :SQLSTATE
-- Not even by who may SET ROLE to the owner, but as the owner it is.
CREATE ROLE regress_snowid_binder IN ROLE regress_snowid_trap;
GRANT EXECUTE ON FUNCTION snowid.bind_schema TO regress_snowid_binder, regress_snowid_trap;
SET ROLE regress_snowid_binder;
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SET ROLE regress_snowid_trap;
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-01 00:00:00+00');
RESET ROLE;
SELECT proowner::regrole AS owner, bind_trap.id_timestamp(0) AS bound FROM pg_proc WHERE oid = 'bind_trap.id_timestamp(bigint)'::regprocedure;
SET client_min_messages = warning;
DROP SCHEMA bind_trap CASCADE;
RESET client_min_messages;
-- Comments of others neither make a schema seem bound nor have anything dropped.
CREATE SCHEMA bind_trap;
GRANT CREATE, USAGE ON SCHEMA bind_trap TO regress_snowid_trap;
SET ROLE regress_snowid_trap;
CREATE FUNCTION bind_trap.theirs() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
COMMENT ON FUNCTION bind_trap.theirs() IS 'bound by pg_snowid to epoch 2024-01-01 00:00:00+00';
RESET ROLE;
-- One's own aggregates and procedures stay too, and stop nothing.
CREATE AGGREGATE bind_trap.of_ids(bigint) (sfunc = int8pl, stype = bigint);
COMMENT ON AGGREGATE bind_trap.of_ids(bigint) IS 'bound by pg_snowid to epoch 2024-01-01 00:00:00+00';
CREATE PROCEDURE bind_trap.no_function() LANGUAGE sql AS 'SELECT 1';
COMMENT ON PROCEDURE bind_trap.no_function() IS 'bound by pg_snowid to epoch 2024-01-01 00:00:00+00';
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-01 00:00:00+00');
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-02 00:00:00+00', shard_id => 1314, replace => true);
SELECT p.oid::regprocedure AS still_there, p.prokind, p.proowner = current_user::regrole AS own FROM pg_proc p WHERE p.pronamespace = 'bind_trap'::regnamespace
   AND obj_description(p.oid, 'pg_proc') LIKE '%epoch 2024-%' ORDER BY p.oid::regprocedure::text COLLATE "C";
-- In the way of one that is to be made they are refused, as any function is.
DROP FUNCTION bind_trap.id_timestamp(bigint);
CREATE AGGREGATE bind_trap.id_timestamp(bigint) (sfunc = int8pl, stype = bigint);
COMMENT ON AGGREGATE bind_trap.id_timestamp(bigint) IS 'bound by pg_snowid to epoch 2025-01-02 00:00:00+00, shard 1314';
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-02 00:00:00+00', shard_id => 1314);
\echo :SQLSTATE
DROP AGGREGATE bind_trap.id_timestamp(bigint);
CREATE PROCEDURE bind_trap.id_timestamp(id bigint) LANGUAGE sql AS 'SELECT 1';
COMMENT ON PROCEDURE bind_trap.id_timestamp(bigint) IS 'bound by pg_snowid to epoch 2025-01-02 00:00:00+00, shard 1314';
SELECT snowid.bind_schema('bind_trap', epoch => '2025-01-02 00:00:00+00', shard_id => 1314, replace => true);
\echo :SQLSTATE
SET client_min_messages = warning;
DROP SCHEMA bind_trap CASCADE;
RESET client_min_messages;
REVOKE EXECUTE ON FUNCTION snowid.bind_schema FROM regress_snowid_binder, regress_snowid_trap;
DROP ROLE regress_snowid_binder, regress_snowid_trap;

-- Not to be bound to
SELECT snowid.bind_schema('bind_app');
\echo :SQLSTATE
SELECT snowid.bind_schema(NULL, epoch => '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_app', epoch => '2025-01-01 00:00:00+00', replace => NULL);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 00:00:00+00', shard_id => 8192);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 00:00:00+00', shard_id => -1);
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_path', epoch => 'infinity');
\echo :SQLSTATE
SELECT snowid.bind_schema('bind_path', epoch => '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT * FROM pg_temp.error_of($$ SELECT snowid.bind_schema('bind_path', epoch => '2999-01-01 00:00:00+00') $$) \gx
SELECT DISTINCT obj_description(oid, 'pg_proc') AS unchanged FROM pg_proc WHERE pronamespace = 'bind_path'::regnamespace;
-- An epoch that leaves no positive ids for now can be bound: ids made in it still decode.
CREATE SCHEMA bind_old;
SELECT snowid.bind_schema('bind_old', epoch => '1980-01-01 00:00:00+00', shard_id => 1315);
SELECT bind_old.id_timestamp(8388608);
SELECT bind_old.next_id();
\echo :SQLSTATE

-- Extension first, schema after: what it made needs the extension.
\set VERBOSITY terse
DROP EXTENSION pg_snowid;
\set VERBOSITY default
\echo :SQLSTATE

SET client_min_messages = warning;
DROP SCHEMA bind_app, bind_fake, bind_path, bind_shard, bind_default, "bind Größe '""x""' %I $bind$ \", "Bind_App", bind_own, bind_old CASCADE;
