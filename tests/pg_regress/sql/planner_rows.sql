-- Conditions on the time of ids find the same rows by the index on id as without it: instants around
-- milliseconds, infinite ones, ids at all limits, with the sign bit, and NULL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE TABLE planner_rows (id bigint);
CREATE INDEX ON planner_rows (id);
-- The limits of bigint and of both layouts' fields, and some in between
INSERT INTO planner_rows
SELECT DISTINCT limits.id + step
  FROM (VALUES (0), (8388608), (4194304), (3706503089356805120), (-3706503089356805120),
               (9223372036854775807 - 8388608)) AS limits (id),
       (VALUES (-8388608), (-1), (0), (4194304), (8388608)) AS steps (step)
UNION ALL VALUES (9223372036854775807), (-9223372036854775808), (-9223372036854775807), (-8388609), (NULL), (NULL);
ANALYZE planner_rows;
-- So small a table's index is else read as a whole, its conditions as a filter.
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET jit = off; -- what is disabled costs much before PostgreSQL 18

-- Whether the condition, in which ID stands for the id, finds the rows that it finds when it is about
-- an expression, which the planner leaves alone; and whether an index serves it.
CREATE FUNCTION pg_temp.check_rows(condition text, source text DEFAULT 'planner_rows',
    OUT same boolean, OUT indexed boolean) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    query text := 'SELECT coalesce(array_agg(id ORDER BY id), ''{}'') FROM %s WHERE %s';
    rows bigint[];
    expected bigint[];
BEGIN
    EXECUTE format(query, source, replace(condition, 'ID', 'id')) INTO rows;
    EXECUTE format(query, source, replace(condition, 'ID', 'id + 0')) INTO expected;
    same := rows = expected;
    indexed := false;
    FOR line IN EXECUTE 'EXPLAIN ' || format(query, source, replace(condition, 'ID', 'id')) LOOP
        indexed := indexed OR line LIKE '%Index Cond: %id %';
    END LOOP;
    IF NOT same THEN
        RAISE WARNING '% finds % instead of %', condition, rows, expected;
    END IF;
END
$$;

-- How instants are written: known when planning, known when running, of the types they are compared with
CREATE TEMP TABLE forms (form text);
INSERT INTO forms VALUES ('timestamptz %L'), ('%L::text::timestamptz');
CREATE TEMP TABLE comparisons (condition text);
INSERT INTO comparisons SELECT format('%%1$s %s %%2$s', operator) FROM unnest('{<,<=,=,>=,>}'::text[]) AS operator;
INSERT INTO comparisons SELECT format('%%2$s %s %%1$s', operator) FROM unnest('{<,<=,=,>=,>}'::text[]) AS operator;

-- The instants at, around, and in the middle of the millisecond of each id, and the infinite ones
CREATE TEMP TABLE readings (reading text, instant timestamptz);
INSERT INTO readings
SELECT DISTINCT reading, instant + step * interval '1 microsecond'
  FROM planner_rows,
       LATERAL (VALUES ('id_timestamp(ID)', id_timestamp(id)), ('snowflake_timestamp(ID)', snowflake_timestamp(id)),
                       ('id_timestamp(ID, ''2025-01-01+00'')', id_timestamp(id, '2025-01-01+00'))) AS at (reading, instant),
       (VALUES (-1), (0), (1)) AS steps (step)
 WHERE id IS NOT NULL;
INSERT INTO readings SELECT DISTINCT reading, infinite FROM readings, unnest('{infinity,-infinity}'::timestamptz[]) AS infinite;

SELECT reading, form, count(*) > 250 AS many, count(*) FILTER (WHERE NOT same) AS different,
       count(*) FILTER (WHERE indexed) > 200 AS indexed
  FROM readings, forms, comparisons,
       pg_temp.check_rows(format(condition, reading, format(form, instant)))
 GROUP BY reading, form ORDER BY reading, form;

-- Dates and timestamps, as they are and when the server knows them only when it runs; beyond
-- timestamptz too
SELECT type, count(*) > 50 AS many, count(*) FILTER (WHERE NOT same) AS different, bool_or(indexed) AS indexed
  FROM (VALUES ('date', '{-infinity,4714-11-24 BC,2010-12-31,2011-01-01,2011-01-02,2025-06-15,2045-11-03,2045-11-04,2079-08-23,2080-07-10,294276-12-31,294277-01-02,5874897-12-31,infinity}'),
               ('timestamp', '{-infinity,4714-11-24 00:00 BC,2011-01-01 00:00:00,2011-01-01 00:00:00.001,2011-01-01 00:00:00.000001,2025-01-01 00:00:00,2045-11-03 19:53:47.775,2045-11-03 19:53:47.776,294276-12-31 23:59:59.999999,infinity}')
       ) AS types (type, instants),
       unnest(instants::text[]) AS instant, comparisons,
       unnest('{%2$s %1$L,%1$L::text::%2$s}'::text[]) AS form,
       pg_temp.check_rows(format(condition, 'id_timestamp(ID)', format(form, instant, type)))
 GROUP BY type ORDER BY type;
-- at the edge of timestamptz in another time zone
SET timezone = 'America/St_Johns';
SELECT count(*) FILTER (WHERE NOT same) AS different
  FROM unnest('{4714-11-24 BC,2010-12-31,2011-01-01,294276-12-31,294277-01-01}'::date[]) AS day, comparisons,
       unnest('{date %1$L,%1$L::text::date}'::text[]) AS form,
       pg_temp.check_rows(format(condition, 'snowflake_timestamp(ID)', format(form, day)));
SET timezone = 'UTC';

-- Several conditions, joined by AND, OR and NOT
CREATE TEMP TABLE simple (n integer PRIMARY KEY, condition text);
INSERT INTO simple
SELECT row_number() OVER (ORDER BY md5(instant::text || condition || form)) - 1,
       format(condition, reading, format(form, instant))
  FROM readings, forms, comparisons WHERE reading IN ('id_timestamp(ID)', 'id_timestamp(ID, ''2025-01-01+00'')');
SELECT count(*) AS simple FROM simple \gset
SET snowid_test.simple = :simple;
CREATE FUNCTION pg_temp.pick(seed text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT condition FROM simple
             WHERE n = ('x' || substr(md5(seed), 1, 7))::bit(28)::integer % current_setting('snowid_test.simple')::integer);
END
$$;
SELECT shape, count(*) FILTER (WHERE NOT same) AS different, bool_or(indexed) AS indexed
  FROM unnest(ARRAY['%s AND %s', '%s OR %s', '%s AND (%s OR %s)', '%s AND NOT %s', '(%s AND %s) OR (%s AND %s)',
                    '(%s AND ID > 0) OR %s', '%s AND ID >= 0', '%s AND %s AND ID < 5', '%s AND NOT (%s OR %s)',
                    '(%s OR %s) AND (%s OR ID IS NULL)', '(%s) IS NOT TRUE', '%s AND (%s) IS NOT NULL',
                    'CASE WHEN %s THEN %s ELSE %s END', '%s AND ID = -1', '(%s AND ID >= 3706503089356805120) OR ID IS NULL']) AS shape,
       generate_series(1, 60) AS n,
       pg_temp.check_rows(format(shape, pg_temp.pick(shape || n), pg_temp.pick(shape || n || 'b'), pg_temp.pick(shape || n || 'c'), pg_temp.pick(shape || n || 'd')))
 GROUP BY shape ORDER BY shape COLLATE "C";

-- Where ids are known not to be negative
CREATE TABLE planner_positive (id bigint CHECK (id >= 0));
CREATE INDEX ON planner_positive (id);
INSERT INTO planner_positive SELECT id FROM planner_rows WHERE id >= 0 OR id IS NULL;
ANALYZE planner_positive;
SELECT form, count(*) FILTER (WHERE NOT same) AS different
  FROM readings, forms, comparisons,
       pg_temp.check_rows(format(condition, reading, format(form, instant)), 'planner_positive')
 GROUP BY form ORDER BY form;
SELECT count(*) FILTER (WHERE NOT same) AS different
  FROM unnest(ARRAY['%s AND %s', '%s OR %s', '%s AND (%s OR %s)', '(%s AND %s) OR (%s AND %s)']) AS shape,
       generate_series(1, 60) AS n,
       pg_temp.check_rows(format(shape, pg_temp.pick(shape || n), pg_temp.pick(shape || n || 'b'), pg_temp.pick(shape || n || 'c'), pg_temp.pick(shape || n || 'd')), 'planner_positive');

-- Generic plans, which know no parameter
CREATE FUNCTION pg_temp.check_generic(condition text, a timestamptz, b timestamptz, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    rows bigint[];
    expected bigint[];
BEGIN
    EXECUTE format('PREPARE found (timestamptz, timestamptz) AS SELECT array_agg(id ORDER BY id) FROM planner_rows WHERE %s', replace(condition, 'ID', 'id'));
    EXECUTE format('EXECUTE found (%L, %L)', a, b) INTO rows;
    EXECUTE format('SELECT array_agg(id ORDER BY id) FROM planner_rows WHERE %s', replace(condition, 'ID', 'id + 0')) INTO expected USING a, b;
    same := rows IS NOT DISTINCT FROM expected;
    DEALLOCATE found;
END
$$;
SET plan_cache_mode = force_generic_plan;
SELECT condition, count(*) FILTER (WHERE NOT same) AS different
  FROM unnest(ARRAY['id_timestamp(ID) >= $1 AND $2 > id_timestamp(ID)', 'id_timestamp(ID) BETWEEN $1 AND $2', 'id_timestamp(ID) = $1 OR id_timestamp(ID) > $2']) AS condition,
       (SELECT instant, lead(instant, 7) OVER (ORDER BY md5(instant::text)) AS other FROM readings WHERE reading = 'id_timestamp(ID)') AS pairs,
       pg_temp.check_generic(condition, instant, other)
 GROUP BY condition ORDER BY condition;
SELECT same FROM pg_temp.check_generic('id_timestamp(ID) >= $1 AND id_timestamp(ID) < $2', NULL, '2026-01-01');
RESET plan_cache_mode;

-- Joins of all kinds, by instants in another table
CREATE TABLE planner_instants (n integer PRIMARY KEY, a timestamptz, b timestamptz);
INSERT INTO planner_instants
SELECT row_number() OVER (ORDER BY md5(instant::text)), instant, lead(instant, 3) OVER (ORDER BY md5(instant::text))
  FROM (SELECT DISTINCT instant FROM readings WHERE reading = 'id_timestamp(ID)') AS instants;
INSERT INTO planner_instants VALUES (0, NULL, '2026-01-01');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CREATE FUNCTION pg_temp.check_join(condition text, join_type text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    query text := CASE WHEN join_type LIKE '%EXISTS'
        THEN 'SELECT array_agg(n ORDER BY n) FROM planner_instants WHERE ' || join_type || ' (SELECT FROM planner_rows WHERE %s)'
        ELSE 'SELECT array_agg((n, id)::text ORDER BY n, id) FROM planner_instants ' || join_type || ' planner_rows ON %s' END;
    rows text;
    expected text;
BEGIN
    EXECUTE format(query, replace(condition, 'ID', 'id')) INTO rows;
    EXECUTE format(query, replace(condition, 'ID', 'id + 0')) INTO expected;
    same := rows IS NOT DISTINCT FROM expected;
END
$$;
SELECT join_type, count(*) FILTER (WHERE NOT same) AS different
  FROM unnest('{JOIN,LEFT JOIN,RIGHT JOIN,EXISTS,NOT EXISTS}'::text[]) AS join_type,
       unnest(ARRAY['id_timestamp(ID) >= a', 'id_timestamp(ID) < b', 'id_timestamp(ID) BETWEEN a AND b', 'id_timestamp(ID) = a',
                    'a > id_timestamp(ID) AND id_timestamp(ID) >= ''2025-01-01''', 'id_timestamp(ID) > a AND id_timestamp(ID) < now()',
                    'id_timestamp(ID) > a OR id_timestamp(ID) < b AND n > 10']) AS condition,
       pg_temp.check_join(condition, join_type)
 GROUP BY join_type ORDER BY join_type;

DROP TABLE planner_rows, planner_positive, planner_instants;

-- Where all ids fulfil one condition and another is known at run time only, the DEFAULT partition is read too.
CREATE TABLE planner_default (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE planner_default_1 PARTITION OF planner_default FOR VALUES FROM (0) TO (1000);
CREATE TABLE planner_default_2 PARTITION OF planner_default DEFAULT;
INSERT INTO planner_default VALUES (5), (make_id('2026-06-01 00:00:00+00', 5));
SELECT count(*) FROM planner_default
 WHERE snowflake_timestamp(id) >= '-infinity'
   AND (id_timestamp(id) < '2011-01-01 00:00:01'::timestamp OR id_timestamp(id) > '2026-04-20 00:00:00+00');
DROP TABLE planner_default;
