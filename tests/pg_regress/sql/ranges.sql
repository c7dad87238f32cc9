-- Ranges: sequences that split the bigints, or a part of them, between shards.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
CREATE SCHEMA ranges;
SET search_path = ranges, public;

-- Four shards share the positive bigints.
SELECT snowid.create_range_sequence('quarter_' || shard, 4, shard) FROM generate_series(1, 4) AS shard;
SELECT sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size
  FROM pg_sequences WHERE schemaname = 'ranges' ORDER BY sequencename;
SELECT obj_description('quarter_3'::regclass, 'pg_class');
SELECT next_ticket('quarter_1'), next_ticket('quarter_2'), nextval('quarter_3'), (SELECT max(ticket) FROM next_tickets('quarter_4', 1000) AS ticket);

-- The parts join without gap or overlap, whatever the range and the number of shards.
CREATE FUNCTION pg_temp.parts_are_sound(shards integer, first bigint, last bigint) RETURNS boolean LANGUAGE sql AS $$
    SELECT bool_and(part_first <= part_last AND part_first = coalesce(before + 1, first))
       AND max(part_last) = last
       AND max(part_last::numeric - part_first) - min(part_last::numeric - part_first) <= 1
      FROM (SELECT part.*, lag(part_last) OVER (ORDER BY shard)::numeric AS before
              FROM generate_series(1, shards) AS shard, snowid.range_part(shards, shard, first, last) AS part) AS parts
$$;
SELECT shards, pg_temp.parts_are_sound(shards, first, last), first, last
  FROM unnest('{1,2,3,7,10,1000}'::integer[]) AS shards,
       (VALUES (1, 9223372036854775807), (-9223372036854775808, 9223372036854775807), (0, 1999), (-1000, 999), (5, 2010)) AS range (first, last)
 ORDER BY first, last, shards;
SELECT shard, part.* FROM generate_series(1, 3) AS shard, snowid.range_part(3, shard, 0, 10) AS part;
SELECT * FROM snowid.range_part(2147483647, 2147483647);

-- The end is an error, never the neighbour's first value: of a part in the middle, of the last one.
SELECT snowid.create_range_sequence('middle', 3, 2, 101, 130);
SELECT count(*), min(next), max(next) FROM (SELECT next_ticket('middle') AS next FROM generate_series(1, 9)) AS drawn;
SELECT next_tickets('middle', 2);
\echo :SQLSTATE
SELECT next_ticket('middle');
SELECT next_ticket('middle');
\echo :SQLSTATE
SELECT nextval('middle');
\echo :SQLSTATE
SELECT next_tickets('middle', 1);
\echo :SQLSTATE
SELECT setval('middle', 121);
\echo :SQLSTATE
SELECT setval('quarter_2', 4611686018427387903), setval('quarter_4', 9223372036854775806);
SELECT next_ticket('quarter_2');
\echo :SQLSTATE
SELECT next_ticket('quarter_4');
SELECT next_ticket('quarter_4');
\echo :SQLSTATE
SELECT next_tickets('quarter_4', 1);
\echo :SQLSTATE

-- All bigints, negative ones too
SELECT snowid.create_range_sequence('all_' || shard, 2, shard, -9223372036854775808) FROM generate_series(1, 2) AS shard;
SELECT next_ticket('all_1'), (SELECT array_agg(ticket) FROM next_tickets('all_1', 2) AS ticket), next_ticket('all_2');

-- How much of each is used
SELECT * FROM snowid.sequences WHERE relation::text ~ '^(quarter|middle|all)' ORDER BY relation::text;
ALTER SEQUENCE quarter_1 RENAME TO renamed;
SELECT relation, part, parts FROM snowid.sequences WHERE relation = 'renamed'::regclass;
-- Comments that say what isn't so do no harm.
CREATE SEQUENCE odd INCREMENT -1 MINVALUE -2 MAXVALUE -1;
COMMENT ON SEQUENCE odd IS 'pg_snowid range: shard 9999999999 of 9999999999, 1 to 2';
COMMENT ON SEQUENCE all_1 IS 'pg_snowid range: shard one of two';
COMMENT ON SEQUENCE all_2 IS NULL;
SELECT relation, part, parts, used, remaining FROM snowid.sequences WHERE relation::text ~ '^(odd|all)' ORDER BY relation::text;

-- Refused
SELECT snowid.create_range_sequence('refused', 0, 1);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, 0);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, 5);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, 1, 1, 7);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 1, 1, 7, 6);
\echo :SQLSTATE
SELECT snowid.create_range_sequence(NULL, 4, 1);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', NULL, 1);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, NULL);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, 1, NULL);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('refused', 4, 1, 1, NULL);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('middle', 4, 1);
\echo :SQLSTATE
SELECT to_regclass('refused') IS NULL AS nothing_made;
SELECT snowid.create_range_sequence('least', 4, 4, 1, 8);
SELECT next_tickets('least', 2);

-- A range is not for servers that take turns.
SELECT snowid.cap_ticket_sequence('middle', 1000);
\echo :SQLSTATE

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA ranges CASCADE;
