-- CALL snowid.backfill: rows that have no id get one with their time.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\set SHOW_CONTEXT never

-- Rows of one millisecond get distinct sequences, in the order of created_at and then of the primary key. More
-- than 1024 go on into the next millisecond; rows of that one follow.
CREATE TABLE backfill (n integer PRIMARY KEY, created_at timestamptz, id bigint UNIQUE);
INSERT INTO backfill SELECT n, timestamptz '2020-01-01 00:00:00.0009+00' + n / 3 * interval '1 ms' FROM generate_series(9, 0, -1) AS n;
INSERT INTO backfill SELECT n, '2020-02-01 00:00:00+00' FROM generate_series(3000, 1001, -1) AS n;
INSERT INTO backfill VALUES (3001, '2020-02-01 00:00:00.001+00'), (3002, '2020-02-01 00:00:00.001001+00'), (3003, '2020-02-01 00:00:00.002+00');
CALL snowid.backfill('backfill', 'id', 'created_at', 1600);
SELECT n, (decode_id(id)).* FROM backfill WHERE n < 1000 ORDER BY n;
SELECT n, (decode_id(id)).* FROM backfill WHERE n IN (1001, 2024, 2025, 3000, 3001, 3002, 3003) ORDER BY n;
SELECT count(*), count(DISTINCT id), min(id_shard(id)), max(id_shard(id)), bool_and(n > before) AS in_order
  FROM (SELECT id, n, lag(n, 1, -1) OVER (ORDER BY id) AS before FROM backfill) AS b;

-- A second run changes nothing; with new old rows it goes on around the ids that are there.
CREATE TABLE backfill_before AS SELECT n, id FROM backfill;
CALL snowid.backfill('backfill', 'id', 'created_at', 1600);
INSERT INTO backfill VALUES (4000, '2020-01-01 00:00:00+00'), (4001, '2019-12-31+00'), (4002, '2020-02-01+00'), (4003, '2020-02-01 00:00:00.001+00'), (4004, '2020-03-01+00');
CALL snowid.backfill('backfill', 'id', 'created_at', 1600);
SELECT n, (decode_id(id)).* FROM backfill WHERE n >= 4000 ORDER BY n;
SELECT count(*) AS unchanged FROM backfill JOIN backfill_before USING (n, id);

-- The rule, row by row, against which all that follows is held: the first number, ms * 1024 + sequence, that is
-- free, from the row's millisecond on, after that of the row before.
CREATE FUNCTION backfill_expected(shard integer, OUT n integer, OUT id bigint) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    taken CONSTANT bigint[] := (SELECT array_agg(b.id) FROM backfill b WHERE id_shard(b.id) = shard);
    seen CONSTANT jsonb := coalesce(jsonb_object_agg(t, true), '{}') FROM unnest(taken) AS t;
    last bigint := -1;
    created_at timestamptz;
BEGIN
    FOR n, created_at IN SELECT b.n, b.created_at FROM backfill b WHERE b.id IS NULL ORDER BY b.created_at, b.n LOOP
        id := greatest(make_id(created_at, shard), last + 1);
        LOOP
            IF id_shard(id) <> shard THEN -- past sequence 1023
                id := make_id(id_timestamp(id - 1) + interval '1 ms', shard);
            END IF;
            EXIT WHEN NOT seen ? id::text;
            id := id + 1;
        END LOOP;
        last := id;
        RETURN NEXT;
    END LOOP;
END
$$;
-- Crowds and gaps, with every third id there already, and ids of another shard in between
CREATE PROCEDURE backfill_check(rows integer, step interval, batch_size integer) LANGUAGE plpgsql AS $$
DECLARE
    wrong integer;
BEGIN
    DROP TABLE IF EXISTS expected;
    TRUNCATE backfill;
    INSERT INTO backfill SELECT g, timestamptz '2021-01-01+00' + g * g % 1009 * step FROM generate_series(1, rows) AS g;
    INSERT INTO backfill SELECT 1000000 + g, '2021-01-01+00', make_id(timestamptz '2021-01-01+00' + g * 3 / 1024 * interval '1 ms', 1601, g * 3 % 1024)
      FROM generate_series(0, rows / 3) AS g;
    INSERT INTO backfill SELECT 2000000 + g, '2021-01-01+00', make_id(timestamptz '2021-01-01+00' + g / 1024 * interval '1 ms', 1602, g % 1024)
      FROM generate_series(0, rows / 3) AS g;
    CREATE TEMP TABLE expected AS SELECT * FROM backfill_expected(1601);
    COMMIT;
    CALL snowid.backfill('backfill', 'id', 'created_at', 1601, batch_size => batch_size);
    SELECT count(*) INTO wrong FROM expected e JOIN backfill b USING (n) WHERE b.id IS DISTINCT FROM e.id;
    RAISE WARNING '% rows, % each, in batches of %: % are wrong', (SELECT count(*) FROM expected), step, batch_size, wrong;
END
$$;
CALL backfill_check(2500, '0', 10000);
CALL backfill_check(2500, '0', 700);
CALL backfill_check(2500, '1 us', 10000);
CALL backfill_check(2500, '7 us', 999);
CALL backfill_check(2500, '1 ms', 10000);
CALL backfill_check(2500, '1 hour', 1000);
CALL backfill_check(40, '1 us', 1);
-- A row before more taken ids than are looked at first, and rows among them
TRUNCATE backfill;
INSERT INTO backfill SELECT g, NULL, make_id(timestamptz '2021-01-01+00' + g / 1024 * interval '1 ms', 1601, g % 1024) FROM generate_series(0, 29999) AS g;
INSERT INTO backfill SELECT 100000 + g, timestamptz '2021-01-01+00' + g % 3 * interval '14 ms' FROM generate_series(0, 2) AS g;
CREATE TABLE backfill_expect AS SELECT * FROM backfill_expected(1601);
CALL snowid.backfill('backfill', 'id', 'created_at', 1601);
SELECT n, (decode_id(b.id)).*, b.id = e.id AS as_expected FROM backfill_expect e JOIN backfill b USING (n) ORDER BY n;

-- Ids that were drawn by the default meanwhile count as taken, and what is drawn later is greater than all.
TRUNCATE backfill;
ALTER TABLE backfill ALTER COLUMN id SET DEFAULT next_id(1603);
INSERT INTO backfill (n, created_at) SELECT g, clock_timestamp() FROM generate_series(1, 3000) AS g;
INSERT INTO backfill SELECT 10000 + n, id_timestamp(id), NULL FROM backfill;
SELECT pg_sleep(0.01);
CALL snowid.backfill('backfill', 'id', 'created_at', 1603, batch_size => 1000);
SELECT count(*), count(id), count(DISTINCT id) FROM backfill;
INSERT INTO backfill (n) VALUES (0);
SELECT id = max AS is_last FROM backfill, (SELECT max(id) FROM backfill) AS m WHERE n = 0;
ALTER TABLE backfill ALTER COLUMN id DROP DEFAULT;
-- A shard that has drawn nothing won't draw these ids either, should the clock go back.
TRUNCATE backfill;
INSERT INTO backfill VALUES (1, '2011-01-01 00:00:00.002+00');
CALL snowid.backfill('backfill', 'id', 'created_at', 1599);
SELECT last_id = id AS is_last FROM snowid.generators, backfill WHERE shard_id = 1599;

-- What has no time that an id can have is left alone and told of, with the limits exact.
TRUNCATE backfill;
INSERT INTO backfill VALUES (1, NULL), (2, 'infinity'), (3, '-infinity'), (4, '2010-12-31 23:59:59.999999+00'), (5, '2011-01-01+00'), (6, '2999-01-01+00'), (7, '2020-01-01+00');
CALL snowid.backfill('backfill', 'id', 'created_at', 1604);
SELECT n, created_at, (decode_id(id)).* FROM backfill ORDER BY n;
-- The end of an epoch: more than fit into its last millisecond
TRUNCATE backfill;
SELECT id_timestamp(9223372036854775807, '1985-01-01+00') AS end \gset
INSERT INTO backfill SELECT n, timestamptz :'end' FROM generate_series(1, 1025) AS n;
INSERT INTO backfill VALUES (0, timestamptz :'end' - interval '1 ms'), (1026, timestamptz :'end' + interval '999 us'), (1027, timestamptz :'end' + interval '1 ms'), (1028, '1985-01-01+00'), (1029, '1984-12-31 23:59:59.999999+00');
CALL snowid.backfill('backfill', 'id', 'created_at', 8191, epoch => '1985-01-01+00');
SELECT n, id, (decode_id(id, '1985-01-01+00')).* FROM backfill WHERE n NOT BETWEEN 2 AND 1023 ORDER BY n;
-- Called by another procedure, it leaves nothing behind.
TRUNCATE backfill;
INSERT INTO backfill SELECT n, '2020-01-01+00' FROM generate_series(1, 20) AS n;
DO $$
BEGIN
    CALL snowid.backfill('backfill', 'id', 'created_at', 1604, batch_size => 7);
    RAISE WARNING 'search_path is %', current_setting('search_path');
END
$$;
SELECT count(DISTINCT id), min(id_sequence(id)), max(id_sequence(id)) FROM backfill;

-- timestamp and date are read as UTC, whatever TimeZone says.
SET timezone = 'America/St_Johns';
CREATE TABLE backfill_naive (t timestamp, d date, id bigint, id_of_d bigint);
INSERT INTO backfill_naive VALUES ('2020-06-30 23:59:59.9999', '2020-06-30'), ('2020-07-01', '2020-07-01'), ('2020-07-01', '2020-07-01'), ('infinity', '-infinity'), ('294276-12-31 23:59:59', '5874897-12-31'), ('4713-01-01 BC', '4713-01-01 BC'), (NULL, NULL);
CALL snowid.backfill('backfill_naive', 'id', 't', 1605);
CALL snowid.backfill('backfill_naive', 'id_of_d', 'd', 1605, batch_size => 2, epoch => '2020-06-30+00');
SET timezone = 'UTC';
SELECT t, d, (decode_id(id)).*, (decode_id(id_of_d, '2020-06-30+00')).* FROM backfill_naive ORDER BY id, id_of_d;

-- Partitions, by time and with an id that moves its row; children; no unique index
CREATE TABLE backfill_part (id bigint, created_at timestamptz NOT NULL, n integer, UNIQUE (id, created_at)) PARTITION BY RANGE (created_at);
CREATE TABLE backfill_part_1 PARTITION OF backfill_part FOR VALUES FROM ('2020-01-01+00') TO ('2020-01-02+00');
CREATE TABLE backfill_part_2 PARTITION OF backfill_part FOR VALUES FROM ('2020-01-02+00') TO ('2020-01-03+00');
INSERT INTO backfill_part SELECT NULL, timestamptz '2020-01-02+00' - interval '1 ms', n FROM generate_series(1, 1500) AS n;
INSERT INTO backfill_part SELECT NULL, timestamptz '2020-01-02+00', n FROM generate_series(1, 700) AS n;
CALL snowid.backfill('backfill_part', 'id', 'created_at', 1606, batch_size => 300);
SELECT tableoid::regclass, id_timestamp(id), count(*), count(DISTINCT id), min(id_sequence(id)), max(id_sequence(id)) FROM backfill_part GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TABLE backfill_by_id (id bigint UNIQUE, created_at timestamptz) PARTITION BY RANGE (id);
CREATE TABLE backfill_by_id_old PARTITION OF backfill_by_id FOR VALUES FROM (0) TO (id_floor('2021-01-01+00'));
CREATE TABLE backfill_by_id_rest PARTITION OF backfill_by_id DEFAULT;
INSERT INTO backfill_by_id (created_at) VALUES ('2020-12-31 23:59:59.999+00'), ('2021-01-01+00');
CALL snowid.backfill('backfill_by_id', 'id', 'created_at', 1606);
SELECT tableoid::regclass, id_timestamp(id) FROM backfill_by_id ORDER BY id;
CREATE TABLE backfill_parent (id bigint UNIQUE, created_at timestamptz);
CREATE TABLE backfill_child () INHERITS (backfill_parent);
INSERT INTO backfill_parent (created_at) VALUES ('2020-01-01+00');
INSERT INTO backfill_child (created_at) VALUES ('2020-01-01+00');
CALL snowid.backfill('backfill_parent', 'id', 'created_at', 1606);
SELECT tableoid::regclass, (decode_id(id)).* FROM backfill_parent ORDER BY id;
-- Only with a unique index on the column alone, that covers all rows at once, are writers let in meanwhile.
SELECT t, (snowid_internal.backfill_statements(t, 'id', 'created_at')).lock
  FROM unnest(ARRAY['backfill', 'backfill_part', 'backfill_by_id', 'backfill_parent', 'backfill_child']::regclass[]) AS t;

-- Names, and a search_path that leads astray, also what is compiled at the first call of a session; functions that
-- look like the extension's; an isolation level that would see what was
\c -
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\set SHOW_CONTEXT never
CREATE SCHEMA "backfill 'x'";
CREATE TABLE "backfill 'x'"."T ""$1" ("n %I" integer, "At" timestamptz, "Id, $$" bigint, PRIMARY KEY ("n %I") INCLUDE ("At"));
INSERT INTO "backfill 'x'"."T ""$1" VALUES (2, '2020-01-01+00'), (1, '2020-01-01+00');
CREATE FUNCTION "backfill 'x'".clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''astray''; END';
CREATE FUNCTION "backfill 'x'".count(integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''astray''; END';
CREATE DOMAIN "backfill 'x'".timestamptz AS pg_catalog.timestamptz CHECK (VALUE IS NULL);
CREATE FUNCTION public.id_timestamp(integer) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''astray''; END';
SET search_path = "backfill 'x'", pg_catalog;
SET default_transaction_isolation = 'repeatable read';
CALL snowid.backfill('"T ""$1"', 'Id, $$', 'At', 1607, batch_size => 1);
RESET default_transaction_isolation;
SHOW search_path;
RESET search_path;
DROP FUNCTION public.id_timestamp(integer);
SELECT "n %I", id_sequence("Id, $$") FROM "backfill 'x'"."T ""$1" ORDER BY "Id, $$";

-- Who may: whoever may update the column, and is granted the procedure and advance. Where row security would
-- hide taken ids it is refused.
CREATE ROLE regress_snowid_backfill;
GRANT EXECUTE ON PROCEDURE snowid.backfill TO regress_snowid_backfill;
GRANT EXECUTE ON FUNCTION snowid.advance(bigint, timestamptz) TO regress_snowid_backfill;
TRUNCATE backfill;
INSERT INTO backfill VALUES (1, '2020-01-01+00'), (2, '2020-01-01+00');
GRANT SELECT ON backfill TO regress_snowid_backfill;
SET ROLE regress_snowid_backfill;
CALL snowid.backfill('backfill', 'id', 'created_at', 1608);
\echo :SQLSTATE
-- Nor can it hold up others' backfills.
SELECT snowid_internal.lock_backfill('backfill');
\echo :SQLSTATE
SELECT snowid_internal.lock_backfill('pg_class');
\echo :SQLSTATE
SELECT snowid_internal.lock_backfill(0);
\echo :SQLSTATE
RESET ROLE;
GRANT UPDATE (id) ON backfill TO regress_snowid_backfill;
ALTER TABLE backfill ENABLE ROW LEVEL SECURITY;
CREATE POLICY backfill_one ON backfill USING (n = 1);
SET ROLE regress_snowid_backfill;
CALL snowid.backfill('backfill', 'id', 'created_at', 1608);
\echo :SQLSTATE
RESET ROLE;
ALTER TABLE backfill DISABLE ROW LEVEL SECURITY;
SET ROLE regress_snowid_backfill;
CALL snowid.backfill('backfill', 'id', 'created_at', 1608);
RESET ROLE;
SELECT n, (decode_id(id)).* FROM backfill ORDER BY n;
REVOKE EXECUTE ON PROCEDURE snowid.backfill FROM regress_snowid_backfill;
SET ROLE regress_snowid_backfill;
CALL snowid.backfill('backfill', 'id', 'created_at', 1608);
\echo :SQLSTATE
RESET ROLE;

-- Refused
CALL snowid.backfill('backfill_naive', 'nope', 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 'nope', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 't', 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill', 'n', 'created_at', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 'id_of_d', 1609);
\echo :SQLSTATE
CALL snowid.backfill('snowid.status', 'id', 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill(0, 'id', 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 8192);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', -1);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 1609, batch_size => 0);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 1609, batch_size => 1000001);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 1609, epoch => 'infinity');
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 1609, epoch => '2020-01-01 00:00:00.0001+00');
\echo :SQLSTATE
CALL snowid.backfill(NULL, 'id', 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', NULL, 't', 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', NULL, 1609);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', NULL);
\echo :SQLSTATE
CALL snowid.backfill('backfill_naive', 'id', 't', 1609, batch_size => NULL);
\echo :SQLSTATE
-- It commits, so it can't be part of a transaction.
BEGIN;
CALL snowid.backfill('backfill_naive', 'id', 't', 1609);
\echo :SQLSTATE
ROLLBACK;

DROP TABLE backfill, backfill_before, backfill_expect, backfill_naive, backfill_part, backfill_by_id, backfill_parent, backfill_child;
DROP SCHEMA "backfill 'x'" CASCADE;
DROP PROCEDURE backfill_check;
DROP FUNCTION backfill_expected;
REVOKE ALL ON FUNCTION snowid.advance(bigint, timestamptz) FROM regress_snowid_backfill;
DROP ROLE regress_snowid_backfill;
