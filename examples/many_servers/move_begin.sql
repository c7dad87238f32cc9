-- Included by the steps of a move, on the router: sets old and new to the connections to the server that
-- has the shard and to the one that it moves to, router to the connection to come back here.
\set ON_ERROR_STOP on
\set schema shard_:shard
\set router 'host=' :HOST ' port=' :PORT ' dbname=' :DBNAME
SELECT m.conninfo AS old, n.conninfo AS new
  FROM shard_map m, shard_servers n WHERE m.shard_id = :shard AND n.server = :'to' AND n.server <> m.server \gset
