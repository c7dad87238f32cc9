-- Tickets and ranges: native sequences that divide the bigints among servers or shards. They belong
-- to the caller, not to the extension: pg_dump carries them. A comment says which part a sequence is
-- of how many; all else is its own parameters.
--
-- PARALLEL UNSAFE where nextval is, or CREATE and ALTER are.

CREATE FUNCTION @extschema@.next_ticket(relation regclass) RETURNS bigint
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_next_ticket';
COMMENT ON FUNCTION @extschema@.next_ticket(regclass) IS
    'the sequence''s next value, as nextval, on disk before it is returned: it does not repeat after a crash';

CREATE FUNCTION @extschema@.next_tickets(relation regclass, count bigint) RETURNS SETOF bigint
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_next_tickets';
COMMENT ON FUNCTION @extschema@.next_tickets(regclass, bigint) IS
    'a block of the sequence''s next values, which follow each other; count is 0 to 10,000,000';

CREATE FUNCTION snowid_internal.check_part(part_name text, part integer, parts integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF part IS NULL OR parts IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = format('%s and %1$ss must not be null', part_name);
    ELSIF parts < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('%ss %s is out of range', part_name, parts),
            DETAIL = 'It must be at least 1.';
    ELSIF part NOT BETWEEN 1 AND parts THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('%s %s is out of range', part_name, part),
            DETAIL = format('It must be between 1 and %s.', parts);
    END IF;
END
$$;
COMMENT ON FUNCTION snowid_internal.check_part(text, integer, integer) IS
    'an error if there is no such server or shard: they are numbered from 1';

CREATE FUNCTION snowid.first_ticket(servers integer, server integer, start bigint DEFAULT 1) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM snowid_internal.check_part('server', server, servers);
    IF start IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'start must not be null';
    ELSIF start < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('start %s is out of range', start), DETAIL = 'It must be at least 1.';
    END IF;
    RETURN start + (servers + (server - start) % servers) % servers;
END
$$;
COMMENT ON FUNCTION snowid.first_ticket(integer, integer, bigint) IS
    'the first ticket of a server at or above start: the server''s number plus a multiple of the number of servers';

CREATE FUNCTION snowid.range_part(
    shards integer, shard integer, first bigint DEFAULT 1, last bigint DEFAULT 9223372036854775807,
    OUT part_first bigint, OUT part_last bigint
) LANGUAGE plpgsql IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- A bigint can't count them all.
    total CONSTANT numeric := last::numeric - first + 1;
BEGIN
    PERFORM snowid_internal.check_part('shard', shard, shards);
    IF total IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'first and last must not be null';
    ELSIF total < 2::numeric * shards THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'range is too small',
            DETAIL = format('From %s to %s there are not two values for each of %s shards, the least that a sequence has.',
                first, last, shards);
    END IF;
    part_first := first + div(total * (shard - 1), shards);
    part_last := first + div(total * shard, shards) - 1;
END
$$;
COMMENT ON FUNCTION snowid.range_part(integer, integer, bigint, bigint) IS
    'the first and the last value of a shard''s part of a range; parts differ in size by 1 at most';

-- For the two that follow, which add the schema where their caller's unqualified names go.
CREATE FUNCTION snowid_internal.create_sequence(
    name text, schema_name text, increment integer, first bigint, last bigint, mark text
) RETURNS regclass
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    path CONSTANT text[] := parse_ident(name);
    sequence text;
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'name must not be null';
    ELSIF cardinality(path) > 2 THEN
        RAISE EXCEPTION USING ERRCODE = 'syntax_error',
            MESSAGE = format('improper qualified name (too many dotted names): %s', name);
    ELSIF cardinality(path) = 1 AND schema_name IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_schema_name',
            MESSAGE = 'no schema has been selected to create in',
            HINT = 'Qualify the name, or set "search_path".';
    END IF;
    sequence := CASE cardinality(path) WHEN 1 THEN format('%I.%I', schema_name, path[1])
                                       ELSE format('%I.%I', path[1], path[2]) END;
    EXECUTE format('CREATE SEQUENCE %s AS bigint INCREMENT BY %s MINVALUE %s MAXVALUE %s NO CYCLE',
        sequence, increment, first, last);
    EXECUTE format('COMMENT ON SEQUENCE %s IS %L', sequence, mark);
    RETURN sequence;
END
$$;
COMMENT ON FUNCTION snowid_internal.create_sequence(text, text, integer, bigint, bigint, text) IS
    'creates a sequence with a comment, for snowid.create_ticket_sequence and snowid.create_range_sequence';

-- SQL that is parsed here, so that it can do without a search_path of its own and sees its caller's.
CREATE FUNCTION snowid.create_ticket_sequence(
    name text, servers integer, server integer, start bigint DEFAULT 1
) RETURNS regclass
    LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    RETURN snowid_internal.create_sequence(name, current_schema(), servers,
        snowid.first_ticket(servers, server, start), 9223372036854775807,
        format('pg_snowid tickets: server %s of %s', server, servers));
COMMENT ON FUNCTION snowid.create_ticket_sequence(text, integer, integer, bigint) IS
    'creates a sequence of which each of several servers has every nth value: servers count from 1, tickets from start';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.create_ticket_sequence(text, integer, integer, bigint)');

CREATE FUNCTION snowid.create_range_sequence(
    name text, shards integer, shard integer,
    first bigint DEFAULT 1, last bigint DEFAULT 9223372036854775807
) RETURNS regclass
    LANGUAGE sql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    RETURN (SELECT snowid_internal.create_sequence(name, current_schema(), 1, part_first, part_last,
                format('pg_snowid range: shard %s of %s, %s to %s', shard, shards, first, last))
              FROM snowid.range_part(shards, shard, first, last));
COMMENT ON FUNCTION snowid.create_range_sequence(text, integer, integer, bigint, bigint) IS
    'creates a sequence of one shard''s part of a range, which ends with an error: shards count from 1';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.create_range_sequence(text, integer, integer, bigint, bigint)');

CREATE VIEW snowid.sequences AS
    SELECT c.oid::regclass AS relation, m.mark[1] AS kind,
           m.mark[2]::bigint AS part, m.mark[3]::bigint AS parts,
           s.min_value AS first, s.max_value AS last, s.last_value,
           u.used, t.total - u.used AS remaining, round(100 * u.used / t.total, 2) AS used_percent
      FROM pg_sequences s
      JOIN pg_namespace n ON n.nspname = s.schemaname
      JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.sequencename,
           LATERAL (SELECT regexp_match(obj_description(c.oid, 'pg_class'),
               '^pg_snowid (tickets|range): (?:server|shard) ([0-9]{1,10}) of ([0-9]{1,10})') AS mark) m,
           LATERAL (SELECT div(s.max_value::numeric - s.min_value, abs(s.increment_by::numeric)) + 1 AS total) t,
           LATERAL (SELECT coalesce(div(s.last_value::numeric - s.min_value, s.increment_by) + 1, 0) AS used) u
     WHERE m.mark IS NOT NULL
       -- Which is an error for other relations, and may be looked at before the joins.
       AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, 'SELECT, USAGE') END;
COMMENT ON VIEW snowid.sequences IS
    'one row for each ticket or range sequence of this database that the reader may read';
COMMENT ON COLUMN snowid.sequences.relation IS 'the sequence';
COMMENT ON COLUMN snowid.sequences.kind IS 'tickets or range';
COMMENT ON COLUMN snowid.sequences.part IS 'which server or shard this is, from 1';
COMMENT ON COLUMN snowid.sequences.parts IS 'how many servers or shards there are';
COMMENT ON COLUMN snowid.sequences.first IS 'the least value; of tickets that of the last resize';
COMMENT ON COLUMN snowid.sequences.last IS 'no value is greater: after the last one an error comes';
COMMENT ON COLUMN snowid.sequences.last_value IS
    'the last value drawn, NULL if none was; after a crash up to 32 values later';
COMMENT ON COLUMN snowid.sequences.used IS 'how many values were drawn, gaps included';
COMMENT ON COLUMN snowid.sequences.remaining IS 'how many values are left';
COMMENT ON COLUMN snowid.sequences.used_percent IS 'the share of the values that were drawn';
GRANT SELECT ON snowid.sequences TO PUBLIC;

-- Another number of servers, in two steps. Between them a server that has taken the second gives
-- tickets from start on, the others give theirs below it: in no order is one given twice.

CREATE FUNCTION snowid_internal.check_tickets(relation regclass, start bigint) RETURNS void
    LANGUAGE plpgsql STABLE CALLED ON NULL INPUT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF relation IS NULL OR start IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'relation and start must not be null';
    ELSIF starts_with(obj_description(relation, 'pg_class'), 'pg_snowid tickets: ') IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type',
            MESSAGE = format('%s is not a ticket sequence', relation),
            HINT = 'snowid.create_ticket_sequence makes them. Their comment says so: it must stay.';
    END IF;
END
$$;
COMMENT ON FUNCTION snowid_internal.check_tickets(regclass, bigint) IS
    'an error if it is no ticket sequence, or an argument is null';

CREATE FUNCTION snowid.cap_ticket_sequence(relation regclass, start bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    last bigint;
    last_value bigint;
BEGIN
    PERFORM snowid_internal.check_tickets(relation, start);
    -- It changes nothing, and its lock lets no other cap or resize come between what follows.
    EXECUTE format('ALTER SEQUENCE %s NO CYCLE', relation);
    last := (pg_sequence_parameters(relation)).maximum_value;
    -- Where it is capped others may have been resized, and give the tickets from there on.
    IF last + 1::numeric < start THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('ticket sequence %s is capped below %s', relation, last + 1::numeric),
            DETAIL = 'A cap is not raised: another server may have been resized there.',
            HINT = format('First take the second step, snowid.resize_ticket_sequence, with start %s.', last + 1::numeric);
    END IF;
    last_value := pg_sequence_last_value(relation);
    IF last_value >= start THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('ticket sequence %s has passed %s', relation, start),
            DETAIL = format('Its last ticket is %s.', last_value),
            HINT = 'Choose a greater start, the same for all servers.';
    END IF;
    -- If one is drawn meanwhile that has passed it, this fails.
    EXECUTE format('ALTER SEQUENCE %s MAXVALUE %s', relation, start - 1);
    PERFORM snowid_internal.commit_for_good();
    RETURN (SELECT s.remaining FROM snowid.sequences s WHERE s.relation = relation);
END
$$;
COMMENT ON FUNCTION snowid.cap_ticket_sequence(regclass, bigint) IS
    'the first step to another number of servers, to be taken on all of them: no ticket reaches start; returns how many are left below it';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.cap_ticket_sequence(regclass, bigint)');

CREATE FUNCTION snowid.resize_ticket_sequence(relation regclass, servers integer, server integer, start bigint)
    RETURNS bigint
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    first CONSTANT bigint := snowid.first_ticket(servers, server, start);
    last bigint;
BEGIN
    PERFORM snowid_internal.check_tickets(relation, start);
    -- First, since its lock lets no other cap or resize come between what follows.
    EXECUTE format('COMMENT ON SEQUENCE %s IS %L', relation,
        format('pg_snowid tickets: server %s of %s', server, servers));
    last := (pg_sequence_parameters(relation)).maximum_value;
    IF last <> start - 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('ticket sequence %s is not capped below %s', relation, start),
            DETAIL = format('Its tickets may go up to %s.', last),
            HINT = format('First, on all servers: SELECT snowid.cap_ticket_sequence(%L, %s).', relation, start);
    END IF;
    EXECUTE format('ALTER SEQUENCE %s INCREMENT BY %s MINVALUE %s NO MAXVALUE START WITH %3$s RESTART',
        relation, servers, first);
    PERFORM snowid_internal.commit_for_good();
    RETURN first;
END
$$;
COMMENT ON FUNCTION snowid.resize_ticket_sequence(regclass, integer, integer, bigint) IS
    'the second step to another number of servers, when all are capped below start: this one goes on as one of so many; returns its next ticket';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.resize_ticket_sequence(regclass, integer, integer, bigint)');

CREATE FUNCTION snowid_internal.commit_for_good() RETURNS void
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END
$$;
COMMENT ON FUNCTION snowid_internal.commit_for_good() IS
    'makes this transaction''s commit survive a crash and a failover, whatever the session''s setting: a cap that is lost lets tickets repeat';
