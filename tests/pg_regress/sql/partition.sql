-- Partitions by shard and by time.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- By list of shards
CREATE TABLE partition_list (id bigint NOT NULL, n integer) PARTITION BY LIST (id_shard(id));
CREATE TABLE partition_list_5 PARTITION OF partition_list FOR VALUES IN (5);
CREATE TABLE partition_list_6_7 PARTITION OF partition_list FOR VALUES IN (6, 7);
INSERT INTO partition_list SELECT next_id(5 + n % 3), n FROM generate_series(1, 300) AS n;
SELECT tableoid::regclass, count(*), min(id_shard(id)), max(id_shard(id)) FROM partition_list GROUP BY tableoid ORDER BY tableoid::regclass::text;
INSERT INTO partition_list VALUES (make_id('2026-01-01 00:00:00+00', 8), 0);
\echo :SQLSTATE
EXPLAIN (COSTS OFF) SELECT * FROM partition_list WHERE id_shard(id) = 5;
EXPLAIN (COSTS OFF) SELECT * FROM partition_list WHERE id_shard(id) IN (6, 7);

-- By range of time, bounded by floors. The bounds are stored as the ids they are.
CREATE TABLE partition_month (id bigint PRIMARY KEY DEFAULT next_id(5), n integer) PARTITION BY RANGE (id);
CREATE TABLE partition_2025 PARTITION OF partition_month
    FOR VALUES FROM (id_floor('2025-01-01 00:00:00+00')) TO (id_floor('2026-01-01 00:00:00+00'));
CREATE TABLE partition_2026_01 PARTITION OF partition_month
    FOR VALUES FROM (id_floor('2026-01-01 00:00:00+00')) TO (id_floor('2026-02-01 00:00:00+00'));
CREATE TABLE partition_2026_02 PARTITION OF partition_month
    FOR VALUES FROM (id_floor('2026-02-01 00:00:00+00')) TO (id_floor('2026-03-01 00:00:00+00'));
CREATE TABLE partition_later PARTITION OF partition_month
    FOR VALUES FROM (id_floor('2026-03-01 00:00:00+00')) TO (MAXVALUE);
SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname LIKE 'partition\_2026\___' ORDER BY relname;
INSERT INTO partition_month (n) SELECT n FROM generate_series(1, 100) AS n;
INSERT INTO partition_month VALUES
    (make_id('2025-12-31 23:59:59.999999+00', 8191, 1023), -1), (make_id('2026-01-01 00:00:00+00', 0, 0), -2),
    (make_id('2026-01-31 23:59:59.999999+00', 8191, 1023), -3), (make_id('2026-02-01 00:00:00+00', 0, 0), -4);
SELECT tableoid::regclass, n, id_timestamp(id) FROM partition_month WHERE n < 0 ORDER BY id;
SELECT tableoid::regclass, count(*) FROM partition_month WHERE n > 0 GROUP BY 1;

SET enable_indexscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM partition_month
 WHERE id >= id_floor('2026-01-01 00:00:00+00') AND id < id_floor('2026-02-01 00:00:00+00');
EXPLAIN (COSTS OFF) SELECT * FROM partition_month
 WHERE id >= id_floor('2026-01-31 00:00:00+00') AND id < id_floor('2026-02-02 00:00:00+00') AND id_shard(id) = 5;
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line NOT LIKE '%Replaces: %' THEN -- as PostgreSQL 19 says
            RETURN NEXT line;
        END IF;
    END LOOP;
END
$$;
SELECT pg_temp.plan_of($$ SELECT * FROM partition_month WHERE id < id_floor('2010-01-01 00:00:00+00') $$);
-- Bounds known only at run time prune then.
SET plan_cache_mode = force_generic_plan;
PREPARE of_time (timestamptz, timestamptz) AS SELECT n FROM partition_month WHERE id >= id_floor($1) AND id < id_floor($2) ORDER BY id;
EXPLAIN (COSTS OFF) EXECUTE of_time ('2026-01-01 00:00:00+00', '2026-02-01 00:00:00+00');
EXECUTE of_time ('2026-01-01 00:00:00+00', '2026-02-01 00:00:00+00');
DEALLOCATE of_time;
RESET plan_cache_mode;

-- Twitter's layout, and an epoch
CREATE TABLE partition_epoch (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partition_epoch_1 PARTITION OF partition_epoch
    FOR VALUES FROM (id_floor('-infinity', '2025-01-01 00:00:00+00')) TO (id_floor('2026-01-01 00:00:00+00', '2025-01-01 00:00:00+00'));
CREATE TABLE partition_epoch_2 PARTITION OF partition_epoch
    FOR VALUES FROM (id_floor('2026-01-01 00:00:00+00', '2025-01-01 00:00:00+00')) TO (MAXVALUE);
EXPLAIN (COSTS OFF) SELECT * FROM partition_epoch WHERE id >= id_floor('2026-06-01 00:00:00+00', '2025-01-01 00:00:00+00');
CREATE TABLE partition_snowflake (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE partition_snowflake_1 PARTITION OF partition_snowflake
    FOR VALUES FROM (snowflake_floor('-infinity')) TO (snowflake_floor('2026-01-01 00:00:00+00'));
CREATE TABLE partition_snowflake_2 PARTITION OF partition_snowflake
    FOR VALUES FROM (snowflake_floor('2026-01-01 00:00:00+00')) TO (MAXVALUE);
EXPLAIN (COSTS OFF) SELECT * FROM partition_snowflake WHERE id < snowflake_floor('2025-06-01 00:00:00+00');

DROP TABLE partition_list, partition_month, partition_epoch, partition_snowflake;
