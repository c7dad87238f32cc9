-- Partitions by time that are made, listed and dropped. The periods here are of the 2040s and of the
-- 2010s, so that nothing depends on what the clock says: ahead and retention reach from it to an instant.
\set SHOW_CONTEXT never
\pset null NULL
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\getenv here PG_ABS_SRCDIR
\set include :here '/include/error_of.sql'
\i :include
CREATE SCHEMA partitions;
SET search_path = public, partitions;

-- How far an instant is from now, as snowid takes it.
CREATE FUNCTION pg_temp.until(at timestamptz) RETURNS interval LANGUAGE sql
    AS $$ SELECT at - clock_timestamp() $$;

-- Months. The first partition is from MINVALUE; each is a whole month, whatever the session's time zone;
-- calling it again makes nothing.
SET timezone = 'America/New_York';
CREATE TABLE partitions.month (id bigint PRIMARY KEY DEFAULT next_id(5), n integer) PARTITION BY RANGE (id);
SET timezone = 'UTC';
SELECT * FROM snowid.create_partitions('month', '1 month', starting => '2040-01-31 23:59:59.999+00');
SELECT * FROM snowid.create_partitions('month', '1 month', starting => '2040-01-31 23:59:59.999+00');
SET timezone = 'America/New_York';
SELECT partition, from_time AT TIME ZONE 'UTC' AS from_time, to_time AT TIME ZONE 'UTC' AS to_time
  FROM snowid.create_partitions('month', '1 month', ahead => pg_temp.until('2040-05-15 00:00:00+00'));
SET timezone = 'UTC';
SELECT * FROM snowid.create_partitions('month', '1 month', ahead => pg_temp.until('2040-05-15 00:00:00+00'));
SELECT partition, from_id, to_id, from_time, to_time, estimated_rows, total_size > 0 AS has_size FROM snowid.partitions('month');
SELECT bool_and(from_id IS NULL OR from_id = id_floor(from_time)), bool_and(to_id = id_floor(to_time)) FROM snowid.partitions('month');
INSERT INTO month (id) VALUES
    ('-9223372036854775808'), (-1), (0), (make_id('2040-01-31 23:59:59.999+00', 8191, 1023)),
    (make_id('2040-02-01 00:00:00+00', 0)), (make_id('2040-05-31 23:59:59.999+00', 8191, 1023));
SELECT tableoid::regclass, id, id_timestamp(id) FROM month ORDER BY id;
ANALYZE month;
SELECT partition, estimated_rows FROM snowid.partitions('month');
-- Past the last bound there is nothing yet.
INSERT INTO month (id) VALUES (make_id('2040-06-01 00:00:00+00', 0));
\echo :SQLSTATE
-- Another interval goes on from there, the first one up to its next whole period.
SELECT * FROM snowid.create_partitions('month', '1 year', ahead => pg_temp.until('2041-01-02'));
-- The end of the layout: the last partition takes all that is left, up to the greatest id.
SELECT * FROM snowid.create_partitions('month', '1 year', ahead => '100 years');
SELECT * FROM snowid.create_partitions('month', '1 day', ahead => '100 years');
INSERT INTO month (id) VALUES (9223372036854775807) RETURNING tableoid::regclass, id_timestamp(id);
-- Nothing of that is past.
SELECT * FROM snowid.drop_partitions('month', '0');

-- Weeks begin on Monday, days at midnight, in UTC; others are counted from Monday, 1 January of the year 1.
SELECT every, at, to_char(snowid_internal.period_start(every, at), 'Dy YYYY-MM-DD HH24:MI:SS') AS period_start
  FROM (VALUES
    (interval '7 days', timestamptz '2026-01-01 00:00:00+00'), ('7 days', '2026-01-04 23:59:59.999999+00'),
    ('7 days', '2026-01-05 00:00:00+00'), ('7 days', '1969-12-31 23:00:00+00'),
    ('1 day', '2026-03-08 07:00:00+00'), ('24 hours', '2026-03-08 07:00:00+00'), ('1 hour', '2026-03-08 07:59:59.999+00'),
    ('90 minutes', '2026-03-08 07:00:00+00'), ('1 second', '2026-03-08 07:00:00.999999+00'), ('2 days -1 hour', '2026-03-08 07:00:00+00'),
    ('1 month', '2024-02-29 23:59:59.999999+00'), ('1 month', '2026-01-31 12:00:00+00'), ('3 months', '2026-06-30 12:00:00+00'),
    ('1 year', '2026-12-31 23:59:59+00'), ('5 months', '2026-12-31 23:59:59+00'), ('10 years', '2026-12-31 23:59:59+00')
  ) AS v (every, at);
SET timezone = 'America/New_York';
SELECT snowid_internal.period_start('1 day', '2026-03-08 07:00:00+00') AT TIME ZONE 'UTC' AS day,
       snowid_internal.period_start('1 month', '2026-03-01 01:00:00+00') AT TIME ZONE 'UTC' AS month;
SET timezone = 'UTC';
CREATE TABLE partitions.week (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('week', '1 week', starting => '2040-01-01', ahead => pg_temp.until('2040-01-16 12:00'));
CREATE TABLE partitions.hour (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('hour', '1 hour', starting => '2040-03-10 22:30', ahead => pg_temp.until('2040-03-11 01:30'));
CREATE TABLE partitions.second (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('second', '90 seconds', starting => '2040-03-10 22:30', ahead => pg_temp.until('2040-03-10 22:32'));

-- Called for the first time without a start, on a table in use: one partition for all ids until now.
CREATE TABLE partitions.first (id bigint PRIMARY KEY DEFAULT next_id(5)) PARTITION BY RANGE (id);
SELECT count(*), count(*) FILTER (WHERE from_time = '-infinity'), count(*) FILTER (WHERE to_time > now()),
       max(to_time) > now() + interval '1 day' FROM snowid.create_partitions('first', '1 day');
INSERT INTO first DEFAULT VALUES;
SELECT p.from_time FROM first f JOIN snowid.partitions('first') p ON p.partition = f.tableoid;
-- No gap is left where nobody called it for years.
CREATE TABLE partitions.idle (id bigint PRIMARY KEY DEFAULT next_id(5)) PARTITION BY RANGE (id);
CREATE TABLE partitions.idle_1 PARTITION OF idle FOR VALUES FROM (MINVALUE) TO (id_floor('2015-07-01'));
SELECT count(*) > 10, min(from_time), bool_and(from_time = before) AS without_gaps, max(to_time) >= now() + interval '1 year' AS ahead
  FROM (SELECT from_time, to_time, lag(to_time, 1, '2015-07-01') OVER (ORDER BY from_time) AS before
          FROM snowid.create_partitions('idle', '1 year')) AS made;
INSERT INTO idle DEFAULT VALUES;
-- A thousand in a call; the next one goes on.
CREATE TABLE partitions.many (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT count(*), min(from_time), max(to_time) FROM snowid.create_partitions('many', '1 day', starting => '2037-01-01', ahead => pg_temp.until('2039-11-01 12:00'));
SELECT count(*), min(from_time), max(to_time) FROM snowid.create_partitions('many', '1 day', ahead => pg_temp.until('2039-11-01 12:00'));
DROP TABLE many;

-- Bounds made by hand: it goes on from the last one, fills what is missing between, and below only if it is told
-- from when on, then from MINVALUE.
CREATE TABLE partitions.hand (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partitions.hand_a PARTITION OF hand FOR VALUES FROM (make_id('2040-02-10 10:00:00.123+00', 5, 7)) TO (id_floor('2040-02-20'));
CREATE TABLE partitions.hand_b PARTITION OF hand FOR VALUES FROM (id_floor('2040-04-10')) TO (id_floor('2040-04-20'));
SELECT * FROM snowid.create_partitions('hand', '1 month', ahead => pg_temp.until('2040-04-25'));
SELECT * FROM snowid.create_partitions('hand', '1 month', starting => '2040-02-10 10:00:00.124+00', ahead => '0');
SELECT * FROM snowid.create_partitions('hand', '1 month', starting => '2040-01-10', ahead => '0');
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('hand');
CREATE TABLE partitions.negative (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partitions.negative_1 PARTITION OF negative FOR VALUES FROM (MINVALUE) TO (-5);
CREATE TABLE partitions.negative_2 PARTITION OF negative FOR VALUES FROM (-5) TO (0);
SELECT * FROM snowid.create_partitions('negative', '10 years', ahead => pg_temp.until('2040-04-25'));
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('negative');
SELECT * FROM snowid.drop_partitions('negative', pg_temp.until('2010-01-01') * -1);

-- Before the epoch there are no ids: the first partition is from MINVALUE until the end of the epoch's own period.
CREATE TABLE partitions.early (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partitions.early_late PARTITION OF early FOR VALUES FROM (id_floor('2013-01-01')) TO (MAXVALUE);
SELECT * FROM snowid.create_partitions('early', '1 year', starting => '1999-06-01');

-- Retention: what ended before it goes, the oldest first, to the very instant of a bound.
CREATE TABLE partitions.old (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT count(*) > 10 FROM snowid.create_partitions('old', '1 year', starting => '2012-02-03');
INSERT INTO old SELECT make_id(at, 5) FROM generate_series(timestamptz '2011-01-01', '2014-12-31', '1 month') AS at;
SELECT * FROM snowid.drop_partitions('old', pg_temp.until('2012-12-31 23:59:59+00') * -1);
SELECT partition, from_time, to_time FROM snowid.partitions('old') LIMIT 2;
SELECT * FROM snowid.drop_partitions('old', pg_temp.until('2013-01-01 00:00:00+00') * -1);
SELECT min(id_timestamp(id)) FROM old;
-- The first is not from MINVALUE any more: older ids are refused, until one says from when on they shall be taken.
INSERT INTO old VALUES (make_id('2012-05-05', 5));
\echo :SQLSTATE
SELECT * FROM snowid.create_partitions('old', '1 year');
SELECT * FROM snowid.create_partitions('old', '1 year', starting => '2012-05-05');
INSERT INTO old VALUES (make_id('2012-05-05', 5)), (-1);
-- Detached, they stay as tables; one that is in the way is named.
SELECT * FROM snowid.drop_partitions('old', pg_temp.until('2014-06-01 00:00:00+00') * -1, detach_only => true);
SELECT count(*) FROM partitions.old_p20130101;
SELECT partition, from_time, to_time FROM snowid.partitions('old') LIMIT 2;
SELECT * FROM snowid.create_partitions('old', '1 year', starting => '2013-05-05');
\echo :SQLSTATE
-- Never the last, nor any other while there is none for the present time.
CREATE TABLE partitions.last (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.drop_partitions('last', '0');
CREATE TABLE partitions.last_1 PARTITION OF last FOR VALUES FROM (MINVALUE) TO (id_floor('2012-01-01'));
CREATE TABLE partitions.last_2 PARTITION OF last FOR VALUES FROM (id_floor('2012-01-01')) TO (id_floor('2013-01-01'));
SELECT * FROM snowid.drop_partitions('last', '10 years');
\echo :SQLSTATE
SELECT count(*) > 10 FROM snowid.create_partitions('last', '1 year');
SELECT * FROM snowid.drop_partitions('last', pg_temp.until('2013-06-01') * -1);
SELECT * FROM pg_temp.error_of($$ SELECT * FROM snowid.drop_partitions('last', '0') $$);
SELECT count(*), bool_and(to_time > now()) FROM snowid.partitions('last');
-- A layout or an epoch by which all ids seem old drops nothing: snowflakes read as ids of next_id(), and ids of a later epoch.
CREATE TABLE partitions.tweets (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT count(*) > 10, min(from_time) FROM snowid.create_partitions('tweets', '1 year', starting => '2015-02-03', layout => 'twitter');
SELECT code, message, regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*', 'THEN') AS detail
  FROM pg_temp.error_of($$ SELECT * FROM snowid.drop_partitions('tweets', '1 day') $$);
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('tweets', 'twitter') LIMIT 2;
SELECT * FROM snowid.drop_partitions('tweets', pg_temp.until('2017-06-01 00:00:00+00') * -1, layout => 'twitter');
CREATE TABLE partitions.epoch (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT count(*) > 3, min(from_time), max(to_time) > now() FROM snowid.create_partitions('epoch', '3 months', starting => '2025-02-03', epoch => '2025-01-01');
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('epoch', epoch => '2025-01-01') LIMIT 2;
SELECT to_id = id_floor('2025-04-01', '2025-01-01') FROM snowid.partitions('epoch', epoch => '2025-01-01') LIMIT 1;
SELECT message FROM pg_temp.error_of($$ SELECT * FROM snowid.drop_partitions('epoch', '1 day') $$);

-- Layouts of the table, with a unit of 10 ms, of an hour, and with bits unused above the time.
INSERT INTO snowid.custom_layouts (name, epoch, time_unit, time_bits, field_names, field_bits) VALUES
    ('regress_hours', '2020-01-01', '1 hour', 20, '{n}', '{40}'), ('regress_small', '2020-01-01', '1 ms', 40, '{n}', '{12}');
CREATE TABLE partitions.sonyflake (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('sonyflake', '1 month', starting => '2040-01-01', ahead => pg_temp.until('2040-02-15'), layout => 'sonyflake');
SELECT bool_and(to_id = floor_as('sonyflake', to_time)) FROM snowid.partitions('sonyflake', 'sonyflake');
CREATE TABLE partitions.hours (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('hours', '90 minutes', starting => '2040-01-01', ahead => pg_temp.until('2040-01-01 02:00'), layout => 'regress_hours');
SELECT * FROM snowid.create_partitions('hours', '20 minutes', ahead => pg_temp.until('2040-02-15'), layout => 'regress_hours');
\echo :SQLSTATE
CREATE TABLE partitions.small_layout (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partitions.small_layout_1 PARTITION OF small_layout FOR VALUES FROM (floor_as('regress_small', '2050-01-01')) TO (4503599627370496);
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('small_layout', 'regress_small');
SELECT * FROM snowid.create_partitions('small_layout', '1 year', ahead => '100 years', layout => 'regress_small');
DROP TABLE small_layout_1;
SELECT * FROM snowid.create_partitions('small_layout', '10 years', starting => '2050-01-01', ahead => '100 years', layout => 'regress_small');
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('small_layout', 'regress_small');
DELETE FROM snowid.custom_layouts WHERE name LIKE 'regress\_%';

-- A DEFAULT partition is listed last and never dropped. Rows in it that belong into a new one stop that: move them.
CREATE TABLE partitions.fallback (id bigint NOT NULL, n integer) PARTITION BY RANGE (id);
CREATE TABLE partitions.fallback_default PARTITION OF fallback DEFAULT;
INSERT INTO fallback VALUES (make_id('2040-02-03', 5), 1), (make_id('2040-03-03', 5), 2);
SELECT * FROM snowid.drop_partitions('fallback', '0');
SELECT * FROM snowid.create_partitions('fallback', '1 month', starting => '2040-01-02', ahead => pg_temp.until('2040-03-15'));
\echo :SQLSTATE
BEGIN;
ALTER TABLE fallback DETACH PARTITION fallback_default;
SELECT * FROM snowid.create_partitions('fallback', '1 month', starting => '2040-01-02', ahead => pg_temp.until('2040-03-15'));
WITH moved AS (DELETE FROM fallback_default RETURNING *) INSERT INTO fallback SELECT * FROM moved;
ALTER TABLE fallback ATTACH PARTITION fallback_default DEFAULT;
COMMIT;
SELECT tableoid::regclass, n FROM fallback ORDER BY n;
SELECT partition, from_id, to_id, from_time, to_time FROM snowid.partitions('fallback');

-- Reading and writing go on meanwhile: nothing stronger is held on the table.
CREATE TABLE partitions.locked (id bigint NOT NULL) PARTITION BY RANGE (id);
BEGIN;
SELECT partition FROM snowid.create_partitions('locked', '1 month', starting => '2040-01-02');
SELECT DISTINCT mode FROM pg_locks WHERE relation = 'locked'::regclass AND pid = pg_backend_pid() ORDER BY mode;
COMMIT;

-- A partition is what CREATE TABLE … PARTITION OF would make: defaults, checks, generated columns, indexes,
-- triggers, storage; and it belongs to whom the table belongs to.
CREATE ROLE regress_snowid_partitions;
CREATE TABLE partitions."Odd ""name" (
    id bigint DEFAULT next_id(5), at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED,
    kind text COMPRESSION pglz NOT NULL DEFAULT 'x' CHECK (kind <> ''), n integer, dropped integer, PRIMARY KEY (id)
) PARTITION BY RANGE (id);
ALTER TABLE "Odd ""name" DROP COLUMN dropped;
ALTER TABLE "Odd ""name" ALTER kind SET STORAGE EXTERNAL;
CREATE INDEX ON "Odd ""name" (n);
CREATE FUNCTION partitions.on_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER on_row BEFORE INSERT ON "Odd ""name" FOR EACH ROW EXECUTE FUNCTION partitions.on_row();
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_snowid_partitions LOCATION '';
ALTER TABLE "Odd ""name" SET TABLESPACE regress_snowid_partitions;
ALTER TABLE "Odd ""name" OWNER TO regress_snowid_partitions;
SELECT partition FROM snowid.create_partitions('"Odd ""name"', '1 month', starting => '2040-01-01');
CREATE TABLE partitions.by_hand PARTITION OF "Odd ""name" FOR VALUES FROM (id_floor('2040-02-01')) TO (MAXVALUE);
ALTER TABLE by_hand OWNER TO regress_snowid_partitions;
SELECT count(*) AS columns, bool_and((a.attname, a.atttypid, a.attnotnull, a.attgenerated, a.attstorage, a.attcompression, a.attislocal, a.attinhcount, pg_get_expr(d.adbin, d.adrelid))
    IS NOT DISTINCT FROM (b.attname, b.atttypid, b.attnotnull, b.attgenerated, b.attstorage, b.attcompression, b.attislocal, b.attinhcount, pg_get_expr(e.adbin, e.adrelid))) AS same
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  FULL JOIN (pg_attribute b LEFT JOIN pg_attrdef e ON e.adrelid = b.attrelid AND e.adnum = b.attnum)
         ON b.attrelid = 'by_hand'::regclass AND b.attnum = a.attnum
 WHERE a.attrelid = '"Odd ""name_p20400101"'::regclass AND a.attnum > 0;
SELECT relation, count(*) FILTER (WHERE contype = 'c') AS checks, count(*) FILTER (WHERE contype = 'p') AS keys, bool_and(NOT conislocal) AS inherited,
       (SELECT count(*) FROM pg_index WHERE indrelid = relation) AS indexes,
       (SELECT count(*) FROM pg_trigger WHERE tgrelid = relation) AS triggers,
       (SELECT (relowner::regrole, relpersistence, relkind, spcname) FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace WHERE c.oid = relation) AS is
  FROM unnest('{"\"Odd \"\"name_p20400101\"",by_hand}'::regclass[]) AS relation JOIN pg_constraint ON conrelid = relation AND contype IN ('c', 'p')
 GROUP BY relation ORDER BY relation::text;
DROP TABLE "Odd ""name";
DROP TABLESPACE regress_snowid_partitions;
-- Names are cut to what fits, between characters.
CREATE TABLE partitions."aäääääääääääääääääääääääääääääää" (id bigint NOT NULL) PARTITION BY RANGE (id);
SELECT partition, octet_length(trim('"' FROM partition::text))
  FROM snowid.create_partitions('"aäääääääääääääääääääääääääääääää"', '1 month', starting => '2040-01-01');

-- Partitions that are partitioned themselves are dropped whole, and measured with what is below them.
CREATE TABLE partitions.nested (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partitions.nested_1 PARTITION OF nested FOR VALUES FROM (MINVALUE) TO (id_floor('2012-01-01')) PARTITION BY LIST (id_shard(id));
CREATE TABLE partitions.nested_1_5 PARTITION OF nested_1 FOR VALUES IN (5);
CREATE TABLE partitions.nested_2 PARTITION OF nested FOR VALUES FROM (id_floor('2012-01-01')) TO (MAXVALUE);
INSERT INTO nested SELECT make_id('2011-05-05', 5, n) FROM generate_series(0, 99) AS n;
ANALYZE nested;
SELECT partition, estimated_rows, total_size >= 8192 AS has_size FROM snowid.partitions('nested');
SELECT partition FROM snowid.drop_partitions('nested', '1 year');
SELECT to_regclass('partitions.nested_1_5');

-- A table that foreign keys refer to: partitions are dropped unless rows in them are referred to.
CREATE TABLE partitions.referred (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE partitions.referred_1 PARTITION OF referred FOR VALUES FROM (MINVALUE) TO (id_floor('2012-01-01'));
CREATE TABLE partitions.referred_2 PARTITION OF referred FOR VALUES FROM (id_floor('2012-01-01')) TO (id_floor('2013-01-01'));
CREATE TABLE partitions.referred_3 PARTITION OF referred FOR VALUES FROM (id_floor('2013-01-01')) TO (MAXVALUE);
CREATE TABLE partitions.referring (id bigint REFERENCES referred);
INSERT INTO referred VALUES (make_id('2011-05-05', 5)), (make_id('2012-05-05', 5));
INSERT INTO referring VALUES (make_id('2012-05-05', 5));
SELECT code FROM pg_temp.error_of($$ SELECT * FROM snowid.drop_partitions('referred', '1 year') $$);
SELECT partition FROM snowid.drop_partitions('referred', pg_temp.until('2012-06-01') * -1);
TRUNCATE referring;
SELECT partition FROM snowid.drop_partitions('referred', '1 year');
SELECT to_regclass('partitions.referred_1'), to_regclass('partitions.referred_2'), count(*) FROM referred;
-- A table that refers to others is dropped from without a lock on those.
CREATE TABLE partitions.users (id bigint PRIMARY KEY);
CREATE TABLE partitions.refers (id bigint NOT NULL, user_id bigint REFERENCES users) PARTITION BY RANGE (id);
CREATE TABLE partitions.refers_1 PARTITION OF refers FOR VALUES FROM (MINVALUE) TO (id_floor('2012-01-01'));
CREATE TABLE partitions.refers_2 PARTITION OF refers FOR VALUES FROM (id_floor('2012-01-01')) TO (MAXVALUE);
BEGIN;
SELECT partition FROM snowid.drop_partitions('refers', '1 year');
SELECT count(*) FROM pg_locks WHERE relation = 'users'::regclass AND pid = pg_backend_pid();
COMMIT;

-- What is refused
SELECT e.* FROM (VALUES ('''0'''), ('''-1 day'''), ('''1 month 1 day'''), ('''1 month -30 days'''), ('''1 month 1 second'''), ('''-1 month 40 days'''), ('''0.5 seconds'''), ('NULL')) AS v (every),
    pg_temp.error_of('SELECT * FROM snowid.create_partitions(''month'', ' || every || ')') AS e;
SELECT e.code, e.message FROM (VALUES ('ahead => ''-1 second'''), ('starting => ''infinity'''), ('starting => ''-infinity'''), ('layout => NULL'), ('layout => ''unheard of'''),
        ('epoch => ''infinity'''), ('starting => ''2010-01-01'', layout => ''pg_snowid'', epoch => ''2025-01-01 00:00:00.0001+00''')) AS v (argument),
    pg_temp.error_of('SELECT * FROM snowid.create_partitions(''month'', ''1 day'', ' || argument || ')') AS e;
SELECT e.code, e.message FROM (VALUES ('''-1 second'''), ('NULL'), ('''1 day'', detach_only => NULL'), ('''1 day'', layout => NULL'), ('''1 day'', layout => ''unheard of''')) AS v (arguments),
    pg_temp.error_of('SELECT * FROM snowid.drop_partitions(''month'', ' || arguments || ')') AS e;
CREATE TABLE partitions.plain (id bigint);
CREATE TABLE partitions.listed (id bigint) PARTITION BY LIST (id);
CREATE TABLE partitions.two (id bigint, n integer) PARTITION BY RANGE (id, n);
CREATE TABLE partitions.small (id integer) PARTITION BY RANGE (id);
CREATE TABLE partitions.expression (id bigint) PARTITION BY RANGE (id_timestamp(id));
SELECT e.* FROM (VALUES ('plain'), ('listed'), ('two'), ('small'), ('expression')) AS v (name),
    pg_temp.error_of(format('SELECT * FROM snowid.create_partitions(%L, ''1 day'')', name)) AS e;
SELECT e.code, e.message FROM (VALUES ('create_partitions(''plain'', ''1 day'')'), ('drop_partitions(''plain'', ''1 day'')'), ('partitions(''plain'')'),
        ('create_partitions(NULL, ''1 day'')'), ('drop_partitions(NULL, ''1 day'')'), ('create_partitions(''nowhere'', ''1 day'')'),
        ('create_partitions(99999999, ''1 day'')'), ('drop_partitions(99999999, ''1 day'')'), ('partitions(99999999)')) AS v (call),
    pg_temp.error_of('SELECT * FROM snowid.' || call) AS e;
SELECT * FROM snowid.partitions(NULL);

-- Who may: those who are granted it, on what is theirs.
CREATE TABLE partitions.theirs (id bigint NOT NULL) PARTITION BY RANGE (id);
GRANT USAGE, CREATE ON SCHEMA partitions TO regress_snowid_partitions;
SET ROLE regress_snowid_partitions;
SELECT * FROM snowid.create_partitions('theirs', '1 month', starting => '2040-01-01');
\echo :SQLSTATE
SELECT * FROM snowid.drop_partitions('theirs', '1 month');
\echo :SQLSTATE
SELECT * FROM snowid.partitions('theirs');
\echo :SQLSTATE
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowid.create_partitions, snowid.drop_partitions, snowid.partitions TO regress_snowid_partitions;
SET ROLE regress_snowid_partitions;
SELECT * FROM snowid.create_partitions('theirs', '1 month', starting => '2040-01-01');
\echo :SQLSTATE
RESET ROLE;
ALTER TABLE theirs OWNER TO regress_snowid_partitions;
SET ROLE regress_snowid_partitions;
SELECT * FROM snowid.create_partitions('theirs', '1 month', starting => '2040-01-01');
SELECT partition, from_time, to_time FROM snowid.partitions('theirs');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION snowid.create_partitions, snowid.drop_partitions, snowid.partitions FROM regress_snowid_partitions;

SET client_min_messages = warning;
DROP SCHEMA partitions CASCADE;
DROP ROLE regress_snowid_partitions;
