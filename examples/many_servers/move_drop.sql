-- Last step of a move: removes what is left on the server that had the shard.
--   psql "$router" -v shard=1 -v from=a -f move_drop.sql
\set ON_ERROR_STOP on
\set schema shard_:shard
SELECT m.conninfo AS new, o.conninfo AS old
  FROM shard_map m, shard_servers o WHERE m.shard_id = :shard AND o.server = :'from' AND o.server <> m.server \gset

\c :"new"
DROP SUBSCRIPTION :schema;
\c :"old"
DROP PUBLICATION :schema;
DROP SCHEMA :schema CASCADE;
