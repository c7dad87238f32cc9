-- Random ids, fields and epochs: what is made decodes to what it was made from. The sums of bits are
-- PostgreSQL's own arithmetic, so that an error can't hide in both directions.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SELECT setseed(0.5);

-- timestamptz from Unix milliseconds, in SQL's own exact arithmetic.
CREATE FUNCTION pg_temp.at(ms bigint) RETURNS timestamptz IMMUTABLE
    RETURN timestamptz 'epoch' + ms / 1000 * interval '1 s' + ms % 1000 * interval '1 ms';
CREATE FUNCTION pg_temp.bits(count integer) RETURNS bigint VOLATILE
    RETURN floor(random() * (1::bigint << count))::bigint;

CREATE TEMP TABLE made AS
SELECT pg_temp.bits(41) - (1::bigint << 40) AS epoch, pg_temp.bits(40) AS elapsed, pg_temp.bits(13)::integer AS shard,
       pg_temp.bits(10)::integer AS number, pg_temp.bits(41) AS snowflake_elapsed, pg_temp.bits(5)::integer AS datacenter,
       pg_temp.bits(5)::integer AS worker, pg_temp.bits(12)::integer AS snowflake_number
  FROM generate_series(1, 3000);
SELECT count(*) AS made, count(DISTINCT elapsed) > 2990 AS random FROM made;

-- No rows.
SELECT made.*, id, decoded
  FROM made, make_id(pg_temp.at(epoch + elapsed), shard, number, pg_temp.at(epoch)) AS id,
       decode_id(id, pg_temp.at(epoch)) AS decoded
 WHERE id IS DISTINCT FROM (elapsed << 23) | (shard::bigint << 10) | number
    OR ROW(decoded.*) IS DISTINCT FROM ROW(pg_temp.at(epoch + elapsed), shard, number);
SELECT made.*, id, decoded
  FROM made, make_snowflake_id(pg_temp.at(epoch + snowflake_elapsed), datacenter, worker, snowflake_number, pg_temp.at(epoch)) AS id,
       decode_snowflake(id, pg_temp.at(epoch)) AS decoded
 WHERE id IS DISTINCT FROM (snowflake_elapsed << 22) | (datacenter::bigint << 17) | (worker::bigint << 12) | snowflake_number
    OR ROW(decoded.*) IS DISTINCT FROM ROW(pg_temp.at(epoch + snowflake_elapsed), datacenter, worker, snowflake_number);

-- Every bigint decodes: all 64 bits are read as unsigned, the sign bit as the 41st (42nd) of the time. No rows.
CREATE TEMP TABLE ids AS
SELECT pg_temp.bits(32) << 32 | pg_temp.bits(32) AS id FROM generate_series(1, 3000)
 UNION ALL VALUES (0), (-1), (9223372036854775807), (-9223372036854775808);
SELECT count(*) AS ids, count(*) FILTER (WHERE id < 0) > 1000 AS many_negative FROM ids;
SELECT id FROM ids
 WHERE (id_timestamp(id), id_shard(id), id_sequence(id))
       IS DISTINCT FROM (pg_temp.at(1293840000000 + (id >> 23 & (1::bigint << 41) - 1)), (id >> 10 & 8191)::integer, (id & 1023)::integer)
    OR (snowflake_timestamp(id), snowflake_datacenter(id), snowflake_worker(id), snowflake_sequence(id))
       IS DISTINCT FROM (pg_temp.at(1288834974657 + (id >> 22 & (1::bigint << 42) - 1)),
                         (id >> 17 & 31)::integer, (id >> 12 & 31)::integer, (id & 4095)::integer);
