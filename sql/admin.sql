-- Administration, in a schema of its own. Nothing here is for PUBLIC: who created the extension may
-- use it and grant it on, and monitoring roles may read the views.

CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'administration of pg_snowid';
GRANT USAGE ON SCHEMA snowid TO PUBLIC;

-- The high-water mark in Unix ms; see src/high_water. pg_dump carries it. Not for nextval, which would
-- move it ahead of its WAL: the increment makes that fail.
CREATE SEQUENCE snowid.high_water AS bigint INCREMENT BY 9223372036854775807;
COMMENT ON SEQUENCE snowid.high_water IS
    'a time in ms since 1970 below which all IDs of this database lie; IDs made after a crash, a failover or a restore start at it';
SELECT pg_catalog.pg_extension_config_dump('snowid.high_water', '');

CREATE FUNCTION snowid.init_high_water() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_init_high_water';
COMMENT ON FUNCTION snowid.init_high_water() IS
    'makes a new high-water mark stand above the IDs that this server has made; for the extension''s own script';

CREATE FUNCTION snowid.accept_clock() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_accept_clock';
COMMENT ON FUNCTION snowid.accept_clock() IS
    'takes the system clock for right although it has jumped or is implausibly far past the high-water mark';

CREATE FUNCTION snowid.accept_high_water() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_accept_high_water';
COMMENT ON FUNCTION snowid.accept_high_water() IS
    'takes a high-water mark that a restore or setval has set far ahead of the clock for right: IDs start at it; false if there is none';

CREATE FUNCTION snowid.release_worker() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_release_worker';
COMMENT ON FUNCTION snowid.release_worker() IS
    'gives the (datacenter, worker) pair that this server leases from etcd up for others, until a reload or restart';

CREATE FUNCTION snowid.advance(id bigint) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION snowid.advance(bigint) IS
    'makes all later IDs of this ID''s shard greater than it, and returns the least that can come';

CREATE FUNCTION snowid.advance(id bigint, epoch timestamptz) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance';
COMMENT ON FUNCTION snowid.advance(bigint, timestamptz) IS
    'makes all later IDs of this ID''s shard greater than it, counted from the epoch given, and returns the least that can come';

CREATE FUNCTION snowid.advance_snowflake(id bigint) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance_snowflake';
COMMENT ON FUNCTION snowid.advance_snowflake(bigint) IS
    'makes all later IDs of this ID''s datacenter and worker greater than it, and returns the least that can come';

CREATE FUNCTION snowid.advance_snowflake(id bigint, epoch timestamptz) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_advance_snowflake';
COMMENT ON FUNCTION snowid.advance_snowflake(bigint, timestamptz) IS
    'makes all later IDs of this ID''s datacenter and worker greater than it, counted from the epoch given, and returns the least that can come';

CREATE FUNCTION snowid.read_generators(
    OUT kind text, OUT shard_id integer, OUT datacenter_id integer, OUT worker_id integer,
    OUT last_id bigint, OUT last_at timestamptz, OUT waits bigint, OUT clock_regressions bigint
) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE ROWS 100 AS 'MODULE_PATHNAME', 'snowid_read_generators';
COMMENT ON FUNCTION snowid.read_generators() IS 'the rows of the view snowid.generators';

CREATE VIEW snowid.generators AS SELECT * FROM snowid.read_generators();
COMMENT ON VIEW snowid.generators IS
    'one row for each shard that this database may draw from, and each worker, that has generated IDs, or was advanced, since the server started, in any database';
COMMENT ON COLUMN snowid.generators.kind IS 'shard or worker';
COMMENT ON COLUMN snowid.generators.shard_id IS 'logical shard, for kind shard';
COMMENT ON COLUMN snowid.generators.datacenter_id IS 'datacenter, for kind worker';
COMMENT ON COLUMN snowid.generators.worker_id IS 'worker, for kind worker';
COMMENT ON COLUMN snowid.generators.last_id IS
    'the last ID, counted from the default epoch, whatever epoch it was made with; NULL where other databases may have drawn it, for who may not read all statistics';
COMMENT ON COLUMN snowid.generators.last_at IS 'the time that the last ID carries, NULL as last_id is';
COMMENT ON COLUMN snowid.generators.waits IS
    'calls that waited because a millisecond was full';
COMMENT ON COLUMN snowid.generators.clock_regressions IS
    'how many times the clock was found behind the last ID';

CREATE FUNCTION snowid.read_status(
    OUT version text, OUT last_at timestamptz, OUT last_ahead_ms bigint,
    OUT next_id_exhausts_at timestamptz, OUT snowflake_id_exhausts_at timestamptz,
    OUT shared_memory text, OUT datacenter_id integer, OUT worker_id integer,
    OUT max_clock_regression_ms bigint, OUT max_clock_jump_ms bigint, OUT max_downtime_ms bigint,
    OUT sequence_spread integer, OUT high_water_raises bigint, OUT high_water_flush_waits bigint,
    OUT worker_source text, OUT node_name text, OUT lease_until timestamptz, OUT lease_problem text
) RETURNS SETOF record
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'snowid_read_status';
COMMENT ON FUNCTION snowid.read_status() IS 'what the view snowid.status shows';

CREATE VIEW snowid.status AS
    SELECT s.version, s.last_at, s.last_ahead_ms * interval '1 millisecond' AS last_ahead,
           h.high_water, greatest(h.high_water - clock_timestamp(), '0') AS high_water_ahead,
           s.high_water_raises, s.high_water_flush_waits,
           s.next_id_exhausts_at, s.snowflake_id_exhausts_at, s.shared_memory,
           s.worker_source, s.datacenter_id, s.worker_id, s.node_name, s.lease_until, s.lease_problem,
           s.max_clock_regression_ms * interval '1 millisecond' AS max_clock_regression,
           s.max_clock_jump_ms * interval '1 millisecond' AS max_clock_jump,
           s.max_downtime_ms * interval '1 millisecond' AS max_downtime,
           s.sequence_spread
      FROM snowid.read_status() s,
           -- A mark set beyond the year 9999 is shown as its end.
           (SELECT timestamptz 'epoch' + nullif(least(last_value, 253402300799999), 1)
                                         * interval '1 millisecond' AS high_water
              FROM snowid.high_water) h;
COMMENT ON VIEW snowid.status IS 'one row: the state of pg_snowid on this server';
COMMENT ON COLUMN snowid.status.version IS 'version of the library that is loaded';
COMMENT ON COLUMN snowid.status.last_at IS
    'the greatest time that any ID carries since the server started, of those that the reader may see in snowid.generators';
COMMENT ON COLUMN snowid.status.last_ahead IS 'how far that is ahead of the clock';
COMMENT ON COLUMN snowid.status.high_water IS
    'the time below which all IDs of this database lie, NULL if none was made yet';
COMMENT ON COLUMN snowid.status.high_water_ahead IS 'how far that is ahead of the clock';
COMMENT ON COLUMN snowid.status.high_water_raises IS
    'WAL records written to raise it since the server started, in this database';
COMMENT ON COLUMN snowid.status.high_water_flush_waits IS
    'calls that waited for such a record to be on disk, in this database';
COMMENT ON COLUMN snowid.status.next_id_exhausts_at IS
    'when next_id() with the default epoch ends';
COMMENT ON COLUMN snowid.status.snowflake_id_exhausts_at IS
    'when snowflake_id() with the default epoch ends';
COMMENT ON COLUMN snowid.status.shared_memory IS
    'where the generators live: preloaded, dsm registry, or none';
COMMENT ON COLUMN snowid.status.worker_source IS
    'what gives snowflake_id() its datacenter and worker: settings, etcd, or, until etcd has answered since the start, etcd, cached';
COMMENT ON COLUMN snowid.status.datacenter_id IS 'the datacenter in force, NULL if none is';
COMMENT ON COLUMN snowid.status.worker_id IS 'the worker in force, NULL if none is';
COMMENT ON COLUMN snowid.status.node_name IS
    'the name for which the pair is leased from etcd, NULL if it is not, or for others than superusers and members of pg_monitor';
COMMENT ON COLUMN snowid.status.lease_until IS
    'until when snowflake_id() goes on if etcd does not answer';
COMMENT ON COLUMN snowid.status.lease_problem IS
    'what is wrong with the lease, NULL if nothing is; the details are for superusers and members of pg_monitor';
COMMENT ON COLUMN snowid.status.max_clock_regression IS 'pg_snowid.max_clock_regression';
COMMENT ON COLUMN snowid.status.max_clock_jump IS 'pg_snowid.max_clock_jump';
COMMENT ON COLUMN snowid.status.max_downtime IS 'pg_snowid.max_downtime';
COMMENT ON COLUMN snowid.status.sequence_spread IS 'pg_snowid.sequence_spread';

CREATE FUNCTION snowid.check_epoch(epoch timestamptz) RETURNS timestamptz
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_check_epoch';
COMMENT ON FUNCTION snowid.check_epoch(timestamptz) IS
    'the epoch, or an error if it is infinite, no whole millisecond, or in the future';

-- Looked up, since the schema can be renamed.
CREATE FUNCTION snowid.home() RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN (SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_snowid');
COMMENT ON FUNCTION snowid.home() IS 'the schema of the public functions, quoted';

-- The owner of that schema can rename it and make another of its name, also after home() was asked: so what was
-- made by its name is looked at. Only superusers make functions with a library.
CREATE FUNCTION snowid.check_calls(catalog regclass, object oid) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $check$
DECLARE
    own CONSTANT text := (SELECT p.probin FROM pg_proc p WHERE p.oid = 'snowid.id_shard(bigint)'::regprocedure);
BEGIN
    IF (SELECT bool_and(p.probin IS NOT DISTINCT FROM own) FROM pg_depend d JOIN pg_proc p ON p.oid = d.refobjid
         WHERE d.classid = catalog AND d.objid = object AND d.refclassid = 'pg_proc'::regclass) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = 'the schema of pg_snowid''s functions was renamed meanwhile',
            DETAIL = 'Another has its name, and what would be called there is not of pg_snowid.',
            HINT = 'See whose schema that is, then call again.';
    END IF;
END
$check$;
COMMENT ON FUNCTION snowid.check_calls(regclass, oid) IS
    'an error if a default or a function that was just made calls anything but a function of pg_snowid';
