-- Bound schemas. What is made here belongs to the caller, not to the extension: pg_dump carries it.
-- Each function is one SQL expression with the epoch and the shard inside as constants, parsed when
-- it is made (so that nothing depends on search_path) and inlined by the planner.

CREATE FUNCTION snowid.bind_schema(
    schema_name text, shard_id bigint DEFAULT NULL, epoch timestamptz DEFAULT NULL,
    replace boolean DEFAULT false
) RETURNS void
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO'
AS $bind$
#variable_conflict use_variable
DECLARE
    home CONSTANT text := snowid_internal.home();
    target CONSTANT oid := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = schema_name);
    mark CONSTANT text := 'bound by pg_snowid to ';
    binding CONSTANT text := mark || concat_ws(', ',
        'epoch ' || coalesce(epoch::text, 'default'), 'shard ' || shard_id);
    -- Calls leave no argument out and have the types declared: where others may add functions to the public schema,
    -- none fits better. The epoch as a last argument: of what reads, which goes without the default one, and of the
    -- others in either layout.
    e CONSTANT text := coalesce(', ' || quote_literal(epoch) || '::timestamptz', '');
    id_e CONSTANT text := ', ' || quote_literal(coalesce(epoch, '2011-01-01 00:00:00+00')) || '::timestamptz';
    snowflake_e CONSTANT text := quote_literal(coalesce(epoch, '2010-11-04 01:42:54.657+00')) || '::timestamptz';
    -- The shard as a value, and as parameters where it isn't bound.
    s CONSTANT text := coalesce(shard_id || '::bigint', 'shard_id');
    s_type CONSTANT text := CASE WHEN shard_id IS NULL THEN 'bigint' END;
    s_only CONSTANT text := CASE WHEN shard_id IS NULL THEN 'shard_id bigint' ELSE '' END;
    s_first CONSTANT text := CASE WHEN shard_id IS NULL THEN 'shard_id bigint, ' ELSE '' END;
    -- What others have made is never adopted, whatever its comment says: its owner could give it another body, to
    -- be run by whoever inserts.
    made CONSTANT oid[] := ARRAY(SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = target AND p.prokind = 'f' AND pg_get_userbyid(p.proowner) = current_user
          AND starts_with(obj_description(p.oid, 'pg_proc'), mark));
    other text;
    wanted record;
    existing regprocedure;
BEGIN
    IF schema_name IS NULL OR replace IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed',
            MESSAGE = 'schema_name and replace must not be null';
    ELSIF target IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_schema_name',
            MESSAGE = format('schema "%s" does not exist', schema_name),
            HINT = 'Create it first with CREATE SCHEMA.';
    ELSIF epoch IS NULL AND shard_id IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'neither an epoch nor a shard is given to bind to',
            HINT = 'Pass epoch, shard_id, or both.';
    END IF;
    PERFORM snowid_internal.check_epoch(epoch);
    -- Refuses a shard out of range; any instant serves.
    PERFORM snowid_internal.make_id('2020-01-01 00:00:00+00', shard_id, 0, '2020-01-01 00:00:00+00');

    SELECT obj_description(m.oid, 'pg_proc') INTO other FROM unnest(made) AS m (oid)
     WHERE obj_description(m.oid, 'pg_proc') <> binding LIMIT 1;
    IF found AND NOT replace THEN
        RAISE EXCEPTION USING ERRCODE = 'duplicate_object',
            MESSAGE = format('schema "%s" is already bound', schema_name),
            DETAIL = format('It is %s.', other),
            HINT = 'IDs made so far would decode to other times or shards. '
                'If that is what you want, pass replace => true, and reindex what is indexed or stored by them.';
    END IF;

    FOR wanted IN
        SELECT format('%I.%I', schema_name, v.name) AS name, v.types, v.parameters, v.result, v.expression
          FROM (VALUES
            ('next_id', coalesce(s_type, ''), s_only, 'bigint VOLATILE', format('next_id(%s%s)', s, id_e)),
            ('next_ids', concat_ws(', ', s_type, 'bigint'), s_first || 'count bigint',
                'SETOF bigint VOLATILE', format('next_ids(%s, count%s)', s, id_e)),
            ('make_id', concat_ws(', ', 'timestamptz', s_type, 'bigint'),
                format('created_at timestamptz, %ssequence bigint DEFAULT 0', s_first),
                'bigint IMMUTABLE', format('make_id(created_at, %s, sequence%s)', s, id_e)),
            ('id_floor', 'timestamptz', 'created_at timestamptz',
                'bigint IMMUTABLE', format('id_floor(created_at%s)', id_e)),
            ('id_timestamp', 'bigint', 'id bigint',
                'timestamptz IMMUTABLE', format('id_timestamp(id%s)', e)),
            ('decode_id', 'bigint',
                'id bigint, OUT created_at timestamptz, OUT shard_id integer, OUT sequence integer',
                'record IMMUTABLE', format('decode_id(id%s)', e)),
            ('snowflake_id', '', '', 'bigint VOLATILE', format('snowflake_id(%s)', snowflake_e)),
            ('snowflake_id', 'bigint, bigint', 'datacenter_id bigint, worker_id bigint',
                'bigint VOLATILE', format('snowflake_id(datacenter_id, worker_id, %s)', snowflake_e)),
            ('snowflake_ids', 'bigint', 'count bigint',
                'SETOF bigint VOLATILE', format('snowflake_ids(count, %s)', snowflake_e)),
            ('snowflake_ids', 'bigint, bigint, bigint', 'datacenter_id bigint, worker_id bigint, count bigint',
                'SETOF bigint VOLATILE', format('snowflake_ids(datacenter_id, worker_id, count, %s)', snowflake_e)),
            ('make_snowflake_id', 'timestamptz, bigint, bigint, bigint',
                'created_at timestamptz, datacenter_id bigint, worker_id bigint, '
                'sequence bigint DEFAULT 0', 'bigint IMMUTABLE',
                format('make_snowflake_id(created_at, datacenter_id, worker_id, sequence, %s)', snowflake_e)),
            ('snowflake_floor', 'timestamptz', 'created_at timestamptz',
                'bigint IMMUTABLE', format('snowflake_floor(created_at, %s)', snowflake_e)),
            ('snowflake_timestamp', 'bigint', 'id bigint',
                'timestamptz IMMUTABLE', format('snowflake_timestamp(id%s)', e)),
            ('decode_snowflake', 'bigint', 'id bigint, OUT created_at timestamptz, '
                'OUT datacenter_id integer, OUT worker_id integer, OUT sequence integer',
                'record IMMUTABLE', format('decode_snowflake(id%s)', e))
          ) AS v (name, types, parameters, result, expression)
    LOOP
        existing := to_regprocedure(format('%s(%s)', wanted.name, wanted.types));
        IF existing IS NOT NULL AND existing <> ALL (made) THEN
            RAISE EXCEPTION USING ERRCODE = 'duplicate_function',
                MESSAGE = format('function %s already exists', existing),
                DETAIL = format('Its owner is "%s". Only plain functions are replaced that snowid.bind_schema has made for the same role, here "%s".',
                    (SELECT pg_get_userbyid(p.proowner) FROM pg_proc p WHERE p.oid = existing), current_user),
                HINT = 'Bind another schema, drop that function first, or bind again as the role that did.';
        END IF;
        -- Where there is none it isn't replaced: one that somebody else makes meanwhile would stay his.
        EXECUTE format('CREATE %s FUNCTION %s(%s) RETURNS %s STRICT PARALLEL SAFE LANGUAGE sql RETURN %s.%s',
            CASE WHEN existing IS NOT NULL THEN 'OR REPLACE' END,
            wanted.name, wanted.parameters, wanted.result, home, wanted.expression);
        PERFORM snowid_internal.check_calls('pg_proc', to_regprocedure(format('%s(%s)', wanted.name, wanted.types)));
        EXECUTE format('COMMENT ON FUNCTION %s(%s) IS %L', wanted.name, wanted.types, binding);
    END LOOP;

    -- What an earlier binding made and this one has no place for, such as next_id(bigint).
    FOR existing IN
        SELECT m.oid FROM unnest(made) AS m (oid) WHERE obj_description(m.oid, 'pg_proc') <> binding
    LOOP
        EXECUTE format('DROP FUNCTION %s', existing);
    END LOOP;
END
$bind$;
COMMENT ON FUNCTION snowid.bind_schema(text, bigint, timestamptz, boolean) IS
    'creates in a schema next_id, id_timestamp and the others with an epoch, a shard or both inside';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.bind_schema(text, bigint, timestamptz, boolean)');

-- Not by comments, which say what their writer likes: by what next_id calls, with which constants.
CREATE FUNCTION snowid_internal.binding(function oid, OUT shard_id integer, OUT epoch timestamptz)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO' SET quote_all_identifiers = off
AS $binding$
DECLARE
    body CONSTANT text := pg_get_function_sqlbody(function);
    call CONSTANT text := format('RETURN %s.next_id(', snowid_internal.home());
BEGIN
    SELECT m.parts[1], m.parts[2] INTO shard_id, epoch
      FROM regexp_match(substr(body, length(call) + 1),
               '^(?:[(]([0-9]{1,4})[)]::bigint|shard_id)(?:, ''([^'']+)''::timestamp with time zone)?[)]$') AS m (parts)
     WHERE starts_with(body, call);
END
$binding$;
COMMENT ON FUNCTION snowid_internal.binding(oid) IS
    'the shard and the epoch with which a function calls next_id and nothing else, NULL for what is no constant there';

CREATE VIEW snowid.bound_schemas AS
    SELECT n.nspname AS schema_name, b.shard_id, b.epoch, pg_get_userbyid(p.proowner) AS owner
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, snowid_internal.binding(p.oid) b
     WHERE p.proname = 'next_id' AND p.prosqlbody IS NOT NULL AND (b.shard_id IS NOT NULL OR b.epoch IS NOT NULL);
COMMENT ON VIEW snowid.bound_schemas IS
    'one row for each schema whose next_id has a shard, an epoch or both inside, as snowid.bind_schema makes it';
COMMENT ON COLUMN snowid.bound_schemas.schema_name IS 'the schema';
COMMENT ON COLUMN snowid.bound_schemas.shard_id IS 'the shard that its next_id draws from, NULL where it is an argument';
COMMENT ON COLUMN snowid.bound_schemas.epoch IS 'the epoch that IDs of its next_id count from, NULL where a function made by hand leaves it out';
COMMENT ON COLUMN snowid.bound_schemas.owner IS 'whose function next_id is: who bound the schema';
GRANT SELECT ON snowid.bound_schemas TO PUBLIC;
