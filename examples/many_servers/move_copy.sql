-- First step of a move: copies a shard to another server and keeps the copy up to date. Reads and writes
-- go on at the old one.  psql "$router" -v shard=1 -v to=b -f move_copy.sql
\ir move_begin.sql

\c :"old"
CREATE PUBLICATION :schema FOR TABLES IN SCHEMA :schema;

-- The copy is closed from its beginning. Replicated rows bring their ids: no default fires for them.
\c :"new"
\ir shard.sql
\ir close.sql
CREATE SUBSCRIPTION :schema CONNECTION :'old' PUBLICATION :schema;

-- Until all tables are copied, which takes as long as it takes.
SET move.shard = :'schema';
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid
                   WHERE s.subname = current_setting('move.shard') AND r.srsubstate <> 'r') LOOP
        PERFORM pg_sleep(0.1);
    END LOOP;
END $$;
