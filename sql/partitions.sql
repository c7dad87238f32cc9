-- Range partitions by time on an id column: made ahead of the clock, dropped past a retention, listed.
-- Nothing is stored: what there is, is read from the bounds in the catalogue, whoever made them. All
-- arithmetic on time is in UTC, and all on ids in numeric, where -Infinity is MINVALUE and Infinity
-- MAXVALUE. The functions run with the caller's rights, who must own the table.

CREATE FUNCTION snowid_internal.partition_bounds(
    relation regclass, OUT partition regclass, OUT from_id numeric, OUT to_id numeric
) RETURNS SETOF record
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid
                    WHERE p.partrelid = relation AND p.partstrat = 'r' AND p.partnatts = 1
                      AND a.attnum = p.partattrs[0] AND a.atttypid = 'bigint'::regtype) THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
            MESSAGE = format('%s is not partitioned by ranges of IDs', relation),
            HINT = 'It must be a table PARTITION BY RANGE of one bigint column.';
    END IF;
    -- Both are NULL for the DEFAULT partition.
    RETURN QUERY
        SELECT c.oid::regclass,
               replace(substring(e.bound FROM 'FROM [(]''?([^'')]+)'), 'MINVALUE', '-Infinity')::numeric,
               replace(substring(e.bound FROM 'TO [(]''?([^'')]+)'), 'MAXVALUE', 'Infinity')::numeric
          FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
               pg_get_expr(c.relpartbound, c.oid) AS e (bound)
         WHERE i.inhparent = relation;
END
$$;
COMMENT ON FUNCTION snowid_internal.partition_bounds(regclass) IS
    'the partitions of a table and their bounds, for the functions beside it';

CREATE FUNCTION snowid_internal.bound_time(bound numeric, layout text, epoch timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql STABLE CALLED ON NULL INPUT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fields CONSTANT snowid.layouts :=
        CASE WHEN epoch IS NULL THEN snowid.layout(layout) ELSE snowid.layout(layout, epoch) END;
BEGIN
    IF bound < 0 THEN -- negative ids stand before all others
        RETURN '-infinity';
    ELSIF bound >= 2::numeric ^ (fields.time_bits + (SELECT sum(b) FROM unnest(fields.field_bits) b))
          OR bound = 'Infinity' THEN
        RETURN 'infinity';
    END IF;
    RETURN (snowid_internal.decode_as(fields, bound::bigint)).created_at;
END
$$;
COMMENT ON FUNCTION snowid_internal.bound_time(numeric, text, timestamptz) IS
    'the time of a partition''s bound, for the functions beside it';

CREATE FUNCTION snowid_internal.time_bound(at timestamptz, layout text, epoch timestamptz) RETURNS numeric
    LANGUAGE plpgsql STABLE CALLED ON NULL INPUT PARALLEL UNSAFE -- it starts a subtransaction
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN snowid_internal.floor_as(
        CASE WHEN epoch IS NULL THEN snowid.layout(layout) ELSE snowid.layout(layout, epoch) END, at);
EXCEPTION WHEN datetime_field_overflow THEN -- past the last id
    RETURN 'Infinity';
END
$$;
COMMENT ON FUNCTION snowid_internal.time_bound(timestamptz, text, timestamptz) IS
    'the bound of a partition that begins or ends at a time, for the functions beside it';

CREATE FUNCTION snowid_internal.period_start(every interval, at timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
DECLARE
    origin CONSTANT timestamptz := '0001-01-01 00:00:00+00'; -- a Monday
    months integer;
    month integer;
BEGIN
    IF NOT isfinite(every) OR every <= '0' OR extract(microseconds FROM every) % 1000000 <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'a partition''s interval must be positive, finite and in whole seconds',
            DETAIL = format('It is %s.', every);
    END IF;
    months := extract(year FROM every) * 12 + extract(month FROM every);
    IF months = 0 THEN
        RETURN date_bin(every, at, origin);
    ELSIF every <> months * interval '1 month' OR extract(day FROM every) <> 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'a partition''s interval must be either of months or of days and less',
            DETAIL = format('It is %s.', every),
            HINT = 'Months differ in length, so that a sum of both has no fixed place in the calendar.';
    END IF;
    month := (extract(year FROM at) - 1) * 12 + extract(month FROM at) - 1;
    RETURN origin + (month - month % months) * interval '1 month';
END
$$;
COMMENT ON FUNCTION snowid_internal.period_start(interval, timestamptz) IS
    'when the period that an instant lies in began, periods being counted from Monday 0001-01-01 UTC';

CREATE FUNCTION snowid_internal.partition_name(relation regclass, every interval, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
AS $$
DECLARE
    suffix CONSTANT text := to_char(at, CASE WHEN at = date_trunc('day', at) AND every >= '1 day' THEN '"_p"YYYYMMDD'
                                             WHEN at = date_trunc('minute', at) THEN '"_p"YYYYMMDD_HH24MI'
                                             ELSE '"_p"YYYYMMDD_HH24MISSMS' END);
    schema name;
    base text;
BEGIN
    SELECT n.nspname, c.relname INTO schema, base
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation;
    WHILE octet_length(base || suffix) > current_setting('max_identifier_length')::integer LOOP
        base := left(base, -1);
    END LOOP;
    RETURN format('%I.%I', schema, base || suffix);
END
$$;
COMMENT ON FUNCTION snowid_internal.partition_name(regclass, interval, timestamptz) IS
    'what the partition of a table is called whose period begins at an instant, for the functions beside it';

CREATE FUNCTION snowid_internal.add_partition(relation regclass, name text, from_id numeric, to_id numeric) RETURNS void
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner name;
    options text;
BEGIN
    SELECT pg_get_userbyid(c.relowner),
           concat(' USING ' || quote_ident(a.amname), ' TABLESPACE ' || quote_ident(t.spcname)) INTO owner, options
      FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
     WHERE c.oid = relation;
    -- As CREATE TABLE ... PARTITION OF would make it, which would lock out readers of the parent.
    EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS '
        'INCLUDING STORAGE INCLUDING COMPRESSION) %s', name, relation, options);
    IF owner <> current_user THEN
        EXECUTE format('ALTER TABLE %s OWNER TO %I', name, owner);
    END IF;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', relation, name,
        CASE from_id WHEN '-Infinity' THEN 'MINVALUE' ELSE from_id::text END,
        CASE to_id WHEN 'Infinity' THEN 'MAXVALUE' ELSE to_id::text END);
END
$$;
COMMENT ON FUNCTION snowid_internal.add_partition(regclass, text, numeric, numeric) IS
    'makes one partition of a table, for the functions beside it; name is quoted already';

CREATE FUNCTION snowid.create_partitions(
    relation regclass, every interval, ahead interval DEFAULT NULL, starting timestamptz DEFAULT NULL,
    layout text DEFAULT 'pg_snowid', epoch timestamptz DEFAULT NULL
) RETURNS TABLE (partition regclass, from_time timestamptz, to_time timestamptz)
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO'
AS $$
#variable_conflict use_variable
DECLARE
    most CONSTANT integer := 1000; -- in one call: each takes some of the server's lock table
    lows numeric[];
    highs numeric[];
    n integer := 1;         -- the first of these that isn't behind low
    low numeric;            -- up to here ids have their partitions
    high numeric;
    target numeric;
    at timestamptz;         -- the time of low; below all ids, when the first period begins
    until timestamptz;      -- when that period ends
    name text;
    made integer := 0;
BEGIN
    IF relation IS NULL OR every IS NULL OR layout IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'relation, every and layout must not be null';
    ELSIF NOT isfinite(ahead) OR ahead < '0' OR NOT isfinite(starting) THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'ahead must be finite and not negative, and starting finite';
    END IF;

    PERFORM snowid_internal.partition_bounds(relation); -- the oid of what is gone can't even be locked
    -- One call at a time. Reading and writing go on.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
    SELECT coalesce(array_agg(b.from_id ORDER BY b.from_id), '{}'), array_agg(b.to_id ORDER BY b.from_id)
      INTO lows, highs FROM snowid_internal.partition_bounds(relation) b WHERE b.from_id IS NOT NULL;

    target := snowid_internal.time_bound(clock_timestamp() + coalesce(ahead, every), layout, epoch);
    at := snowid_internal.period_start(every,
        greatest(coalesce(starting, clock_timestamp()), snowid_internal.bound_time(0, layout, epoch)));
    low := CASE WHEN lows[1] <= snowid_internal.time_bound(starting, layout, epoch) OR starting IS NULL AND lows <> '{}'
                THEN lows[1] ELSE '-Infinity' END;
    WHILE low < target LOOP
        IF low = lows[n] THEN -- there is one
            low := highs[n];
            n := n + 1;
            CONTINUE;
        ELSIF made = most THEN
            RAISE WARNING USING
                MESSAGE = format('%s partitions are made, and %s needs more', made, relation),
                HINT = 'Call snowid.create_partitions again: it goes on from here.';
            EXIT;
        ELSIF low >= 0 THEN
            at := snowid_internal.bound_time(low, layout, epoch);
            EXIT WHEN at = 'infinity'; -- past the last id
        END IF;
        until := snowid_internal.period_start(every, at) + every;
        high := snowid_internal.time_bound(until, layout, epoch);
        IF high <= low THEN -- low is that bound: its time was rounded down to the layout's unit
            at := until;
            until := until + every;
            high := snowid_internal.time_bound(until, layout, epoch);
        END IF;
        IF high <= low THEN
            RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('a partition''s interval is shorter than the unit of time of layout "%s"', layout),
                DETAIL = format('It is %s.', every);
        END IF;
        high := least(high, lows[n]);

        name := snowid_internal.partition_name(relation, every, at);
        BEGIN
            PERFORM snowid_internal.add_partition(relation, name, low, high);
        EXCEPTION
            WHEN duplicate_table THEN
                RAISE EXCEPTION USING ERRCODE = 'duplicate_table', MESSAGE = SQLERRM,
                    DETAIL = format('It has the name of the partition of %s from %s on.', relation, at),
                    HINT = 'If it is a partition that was detached, attach it again, rename it or drop it.';
            WHEN check_violation THEN
                RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = SQLERRM,
                    DETAIL = format('Rows in it belong into the new partition %s, from %s to %s.', name,
                        snowid_internal.bound_time(low, layout, epoch), snowid_internal.bound_time(high, layout, epoch)),
                    HINT = 'Detach the DEFAULT partition, call snowid.create_partitions, and insert its rows into the table again.';
        END;
        made := made + 1;
        partition := name;
        from_time := snowid_internal.bound_time(low, layout, epoch);
        to_time := snowid_internal.bound_time(high, layout, epoch);
        RETURN NEXT;
        low := high;
    END LOOP;
END
$$;
COMMENT ON FUNCTION snowid.create_partitions(regclass, interval, interval, timestamptz, text, timestamptz) IS
    'makes the partitions by time that a table lacks, from its first one (or from starting) until ahead of the clock, each a whole period in UTC, and returns them; to be called again and again';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.create_partitions(regclass, interval, interval, timestamptz, text, timestamptz)');

CREATE FUNCTION snowid.drop_partitions(
    relation regclass, retention interval, detach_only boolean DEFAULT false,
    layout text DEFAULT 'pg_snowid', epoch timestamptz DEFAULT NULL
) RETURNS TABLE (partition text, from_time timestamptz, to_time timestamptz)
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO'
AS $$
#variable_conflict use_variable
DECLARE
    last numeric;
    old record;
BEGIN
    IF relation IS NULL OR retention IS NULL OR detach_only IS NULL OR layout IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'relation, retention, detach_only and layout must not be null';
    ELSIF NOT isfinite(retention) OR retention < '0' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'a retention must be finite and not negative', DETAIL = format('It is %s.', retention);
    END IF;

    PERFORM snowid_internal.partition_bounds(relation); -- as in create_partitions
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', relation);
    SELECT max(b.to_id) INTO last FROM snowid_internal.partition_bounds(relation) b;
    -- So the last partition is never dropped; nor is any by a layout in which all ids seem old.
    IF last < 'Infinity' AND last <= snowid_internal.time_bound(clock_timestamp(), layout, epoch) THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('%s has no partition for the present time', relation),
            DETAIL = format('Its last one ends at %s, by layout "%s".', snowid_internal.bound_time(last, layout, epoch), layout),
            HINT = 'Call snowid.create_partitions first, and see with snowid.partitions whether layout and epoch are right.';
    END IF;
    FOR old IN
        SELECT b.partition, b.from_id, b.to_id, c.relkind,
               EXISTS (SELECT FROM pg_constraint f WHERE f.confrelid = b.partition AND f.contype = 'f') AS referred
          FROM snowid_internal.partition_bounds(relation) b JOIN pg_class c ON c.oid = b.partition
         WHERE b.to_id > 0 AND b.to_id < last
           AND b.to_id <= snowid_internal.time_bound(clock_timestamp() - retention, layout, epoch)
         ORDER BY b.from_id
    LOOP
        partition := old.partition;
        from_time := snowid_internal.bound_time(old.from_id, layout, epoch);
        to_time := snowid_internal.bound_time(old.to_id, layout, epoch);
        -- Foreign keys that refer to the table keep its partitions, used or not, until they are detached.
        -- Where there are none it is dropped at once: detaching would lock the tables that it refers to.
        IF detach_only OR old.referred THEN
            EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', relation, partition);
        END IF;
        IF NOT detach_only THEN
            EXECUTE format('DROP %s %s', CASE old.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, partition);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION snowid.drop_partitions(regclass, interval, boolean, text, timestamptz) IS
    'drops, or only detaches, the partitions that ended longer ago than the retention, and returns them; never the DEFAULT one, nor the last';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.drop_partitions(regclass, interval, boolean, text, timestamptz)');

CREATE FUNCTION snowid.partitions(
    relation regclass, layout text DEFAULT 'pg_snowid', epoch timestamptz DEFAULT NULL
) RETURNS TABLE (partition regclass, from_id bigint, to_id bigint, from_time timestamptz,
                 to_time timestamptz, estimated_rows bigint, total_size bigint)
    LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.partition,
           CASE WHEN b.from_id > '-Infinity' THEN b.from_id::bigint END,
           CASE WHEN b.to_id < 'Infinity' THEN b.to_id::bigint END,
           snowid_internal.bound_time(b.from_id, layout, epoch), snowid_internal.bound_time(b.to_id, layout, epoch),
           s.estimated_rows, s.total_size
      FROM snowid_internal.partition_bounds(relation) b,
           -- of the tables below it, where it is partitioned itself
           LATERAL (SELECT sum(nullif(c.reltuples, -1))::bigint, sum(pg_total_relation_size(c.oid))::bigint
                      FROM pg_partition_tree(b.partition) t JOIN pg_class c ON c.oid = t.relid
                     WHERE t.isleaf) AS s (estimated_rows, total_size)
     ORDER BY b.from_id NULLS LAST
$$;
COMMENT ON FUNCTION snowid.partitions(regclass, text, timestamptz) IS
    'the partitions of a table with the IDs (NULL: MINVALUE or MAXVALUE) and times from which and up to which they reach, all NULL for the DEFAULT one; rows as of the last ANALYZE, and bytes with indexes';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.partitions(regclass, text, timestamptz)');
GRANT EXECUTE ON FUNCTION snowid.partitions(regclass, text, timestamptz) TO pg_monitor;
