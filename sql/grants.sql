-- Who may do what in the schema snowid.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA snowid FROM PUBLIC;
-- Not accept_clock and release_worker: clock and worker are the whole server's, for superusers only.
GRANT EXECUTE ON FUNCTION
    snowid.bind_schema(text, timestamptz, integer, boolean),
    snowid.advance(bigint), snowid.advance(bigint, timestamptz),
    snowid.advance_snowflake(bigint), snowid.advance_snowflake(bigint, timestamptz),
    snowid.read_generators(), snowid.read_status() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.generators, snowid.status TO @extowner@ WITH GRANT OPTION;
-- So that its pg_dump can read the mark, and its pg_restore set it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.high_water TO @extowner@;
GRANT EXECUTE ON FUNCTION snowid.read_generators(), snowid.read_status() TO pg_monitor;
GRANT SELECT ON snowid.generators, snowid.status TO pg_monitor;
-- bind_schema runs it as its caller; it tells nothing that the caller doesn't know.
GRANT EXECUTE ON FUNCTION snowid.check_epoch(timestamptz) TO PUBLIC;

-- The planner puts these into everyone's plans; they compute from their arguments (and the time zone).
GRANT EXECUTE ON FUNCTION
    snowid.last_id_before(timestamptz), snowid.last_id_before(timestamptz, timestamptz),
    snowid.last_id_until(timestamptz), snowid.last_id_until(timestamptz, timestamptz),
    snowid.last_snowflake_before(timestamptz), snowid.last_snowflake_before(timestamptz, timestamptz),
    snowid.last_snowflake_until(timestamptz), snowid.last_snowflake_until(timestamptz, timestamptz),
    snowid.range_start(bigint, bigint), snowid.recheck(boolean),
    snowid.instant(date), snowid.instant(timestamp) TO PUBLIC;

SELECT snowid.init_high_water();
