-- Use in definitions: decoding wherever PostgreSQL wants immutable functions, generating nowhere there.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- A generated column, a CHECK, and indexes on expressions
CREATE TABLE ddl_photo (
    id bigint PRIMARY KEY CHECK (id_shard(id) = 5),
    created_at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED,
    month_2025 timestamptz GENERATED ALWAYS AS (id_timestamp(id, '2025-01-01 00:00:00+00')) STORED,
    snowflake bigint DEFAULT snowflake_id(8, 0) CHECK (snowflake_timestamp(snowflake) > '2020-01-01 00:00:00+00')
);
CREATE INDEX ddl_photo_at ON ddl_photo (id_timestamp(id));
CREATE INDEX ddl_photo_shard ON ddl_photo (id_shard(id), id_sequence(id)) WHERE id_floor('2020-01-01 00:00:00+00') <= id;
CREATE INDEX ddl_photo_2025 ON ddl_photo (id_timestamp(id, '2025-01-01 00:00:00+00'));
CREATE INDEX ddl_photo_snowflake ON ddl_photo (snowflake_timestamp(snowflake));

INSERT INTO ddl_photo (id) VALUES (3706503089356805120), (make_id('2025-06-01 12:00:00.5+00', 5, 9));
INSERT INTO ddl_photo (id) SELECT make_id(timestamptz '2026-01-01 00:00:00+00' + n * interval '1 minute', 5, n % 1024) FROM generate_series(1, 5000) AS n;
SELECT id, created_at, month_2025 FROM ddl_photo ORDER BY id LIMIT 2;
SELECT bool_and(created_at = id_timestamp(id)) FROM ddl_photo;
INSERT INTO ddl_photo (id, snowflake) VALUES (3706503089356806144, 1874244142494646272);
\echo :SQLSTATE
INSERT INTO ddl_photo (id, snowflake) VALUES (3706503089356805121, 0);
\echo :SQLSTATE
INSERT INTO ddl_photo (id) SELECT next_id(5) FROM generate_series(1, 100);
SELECT count(*) FROM ddl_photo WHERE created_at >= now() - interval '1 minute';

ANALYZE ddl_photo;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM ddl_photo WHERE id_timestamp(id) >= '2026-01-02 00:00:00+00' AND id_timestamp(id) < '2026-01-02 00:10:00+00';
SELECT count(*) FROM ddl_photo WHERE id_timestamp(id) >= '2026-01-02 00:00:00+00' AND id_timestamp(id) < '2026-01-02 00:10:00+00';
-- The primary key serves ranges of time by itself, whose bounds are constants to the planner.
EXPLAIN (COSTS OFF) SELECT id FROM ddl_photo WHERE id >= id_floor('2026-01-02 00:00:00+00') AND id < id_floor('2026-01-02 00:10:00+00');
SELECT count(*) FROM ddl_photo WHERE id >= id_floor('2026-01-02 00:00:00+00') AND id < id_floor('2026-01-02 00:10:00+00');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- The generators are refused there.
\set VERBOSITY sqlstate
CREATE INDEX ON ddl_photo (next_id(5));
\set VERBOSITY default
CREATE INDEX ON ddl_photo (id) WHERE id < snowflake_id(8, 0);
\echo :SQLSTATE
CREATE TABLE ddl_generated (n integer, id bigint GENERATED ALWAYS AS (next_id(n)) STORED);
\echo :SQLSTATE
CREATE TABLE ddl_generated (n integer, id bigint GENERATED ALWAYS AS (snowflake_id(8, n, '2025-01-01 00:00:00+00')) STORED);
\echo :SQLSTATE
CREATE TABLE ddl_partitioned (n integer) PARTITION BY LIST (next_id(n));
\echo :SQLSTATE
CREATE TABLE ddl_partitioned (n integer) PARTITION BY RANGE (snowflake_id(8, n));
\echo :SQLSTATE

DROP TABLE ddl_photo;
