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

-- This takes as long as it takes.
\ir move_copied.sql
