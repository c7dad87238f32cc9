-- What `make demo` shows, on a fresh database:  psql -X -q -d demo -f demo/demo.sql
\pset footer off
SET timezone = 'UTC';
\set ECHO queries

\echo
\echo '--- The extension, and two logical shards: one schema each ---'
\echo
CREATE EXTENSION pg_snowid;
CREATE SCHEMA shard_5;
CREATE TABLE shard_5.photos (id bigint PRIMARY KEY DEFAULT next_id(5), title text NOT NULL);
CREATE SCHEMA shard_6;
CREATE TABLE shard_6.photos (id bigint PRIMARY KEY DEFAULT next_id(6), title text NOT NULL);

\echo
\echo '--- Rows get their ids from the database ---'
\echo
INSERT INTO shard_5.photos (title) VALUES ('harbour at dawn'), ('harbour at noon') RETURNING *;
INSERT INTO shard_6.photos (title) VALUES ('old lighthouse') RETURNING *;
INSERT INTO shard_5.photos (title) VALUES ('harbour at night') RETURNING *;

\echo
\echo '--- An id tells when it was made, by which shard, and its place in that millisecond ---'
\echo '    (a millisecond starts at a place mixed from its time, so that id % n is even: setting sequence_spread)'
\echo
SELECT id, title, created_at, shard_id, sequence
FROM (TABLE shard_5.photos UNION ALL TABLE shard_6.photos) AS photos, decode_id(id)
ORDER BY id;

\echo
\echo '--- No two are the same, and they come in order: 100,000 in one statement ---'
\echo
SELECT count(*) AS ids, count(DISTINCT id) AS distinct_ids, bool_and(id > before) AS in_order
FROM (SELECT id, lag(id) OVER (ORDER BY place) AS before
      FROM next_ids(5, 100000) WITH ORDINALITY AS made (id, place)) AS drawn;

\set ECHO none
SELECT to_char(month, 'YYYY-MM-DD+00') AS this_month,
       to_char(month - interval '1 month', 'YYYY-MM-DD+00') AS last_month,
       to_char(month - interval '10 days', 'YYYY-MM-DD 09:00+00') AS from,
       to_char(month - interval '10 days', 'YYYY-MM-DD 09:15+00') AS to
FROM date_trunc('month', now()) AS month \gset
\set ECHO queries
\echo
\echo '--- Time is in the key: a table partitioned by month, on nothing but its id ---'
\echo
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_id(5), what text NOT NULL) PARTITION BY RANGE (id);
SELECT * FROM snowid.create_partitions('events', every => '1 month', starting => :'last_month');
INSERT INTO events (what) VALUES ('signed in'), ('uploaded a photo');
INSERT INTO events (id, what)
  SELECT make_id(at, 5), 'imported' FROM generate_series(
    timestamptz :'last_month', timestamptz :'this_month' - interval '1 second', '5 minutes') AS at;
ANALYZE events;

\echo
\echo '--- A range of time is a range of ids: it reads one partition, by its primary key ---'
\echo
SELECT id, id_timestamp(id), what FROM events
WHERE id >= id_floor(:'from') AND id < id_floor(:'to') ORDER BY id;
EXPLAIN (COSTS OFF)
SELECT id, id_timestamp(id), what FROM events
WHERE id >= id_floor(:'from') AND id < id_floor(:'to') ORDER BY id;

\echo
\echo '--- A schema bound to its shard and an epoch of its own has next_id() and the rest without arguments ---'
\echo
CREATE SCHEMA shard_7;
\o /dev/null
SELECT snowid.bind_schema('shard_7', epoch => '2025-01-01+00', shard_id => 7);
\o
CREATE TABLE shard_7.photos (id bigint PRIMARY KEY DEFAULT shard_7.next_id(), title text NOT NULL);
INSERT INTO shard_7.photos (title) VALUES ('mountain hut'), ('glacier');
SELECT id, title, created_at, shard_id, sequence FROM shard_7.photos, shard_7.decode_id(id) ORDER BY id;

\echo
\echo '--- What is in use, and how it is doing ---'
\echo
SELECT kind, shard_id, last_id, last_at, waits, clock_regressions FROM snowid.generators ORDER BY shard_id;
\x on
SELECT * FROM snowid.status;
