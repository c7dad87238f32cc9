-- Every line of tests/vectors.tsv in the layouts made here, decoded and composed.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

\set lines `cat "$PG_ABS_SRCDIR/../vectors.tsv"`
CREATE TEMP TABLE vectors AS
SELECT field[1]::bigint AS id, field[2] AS layout,
       timestamptz 'epoch' + field[3]::bigint * interval '1 millisecond' AS epoch,
       (field[4] || '+00')::timestamptz AS instant,
       string_to_array(field[5], ',')::integer[] AS fields
  FROM string_to_table(:'lines', E'\n') AS line, string_to_array(line, E'\t') AS field
 WHERE line <> '' AND line !~ '^#';
SELECT layout, count(*), count(*) FILTER (WHERE epoch = '2011-01-01 00:00:00+00') AS of_2011,
       count(*) FILTER (WHERE epoch = '2010-11-04 01:42:54.657+00') AS of_twitter
  FROM vectors WHERE layout IN ('instagram', 'twitter') GROUP BY layout ORDER BY layout;

SELECT id, decoded.*, ROW(decoded.*) = ROW(instant, fields[1], fields[2]) AS is_right
  FROM vectors, decode_id(id, epoch) AS decoded
 WHERE layout = 'instagram' ORDER BY epoch, id;
SELECT id, decoded.*, ROW(decoded.*) = ROW(instant, fields[1], fields[2], fields[3]) AS is_right
  FROM vectors, decode_snowflake(id, epoch) AS decoded
 WHERE layout = 'twitter' ORDER BY epoch, id;

-- The functions of one field agree, and so do those with the default epoch. No rows.
SELECT id FROM vectors
 WHERE layout = 'instagram'
   AND (id_timestamp(id, epoch), id_shard(id), id_sequence(id))
       IS DISTINCT FROM (instant, fields[1], fields[2]);
SELECT id FROM vectors
 WHERE layout = 'twitter'
   AND (snowflake_timestamp(id, epoch), snowflake_datacenter(id), snowflake_worker(id), snowflake_sequence(id))
       IS DISTINCT FROM (instant, fields[1], fields[2], fields[3]);
SELECT id FROM vectors
 WHERE layout = 'instagram' AND epoch = '2011-01-01 00:00:00+00'
   AND (id_timestamp(id), decode_id(id)) IS DISTINCT FROM (instant, ROW(instant, fields[1], fields[2]));
SELECT id FROM vectors
 WHERE layout = 'twitter' AND epoch = '2010-11-04 01:42:54.657+00'
   AND (snowflake_timestamp(id), decode_snowflake(id))
       IS DISTINCT FROM (instant, ROW(instant, fields[1], fields[2], fields[3]));

-- Composed from their fields they are the same ids. No rows.
SELECT id FROM vectors
 WHERE layout = 'instagram' AND make_id(instant, fields[1], fields[2], epoch) IS DISTINCT FROM id;
SELECT id FROM vectors
 WHERE layout = 'twitter'
   AND make_snowflake_id(instant, fields[1], fields[2], fields[3], epoch) IS DISTINCT FROM id;
SELECT id FROM vectors
 WHERE layout = 'instagram' AND epoch = '2011-01-01 00:00:00+00'
   AND make_id(instant, fields[1], fields[2]) IS DISTINCT FROM id;
SELECT id FROM vectors
 WHERE layout = 'twitter' AND epoch = '2010-11-04 01:42:54.657+00'
   AND make_snowflake_id(instant, fields[1], fields[2], fields[3]) IS DISTINCT FROM id;
-- The floor of an id's instant is the id without its low fields. No rows.
SELECT id FROM vectors
 WHERE layout = 'instagram' AND id_floor(instant, epoch) IS DISTINCT FROM (id >> 23) << 23;
SELECT id FROM vectors
 WHERE layout = 'twitter' AND snowflake_floor(instant, epoch) IS DISTINCT FROM (id >> 22) << 22;

-- All lines by the names of their layouts, with the epochs of the lines.
CREATE TEMP TABLE named AS
SELECT id, substring(v.layout FROM '^\w+') AS name, v.epoch, instant,
       (SELECT jsonb_object_agg(f.name, f.value) FROM unnest(l.field_names, v.fields) AS f (name, value)) AS fields
  FROM vectors AS v JOIN snowid.layouts AS l ON l.name = substring(v.layout FROM '^\w+');
SELECT count(*) AS lines, (SELECT count(*) FROM named) AS named,
       (SELECT count(*) FROM named WHERE NOT fields @? '$.* ? (@ == null)') AS complete
  FROM vectors;
SELECT name, id, decoded.*, ROW(decoded.*) = ROW(instant, named.fields) AS is_right
  FROM named, decode_as(name, id, epoch) AS decoded
 WHERE name NOT IN ('instagram', 'twitter') ORDER BY name, id;
-- No rows.
SELECT id FROM named WHERE decode_as(name, id, epoch) IS DISTINCT FROM ROW(instant, fields);
SELECT id FROM named WHERE make_as(name, instant, fields, epoch) IS DISTINCT FROM id;
SELECT id FROM named WHERE floor_as(name, instant, epoch) > id OR floor_as(name, instant + interval '1 ms', epoch) <= id;
-- The layouts' own epochs are those of the lines, but for lines composed in Instagram's layout with ours.
SELECT name, count(*) FILTER (WHERE decode_as(name, id) = ROW(instant, fields) AND make_as(name, instant, fields) = id) AS of_its_epoch,
       count(*) FILTER (WHERE decode_as('pg_snowid', id) = ROW(instant, fields) AND make_as('pg_snowid', instant, fields) = id) AS of_ours
  FROM named GROUP BY name ORDER BY name;
