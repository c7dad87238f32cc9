-- Composing ids and bounds. IMMUTABLE: the result depends on the arguments alone, so that indexes,
-- constraints and plan-time partition pruning can use it.

CREATE FUNCTION @extschema@.make_id(
    created_at timestamptz, shard_id bigint, sequence bigint DEFAULT 0,
    epoch timestamptz DEFAULT '2011-01-01 00:00:00+00'
) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_make_id';
COMMENT ON FUNCTION @extschema@.make_id(timestamptz, bigint, bigint, timestamptz) IS
    'the ID with this time (its millisecond), shard (0 to 8191) and sequence (0 to 1023)';

CREATE FUNCTION @extschema@.make_snowflake_id(
    created_at timestamptz, datacenter_id bigint, worker_id bigint, sequence bigint DEFAULT 0,
    epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_make_snowflake_id';
COMMENT ON FUNCTION @extschema@.make_snowflake_id(timestamptz, bigint, bigint, bigint, timestamptz) IS
    'the ID in Twitter''s layout with this time (its millisecond), datacenter and worker (0 to 31) and sequence (0 to 4095)';

CREATE FUNCTION @extschema@.id_floor(
    created_at timestamptz, epoch timestamptz DEFAULT '2011-01-01 00:00:00+00'
) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_floor';
COMMENT ON FUNCTION @extschema@.id_floor(timestamptz, timestamptz) IS
    'the least ID of the instant''s millisecond; 0 before the epoch. Bounds of a range of time: id >= id_floor(t1) AND id < id_floor(t2)';

CREATE FUNCTION @extschema@.snowflake_floor(
    created_at timestamptz, epoch timestamptz DEFAULT '2010-11-04 01:42:54.657+00'
) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_snowflake_floor';
COMMENT ON FUNCTION @extschema@.snowflake_floor(timestamptz, timestamptz) IS
    'the least ID in Twitter''s layout of the instant''s millisecond; 0 before the epoch';
