-- Filling a column of IDs from the times that rows have.

CREATE FUNCTION snowid.check_id_column(
    target regclass, column_name name, shard_id integer, epoch timestamptz
) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $check$
#variable_conflict use_variable
DECLARE
    kind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = target);
    type regtype;
BEGIN
    IF target IS NULL OR column_name IS NULL OR shard_id IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'table, column and shard_id must not be null';
    ELSIF kind IS NULL OR kind NOT IN ('r', 'p') THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('%s is not a table', target);
    END IF;
    SELECT a.atttypid INTO type FROM pg_attribute a
     WHERE a.attrelid = target AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT found THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_column',
            MESSAGE = format('column "%s" of table %s does not exist', column_name, target);
    ELSIF type <> 'bigint'::regtype THEN
        RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
            MESSAGE = format('column "%s" of table %s is not of type bigint', column_name, target),
            DETAIL = format('It is of type %s.', type),
            HINT = CASE WHEN type IN ('integer'::regtype, 'smallint'::regtype)
                THEN format('Widen it first with ALTER TABLE %s ALTER COLUMN %I TYPE bigint, which rewrites the table, '
                    'and the columns that refer to it.', target, column_name)
                ELSE 'Add a bigint column for the IDs.' END;
    END IF;
    -- Refuses a shard out of range, and an epoch that has no IDs for now.
    epoch := snowid.check_epoch(coalesce(epoch, snowid.id_timestamp(0::bigint)));
    PERFORM snowid.make_id(epoch, shard_id, 0, epoch);
    RETURN epoch;
END
$check$;
COMMENT ON FUNCTION snowid.check_id_column(regclass, name, integer, timestamptz) IS
    'the epoch, the default one for NULL, or an error if the column is no bigint column of a table, or the shard or the epoch is none';

-- A row's ID is the first free one from its millisecond on, after that of the row before: what a generator
-- would have made, had it gone on into the next millisecond instead of waiting for it. IDs of one shard are
-- counted here by their number, ms * 1024 + sequence, which has no gaps. To find the free ones, each number is
-- counted without the taken ones before it: that makes a line on which a row stands where its millisecond
-- begins, or at least one behind the row before; then the taken ones are counted in again.
--
-- Nothing is remembered between runs: what is NULL is to be filled, what the column holds is taken. IDs that
-- are not committed yet can't be seen: a unique index tells of them, and the batch is done again; where there
-- is none, the table is locked against writers for each batch. All IDs stay before the clock's millisecond.

CREATE FUNCTION snowid.backfill_statements(
    target regclass, id_column name, created_at_column name,
    OUT survey text, OUT lock text, OUT hold text, OUT pick text, OUT fill text
)
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $statements$
#variable_conflict use_variable
DECLARE
    type CONSTANT regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = target
        AND a.attname = created_at_column AND a.attnum > 0 AND NOT a.attisdropped);
    -- What makes a timestamptz comparable with created_at, and created_at a timestamptz
    zone CONSTANT text := CASE type WHEN 'timestamptz'::regtype THEN '' ELSE ' AT TIME ZONE ''UTC''' END;
    instant CONSTANT text := format('(t.%I%s)', created_at_column,
        CASE type WHEN 'timestamptz'::regtype THEN '' ELSE '::timestamp' || zone END);
    newest CONSTANT text :=
        'least($2, snowid.id_timestamp(9223372036854775807, $1) + interval ''999 microseconds'')';
    -- Rows of one created_at follow each other by the primary key, or else as they lie in the table.
    ties CONSTANT text := (SELECT string_agg(format('t.%I, ', a.attname), '' ORDER BY k.n)
        FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
       WHERE i.indrelid = target AND i.indisprimary AND k.n <= i.indnkeyatts);
    is_unique CONSTANT boolean := EXISTS (SELECT FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = target AND a.attname = id_column AND i.indnkeyatts = 1 AND i.indpred IS NULL
         AND i.indisunique AND i.indimmediate AND i.indisvalid)
      -- The index of a parent knows of its partitions, but not of other children.
      AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
                       WHERE h.inhparent = target AND c.relkind = 'r');
    oldest text;
BEGIN
    IF type IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_column',
            MESSAGE = format('column "%s" of table %s does not exist', created_at_column, target);
    ELSIF type NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
            MESSAGE = format('column "%s" of table %s is not of type timestamptz, timestamp or date',
                created_at_column, target),
            DETAIL = format('It is of type %s.', type);
    END IF;

    -- $1 epoch, $2 until
    survey := format($$
        SELECT count(*) FILTER (WHERE t.%1$I >= $1%2$s AND t.%1$I <= (%3$s)%2$s) AS ready,
               count(*) FILTER (WHERE t.%1$I IS NULL) AS undated,
               count(*) FILTER (WHERE t.%1$I < $1%2$s) AS early,
               count(*) FILTER (WHERE t.%1$I > (%3$s)%2$s) AS late
          FROM %4$s AS t WHERE t.%5$I IS NULL $$, created_at_column, zone, newest, target, id_column);

    lock := CASE WHEN NOT is_unique THEN format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', target) END;

    -- $1 epoch, $2 until, $3 since, $4 how many rows
    oldest := format($$
        SELECT t.tableoid AS part, t.ctid AS spot, %1$s AS at FROM %2$s AS t
         WHERE t.%3$I IS NULL AND t.%4$I >= $3%5$s AND t.%4$I <= (%6$s)%5$s
         ORDER BY t.%4$I, %7$s t.tableoid, t.ctid LIMIT $4 $$,
        instant, target, id_column, created_at_column, zone, newest, ties);
    hold := oldest || 'FOR UPDATE';
    pick := format($$
        SELECT array_agg(r.part) AS parts, array_agg(r.spot) AS spots,
               array_agg(snowid.id_floor(r.at, $1) >> 13) AS floors, min(r.at) AS first, max(r.at) AS last,
               (snowid.id_floor(%1$s, $1) >> 13) + 1023 AS ceiling
          FROM (%2$s) AS r $$, newest, oldest);

    -- $1 to $6 what pick returns, $7 shard, $8 the last number given, $9 how many taken IDs to look at
    fill := format($$
        WITH todo AS (
            SELECT r.part, r.spot, r.ord, greatest(r.floor, $8 + 1) AS number
              FROM unnest($1, $2, $3) WITH ORDINALITY AS r (part, spot, floor, ord)
        ), taken AS MATERIALIZED (
            SELECT DISTINCT t.%2$I AS id FROM %1$s AS t
             WHERE t.%2$I >= (SELECT min(d.number) >> 10 << 23 FROM todo d)
               AND t.%2$I <= (SELECT (least(max(d.number) + count(*) + $9, $6) >> 10 << 23) | 8388607 FROM todo d)
               AND snowid.id_shard(t.%2$I) = $7
             ORDER BY 1 LIMIT $9
        ), seen AS ( -- past the last number looked at nothing is known
            SELECT count(*) = $9 AS in_part, CASE WHEN count(*) < $9 THEN $6
                   ELSE least($6, (max(k.id) >> 23 << 10) | (max(k.id) & 1023)) END AS number
              FROM taken k
        ), counted AS ( -- ord is NULL for the taken
            SELECT u.ord, u.number - count(*) FILTER (WHERE u.ord IS NULL) OVER (ORDER BY u.number, u.ord) AS place
              FROM (SELECT d.ord, d.number FROM todo d UNION ALL
                    SELECT NULL, (k.id >> 23 << 10) | (k.id & 1023) FROM taken k) AS u
        ), lined_up AS (
            SELECT c.ord, CASE WHEN c.ord IS NULL THEN c.place
                   ELSE c.ord + max(c.place - c.ord) OVER (PARTITION BY c.ord IS NULL ORDER BY c.ord) END AS place
              FROM counted c
        ), given AS (
            SELECT l.ord, l.place + count(*) FILTER (WHERE l.ord IS NULL) OVER (ORDER BY l.place, l.ord) AS number
              FROM lined_up l
        ), filled AS (
            UPDATE %1$s AS t SET %2$I = (g.number >> 10 << 23) | ($7::bigint << 10) | (g.number & 1023)
              FROM given g JOIN todo d ON d.ord = g.ord
             WHERE g.number <= (SELECT s.number FROM seen s) AND t.tableoid = d.part AND t.ctid = d.spot
               -- which pick has found already: for pruning and indexes
               AND t.%2$I IS NULL AND t.%3$I >= $4%4$s AND t.%3$I <= $5%4$s
            RETURNING g.number, t.%2$I AS id, %5$s AS at
        )
        SELECT count(*) AS count, max(f.number) AS number, max(f.id) AS id, max(f.at) AS at,
               (SELECT s.in_part FROM seen s) AS in_part
          FROM filled f $$,
        target, id_column, created_at_column, zone, instant);
END
$statements$;
COMMENT ON FUNCTION snowid.backfill_statements(regclass, name, name) IS
    'the statements that snowid.backfill runs on a table, or an error if created_at_column is no time';

CREATE FUNCTION snowid.lock_backfill(target regclass) RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_lock_backfill';
COMMENT ON FUNCTION snowid.lock_backfill(regclass) IS
    'waits until no other transaction fills IDs of the table, until the end of this one; for those who may update it';

-- A procedure that commits cannot have SET: each of its transactions pins search_path first, and the types below
-- are looked up before that.
CREATE PROCEDURE snowid.backfill(
    target regclass, id_column name, created_at_column name, shard_id integer,
    batch_size integer DEFAULT 10000, epoch timestamptz DEFAULT NULL
)
    LANGUAGE plpgsql
AS $backfill$
#variable_conflict use_variable
DECLARE
    run pg_catalog.record;      -- the statements
    rows pg_catalog.record;     -- picked, in order
    batch pg_catalog.record;    -- what became of them
    still pg_catalog.record;    -- rows without an ID
    since pg_catalog.timestamptz;
    before pg_catalog.timestamptz;
    last bigint;
    size integer := batch_size;
    room bigint;
    failures integer := 0;
    done bigint := 0;
    total bigint;
    started pg_catalog.timestamptz;
    told pg_catalog.timestamptz;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    epoch := snowid.check_id_column(target, id_column, shard_id, epoch);
    IF created_at_column IS NULL OR batch_size IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'created_at_column and batch_size must not be null';
    ELSIF batch_size NOT BETWEEN 1 AND 1000000 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('batch_size %s is out of range', batch_size),
            DETAIL = 'It must be between 1 and 1000000.';
    END IF;
    run := snowid.backfill_statements(target, id_column, created_at_column);
    EXECUTE run.survey INTO still USING epoch, clock_timestamp();
    total := still.ready;
    since := epoch;
    last := -1;
    started := clock_timestamp();
    told := started;
    LOOP
        COMMIT;
        -- Each statement sees what was committed before it, whatever the session's default is.
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
                -- Rows that are hidden would be taken for free IDs: better an error.
                pg_catalog.set_config('row_security', 'off', true);
        BEGIN
            -- One batch of a table at a time
            PERFORM snowid.lock_backfill(target);
            run := snowid.backfill_statements(target, id_column, created_at_column);
            IF run.lock IS NOT NULL THEN
                EXECUTE run.lock;
            END IF;
            before := clock_timestamp() - interval '1 millisecond';
            -- Those that hold some of the rows may change them: only then are these read.
            EXECUTE run.hold USING epoch, before, since, size;
            EXECUTE run.pick INTO rows USING epoch, before, since, size;
            EXIT WHEN rows.parts IS NULL;
            -- By statistics that are out of date hardly any row is without an ID: a batch would be joined row by row.
            PERFORM set_config('enable_nestloop', 'off', true), set_config('jit', 'off', true);
            room := greatest(size, 10000);
            LOOP
                EXECUTE run.fill INTO batch
                  USING rows.parts, rows.spots, rows.floors, rows.first, rows.last, rows.ceiling, shard_id, last, room;
                EXIT WHEN batch.count > 0 OR NOT batch.in_part;
                room := room * 2;
            END LOOP;
            EXIT WHEN batch.count = 0;
            -- So that they are never drawn, even if the clock is set back.
            BEGIN
                PERFORM snowid.advance(batch.id, epoch);
            EXCEPTION WHEN sequence_generator_limit_exceeded THEN
                NULL; -- in an epoch that has ended nothing is drawn
            END;
        EXCEPTION WHEN unique_violation OR deadlock_detected
               OR serialization_failure THEN -- a row has moved to another partition
            failures := failures + 1;
            IF failures = 10 THEN
                RAISE;
            END IF;
            CONTINUE;
        END;
        failures := 0;
        since := batch.at;
        last := batch.number;
        done := done + batch.count;
        -- Where many taken IDs lie between the rows, few of those picked are filled at once.
        size := least(batch_size, greatest(2 * batch.count, 100));
        IF clock_timestamp() >= told + interval '1 second' THEN
            told := clock_timestamp();
            RAISE NOTICE '%: % of % rows filled, % a second',
                target, done, total, round(done / extract(epoch FROM told - started));
        END IF;
    END LOOP;

    EXECUTE run.survey INTO still USING epoch, clock_timestamp();
    RAISE NOTICE '%: % rows filled', target, done;
    IF still.ready + still.undated + still.early + still.late > 0 THEN
        RAISE WARNING USING MESSAGE = format('%s: %s rows are left without an ID',
                target, still.ready + still.undated + still.early + still.late),
            DETAIL = format('Without a time: %s; before the epoch: %s; past the clock or the epoch''s end: %s; '
                'come while this ran, or without room before that end: %s.', still.undated, still.early, still.late, still.ready),
            HINT = 'Correct their times, or give them IDs by hand. Another run fills what has come.';
    END IF;
    COMMIT; -- and with it what was set
END
$backfill$;
COMMENT ON PROCEDURE snowid.backfill(regclass, name, name, integer, integer, timestamptz) IS
    'gives the rows that have no ID one of the shard with their time, in batches that it commits; goes on where it was stopped';
