-- Blocks of ids: next_ids.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE TABLE block_ids (n serial, id bigint);

-- Each id once, in order, of the shard
INSERT INTO block_ids (id) SELECT next_ids(500, 10000);
SELECT count(*), count(DISTINCT id), bool_and(increases) AS strictly_increasing, bool_and(id_shard(id) = 500) AS of_shard
  FROM (SELECT id, id > lag(id) OVER (ORDER BY n) AS increases FROM block_ids) AS steps;
-- It spans milliseconds, of which each holds at most 1024.
SELECT count(*) >= 10 AS spans, max(count) <= 1024 AS at_most_1024_per_ms
  FROM (SELECT count(*) FROM block_ids GROUP BY id >> 23) AS ms;
SELECT id_timestamp(max(id)) - clock_timestamp() < interval '1 ms' AS not_ahead FROM block_ids;

-- Sizes
SELECT count(id), count(DISTINCT id) FROM next_ids(500, 0) AS id;
SELECT count(id), count(DISTINCT id) FROM next_ids(500, 1) AS id;
SELECT count(id), count(DISTINCT id) FROM next_ids(500, 1024) AS id;
SELECT count(id), count(DISTINCT id) FROM next_ids(500, 1025) AS id;
SELECT next_ids(500, 0);

-- With an epoch
SELECT count(*), count(DISTINCT id), bool_and(id_timestamp(id, '2025-01-01 00:00:00+00') BETWEEN now() - interval '1 ms' AND clock_timestamp()) AS is_now
  FROM next_ids(500, 2000, '2025-01-01 00:00:00+00') AS id;

-- Blocks and single ids of one shard follow each other.
SELECT next_id(501) AS before \gset
SELECT min(id) AS first, max(id) AS last FROM next_ids(501, 3000) AS id \gset
SELECT next_id(501) AS after \gset
SELECT :before < :first AND :first < :last AND :last < :after AS increase;

-- In FROM, INSERT ... SELECT, LATERAL (which starts it anew for each row), and beside another set
SELECT count(*), min(n), max(n) FROM next_ids(502, 5) WITH ORDINALITY AS block (id, n);
INSERT INTO block_ids (id) SELECT id FROM next_ids(502, 5) AS id;
SELECT n, count(id) FROM generate_series(0, 4) AS n LEFT JOIN LATERAL next_ids(502, n) AS id ON true GROUP BY n ORDER BY n;
SELECT count(id), count(DISTINCT id), count(n) FROM (SELECT next_ids(502, 3) AS id, generate_series(1, 5) AS n) AS rows;
SELECT count(*) FROM ROWS FROM (next_ids(502, 3), next_ids(503, 5)) AS blocks (a, b);

-- It streams: a query that stops early has not waited for the rest, which would take 10 s.
SET statement_timeout = '5s';
SELECT count(DISTINCT id) FROM (SELECT next_ids(504, 10000000) AS id LIMIT 3) AS ids;
SELECT EXISTS (SELECT next_ids(504, 10000000));
BEGIN;
DECLARE draws CURSOR FOR SELECT id_shard(next_ids(504, 10000000));
FETCH 2 FROM draws;
FETCH 1 FROM draws;
CLOSE draws;
COMMIT;
-- Stopped halfway and begun anew, a hundred times
SELECT count(DISTINCT id)
  FROM generate_series(1, 100) AS n, LATERAL (SELECT next_ids(504, 5000 + n) AS id OFFSET 2 LIMIT 3) AS drawn;
DO $$
DECLARE
    last bigint := 0;
    id bigint;
BEGIN
    FOR i IN 1 .. 3 LOOP
        FOR id IN SELECT next_ids(504, 10000000) LOOP
            ASSERT id > last;
            last := id;
            EXIT WHEN random() < 0.01;
        END LOOP;
    END LOOP;
END
$$;
RESET statement_timeout;

-- While it waits for a millisecond it answers a timeout at once.
SET statement_timeout = '100ms';
SELECT clock_timestamp() AS before \gset
SELECT count(*) FROM next_ids(505, 10000000);
\echo :SQLSTATE
RESET statement_timeout;
SELECT clock_timestamp() - :'before' < interval '2 seconds' AS at_once;

-- Refused
SELECT next_ids(500, -1);
\echo :SQLSTATE
SELECT next_ids(500, 10000001);
\echo :SQLSTATE
SELECT * FROM next_ids(500, -2147483648);
\echo :SQLSTATE
SELECT next_ids(-1, 1);
\echo :SQLSTATE
SELECT next_ids(8192, 0);
\echo :SQLSTATE
SELECT next_ids(500, 1, 'infinity');
\echo :SQLSTATE
SELECT next_ids(500, 1, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE

-- NULL makes no rows.
SELECT count(*) FROM (SELECT next_ids(NULL, 1)) AS ids;
SELECT count(*) FROM (SELECT next_ids(500, NULL)) AS ids;
SELECT count(*) FROM next_ids(500, 1, NULL);

-- Where PostgreSQL has no place for a set it says so.
SELECT 1 WHERE next_ids(500, 1) > 0;
\echo :SQLSTATE
CREATE TABLE block_default (id bigint DEFAULT next_ids(500, 1));
\echo :SQLSTATE
-- Declared as what it isn't, by a superuser:
CREATE FUNCTION block_no_set(bigint, bigint) RETURNS bigint LANGUAGE c STRICT AS '$libdir/pg_snowid', 'snowid_next_ids';
SELECT block_no_set(500, 1);
\echo :SQLSTATE

DROP FUNCTION block_no_set;
DROP TABLE block_ids;
