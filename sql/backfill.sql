-- Filling a column of IDs from the times that rows have.

CREATE FUNCTION snowid_internal.check_id_column(
    relation regclass, column_name name, shard_id bigint, epoch timestamptz
) RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $check$
#variable_conflict use_variable
DECLARE
    kind "char" := (SELECT c.relkind FROM pg_class c WHERE c.oid = relation);
    type regtype;
BEGIN
    IF relation IS NULL OR column_name IS NULL OR shard_id IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'relation, column_name and shard_id must not be null';
    ELSIF kind IS NULL OR kind NOT IN ('r', 'p') THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('%s is not a table', relation);
    END IF;
    SELECT a.atttypid INTO type FROM pg_attribute a
     WHERE a.attrelid = relation AND a.attname = column_name AND a.attnum > 0 AND NOT a.attisdropped;
    IF NOT found THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_column',
            MESSAGE = format('column "%s" of table %s does not exist', column_name, relation);
    ELSIF type <> 'bigint'::regtype THEN
        RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
            MESSAGE = format('column "%s" of table %s is not of type bigint', column_name, relation),
            DETAIL = format('It is of type %s.', type),
            HINT = CASE WHEN type IN ('integer'::regtype, 'smallint'::regtype)
                THEN format('Widen it first with ALTER TABLE %s ALTER COLUMN %I TYPE bigint, which rewrites the table, '
                    'and the columns that refer to it.', relation, column_name)
                ELSE 'Add a bigint column for the IDs.' END;
    END IF;
    -- Refuses a shard out of range, and an epoch that has no IDs for now.
    epoch := snowid_internal.check_epoch(coalesce(epoch, snowid_internal.id_timestamp(0::bigint)));
    PERFORM snowid_internal.make_id(epoch, shard_id, 0, epoch);
    RETURN epoch;
END
$check$;
COMMENT ON FUNCTION snowid_internal.check_id_column(regclass, name, bigint, timestamptz) IS
    'the epoch, the default one for NULL, or an error if the column is no bigint column of a table, or the shard or the epoch is none';

-- A row's ID is the first free one from its millisecond on, after that of the row before: what a generator
-- would have made, had it gone on into the next millisecond instead of waiting for it. IDs of one shard are
-- counted here by their number, ms * 1024 + sequence, which has no gaps.
--
-- Nothing is remembered between runs: what is NULL is to be filled, what the column holds is taken. IDs that
-- are not committed yet can't be seen: a unique index tells of them, and the batch is done again; where there
-- is none, the table is locked against writers for each batch. All IDs stay before the clock's millisecond.

CREATE FUNCTION snowid_internal.free_numbers(floors bigint[], last bigint, taken bigint[], most bigint) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $free$
DECLARE
    numbers bigint[] := '{}';
    number bigint := last;
    floor bigint;
    i integer := 1; -- the first of the taken that isn't passed
    n integer := 0;
BEGIN
    FOREACH floor IN ARRAY floors LOOP
        number := greatest(number + 1, floor);
        WHILE taken[i] <= number LOOP
            IF taken[i] = number THEN
                number := number + 1;
            END IF;
            i := i + 1;
        END LOOP;
        EXIT WHEN number > most;
        n := n + 1;
        numbers[n] := number;
    END LOOP;
    RETURN numbers;
END
$free$;
COMMENT ON FUNCTION snowid_internal.free_numbers(bigint[], bigint, bigint[], bigint) IS
    'for each of the floors, which ascend, the least number from there on that comes after the one before and is not taken, as long as none is greater than most';

CREATE FUNCTION snowid_internal.backfill_statements(
    relation regclass, column_name name, created_at_column name,
    OUT survey text, OUT lock text, OUT hold text, OUT pick text, OUT look text, OUT fill text
)
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $statements$
#variable_conflict use_variable
DECLARE
    type CONSTANT regtype := (SELECT a.atttypid FROM pg_attribute a WHERE a.attrelid = relation
        AND a.attname = created_at_column AND a.attnum > 0 AND NOT a.attisdropped);
    -- What makes a timestamptz comparable with created_at, and created_at a timestamptz
    zone CONSTANT text := CASE type WHEN 'timestamptz'::regtype THEN '' ELSE ' AT TIME ZONE ''UTC''' END;
    instant CONSTANT text := format('(t.%I%s)', created_at_column,
        CASE type WHEN 'timestamptz'::regtype THEN '' ELSE '::timestamp' || zone END);
    newest CONSTANT text :=
        'least($2, snowid_internal.id_timestamp(9223372036854775807, $1) + interval ''999 microseconds'')';
    -- Rows of one created_at follow each other by the primary key, or else as they lie in the table.
    ties CONSTANT text := (SELECT string_agg(format('t.%I, ', a.attname), '' ORDER BY k.n)
        FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
       WHERE i.indrelid = relation AND i.indisprimary AND k.n <= i.indnkeyatts);
    is_unique CONSTANT boolean := EXISTS (SELECT FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = relation AND a.attname = column_name AND i.indnkeyatts = 1 AND i.indpred IS NULL
         AND i.indisunique AND i.indimmediate AND i.indisvalid)
      -- The index of a parent knows of its partitions, but not of other children.
      AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
                       WHERE h.inhparent = relation AND c.relkind = 'r');
    oldest text;
BEGIN
    IF type IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_column',
            MESSAGE = format('column "%s" of table %s does not exist', created_at_column, relation);
    ELSIF type NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch',
            MESSAGE = format('column "%s" of table %s is not of type timestamptz, timestamp or date',
                created_at_column, relation),
            DETAIL = format('It is of type %s.', type);
    END IF;

    -- $1 epoch, $2 until
    survey := format($$
        SELECT count(*) FILTER (WHERE t.%1$I >= $1%2$s AND t.%1$I <= (%3$s)%2$s) AS ready,
               count(*) FILTER (WHERE t.%1$I IS NULL) AS undated,
               count(*) FILTER (WHERE t.%1$I < $1%2$s) AS early,
               count(*) FILTER (WHERE t.%1$I > (%3$s)%2$s) AS late
          FROM %4$s AS t WHERE t.%5$I IS NULL $$, created_at_column, zone, newest, relation, column_name);

    lock := CASE WHEN NOT is_unique THEN format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', relation) END;

    -- $1 epoch, $2 until, $3 since, $4 how many rows
    oldest := format($$
        SELECT t.tableoid AS part, t.ctid AS spot, %1$s AS at FROM %2$s AS t
         WHERE t.%3$I IS NULL AND t.%4$I >= $3%5$s AND t.%4$I <= (%6$s)%5$s
         ORDER BY t.%4$I, %7$s t.tableoid, t.ctid LIMIT $4 $$,
        instant, relation, column_name, created_at_column, zone, newest, ties);
    hold := oldest || 'FOR UPDATE';
    pick := format($$
        SELECT array_agg(r.part) AS parts, array_agg(r.spot) AS spots,
               array_agg(snowid_internal.id_floor(r.at, $1) >> 13) AS floors, min(r.at) AS first, max(r.at) AS last,
               (snowid_internal.id_floor(%1$s, $1) >> 13) + 1023 AS ceiling
          FROM (%2$s) AS r $$, newest, oldest);

    -- $1 and $2 from and to which number, $3 shard, $4 how many to look at
    look := format($$
        SELECT coalesce(array_agg((k.id >> 23 << 10) | (k.id & 1023) ORDER BY k.id), '{}') AS numbers
          FROM (SELECT DISTINCT t.%2$I AS id FROM %1$s AS t
                 WHERE t.%2$I >= $1 >> 10 << 23 AND t.%2$I <= ($2 >> 10 << 23) | 8388607
                   AND snowid_internal.id_shard(t.%2$I) = $3
                 ORDER BY 1 LIMIT $4) AS k $$, relation, column_name);

    -- $1 to $4 parts, spots, first and last as pick returns them, $5 their numbers, of which there may be fewer, $6 shard
    fill := format($$
        WITH filled AS (
            UPDATE %1$s AS t SET %2$I = (g.number >> 10 << 23) | ($6 << 10) | (g.number & 1023)
              FROM unnest($1, $2, $5) AS g (part, spot, number)
             WHERE g.number IS NOT NULL AND t.tableoid = g.part AND t.ctid = g.spot
               -- which pick has found already: for pruning and indexes
               AND t.%2$I IS NULL AND t.%3$I >= $3%4$s AND t.%3$I <= $4%4$s
            RETURNING g.number, t.%2$I AS id, %5$s AS at
        )
        SELECT count(*) AS count, max(f.number) AS number, max(f.id) AS id, max(f.at) AS at FROM filled f $$,
        relation, column_name, created_at_column, zone, instant);
END
$statements$;
COMMENT ON FUNCTION snowid_internal.backfill_statements(regclass, name, name) IS
    'the statements that snowid.backfill runs on a table, or an error if created_at_column is no time';

CREATE FUNCTION snowid_internal.lock_backfill(relation regclass) RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_lock_backfill';
COMMENT ON FUNCTION snowid_internal.lock_backfill(regclass) IS
    'waits until no other transaction fills IDs of the table, until the end of this one; for those who may update it';

-- A procedure that commits cannot have SET: each of its transactions pins search_path first, and the types below
-- are looked up before that.
CREATE PROCEDURE snowid.backfill(
    relation regclass, column_name name, created_at_column name, shard_id bigint,
    epoch timestamptz DEFAULT NULL, batch_size integer DEFAULT 10000
)
    LANGUAGE plpgsql
AS $backfill$
#variable_conflict use_variable
DECLARE
    run pg_catalog.record;      -- the statements
    rows pg_catalog.record;     -- picked, in order
    taken bigint[];             -- numbers that other rows have
    batch pg_catalog.record;    -- what became of those picked
    still pg_catalog.record;    -- rows without an ID
    since pg_catalog.timestamptz;
    before pg_catalog.timestamptz;
    last bigint;
    size integer := batch_size;
    room bigint;                -- how many of the taken to look at
    known bigint;
    numbers bigint[];
    failures integer := 0;
    done bigint := 0;
    total bigint;
    started pg_catalog.timestamptz;
    told pg_catalog.timestamptz;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    epoch := snowid_internal.check_id_column(relation, column_name, shard_id, epoch);
    IF created_at_column IS NULL OR batch_size IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'created_at_column and batch_size must not be null';
    ELSIF batch_size NOT BETWEEN 1 AND 1000000 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('batch_size %s is out of range', batch_size),
            DETAIL = 'It must be between 1 and 1000000.';
    END IF;
    run := snowid_internal.backfill_statements(relation, column_name, created_at_column);
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
            PERFORM snowid_internal.lock_backfill(relation);
            run := snowid_internal.backfill_statements(relation, column_name, created_at_column);
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
                EXECUTE run.look INTO taken USING greatest(rows.floors[1], last + 1),
                    least(greatest(rows.floors[cardinality(rows.floors)], last + 1) + cardinality(rows.floors) + room, rows.ceiling),
                    shard_id, room;
                -- Past the last number looked at nothing is known.
                known := CASE WHEN cardinality(taken) < room THEN rows.ceiling ELSE least(rows.ceiling, taken[room]) END;
                numbers := snowid_internal.free_numbers(rows.floors, last, taken, known);
                EXIT WHEN numbers <> '{}' OR cardinality(taken) < room;
                room := room * 2;
            END LOOP;
            EXECUTE run.fill INTO batch USING rows.parts, rows.spots, rows.first, rows.last, numbers, shard_id;
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
                relation, done, total, round(done / extract(epoch FROM told - started));
        END IF;
    END LOOP;

    EXECUTE run.survey INTO still USING epoch, clock_timestamp();
    RAISE NOTICE '%: % rows filled', relation, done;
    IF still.ready + still.undated + still.early + still.late > 0 THEN
        RAISE WARNING USING MESSAGE = format('%s: %s rows are left without an ID',
                relation, still.ready + still.undated + still.early + still.late),
            DETAIL = format('Without a time: %s; before the epoch: %s; past the clock or the epoch''s end: %s; '
                'come while this ran, or without room before that end: %s.', still.undated, still.early, still.late, still.ready),
            HINT = 'Correct their times, or give them IDs by hand. Another run fills what has come.';
    END IF;
    COMMIT; -- and with it what was set
END
$backfill$;
COMMENT ON PROCEDURE snowid.backfill(regclass, name, name, bigint, timestamptz, integer) IS
    'gives the rows that have no ID one of the shard with their time, in batches that it commits; goes on where it was stopped';
SELECT snowid_internal.for_owner('EXECUTE', 'PROCEDURE snowid.backfill(regclass, name, name, bigint, timestamptz, integer)');
