-- One shard in two databases of a server is one sequence.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
DROP DATABASE IF EXISTS regress_snowid_other;
RESET client_min_messages;
\set here_database :DBNAME
CREATE DATABASE regress_snowid_other TEMPLATE template0;

SELECT max(id) AS here FROM next_ids(1700, 5000) AS id \gset
SELECT snowflake_id(17, 0) AS here_snowflake \gset
\c regress_snowid_other
CREATE EXTENSION pg_snowid;
SELECT min(id) > :here AS follow, max(id) AS there FROM next_ids(1700, 5000) AS id \gset other_
SELECT :'other_follow' AS follow;
SELECT snowflake_id(17, 0) > :here_snowflake AS follows;
\c :here_database
SELECT min(id) > :other_there AS follow FROM next_ids(1700, 5000) AS id;

-- Nor does the clock moving on explain that: a shard that was advanced here goes on there.
SELECT make_id(clock_timestamp() + interval '5 s', 1701, 3) AS given \gset
SELECT snowid.advance(:given) = :given + 1 AS advanced;
\c regress_snowid_other
SELECT next_id(1701) = :given + 1 AS goes_on;
SELECT count(*) FROM snowid.generators WHERE shard_id = 1701;
\c :here_database
SELECT next_id(1701) = :given + 2 AS goes_on;

-- Dropping the extension there, or the database, doesn't bring ids back.
\c regress_snowid_other
DROP EXTENSION pg_snowid;
CREATE EXTENSION pg_snowid;
SELECT next_id(1701) = :given + 3 AS goes_on;
\c :here_database
DROP DATABASE regress_snowid_other;
SELECT next_id(1701) = :given + 4 AS goes_on;
