-- Generating ids. VOLATILE: each call gives another id. PARALLEL SAFE: the state is shared memory,
-- which parallel workers see as any session does.
--
-- Numbers are taken as bigint, so that an expression over ids or counts needs no cast, by one signature each, so
-- that '5' and an untyped parameter are no ambiguity; they are returned as the integers that they are.

CREATE FUNCTION @extschema@.next_id(shard_id bigint, epoch timestamptz DEFAULT '2011-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_id';
COMMENT ON FUNCTION @extschema@.next_id(bigint, timestamptz) IS
    'a new ID of a logical shard (0 to 8191): 41 bits of milliseconds since the epoch, 13 of shard, 10 of sequence';

CREATE FUNCTION @extschema@.next_ids(
    shard_id bigint, count bigint, epoch timestamptz DEFAULT '2011-01-01 00:00:00+00'
) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_next_ids';
COMMENT ON FUNCTION @extschema@.next_ids(bigint, bigint, timestamptz) IS
    'a block of new IDs of a logical shard (0 to 8191), in order; count is 0 to 10,000,000';

CREATE FUNCTION @extschema@.snowflake_id(epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00') RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id(timestamptz) IS
    'a new ID in Twitter''s layout for this server''s datacenter and worker, by its settings or leased from etcd: 41 bits of milliseconds since the epoch, 5 of datacenter, 5 of worker, 12 of sequence';

CREATE FUNCTION @extschema@.snowflake_id(
    datacenter_id bigint, worker_id bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_id';
COMMENT ON FUNCTION @extschema@.snowflake_id(bigint, bigint, timestamptz) IS
    'a new ID in Twitter''s layout for a datacenter and a worker (each 0 to 31)';

CREATE FUNCTION @extschema@.snowflake_ids(
    count bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_ids';
COMMENT ON FUNCTION @extschema@.snowflake_ids(bigint, timestamptz) IS
    'a block of new IDs in Twitter''s layout for this server''s datacenter and worker, in order; count is 0 to 10,000,000';

CREATE FUNCTION @extschema@.snowflake_ids(
    datacenter_id bigint, worker_id bigint, count bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_ids';
COMMENT ON FUNCTION @extschema@.snowflake_ids(bigint, bigint, bigint, timestamptz) IS
    'a block of new IDs in Twitter''s layout for a datacenter and a worker (each 0 to 31), in order; count is 0 to 10,000,000';
