-- Conditions on the time of ids use the index on id.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off; -- on only where two ranges need it

CREATE TABLE planner (id bigint PRIMARY KEY, n integer);
INSERT INTO planner SELECT make_id('2026-01-01 00:00:00+00'::timestamptz + n * interval '1 minute', n % 100, n % 7), n FROM generate_series(1, 20000) AS n;
VACUUM ANALYZE planner;

-- Each comparison, from either side
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) = '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) < '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) <= '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE '2026-01-02' > id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE '2026-01-02' >= id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE '2026-01-02' = id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE '2026-01-02' < id_timestamp(id) AND '2026-01-03' >= id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) BETWEEN '2026-01-02' AND '2026-01-03' AND n > 5;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) NOT BETWEEN '2026-01-01 00:05' AND '2026-01-14 21:10';
-- Only from some instant on: the index has ids with the sign bit at its other end, if there are any,
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-14';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE '2026-01-14' < id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-10'::text::timestamptz;
SET enable_bitmapscan = off;
-- unless it is said that there are none.
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-14' AND id > 0;
ALTER TABLE planner ADD CONSTRAINT planner_id_check CHECK (id >= 0);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-14';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) < '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= now() - interval '1 hour';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) BETWEEN now() - interval '1 hour' AND now();
EXPLAIN (COSTS OFF) SELECT id FROM planner WHERE id_timestamp(id) >= now() - interval '1 hour' ORDER BY id DESC LIMIT 10;
ALTER TABLE planner DROP CONSTRAINT planner_id_check;
-- All ids, and none
CREATE TABLE planner_null (id bigint);
EXPLAIN (COSTS OFF) SELECT * FROM planner_null WHERE id_timestamp(id) >= '-infinity' AND id_timestamp(id) < 'infinity';
DROP TABLE planner_null;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) < '2010-12-31';

-- Instants known when the query runs
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < now() - interval '100 years';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) < now() - interval '100 years';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) > now() - interval '1 hour' AND id_timestamp(id) <= now();
SELECT n FROM planner WHERE id_timestamp(id) = (SELECT timestamptz '2026-01-02' LIMIT 1);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) > now() - interval '1 hour' AND id_timestamp(id) < '2026-01-03';
-- dates and timestamps, which the time zone makes instants
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= date '2026-01-02' AND date '2026-01-03' > id_timestamp(id);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) BETWEEN timestamp '2026-01-02' AND '2026-01-03';

-- Parameters: known in a custom plan, unknown in a generic one
PREPARE of_time (timestamptz, timestamptz) AS SELECT count(*) FROM planner WHERE id_timestamp(id) >= $1 AND id_timestamp(id) < $2;
EXPLAIN (COSTS OFF) EXECUTE of_time ('2026-01-02', '2026-01-03');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE of_time ('2026-01-02', '2026-01-03');
EXECUTE of_time ('2026-01-02', '2026-01-03');
EXECUTE of_time ('-infinity', 'infinity');
EXECUTE of_time (NULL, 'infinity');
RESET plan_cache_mode;

-- Epochs, Twitter's layout, and functions of bound schemas, which are inlined
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id, '2025-01-01+00') < '2030-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id, '2025-01-01+00') >= '2030-01-01' AND id_timestamp(id, '2025-01-01+00') < now();
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE snowflake_timestamp(id) BETWEEN '2026-01-01' AND '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE snowflake_timestamp(id, '2025-01-01+00') <= now();
CREATE SCHEMA planner_app;
SELECT snowid.bind_schema('planner_app', epoch => '2025-01-01+00', shard_id => 1);
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE planner_app.id_timestamp(id) >= '2030-01-01' AND planner_app.id_timestamp(id) < '2030-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE planner_app.snowflake_timestamp(id) < now();
-- Nothing depends on search_path.
SET search_path = planner_app;
EXPLAIN (COSTS OFF) SELECT * FROM public.planner WHERE id_timestamp(id) BETWEEN '2030-01-01' AND now();
RESET search_path;

-- Joined by OR
SET enable_bitmapscan = on;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) < '2026-01-01 00:10' OR id = 5;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE (id_timestamp(id) BETWEEN '2026-01-02' AND '2026-01-02 01:00' AND n > 5) OR id_timestamp(id) = '2026-01-03';
SET enable_bitmapscan = off;

-- Joins
CREATE TABLE planner_spans (since timestamptz, until timestamptz);
INSERT INTO planner_spans VALUES ('2026-01-02', '2026-01-03'), ('2026-01-05', NULL), ('infinity', '-infinity');
ANALYZE planner_spans;
EXPLAIN (COSTS OFF) SELECT * FROM planner_spans JOIN planner ON id_timestamp(id) >= since AND id_timestamp(id) < until;
EXPLAIN (COSTS OFF) SELECT * FROM planner_spans LEFT JOIN planner ON id_timestamp(id) BETWEEN since AND until AND id_timestamp(id) < '2026-02-01';
SELECT since, until, count(id) FROM planner_spans LEFT JOIN planner ON id_timestamp(id) BETWEEN since AND until GROUP BY since, until ORDER BY since;
EXPLAIN (COSTS OFF) SELECT * FROM planner_spans WHERE EXISTS (SELECT FROM planner WHERE id_timestamp(id) >= since AND id_timestamp(id) < until);
-- An equality is for hash and merge joins.
EXPLAIN (COSTS OFF) SELECT * FROM planner_spans JOIN planner ON id_timestamp(id) = since;

-- Views, with the time as a column; subqueries
CREATE VIEW planner_view AS SELECT id, id_timestamp(id) AS created_at, n FROM planner;
EXPLAIN (COSTS OFF) SELECT n FROM planner_view WHERE created_at >= '2026-01-02' AND created_at < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT n, count(*) FROM planner_view WHERE created_at < '2026-01-02' GROUP BY n HAVING n > 7;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, max(n) AS n FROM planner GROUP BY id) AS grouped WHERE id_timestamp(id) < '2026-01-02';
-- A union is left alone: the condition is evaluated for each row
CREATE TABLE planner_other (LIKE planner INCLUDING ALL);
CREATE VIEW planner_union AS TABLE planner UNION ALL TABLE planner_other;
EXPLAIN (COSTS OFF) SELECT * FROM planner_union WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';

-- UPDATE, DELETE, MERGE
EXPLAIN (COSTS OFF) UPDATE planner SET n = 0 WHERE id_timestamp(id) < '2026-01-02';
EXPLAIN (COSTS OFF) DELETE FROM planner WHERE id_timestamp(id) < now() - interval '100 years';
EXPLAIN (COSTS OFF) MERGE INTO planner USING planner_spans ON id_timestamp(id) BETWEEN since AND until WHEN MATCHED THEN DELETE;
BEGIN;
WITH gone AS (DELETE FROM planner WHERE id_timestamp(id) < '2026-01-02' RETURNING n) SELECT count(*), max(n) FROM gone;
MERGE INTO planner USING planner_spans ON id_timestamp(id) BETWEEN since AND until WHEN MATCHED THEN DELETE;
SELECT count(*) FROM planner WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03 00:02';
ROLLBACK;

-- How many rows the planner expects, against how many there are: within 20 %, or ten rows
CREATE FUNCTION pg_temp.estimate(condition text, OUT near boolean) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    found bigint;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM planner WHERE ' || condition INTO plan;
    EXECUTE 'SELECT count(*) FROM planner WHERE ' || condition INTO found;
    near := abs((plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric - found) <= greatest(0.2 * found, 10);
    IF NOT near THEN
        RAISE WARNING 'expected % rows, there are %', plan -> 0 -> 'Plan' ->> 'Plan Rows', found;
    END IF;
END
$$;
SELECT condition, near FROM unnest(ARRAY[
    $$id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03'$$,
    $$id_timestamp(id) BETWEEN '2026-01-02' AND '2026-01-11'$$,
    $$id_timestamp(id) < '2026-01-05'$$,
    $$id_timestamp(id) >= '2026-01-05'$$,
    $$id_timestamp(id) = '2026-01-05'$$,
    $$id_timestamp(id) >= '2025-01-05'$$,
    $$id_timestamp(id) >= '2030-01-05'$$,
    $$id_timestamp(id) < '2026-01-05' OR id_timestamp(id) > '2026-01-10'$$,
    $$id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < now()$$,
    $$id_timestamp(id) >= '2026-01-02'::text::timestamptz AND id_timestamp(id) < '2026-01-05'::text::timestamptz$$,
    $$id_timestamp(id) < '2026-01-05'::text::timestamptz$$,
    $$id_timestamp(id) >= '2026-01-05'::text::timestamptz$$,
    $$id_timestamp(id) >= date '2026-01-05' AND id_timestamp(id) < timestamp '2026-01-06'$$,
    $$snowflake_timestamp(id) > '2000-01-01'$$]) AS condition, pg_temp.estimate(condition);

-- Partitions: excluded when planning, or when the query starts
CREATE TABLE planner_parts (id bigint PRIMARY KEY, n integer) PARTITION BY RANGE (id);
CREATE TABLE planner_parts_1 PARTITION OF planner_parts FOR VALUES FROM (MINVALUE) TO (id_floor('2026-01-01+00'));
CREATE TABLE planner_parts_2 PARTITION OF planner_parts FOR VALUES FROM (id_floor('2026-01-01+00')) TO (id_floor('2026-02-01+00'));
CREATE TABLE planner_parts_3 PARTITION OF planner_parts FOR VALUES FROM (id_floor('2026-02-01+00')) TO (MAXVALUE);
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts WHERE id_timestamp(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts WHERE id_timestamp(id) >= '2026-02-01';
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts WHERE id_timestamp(id) >= '2026-02-01' AND id >= 0;
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts WHERE id_timestamp(id) >= '2026-01-02'::text::timestamptz AND id_timestamp(id) < '2026-01-03'::text::timestamptz;
-- A partition's own bounds say that its ids aren't negative.
EXPLAIN (COSTS OFF) SELECT * FROM planner_parts_3 WHERE id_timestamp(id) >= '2026-02-02';
RESET enable_indexscan;

-- Row-level security holds back neither the index nor what it must.
CREATE ROLE regress_planner_reader;
GRANT SELECT ON planner TO regress_planner_reader;
ALTER TABLE planner ENABLE ROW LEVEL SECURITY;
CREATE FUNCTION planner_odd(n integer) RETURNS boolean LANGUAGE plpgsql COST 1000 AS 'BEGIN RETURN n % 2 = 1; END';
CREATE POLICY planner_policy ON planner TO regress_planner_reader USING (planner_odd(n));
SET ROLE regress_planner_reader;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE id_timestamp(id) BETWEEN '2026-01-02'::text::timestamptz AND '2026-01-03'::text::timestamptz;
SELECT count(*) FROM planner WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';
SELECT count(*) FROM planner WHERE id_timestamp(id) BETWEEN '2026-01-02'::text::timestamptz AND '2026-01-03'::text::timestamptz;
RESET ROLE;
ALTER TABLE planner DISABLE ROW LEVEL SECURITY;
DROP POLICY planner_policy ON planner;

-- Left as they are: what isn't a column, a volatile instant, an epoch that isn't constant or under
-- which ids have no time, two columns of one table, conditions that aren't joined by AND and OR alone
CREATE TABLE planner_left (id bigint PRIMARY KEY, at timestamptz, epoch timestamptz);
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id + 1) = '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) < clock_timestamp();
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id, epoch) < '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id, '294276-01-01+00') < '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) < at;
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE (id_timestamp(id) < '2026-01-02') IS NOT TRUE;
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) <> '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) IN ('2026-01-02', '2026-01-03');

-- A table with an index on the time itself keeps using that, and partial indexes and constraints on
-- it serve beside.
CREATE INDEX planner_left_time ON planner_left (id_timestamp(id));
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) >= '2026-01-02' AND id_timestamp(id) < '2026-01-03';
DROP INDEX planner_left_time;
CREATE INDEX planner_left_recent ON planner_left (at) WHERE id_timestamp(id) >= '2026-01-02';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) >= '2026-01-03' AND id_timestamp(id) < '2027-01-03' AND at = '2026-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM planner_left WHERE id_timestamp(id) >= '2026-01-01' AND id_timestamp(id) < '2026-01-03';

-- A cached plan follows what it was built on.
CREATE TABLE planner_cached (id bigint PRIMARY KEY CHECK (id > 0));
INSERT INTO planner_cached VALUES (id_floor('2026-01-02'));
SET plan_cache_mode = force_generic_plan;
PREPARE cached AS SELECT id FROM planner_cached WHERE id_timestamp(id) >= '2026-01-01' ORDER BY id;
EXPLAIN (COSTS OFF) EXECUTE cached;
EXECUTE cached;
ALTER TABLE planner_cached DROP CONSTRAINT planner_cached_id_check;
INSERT INTO planner_cached VALUES (-1);
EXECUTE cached;
RESET plan_cache_mode;
PREPARE later (timestamptz) AS SELECT id FROM planner_cached WHERE id_timestamp(id) = $1;
EXECUTE later ('2026-01-02');
SET client_min_messages = warning;
DROP SCHEMA planner_app CASCADE;
RESET client_min_messages;
DROP VIEW planner_view;
DROP TABLE planner_left, planner_parts;
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION pg_snowid CASCADE;
CREATE SCHEMA planner_elsewhere;
CREATE EXTENSION pg_snowid SCHEMA planner_elsewhere;
EXPLAIN (COSTS OFF) SELECT * FROM planner WHERE planner_elsewhere.id_timestamp(id) BETWEEN '2026-01-02' AND now();
ROLLBACK;
EXECUTE later ('2026-01-02');

DROP VIEW planner_union;
DROP TABLE planner, planner_other, planner_spans, planner_cached;
DROP FUNCTION planner_odd;
DROP ROLE regress_planner_reader;
