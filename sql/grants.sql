-- Who may do what in the schema snowid.

REVOKE ALL ON ALL ROUTINES IN SCHEMA snowid FROM PUBLIC;
-- Not accept_clock, accept_high_water and release_worker: clock and worker are the whole server's, and a mark
-- far ahead moves shards of all databases. They are for superusers only.
GRANT EXECUTE ON FUNCTION
    snowid.bind_schema(text, timestamptz, integer, boolean),
    snowid.create_partitions(regclass, interval, interval, timestamptz, text, timestamptz),
    snowid.drop_partitions(regclass, interval, boolean, text, timestamptz),
    snowid.partitions(regclass, text, timestamptz),
    snowid.advance(bigint), snowid.advance(bigint, timestamptz),
    snowid.advance_snowflake(bigint), snowid.advance_snowflake(bigint, timestamptz),
    snowid.migrate_column(regclass, name, integer, timestamptz), snowid.revert_column(regclass, name),
    snowid.read_generators(), snowid.read_status() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON PROCEDURE
    snowid.backfill(regclass, name, name, integer, integer, timestamptz) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION
    snowid.create_ticket_sequence(text, integer, integer, bigint),
    snowid.create_range_sequence(text, integer, integer, bigint, bigint),
    snowid.cap_ticket_sequence(regclass, bigint),
    snowid.resize_ticket_sequence(regclass, integer, integer, bigint) TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.generators, snowid.status TO @extowner@ WITH GRANT OPTION;
-- So that its pg_dump can read the mark, and its pg_restore set it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.high_water TO @extowner@;
GRANT EXECUTE ON FUNCTION snowid.read_generators(), snowid.read_status(),
    snowid.partitions(regclass, text, timestamptz) TO pg_monitor;
GRANT SELECT ON snowid.generators, snowid.status TO pg_monitor;
-- bind_schema runs them as its caller; they tell nothing that the caller doesn't know.
GRANT EXECUTE ON FUNCTION snowid.check_epoch(timestamptz), snowid.home() TO PUBLIC;
-- So do the functions for partitions these, with their caller's rights: what anyone can do in SQL.
GRANT EXECUTE ON FUNCTION
    snowid.partition_bounds(regclass), snowid.bound_time(numeric, text, timestamptz),
    snowid.time_bound(timestamptz, text, timestamptz), snowid.period_start(interval, timestamptz),
    snowid.partition_name(regclass, interval, timestamptz),
    snowid.add_partition(regclass, text, numeric, numeric) TO PUBLIC;
-- So do backfill, migrate_column and revert_column these, with their caller's rights.
GRANT EXECUTE ON FUNCTION
    snowid.check_id_column(regclass, name, integer, timestamptz), snowid.backfill_statements(regclass, name, name),
    snowid.check_expression(text), snowid.execute_as(regrole, text), snowid.remake_sequence(regclass, name, text) TO PUBLIC;
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
GRANT SELECT ON snowid.layouts TO PUBLIC;
GRANT INSERT, UPDATE, DELETE ON snowid.layouts TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION
    snowid.layout(text), snowid.layout(text, timestamptz), snowid.check_layout(snowid.layouts) TO PUBLIC;

-- The planner puts these into everyone's plans; they compute from their arguments (and the time zone).
GRANT EXECUTE ON FUNCTION
    snowid.last_id_before(timestamptz), snowid.last_id_before(timestamptz, timestamptz),
    snowid.last_id_until(timestamptz), snowid.last_id_until(timestamptz, timestamptz),
    snowid.last_snowflake_before(timestamptz), snowid.last_snowflake_before(timestamptz, timestamptz),
    snowid.last_snowflake_until(timestamptz), snowid.last_snowflake_until(timestamptz, timestamptz),
    snowid.range_start(bigint, bigint), snowid.recheck(boolean),
    snowid.instant(date), snowid.instant(timestamp) TO PUBLIC;

SELECT snowid.init_high_water();
