-- What there is to call and to read, with its arguments and defaults, and the ways in which calls are written.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Functions for use, one way to call each: two of a name where one can't say it, an epoch has a default but for those
-- that are LEAKPROOF without it or take a layout by its name.
\a\t
SELECT format('%I(%s) -> %s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE e.extname = 'pg_snowid' AND p.pronamespace = e.extnamespace
 ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT format('%s(%s) -> %s', p.oid::regproc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
  FROM pg_proc p WHERE p.pronamespace = 'snowid'::regnamespace
 ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT format('%s (%s)', c.oid::regclass, string_agg(a.attname, ', ' ORDER BY a.attnum))
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
 WHERE c.relnamespace = 'snowid'::regnamespace AND c.relkind IN ('r', 'v')
 GROUP BY c.oid ORDER BY c.relname COLLATE "C";
\a\t

-- A name says one thing: parameters with a type for each name, but for these. Numbers of ids are bigints. One row.
SELECT a.name, string_agg(DISTINCT a.type::regtype::text, ', ' ORDER BY a.type::regtype::text) AS types
  FROM pg_proc p, unnest(p.proargnames, p.proargtypes::oid[]) AS a (name, type)
 WHERE p.pronamespace IN (SELECT e.extnamespace FROM pg_extension e WHERE e.extname = 'pg_snowid' UNION SELECT 'snowid'::regnamespace)
   AND a.type IS NOT NULL
 GROUP BY a.name HAVING count(DISTINCT a.type) > 1;

-- A shard is any number that can be one: each of these is one call of one function.
CREATE TABLE surface_users (user_id bigint, small smallint);
INSERT INTO surface_users VALUES (8192 * 1000000000::bigint + 1201, 1201);
SELECT id_shard(next_id(1201)), id_shard(next_id('1201')), id_shard(next_id(1201::smallint)), id_shard(next_id(1201::bigint)),
       id_shard(next_id(user_id % 8192)), id_shard(next_id(small)), id_shard(next_id(shard_id => 1201)) FROM surface_users;
SELECT count(DISTINCT id_shard(next_id(1201, epoch))) FROM (VALUES ('2011-01-01+00'::timestamptz), ('2025-01-01+00')) AS e (epoch);
PREPARE surface_one AS SELECT id_shard(next_id($1));
EXECUTE surface_one(1201);
EXECUTE surface_one('1201');
PREPARE surface_epoch AS SELECT id_timestamp(next_id($1, $2), '2025-01-01+00') > now() - interval '1 hour' AS recent;
EXECUTE surface_epoch(1201, '2025-01-01+00');
PREPARE surface_block AS SELECT count(*), min(id_shard(id)), max(id_shard(id)) FROM next_ids($1, $2) AS id;
EXECUTE surface_block(1201, 3);
PREPARE surface_worker AS SELECT snowflake_worker(snowflake_id($1, $2)), count(*) FROM snowflake_ids($1, $2, $3);
EXECUTE surface_worker(12, 1, 3);
PREPARE surface_made AS SELECT make_id($1, $2, $3), make_id($1, $2), make_snowflake_id($1, 12, 1, $3);
EXECUTE surface_made('2025-01-01 00:00:00+00', 1201, 5);
-- and a count is what counting gives
SELECT count(*) FROM next_ids(1201, (SELECT count(*) FROM pg_am));
SELECT count(*) > 0 AS counted FROM next_ids(1201, (SELECT count(*) FROM pg_am), '2025-01-01+00');
SELECT count(*), min(snowflake_worker(id)), max(snowflake_datacenter(id)) FROM snowflake_ids(12, 1, 5) AS id;
SELECT count(*), min(snowflake_timestamp(id, '2025-01-01+00')) > now() - interval '1 hour' AS recent FROM snowflake_ids(12, 1, 5, '2025-01-01+00') AS id;
SELECT id_sequence(make_id('2025-01-01 00:00:00+00', 1201, row_number() OVER ())) FROM generate_series(1, 3);
SELECT make_id('2025-01-01 00:00:00+00', 1201, epoch => '2025-01-01+00') AS of_epoch, make_id('2025-01-01 00:00:00+00', 1201);
EXECUTE surface_one(8192);
EXECUTE surface_one(-1);
-- Nothing is cut off: modulo 2^32 and 2^40 these would be shards.
SELECT next_id(4294967296);
SELECT next_id(1099511627776);
SELECT next_id(-4294967295);
SELECT next_ids(1201, 4294967297);
SELECT snowflake_id(4294967296, 1);
SELECT snowflake_id(12, 4294967297);
SELECT snowflake_ids(12, 1, 1099511627777);
SELECT make_id('2025-01-01 00:00:00+00', 1099511627776);
SELECT make_id('2025-01-01 00:00:00+00', 1201, 4294967296);
\echo :SQLSTATE
\set VERBOSITY sqlstate
SELECT next_id(9223372036854775808);
\set VERBOSITY default

-- The default epoch said and not said is one; a NULL one gives NULL.
SELECT make_id(t, 1201, 7) = make_id(t, 1201, 7, '2011-01-01 00:00:00+00') AS make_id,
       make_snowflake_id(t, 12, 1, 7) = make_snowflake_id(t, 12, 1, 7, '2010-11-04 01:42:54.657+00') AS make_snowflake_id,
       id_floor(t) = id_floor(t, '2011-01-01 00:00:00+00') AS id_floor,
       snowflake_floor(t) = snowflake_floor(t, '2010-11-04 01:42:54.657+00') AS snowflake_floor,
       id_timestamp(id_floor(t)) = id_timestamp(id_floor(t), '2011-01-01 00:00:00+00') AS id_timestamp
  FROM (VALUES ('2025-01-01 00:00:00+00'::timestamptz)) AS v (t);
SELECT next_id(1201, NULL), snowflake_id(NULL), snowflake_id(12, 1, NULL), make_id(now(), 1201, 0, NULL), id_floor(now(), NULL), id_timestamp(0, NULL);
SELECT count(*) FROM next_ids(1201, 3, NULL);
SELECT count(*) FROM snowflake_ids(12, 1, 3, NULL);

-- A default is shown as it was written.
CREATE TABLE surface_default (id bigint DEFAULT next_id(1201), own bigint DEFAULT next_id(1201, '2025-01-01+00'));
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'surface_default'::regclass ORDER BY adnum;

-- What has no place for users is in a schema of its own, which nobody's is but the extension's.
SELECT n.nspname, pg_describe_object(d.refclassid, d.refobjid, 0) AS of, has_schema_privilege('public', n.oid, 'USAGE') AS usage,
       has_schema_privilege('public', n.oid, 'CREATE') AS "create"
  FROM pg_namespace n JOIN pg_depend d ON d.classid = 'pg_namespace'::regclass AND d.objid = n.oid
 WHERE n.nspname ~ '^snowid' AND d.deptype = 'e' ORDER BY 1;
DROP TABLE surface_users, surface_default;
