-- Generating in all sorts of transactions: nothing is taken back, nothing is held.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Read only
BEGIN READ ONLY;
SELECT id_shard(next_id(200)), (SELECT count(*) FROM next_ids(200, 5000));
SELECT snowflake_worker(snowflake_id(2, 0));
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT id_shard(next_id(200));
COMMIT;

-- A rollback gives nothing back, nor does one to a savepoint.
BEGIN;
SELECT next_id(201) AS first \gset
SAVEPOINT here;
SELECT next_id(201) AS in_savepoint \gset
ROLLBACK TO here;
SELECT next_id(201) AS after_savepoint \gset
ROLLBACK;
SELECT next_id(201) AS after_rollback \gset
SELECT :first < :in_savepoint AND :in_savepoint < :after_savepoint AND :after_savepoint < :after_rollback AS increase;

-- Nor does a failed statement, or an exception block.
SELECT next_id(201) AS before \gset
SELECT 1 / (next_id(201) - next_id(201) + 1) / 0;
DO $$ BEGIN PERFORM next_id(201); RAISE 'undone'; EXCEPTION WHEN raise_exception THEN END $$;
SELECT id_sequence(id) >= 0, id > :before AS increases FROM next_id(201) AS id;

-- No lock outlives a call, and no transaction id is taken.
BEGIN;
SELECT id_shard(next_id(202)), (SELECT count(*) FROM next_ids(202, 3000)), snowflake_worker(snowflake_id(2, 2));
SELECT locktype, relation::regclass, mode FROM pg_locks
 WHERE pid = pg_backend_pid() AND locktype NOT IN ('virtualxid')
   AND (relation IS NULL OR relation::regclass::text !~ '^pg_');
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_transaction_id;
COMMIT;
