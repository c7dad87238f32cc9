-- On the shard's server:  psql "$a" -v shard=1 -f shard.sql
\set ON_ERROR_STOP on
\set schema shard_:shard

-- The CHECK keeps out what belongs to another shard.
CREATE SCHEMA :schema;
CREATE TABLE :schema.photos (
    id      bigint PRIMARY KEY DEFAULT next_id(:shard) CHECK (id_shard(id) = :shard AND id >= 0),
    caption text NOT NULL
);
