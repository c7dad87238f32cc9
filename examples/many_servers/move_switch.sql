-- Second step of a move: the new server takes over.  psql "$router" -v shard=1 -v to=b -f move_switch.sql
-- Writes to the shard fail for a moment, as short as the copy is up to date; reads go on. If it stops
-- with an error, docs/many_servers.md says what to do.
\ir move_begin.sql
\if :{?patience} \else \set patience 10s \endif

-- While the copy isn't complete, is far behind or doesn't follow, the shard is not to be closed.
\c :"new"
SET statement_timeout = :'patience';
\ir move_copied.sql
\c :"old"
SET statement_timeout = :'patience';
SELECT pg_current_wal_lsn() AS lsn \gset
\ir move_wait.sql

-- From here on the shard is closed on both servers, and then nothing of it is missing on the new one.
\ir close.sql
\ir move_wait.sql

-- The high-water mark is above all ids that the old server has given, stored or not. The new one's clock
-- may be behind it.
SELECT make_id(greatest(high_water, '2011-01-01+00'), :shard) AS floor FROM snowid.status \gset
\c :"new"
SELECT snowid.advance(:floor);

-- Readers first, then writers: from the last line on there is no way back to the old server's copy.
\c :"router"
\set server :to
\ir router_shard.sql
\c :"new"
\ir open.sql
