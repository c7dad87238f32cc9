-- Administration: moving generators forward, and giving a worker up.

CREATE FUNCTION snowid.advance(id bigint, epoch timestamptz DEFAULT '2011-01-01 00:00:00+00') RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION snowid.advance(bigint, timestamptz) IS
    'makes all later IDs of this ID''s shard greater than it, and returns the least that can come';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.advance(bigint, timestamptz)');

CREATE FUNCTION snowid.advance_snowflake(id bigint, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00') RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance_snowflake';
COMMENT ON FUNCTION snowid.advance_snowflake(bigint, timestamptz) IS
    'makes all later IDs of this ID''s datacenter and worker greater than it, and returns the least that can come';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.advance_snowflake(bigint, timestamptz)');

-- For superusers only: the worker is the whole server's.
CREATE FUNCTION snowid.release_worker() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_release_worker';
COMMENT ON FUNCTION snowid.release_worker() IS
    'gives the (datacenter, worker) pair that this server leases from etcd up for others, until a reload or restart';
REVOKE ALL ON FUNCTION snowid.release_worker() FROM PUBLIC;
