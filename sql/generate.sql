-- Generating ids. VOLATILE: each call gives another id. PARALLEL SAFE: the state is shared memory,
-- which parallel workers see as any session does.

CREATE FUNCTION @extschema@.next_id(shard_id integer) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_id';
COMMENT ON FUNCTION @extschema@.next_id(integer) IS
    'a new ID of a logical shard (0 to 8191): 41 bits of milliseconds since 2011-01-01 UTC, 13 of shard, 10 of sequence';

CREATE FUNCTION @extschema@.next_id(shard_id integer, epoch timestamptz) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_id';
COMMENT ON FUNCTION @extschema@.next_id(integer, timestamptz) IS
    'a new ID of a logical shard (0 to 8191), in milliseconds since the epoch given';

CREATE FUNCTION @extschema@.next_ids(shard_id integer, count integer) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_ids';
COMMENT ON FUNCTION @extschema@.next_ids(integer, integer) IS
    'a block of new IDs of a logical shard (0 to 8191), in order; count is 0 to 10,000,000';

CREATE FUNCTION @extschema@.next_ids(shard_id integer, count integer, epoch timestamptz) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_ids';
COMMENT ON FUNCTION @extschema@.next_ids(integer, integer, timestamptz) IS
    'a block of new IDs of a logical shard (0 to 8191), in milliseconds since the epoch given';

CREATE FUNCTION @extschema@.snowflake_id() RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id() IS
    'a new ID in Twitter''s layout for this server''s datacenter and worker, by its settings or leased from etcd: 41 bits of milliseconds since 2010-11-04 01:42:54.657 UTC, 5 of datacenter, 5 of worker, 12 of sequence';

CREATE FUNCTION @extschema@.snowflake_id(epoch timestamptz) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id(timestamptz) IS
    'a new ID in Twitter''s layout for this server''s datacenter and worker, in milliseconds since the epoch given';

CREATE FUNCTION @extschema@.snowflake_id(datacenter_id integer, worker_id integer) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id(integer, integer) IS
    'a new ID in Twitter''s layout for a datacenter and a worker (each 0 to 31)';

CREATE FUNCTION @extschema@.snowflake_id(datacenter_id integer, worker_id integer, epoch timestamptz) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id(integer, integer, timestamptz) IS
    'a new ID in Twitter''s layout for a datacenter and a worker (each 0 to 31), in milliseconds since the epoch given';

CREATE FUNCTION @extschema@.snowflake_ids(count integer) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_ids';
COMMENT ON FUNCTION @extschema@.snowflake_ids(integer) IS
    'a block of new IDs in Twitter''s layout for this server''s datacenter and worker, in order; count is 0 to 10,000,000';

CREATE FUNCTION @extschema@.snowflake_ids(count integer, epoch timestamptz) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_ids';
COMMENT ON FUNCTION @extschema@.snowflake_ids(integer, timestamptz) IS
    'a block of new IDs in Twitter''s layout for this server''s datacenter and worker, in milliseconds since the epoch given';
