-- On a server: no more writes to this shard's tables, whoever wants to.  psql "$a" -v shard=1 -f close.sql
-- Sets lsn: when a subscriber has confirmed it, it has all that was ever written to the shard.
\set ON_ERROR_STOP on
\set schema shard_:shard
\if :{?patience} \else \set patience 10s \endif

-- CREATE TRIGGER waits for the transactions that have written to the table. Those that want to write
-- meanwhile wait behind it, and then find the trigger. Replication goes on: it fires no such triggers.
BEGIN;
SET LOCAL lock_timeout = :'patience';
SET LOCAL synchronous_commit = on;
SELECT format('CREATE OR REPLACE TRIGGER shard_closed BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE '
              'ON %s FOR EACH STATEMENT EXECUTE FUNCTION shard_closed()', c.oid::regclass)
  FROM pg_class c WHERE c.relnamespace = :'schema'::regnamespace AND c.relkind IN ('r', 'p') \gexec
SELECT pg_logical_emit_message(true, 'shard closed', :'schema') AS lsn \gset
COMMIT;
