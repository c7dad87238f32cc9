-- On a server: writes to this shard's tables are welcome again.  psql "$a" -v shard=1 -f open.sql
-- At no time may a shard be open on two servers.
\set ON_ERROR_STOP on
\set schema shard_:shard

BEGIN;
SELECT format('DROP TRIGGER shard_closed ON %s', t.tgrelid::regclass)
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = :'schema'::regnamespace AND t.tgname = 'shard_closed' AND NOT t.tgisinternal \gexec
COMMIT;
