-- Generating where rows are made.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE TABLE insert_photo (id bigint PRIMARY KEY DEFAULT next_id(300), n integer UNIQUE, title text);

-- 100,000 rows of one INSERT
INSERT INTO insert_photo (n) SELECT n FROM generate_series(1, 100000) AS n;
SELECT count(*), count(DISTINCT id), min(id_shard(id)), max(id_shard(id)) FROM insert_photo;
SELECT bool_and(increases) FROM (SELECT id > lag(id) OVER (ORDER BY n) AS increases FROM insert_photo) AS steps;

-- COPY
COPY insert_photo (n, title) FROM stdin;
100001	a
100002	b
100003	c
\.
SELECT count(DISTINCT id), bool_and(id > (SELECT max(id) FROM insert_photo WHERE n <= 100000)) AS greater FROM insert_photo WHERE n > 100000;

-- VALUES with RETURNING
WITH new AS (INSERT INTO insert_photo (n) VALUES (100004), (100005), (100006) RETURNING id, n)
SELECT count(DISTINCT id), array_agg(n ORDER BY id), max(id_shard(id)) FROM new;
INSERT INTO insert_photo (n) VALUES (100007), (100008) RETURNING n, id_shard(id), id > 0 AS positive;
INSERT INTO insert_photo VALUES (DEFAULT, 100009), (next_id(301), 100010) RETURNING n, id_shard(id);

-- ON CONFLICT: the id drawn for a row that isn't made is lost.
WITH new AS (INSERT INTO insert_photo (n) SELECT n FROM generate_series(100005, 100015) AS n ON CONFLICT DO NOTHING RETURNING id, n)
SELECT count(DISTINCT id), min(n), max(n) FROM new;
INSERT INTO insert_photo (n) VALUES (100015) ON CONFLICT (n) DO UPDATE SET title = 'again' RETURNING n, title, id_shard(id);

-- UPDATE, MERGE
SELECT max(id) AS last FROM insert_photo WHERE id_shard(id) = 300 \gset
UPDATE insert_photo SET id = next_id(300) WHERE n <= 1000;
SELECT count(*), count(DISTINCT id), bool_and(id > :last) AS greater FROM insert_photo WHERE n <= 1000;
MERGE INTO insert_photo p USING generate_series(100011, 100020) AS s (n) ON p.n = s.n
  WHEN MATCHED THEN UPDATE SET title = 'merged' WHEN NOT MATCHED THEN INSERT (n) VALUES (s.n);
SELECT count(*), count(DISTINCT id), count(title) FROM insert_photo WHERE n > 100010;

-- A trigger
CREATE TABLE insert_by_trigger (id bigint PRIMARY KEY, n integer);
CREATE FUNCTION insert_draw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := next_id(302); RETURN NEW; END $$;
CREATE TRIGGER draw BEFORE INSERT ON insert_by_trigger FOR EACH ROW EXECUTE FUNCTION insert_draw();
INSERT INTO insert_by_trigger (n) SELECT n FROM generate_series(1, 5000) AS n;
SELECT count(*), count(DISTINCT id), bool_and(id_shard(id) = 302) FROM insert_by_trigger;

-- A column added to a filled table: each row its own id
CREATE TABLE insert_filled AS SELECT n FROM generate_series(1, 50000) AS n;
ALTER TABLE insert_filled ADD COLUMN id bigint NOT NULL DEFAULT next_id(303);
ALTER TABLE insert_filled ADD PRIMARY KEY (id);
SELECT count(*), count(DISTINCT id), bool_and(id_shard(id) = 303) FROM insert_filled;
ALTER TABLE insert_filled ALTER COLUMN n TYPE bigint USING next_id(304);
SELECT count(*), count(DISTINCT n), bool_and(id_shard(n) = 304) FROM insert_filled;

-- Two tables and two shards at once
CREATE TABLE insert_order (id bigint PRIMARY KEY DEFAULT next_id(305), n integer);
CREATE TABLE insert_item (id bigint PRIMARY KEY DEFAULT next_id(305), order_id bigint REFERENCES insert_order);
WITH new_order AS (INSERT INTO insert_order (n) SELECT generate_series(1, 1000) RETURNING id)
INSERT INTO insert_item (order_id) SELECT id FROM new_order, generate_series(1, 3);
SELECT count(DISTINCT id) FROM (SELECT id FROM insert_order UNION ALL SELECT id FROM insert_item) AS ids;

-- Views and CREATE TABLE AS
CREATE VIEW insert_view AS SELECT next_id(306) AS id;
SELECT a.id <> b.id AS differ FROM insert_view a, insert_view b;
CREATE TABLE insert_copy AS SELECT next_id(306) AS id FROM generate_series(1, 1000);
SELECT count(DISTINCT id) FROM insert_copy;

DROP TABLE insert_photo, insert_by_trigger, insert_filled, insert_order, insert_item, insert_copy;
DROP VIEW insert_view;
DROP FUNCTION insert_draw();
