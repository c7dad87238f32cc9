-- PostgreSQL 15 and 16 with nothing preloaded: all works but generating, which says what to do.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT id_timestamp(3706503089356805120), id_shard(3706503089356805120), id_sequence(3706503089356805120);
SELECT * FROM decode_id(3706503089356805120, '2025-01-01 00:00:00+00');
SELECT * FROM decode_snowflake(1874244142495068202);
SELECT make_id('2025-01-01 00:00:00+00', 5), id_floor('2025-01-01 00:00:00+00');
SELECT make_snowflake_id('2025-01-01 00:00:00+00', 3, 7, 42), snowflake_floor('2025-01-01 00:00:00+00');
CREATE TABLE nopreload_photo (id bigint PRIMARY KEY DEFAULT next_id(5), created_at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED);
CREATE INDEX ON nopreload_photo (id_timestamp(id));
INSERT INTO nopreload_photo VALUES (3706503089356805120) RETURNING *;

SELECT next_id(5);
\echo :SQLSTATE
SELECT next_id(5, '2025-01-01 00:00:00+00');
\echo :SQLSTATE
SELECT next_ids(5, 10);
\echo :SQLSTATE
SELECT * FROM next_ids(5, 10);
\echo :SQLSTATE
SELECT snowflake_id(3, 7);
\echo :SQLSTATE
SELECT snowid.advance(3706503089356805120);
\echo :SQLSTATE
SELECT snowid.advance_snowflake(1874244142495068202);
\echo :SQLSTATE
INSERT INTO nopreload_photo DEFAULT VALUES;
\echo :SQLSTATE
-- What is wrong with an argument is said first, and NULL is NULL.
SELECT next_id(8192);
\echo :SQLSTATE
SELECT next_id(NULL) IS NULL;

SELECT shared_memory, last_at, last_ahead, max_clock_regression, sequence_spread FROM snowid.status;
SELECT * FROM snowid.generators;

-- A schema can be bound, and decodes.
CREATE SCHEMA nopreload_app;
SELECT snowid.bind_schema('nopreload_app', epoch => '2025-01-01 00:00:00+00', shard_id => 5);
SELECT nopreload_app.id_timestamp(8388608), nopreload_app.make_id('2025-01-01 00:00:00.001+00');
SELECT nopreload_app.next_id();
\echo :SQLSTATE
SET client_min_messages = warning;
DROP SCHEMA nopreload_app CASCADE;
RESET client_min_messages;
DROP TABLE nopreload_photo;

-- Tickets need no shared memory.
SELECT snowid.create_ticket_sequence('nopreload_tickets', 2, 2);
SELECT next_ticket('nopreload_tickets'), (SELECT array_agg(ticket) FROM next_tickets('nopreload_tickets', 3) AS ticket);
DROP SEQUENCE nopreload_tickets;

-- Where a session has set one of ours before the library is loaded, it isn't loaded.
\c
SET pg_snowid.worker_id = 7;
SELECT id_shard(1024);
RESET pg_snowid.worker_id;
SELECT id_shard(1024);
\c
CREATE ROLE regress_snowid_nopreload;
SET ROLE regress_snowid_nopreload;
SET pg_snowid.max_clock_regression = '1d';
SELECT id_shard(1024);
RESET pg_snowid.max_clock_regression;
SELECT id_shard(1024);
RESET ROLE;
DROP ROLE regress_snowid_nopreload;
