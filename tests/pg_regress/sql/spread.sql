-- Low bits at low rates: ids made one every 2 ms or more must not all fall into the same bucket of id % 8.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- The default of pg_snowid.sequence_spread. Each bucket is to be hit by about 50 of 400 ids: fewer than
-- 15 or more than 100 happen less than once in a million runs.
CREATE TEMP TABLE spread_slow (order_id bigint, item_id bigint);
DO $$
BEGIN
    FOR i IN 1 .. 400 LOOP
        -- A pair of one millisecond, mostly: an order, then its item.
        INSERT INTO spread_slow VALUES (next_id(600), next_id(600));
        PERFORM pg_sleep(0.002);
    END LOOP;
END
$$;
SELECT count(*) AS buckets, min(count) >= 15 AND max(count) <= 100 AS even
  FROM (SELECT order_id % 8, count(*) FROM spread_slow GROUP BY 1) AS bucket;
SELECT count(*) AS buckets, min(count) >= 15 AND max(count) <= 100 AS even
  FROM (SELECT item_id % 8, count(*) FROM spread_slow GROUP BY 1) AS bucket;
-- Each of a pair of the same millisecond meets both parities.
SELECT count(*) > 200 AS pairs, count(*) FILTER (WHERE order_id % 2 = 0) > 50 AS even_order,
       count(*) FILTER (WHERE order_id % 2 = 1) > 50 AS odd_order,
       count(*) FILTER (WHERE item_id % 2 = 0) > 50 AS even_item, count(*) FILTER (WHERE item_id % 2 = 1) > 50 AS odd_item
  FROM spread_slow WHERE order_id >> 23 = item_id >> 23;
-- It starts no later than the setting says.
SELECT max(id_sequence(order_id)) <= current_setting('pg_snowid.sequence_spread')::integer AS within FROM spread_slow;

-- Workers likewise
CREATE TEMP TABLE spread_worker (id bigint);
DO $$
BEGIN
    FOR i IN 1 .. 400 LOOP
        INSERT INTO spread_worker VALUES (snowflake_id(6, 0));
        PERFORM pg_sleep(0.002);
    END LOOP;
END
$$;
SELECT count(*) AS buckets, min(count) >= 15 AND max(count) <= 100 AS even
  FROM (SELECT id % 8, count(*) FROM spread_worker GROUP BY 1) AS bucket;

-- It costs nothing at full rate: a millisecond that follows a full one has all 1024. Were each started
-- at random, about 5 of the 293 or more would start at 0.
CREATE TEMP TABLE spread_fast AS SELECT next_ids(601, 300000) AS id;
SELECT count(*) FILTER (WHERE in_ms = 1024) > 30 AS full
  FROM (SELECT count(*) AS in_ms FROM spread_fast GROUP BY id >> 23) AS ms;
