-- Who may do what in the schema snowid.

REVOKE ALL ON ALL ROUTINES IN SCHEMA snowid FROM PUBLIC;

-- Who created the extension administers it, and grants that on. The role is looked up: its name may have any character.
DO $owner$
DECLARE
    owner CONSTANT text := (SELECT pg_get_userbyid(e.extowner) FROM pg_extension e WHERE e.extname = 'pg_snowid');
    objects text;
BEGIN
    -- Not accept_clock, accept_high_water and release_worker: clock and worker are the whole server's, and a mark
    -- far ahead moves shards of all databases. They are for superusers only.
    FOREACH objects IN ARRAY ARRAY[
        'EXECUTE ON FUNCTION snowid.bind_schema(text, timestamptz, integer, boolean)',
        'EXECUTE ON FUNCTION snowid.create_partitions(regclass, interval, interval, timestamptz, text, timestamptz)',
        'EXECUTE ON FUNCTION snowid.drop_partitions(regclass, interval, boolean, text, timestamptz)',
        'EXECUTE ON FUNCTION snowid.partitions(regclass, text, timestamptz)',
        'EXECUTE ON FUNCTION snowid.advance(bigint), snowid.advance(bigint, timestamptz)',
        'EXECUTE ON FUNCTION snowid.advance_snowflake(bigint), snowid.advance_snowflake(bigint, timestamptz)',
        'EXECUTE ON PROCEDURE snowid.backfill(regclass, name, name, integer, integer, timestamptz)',
        'EXECUTE ON FUNCTION snowid.migrate_column(regclass, name, integer, timestamptz)',
        'EXECUTE ON FUNCTION snowid.revert_column(regclass, name)',
        'EXECUTE ON FUNCTION snowid.create_ticket_sequence(text, integer, integer, bigint)',
        'EXECUTE ON FUNCTION snowid.create_range_sequence(text, integer, integer, bigint, bigint)',
        'EXECUTE ON FUNCTION snowid.cap_ticket_sequence(regclass, bigint)',
        'EXECUTE ON FUNCTION snowid.resize_ticket_sequence(regclass, integer, integer, bigint)',
        'EXECUTE ON FUNCTION snowid.read_generators(), snowid.read_status()',
        'SELECT ON snowid.generators, snowid.status',
        'INSERT, UPDATE, DELETE, TRUNCATE ON snowid.custom_layouts'
    ] LOOP
        EXECUTE format('GRANT %s TO %I WITH GRANT OPTION', objects, owner);
    END LOOP;
    -- So that its pg_dump can read the mark, and its pg_restore set it.
    EXECUTE format('GRANT SELECT, UPDATE ON SEQUENCE snowid.high_water TO %I', owner);
END
$owner$;

GRANT EXECUTE ON FUNCTION snowid.read_generators(), snowid.read_status(),
    snowid.partitions(regclass, text, timestamptz) TO pg_monitor;
GRANT SELECT ON snowid.generators, snowid.status TO pg_monitor;
-- Public functions a second time: see twins.sql.
GRANT EXECUTE ON FUNCTION
    snowid.make_id(timestamptz, integer, integer, timestamptz), snowid.id_floor(timestamptz, timestamptz),
    snowid.id_timestamp(bigint), snowid.id_timestamp(bigint, timestamptz), snowid.id_shard(bigint),
    snowid.decode_as(snowid.layouts, bigint), snowid.floor_as(snowid.layouts, timestamptz) TO PUBLIC;
-- bind_schema runs them as its caller; they tell nothing that the caller doesn't know.
GRANT EXECUTE ON FUNCTION snowid.check_epoch(timestamptz), snowid.home(), snowid.check_calls(regclass, oid) TO PUBLIC;
-- So do the functions for partitions these, with their caller's rights: what anyone can do in SQL.
GRANT EXECUTE ON FUNCTION
    snowid.partition_bounds(regclass), snowid.bound_time(numeric, text, timestamptz),
    snowid.time_bound(timestamptz, text, timestamptz), snowid.period_start(interval, timestamptz),
    snowid.partition_name(regclass, interval, timestamptz),
    snowid.add_partition(regclass, text, numeric, numeric) TO PUBLIC;
-- So do backfill, migrate_column and revert_column these, with their caller's rights.
GRANT EXECUTE ON FUNCTION
    snowid.check_id_column(regclass, name, integer, timestamptz), snowid.backfill_statements(regclass, name, name),
    snowid.lock_backfill(regclass), snowid.sequence_value(regclass),
    snowid.remake_sequence(regclass, name, text) TO PUBLIC;
GRANT SELECT ON snowid.migrated_columns TO PUBLIC;
-- So are these run, for sequences; their callers could do all of it without them. The view shows what
-- its reader may read.
GRANT EXECUTE ON FUNCTION
    snowid.check_part(text, integer, integer), snowid.first_ticket(integer, integer, bigint),
    snowid.range_part(integer, integer, bigint, bigint),
    snowid.create_sequence(text, text, integer, bigint, bigint, text),
    snowid.check_tickets(regclass, bigint), snowid.commit_for_good() TO PUBLIC;
GRANT SELECT ON snowid.sequences TO PUBLIC;

-- Layouts are no secret, and who calls decode_as or adds a row calls the functions below it.
GRANT SELECT ON snowid.layouts, snowid.builtin_layouts, snowid.custom_layouts TO PUBLIC;
GRANT EXECUTE ON FUNCTION
    snowid.layout(text), snowid.layout(text, timestamptz), snowid.check_layout(snowid.custom_layouts) TO PUBLIC;

-- The planner puts these into everyone's plans; they compute from their arguments (and the time zone).
GRANT EXECUTE ON FUNCTION
    snowid.last_id_before(timestamptz), snowid.last_id_before(timestamptz, timestamptz),
    snowid.last_id_until(timestamptz), snowid.last_id_until(timestamptz, timestamptz),
    snowid.last_snowflake_before(timestamptz), snowid.last_snowflake_before(timestamptz, timestamptz),
    snowid.last_snowflake_until(timestamptz), snowid.last_snowflake_until(timestamptz, timestamptz),
    snowid.range_start(bigint, bigint), snowid.recheck(boolean),
    snowid.instant(date), snowid.instant(timestamp) TO PUBLIC;

SELECT snowid.init_high_water();
