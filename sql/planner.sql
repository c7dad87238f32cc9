-- What lets conditions on the time of ids use the index on id; see src/planner. The planner puts
-- these functions into plans by itself, they are not for use in queries. They stand in ordinary
-- users' plans, so everyone may execute them: they compute from their arguments (and the time zone) alone.
-- LEAKPROOF where no argument raises an error, so that row-level security doesn't hold them back.

CREATE FUNCTION snowid_internal.planner_support(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_planner_support';
COMMENT ON FUNCTION snowid_internal.planner_support(internal) IS
    'planner support of id_timestamp, snowflake_timestamp and the functions for plans';
REVOKE ALL ON FUNCTION snowid_internal.planner_support(internal) FROM PUBLIC;

ALTER FUNCTION @extschema@.id_timestamp(bigint) SUPPORT snowid_internal.planner_support;
ALTER FUNCTION @extschema@.id_timestamp(bigint, timestamptz) SUPPORT snowid_internal.planner_support;
ALTER FUNCTION @extschema@.snowflake_timestamp(bigint) SUPPORT snowid_internal.planner_support;
ALTER FUNCTION @extschema@.snowflake_timestamp(bigint, timestamptz) SUPPORT snowid_internal.planner_support;

CREATE FUNCTION snowid_internal.last_id_before(at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_last_id_before';
COMMENT ON FUNCTION snowid_internal.last_id_before(timestamptz) IS
    'for plans: the greatest positive ID whose time is before the instant, -1 if there is none';

CREATE FUNCTION snowid_internal.last_id_before(at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_last_id_before';
COMMENT ON FUNCTION snowid_internal.last_id_before(timestamptz, timestamptz) IS
    'for plans: the greatest positive ID, counted from the epoch given, whose time is before the instant, -1 if there is none';

CREATE FUNCTION snowid_internal.last_id_until(at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_last_id_until';
COMMENT ON FUNCTION snowid_internal.last_id_until(timestamptz) IS
    'for plans: the greatest positive ID whose time is the instant or before, -1 if there is none';

CREATE FUNCTION snowid_internal.last_id_until(at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_last_id_until';
COMMENT ON FUNCTION snowid_internal.last_id_until(timestamptz, timestamptz) IS
    'for plans: the greatest positive ID, counted from the epoch given, whose time is the instant or before, -1 if there is none';

CREATE FUNCTION snowid_internal.last_snowflake_before(at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_last_snowflake_before';
COMMENT ON FUNCTION snowid_internal.last_snowflake_before(timestamptz) IS
    'for plans: the greatest positive ID in Twitter''s layout whose time is before the instant, -1 if there is none';

CREATE FUNCTION snowid_internal.last_snowflake_before(at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_last_snowflake_before';
COMMENT ON FUNCTION snowid_internal.last_snowflake_before(timestamptz, timestamptz) IS
    'for plans: the greatest positive ID in Twitter''s layout, counted from the epoch given, whose time is before the instant, -1 if there is none';

CREATE FUNCTION snowid_internal.last_snowflake_until(at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_last_snowflake_until';
COMMENT ON FUNCTION snowid_internal.last_snowflake_until(timestamptz) IS
    'for plans: the greatest positive ID in Twitter''s layout whose time is the instant or before, -1 if there is none';

CREATE FUNCTION snowid_internal.last_snowflake_until(at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_last_snowflake_until';
COMMENT ON FUNCTION snowid_internal.last_snowflake_until(timestamptz, timestamptz) IS
    'for plans: the greatest positive ID in Twitter''s layout, counted from the epoch given, whose time is the instant or before, -1 if there is none';

CREATE FUNCTION snowid_internal.range_start(before bigint, last bigint) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_range_start';
COMMENT ON FUNCTION snowid_internal.range_start(bigint, bigint) IS
    'for plans: the least bigint that is an ID after the first and up to the last; the least of all if IDs past the last positive one may be among them';

CREATE FUNCTION snowid_internal.recheck(condition boolean) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF SUPPORT snowid_internal.planner_support
    AS 'MODULE_PATHNAME', 'snowid_recheck';
COMMENT ON FUNCTION snowid_internal.recheck(boolean) IS
    'for plans: the condition, whose share of the rows the planner knows from conditions on the ID';

-- STABLE: these depend on TimeZone, as comparing a timestamptz with such a value does.
CREATE FUNCTION snowid_internal.instant(value date) RETURNS timestamptz
    LANGUAGE c STABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_instant_of_date';
COMMENT ON FUNCTION snowid_internal.instant(date) IS
    'for plans: what a timestamptz is compared with when it is compared with the date';

CREATE FUNCTION snowid_internal.instant(value timestamp) RETURNS timestamptz
    LANGUAGE c STABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_instant_of_timestamp';
COMMENT ON FUNCTION snowid_internal.instant(timestamp) IS
    'for plans: what a timestamptz is compared with when it is compared with the timestamp';
