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
