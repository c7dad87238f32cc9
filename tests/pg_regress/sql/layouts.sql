-- Other people's ids: the built-in layouts, users' own, what is refused, and what plans make of them.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';

SELECT name, epoch, extract(epoch FROM epoch) * 1000 AS epoch_ms, time_unit, time_bits, field_names, field_bits,
       time_bits + (SELECT sum(bits) FROM unnest(field_bits) AS bits) AS bits, note <> '' AS has_note
  FROM snowid.layouts WHERE builtin ORDER BY name COLLATE "C";

-- Each built-in layout at its limits: 0, the first of the next unit, the greatest id, and negative ones
-- where a layout has 64 bits.
SELECT name, id, (decode_as(name, id)).*
  FROM snowid.layouts, (VALUES (0), (9223372036854775807), (-1)) AS ids (id)
 WHERE builtin AND (id >= 0 OR name IN ('discord', 'instagram', 'mastodon', 'pg_snowid'))
 ORDER BY name COLLATE "C", id;
SELECT decode_as('twitter', -1);
\echo :SQLSTATE
-- Sonyflake uses 63 bits as well, and rounds instants down to 10 ms.
SELECT make_as('sonyflake', '2014-09-01 00:00:00.019999+00', '{"sequence": 255, "machine_id": 65535}'),
       make_as('sonyflake', '2014-09-01 00:00:00.02+00'), (decode_as('sonyflake', 33554431)).*,
       floor_as('sonyflake', '2014-09-01 00:00:00.019999+00'), floor_as('sonyflake', '2014-09-01 00:00:00.009999+00');
-- ids of version 2, and of ShardingSphere on a server in Shanghai, by their epochs
SELECT (decode_as('sonyflake', 33554431, '2025-01-01 00:00:00+00')).created_at,
       (decode_as('shardingsphere', 1066361241690472448)).created_at AS made_in_utc,
       (decode_as('shardingsphere', 1066361241690472448, '2016-11-01 00:00:00+08')).created_at AS made_in_shanghai;

-- The same ids as those of the functions for our two layouts. No rows.
SELECT id FROM generate_series(0, 9000000000000000000, 90000000000000001) AS id
 WHERE (decode_as('pg_snowid', id)).created_at <> id_timestamp(id)
    OR (decode_as('pg_snowid', id)).fields <> jsonb_build_object('shard_id', id_shard(id), 'sequence', id_sequence(id))
    OR floor_as('pg_snowid', id_timestamp(id)) <> id_floor(id_timestamp(id))
    OR make_as('pg_snowid', id_timestamp(id), jsonb_build_object('shard_id', id_shard(id), 'sequence', id_sequence(id))) <> id
    OR (decode_as('twitter', id)).created_at <> snowflake_timestamp(id)
    OR floor_as('twitter', snowflake_timestamp(id)) <> snowflake_floor(snowflake_timestamp(id));

-- Floors: 0 before the epoch, an error past the last id.
SELECT floor_as('twitter', '-infinity'), floor_as('twitter', '4714-11-24 00:00:00+00 BC'),
       floor_as('twitter', '2010-11-04 01:42:54.657999+00'), floor_as('twitter', '2010-11-04 01:42:54.658+00'),
       floor_as('twitter', '2080-07-10 17:30:30.208+00'), floor_as('twitter', '-infinity', '2025-01-01 00:00:00+00');
SELECT floor_as('twitter', 'infinity');
\echo :SQLSTATE
SELECT floor_as('twitter', '2080-07-10 17:30:30.209+00');
\echo :SQLSTATE
-- 64 bits: the half with the sign bit is read, not made.
SELECT floor_as('discord', '2084-09-06 15:47:35.551+00'), (decode_as('discord', -9223372036854775808)).created_at;
SELECT floor_as('discord', '2084-09-06 15:47:35.552+00');
\echo :SQLSTATE
SELECT make_as('discord', '2084-09-06 15:47:35.552+00');
\echo :SQLSTATE
SELECT make_as('twitter', '2010-11-04 01:42:54.656999+00');
\echo :SQLSTATE
SELECT make_as('twitter', '-infinity');
\echo :SQLSTATE
SELECT make_as('twitter', 'infinity', '{}', '2025-01-01 00:00:00+00');
\echo :SQLSTATE

-- Fields: those that aren't given are 0.
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"sequence": 42, "worker_id": 7, "datacenter_id": 3}'),
       make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 31}'), make_as('twitter', '2025-01-01 00:00:00+00'),
       make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 31}', '2025-01-01 00:00:00+00');
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker": 1}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"created_at": 1}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 32}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": -1}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 18446744073709551616}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 1e30}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 1.5}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": "1"}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": null}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": {}}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '{"worker_id": 1e400}');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', jsonb_build_object('worker_id', repeat('long ', 100000)));
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', '[3, 7, 42]');
\echo :SQLSTATE
SELECT make_as('twitter', '2025-01-01 00:00:00+00', 'null');
\echo :SQLSTATE

-- No such layout; not an epoch; NULL
SELECT decode_as('Twitter', 0);
\echo :SQLSTATE
SELECT make_as('', '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT floor_as('no such', '2025-01-01 00:00:00+00', '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT decode_as('twitter', 0, 'infinity');
\echo :SQLSTATE
SELECT floor_as('twitter', '2025-01-01 00:00:00+00', '2024-01-01 00:00:00.0005+00');
\echo :SQLSTATE
SELECT decode_as('mastodon', 9223372036854775807, '294276-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT decode_as(NULL::text, 0) IS NULL, decode_as('twitter', NULL) IS NULL, decode_as('twitter', 0, NULL) IS NULL,
       make_as(NULL::text, now()) IS NULL, make_as('twitter', NULL) IS NULL, make_as('twitter', now(), NULL) IS NULL,
       make_as('twitter', now(), '{}', NULL) IS NULL, floor_as(NULL::text, now()) IS NULL,
       floor_as('twitter', NULL) IS NULL, floor_as('twitter', now(), NULL) IS NULL;

-- Layouts of users
INSERT INTO snowid.custom_layouts (name, epoch, time_bits, field_names, field_bits, note)
VALUES ('regress_mine', '2024-01-01 00:00:00+00', 42, '{region,"node no",seq}', '{3,7,12}', 'made up');
INSERT INTO snowid.custom_layouts (name, epoch, time_unit, time_bits, field_names, field_bits)
VALUES ('regress_seconds', '2000-01-01 00:00:00+00', '1 second', 32, '{n}', '{31}'),
       ('regress_micros', '2020-01-01 00:00:00+00', '1 microsecond', 53, '{n}', '{11}'),
       ('regress_bare', '1970-01-01 00:00:00+00', '1 millisecond', 64, '{}', '{}'),
       ('regress_wide', '2020-01-01 00:00:00+00', '24 hours', 1, '{n}', '{63}');
SELECT id, decoded.*, make_as('regress_mine', decoded.created_at, decoded.fields)
  FROM (SELECT make_as('regress_mine', '2025-01-01 00:00:00+00', '{"region": 5, "node no": 99, "seq": 4095}')) AS made (id),
       decode_as('regress_mine', id) AS decoded;
SELECT make_as('regress_seconds', '2000-01-01 00:00:01.999999+00', '{"n": 7}'), (decode_as('regress_seconds', 2147483655)).*;
SELECT make_as('regress_micros', '2020-01-01 00:00:00.000001+00', '{"n": 7}'), (decode_as('regress_micros', 2055)).*;
SELECT make_as('regress_bare', '2025-01-01 00:00:00+00'), (decode_as('regress_bare', 1735689600000)).*;
SELECT make_as('regress_bare', '2025-01-01 00:00:00+00', '{"n": 1}');
\echo :SQLSTATE
SELECT decode_as('regress_bare', 9223372036854775807);
\echo :SQLSTATE
-- All 63 bits in one field, and a time whose only other value has the sign bit
SELECT (decode_as('regress_wide', 9223372036854775807)).*,
       make_as('regress_wide', '2020-01-01 23:59:59.999999+00', '{"n": 9223372036854775807}');
SELECT make_as('regress_wide', '2020-01-01 00:00:00+00', '{"n": 9223372036854775808}');
\echo :SQLSTATE
SELECT make_as('regress_wide', '2020-01-02 00:00:00+00');
\echo :SQLSTATE
UPDATE snowid.custom_layouts SET epoch = '2025-01-01 00:00:00+00' WHERE name = 'regress_mine';
SELECT floor_as('regress_mine', '2025-01-01 00:00:00.001+00');

-- No layouts
\set insert 'INSERT INTO snowid.custom_layouts (name, epoch, time_unit, time_bits, field_names, field_bits) VALUES '
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,b}', '{13,11}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 2147483647, '{a,b}', '{2147483647,2147483647}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 0, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,b}', '{22,0}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,b}', '{23,-1}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,a}', '{10,12}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,""}', '{10,12}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,created_at}', '{10,12}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,b}', '{22}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,NULL}', '{10,12}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{a,b}', '{10,NULL}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 ms', 41, '{{a,b},{c,d}}', '{1,2,3,4}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '0', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '-1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 day', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00+00', '1 month', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', 'infinity', '1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('regress_bad', '2024-01-01 00:00:00.000001+00', '1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
:insert ('', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
UPDATE snowid.custom_layouts SET time_bits = 43 WHERE name = 'regress_mine';
\echo :SQLSTATE

-- The built-in ones cannot be changed, removed or taken the place of, not even by a superuser.
:insert ('twitter', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
INSERT INTO snowid.custom_layouts (name, epoch, time_bits, field_names, field_bits)
VALUES ('twitter', '2024-01-01 00:00:00+00', 41, '{}', '{}') ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch;
\echo :SQLSTATE
UPDATE snowid.custom_layouts SET name = 'twitter' WHERE name = 'regress_mine';
\echo :SQLSTATE
INSERT INTO snowid.layouts SELECT * FROM snowid.layouts WHERE name = 'twitter';
\echo :SQLSTATE
UPDATE snowid.layouts SET epoch = '2024-01-01 00:00:00+00' WHERE name = 'twitter';
\echo :SQLSTATE
DELETE FROM snowid.layouts WHERE name = 'twitter';
\echo :SQLSTATE
SELECT count(*) FILTER (WHERE builtin) AS builtin, count(*) FILTER (WHERE name = 'twitter' AND epoch = '2010-11-04 01:42:54.657+00') AS twitter
  FROM snowid.layouts;
-- But if a later version builds in a name that a user has given, the user's layout goes on, and a dump that has it
-- can be restored. Here some are added to the view, as such a version would.
SELECT rtrim(pg_get_viewdef('snowid_internal.builtin_layouts'), ';') AS builtin \gset
BEGIN;
CREATE OR REPLACE VIEW snowid_internal.builtin_layouts AS :builtin
    UNION ALL SELECT name, epoch, time_unit, 40, field_names, field_bits, 'new', '0.2' FROM (VALUES ('regress_mine'), ('regress_new')) AS v (name),
        (SELECT timestamptz '2030-01-01 00:00:00+00', interval '1 ms', '{n}'::text[], '{20}'::integer[]) AS l (epoch, time_unit, field_names, field_bits);
SELECT name, time_bits, note, builtin FROM snowid.layouts WHERE name ~ 'regress_(mine|new)' ORDER BY name;
SELECT floor_as('regress_mine', '2025-01-01 00:00:00.001+00') AS as_before;
UPDATE snowid.custom_layouts SET note = 'still mine' WHERE name = 'regress_mine';
:insert ('regress_new', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
SELECT name, time_bits, note, builtin FROM snowid.layouts WHERE name ~ 'regress_(mine|new)' ORDER BY name;
ROLLBACK;

-- Anyone reads layouts and uses them; changing them is granted.
CREATE ROLE regress_snowid_layouts;
SET ROLE regress_snowid_layouts;
SELECT (decode_as('regress_mine', 1)).fields, make_as('twitter', '2025-01-01 00:00:00+00'), floor_as('twitter', '2025-01-01 00:00:00+00', '2025-01-01 00:00:00+00');
:insert ('regress_theirs', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
\echo :SQLSTATE
UPDATE snowid.custom_layouts SET note = 'mine';
\echo :SQLSTATE
DELETE FROM snowid.custom_layouts;
\echo :SQLSTATE
RESET ROLE;
GRANT INSERT ON snowid.custom_layouts TO regress_snowid_layouts;
SET ROLE regress_snowid_layouts;
:insert ('regress_theirs', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
SELECT floor_as('regress_theirs', '2024-01-01 00:00:00.001+00');
RESET ROLE;
REVOKE INSERT ON snowid.custom_layouts FROM regress_snowid_layouts;
DROP ROLE regress_snowid_layouts;
-- What stands in front of the search path changes nothing.
CREATE SCHEMA layouts_evil;
CREATE TABLE layouts_evil.layouts (LIKE snowid.layouts);
CREATE TABLE layouts_evil.custom_layouts (LIKE snowid.custom_layouts);
CREATE FUNCTION layouts_evil.layout(text) RETURNS snowid.layouts LANGUAGE sql AS 'SELECT NULL::snowid.layouts';
SET search_path = layouts_evil, public;
SELECT floor_as('twitter', '2025-01-01 00:00:00+00');
RESET search_path;
DROP SCHEMA layouts_evil CASCADE;

-- By name they are stable: an index on the id is used, with the row estimate of the bound.
CREATE TABLE layouts_tweets (id bigint PRIMARY KEY);
INSERT INTO layouts_tweets SELECT make_as('twitter', '2025-01-01 00:00:00+00'::timestamptz + n * interval '1 minute') FROM generate_series(0, 9999) AS n;
ANALYZE layouts_tweets;
EXPLAIN (COSTS OFF) SELECT count(*) FROM layouts_tweets WHERE id >= floor_as('twitter', '2025-01-02 00:00:00+00') AND id < floor_as('twitter', '2025-01-03 00:00:00+00');
SELECT count(*) FROM layouts_tweets WHERE id >= floor_as('twitter', '2025-01-02 00:00:00+00') AND id < floor_as('twitter', '2025-01-03 00:00:00+00');
\set VERBOSITY sqlstate
CREATE INDEX ON layouts_tweets (floor_as('twitter', '2025-01-01 00:00:00+00'));
\set VERBOSITY default
-- With the row as a constant they are immutable: for indexes, generated columns, and pruning when planning.
SELECT snowid.layout('twitter') AS twitter, snowid.layout('twitter', '2025-01-01 00:00:00+00') AS twitter_2025 \gset
CREATE INDEX layouts_tweets_time ON layouts_tweets (((decode_as(:'twitter'::snowid.layouts, id)).created_at));
ALTER TABLE layouts_tweets ADD COLUMN fields jsonb GENERATED ALWAYS AS ((decode_as(:'twitter'::snowid.layouts, id)).fields) STORED;
SELECT DISTINCT fields FROM layouts_tweets;
SELECT floor_as(:'twitter_2025'::snowid.layouts, '2025-01-01 00:00:00.001+00') = 4194304 AS with_its_epoch;
EXPLAIN (COSTS OFF) SELECT count(*) FROM layouts_tweets WHERE id < floor_as(:'twitter'::snowid.layouts, '2025-01-02 00:00:00+00');
CREATE TABLE layouts_parts (id bigint) PARTITION BY RANGE (id);
CREATE TABLE layouts_parts_old PARTITION OF layouts_parts FOR VALUES FROM (MINVALUE) TO (floor_as('twitter', '2025-01-01 00:00:00+00'));
CREATE TABLE layouts_parts_new PARTITION OF layouts_parts FOR VALUES FROM (floor_as('twitter', '2025-01-01 00:00:00+00')) TO (MAXVALUE);
EXPLAIN (COSTS OFF) SELECT FROM layouts_parts WHERE id >= floor_as('twitter', '2025-06-01 00:00:00+00');
EXPLAIN (COSTS OFF) SELECT FROM layouts_parts WHERE id >= floor_as(:'twitter'::snowid.layouts, '2025-06-01 00:00:00+00');
-- For many rows: the layout is looked up once.
SELECT count(*), min(d.created_at), max(d.created_at)
  FROM snowid.layouts AS l, layouts_tweets AS t, decode_as(l, t.id) AS d WHERE l.name = 'twitter';
DROP TABLE layouts_tweets, layouts_parts;

-- A row that isn't from the table is checked as one that is.
SELECT floor_as(ROW('x', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{24}', '', false)::snowid.layouts, now());
\echo :SQLSTATE
SELECT decode_as(ROW('x', NULL, '1 ms', 41, '{a}', '{10}', '', false)::snowid.layouts, 0);
\echo :SQLSTATE
SELECT make_as(ROW('x', '2024-01-01 00:00:00+00', '1 ms', 41, NULL, '{10}', '', false)::snowid.layouts, now());
\echo :SQLSTATE
SELECT decode_as(NULL::snowid.layouts, 0) IS NULL, snowid.layout(NULL) IS NULL, snowid.layout('twitter', NULL) IS NULL;

-- The table is the user's own, and can be emptied.
DELETE FROM snowid.custom_layouts WHERE name = 'regress_mine';
BEGIN;
TRUNCATE snowid.custom_layouts;
SELECT count(*) FILTER (WHERE builtin) AS builtin, count(*) FILTER (WHERE NOT builtin) AS of_users FROM snowid.layouts;
ROLLBACK;
-- Also where triggers are for replicas, as in a restore: it is replicated rows that are skipped.
BEGIN;
SET LOCAL session_replication_role = replica;
:insert ('regress_restored', '2024-01-01 00:00:00+00', '1 ms', 41, '{a}', '{10}');
UPDATE snowid.custom_layouts SET note = 'changed' WHERE name = 'regress_restored' RETURNING name, note;
DELETE FROM snowid.custom_layouts WHERE name = 'regress_bare' RETURNING name;
TRUNCATE snowid.custom_layouts;
SELECT count(*) AS of_users FROM snowid.custom_layouts;
ROLLBACK;
DELETE FROM snowid.custom_layouts WHERE name LIKE 'regress%';
SELECT count(*) FROM snowid.layouts WHERE NOT builtin;
