-- Turning a column's default into next_id, and back. What was there before is remembered in the column's
-- comment: it goes where the table goes, by pg_dump, renaming and DROP. The table's owner can write anything there,
-- so only a few words of it are acted on, and the rest is handed back. A sequence stays as the column's own.

CREATE VIEW snowid.migrated_columns AS
    SELECT c.oid::regclass AS relation, a.attname AS column_name,
           substr(d.description, m.start + length(m.mark)) AS migrated_from,
           nullif(left(d.description, greatest(m.start - 2, 0)), '') AS remark
      FROM pg_description d
      JOIN pg_class c ON c.oid = d.objoid
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid
     CROSS JOIN LATERAL (
           SELECT v.mark, strpos(chr(10) || d.description, chr(10) || v.mark) AS start
             FROM (VALUES ('migrated by pg_snowid from ')) AS v (mark)) AS m
     WHERE d.classoid = 'pg_class'::regclass AND m.start > 0;
COMMENT ON VIEW snowid.migrated_columns IS 'one row for each column that snowid.migrate_column has changed';
COMMENT ON COLUMN snowid.migrated_columns.relation IS 'the table';
COMMENT ON COLUMN snowid.migrated_columns.column_name IS 'the column';
COMMENT ON COLUMN snowid.migrated_columns.migrated_from IS
    'what snowid.revert_column restores: no default, its sequence, identity always or identity by default; or default and an expression, which the owner does';
COMMENT ON COLUMN snowid.migrated_columns.remark IS 'what else the column''s comment says';
GRANT SELECT ON snowid.migrated_columns TO PUBLIC;

-- Not by SELECT, which takes a name: while it waits for a lock the owner can give the name to a view, whose
-- functions it would run.
CREATE FUNCTION snowid_internal.sequence_value(relation regclass, OUT last_value bigint, OUT is_called boolean)
    LANGUAGE c VOLATILE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_sequence_value';
COMMENT ON FUNCTION snowid_internal.sequence_value(regclass) IS
    'what SELECT from a sequence shows, for snowid_internal.remake_sequence; for those who may read it';

-- An identity's sequence cannot become an ordinary one, or the other way round: it is made again, with its
-- name, options, value, grants and comment.
CREATE FUNCTION snowid_internal.remake_sequence(relation regclass, column_name name, generated text) RETURNS void
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
AS $remake$
#variable_conflict use_variable
DECLARE
    sequence CONSTANT regclass := pg_get_serial_sequence(relation::text, column_name);
    old record;
    value record;
    acl record;
BEGIN
    IF sequence IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('column "%s" of table %s has no sequence', column_name, relation),
            HINT = 'Make one that is OWNED BY the column, or an identity.';
    END IF;
    SELECT format('%I.%I', n.nspname, c.relname) AS name, c.relowner, c.relacl, c.relpersistence,
           obj_description(c.oid, 'pg_class') AS remark, format('INCREMENT %s MINVALUE %s MAXVALUE %s START %s CACHE %s%s', s.seqincrement, s.seqmin, s.seqmax,
               s.seqstart, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END) AS options
      INTO STRICT old
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_sequence s ON s.seqrelid = c.oid
     WHERE c.oid = sequence;
    value := snowid_internal.sequence_value(sequence);
    IF generated IS NULL THEN
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY', relation, column_name);
        EXECUTE format('CREATE %s SEQUENCE %s %s', CASE old.relpersistence WHEN 'u' THEN 'UNLOGGED' WHEN 't' THEN 'TEMP' END,
            old.name, old.options);
        EXECUTE format('ALTER SEQUENCE %s OWNER TO %I', old.name, pg_get_userbyid(old.relowner));
        EXECUTE format('ALTER SEQUENCE %s OWNED BY %s.%I', old.name, relation, column_name);
    ELSE
        EXECUTE format('DROP SEQUENCE %s', sequence);
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)',
            relation, column_name, generated, old.name, old.options);
    END IF;
    PERFORM setval(old.name::regclass, value.last_value, value.is_called);
    EXECUTE format('COMMENT ON SEQUENCE %s IS %L', old.name, old.remark);
    FOR acl IN
        SELECT a.privilege_type, a.is_grantable, coalesce(quote_ident(r.rolname), 'PUBLIC') AS grantee
          FROM aclexplode(old.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
    LOOP
        EXECUTE format('GRANT %s ON SEQUENCE %s TO %s%s', acl.privilege_type, old.name, acl.grantee,
            CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END);
    END LOOP;
END
$remake$;
COMMENT ON FUNCTION snowid_internal.remake_sequence(regclass, name, text) IS
    'makes the sequence of an identity column an ordinary one that the column owns or, if a kind of identity is given, the other way round';

CREATE FUNCTION snowid.migrate_column(
    relation regclass, column_name name, shard_id bigint, epoch timestamptz DEFAULT NULL
) RETURNS text
    LANGUAGE plpgsql VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET row_security = off
    -- What decides how PostgreSQL shows an expression
    SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    SET standard_conforming_strings = on SET quote_all_identifiers = off
AS $migrate$
#variable_conflict use_variable
DECLARE
    home CONSTANT text := snowid_internal.home();
    counted_from CONSTANT timestamptz := snowid_internal.check_id_column(relation, column_name, shard_id, epoch);
    -- As PostgreSQL shows it; no argument is left out, for the reason in bind_schema
    wanted CONSTANT text := format('%s.next_id((%s)::bigint, %L::timestamp with time zone)', home, shard_id, counted_from);
    mark CONSTANT text := 'migrated by pg_snowid from '; -- see snowid.migrated_columns
    bound record;
    was record;
    heir record;
    top bigint;
    top_at text;
    memory record;
BEGIN
    -- Refuses an epoch that has ended.
    PERFORM snowid_internal.make_id(clock_timestamp(), shard_id, 0, counted_from);
    -- The partitions and children too
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', relation);
    SELECT a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid) AS expression,
           col_description(relation, a.attnum) AS remark INTO was
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = relation AND a.attname = column_name;
    IF was.expression = wanted THEN
        RAISE NOTICE 'column "%" of table % has the default % already', column_name, relation, wanted;
        RETURN wanted;
    ELSIF was.attgenerated <> '' THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_table_definition',
            MESSAGE = format('column "%s" of table %s is a generated column', column_name, relation),
            HINT = format('Use ALTER TABLE %s ALTER COLUMN %I DROP EXPRESSION first.', relation, column_name);
    END IF;

    SELECT b.schema_name, b.epoch INTO bound
      FROM snowid.bound_schemas b JOIN pg_namespace n ON n.nspname = b.schema_name JOIN pg_class c ON c.relnamespace = n.oid
     -- Anyone who may create there may bind it for himself.
     WHERE c.oid = relation AND b.epoch <> '2011-01-01 00:00:00+00' AND b.owner IN (current_user, pg_get_userbyid(c.relowner)) LIMIT 1;
    IF epoch IS NULL AND found THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('the schema of table %s has an epoch of its own', relation),
            DETAIL = format('IDs of %I.next_id count from %s.', bound.schema_name, bound.epoch),
            HINT = 'Pass that epoch or, if the default one is meant, ''2011-01-01+00''.';
    END IF;

    -- ALTER TABLE will give them all one default, and so will its undoing.
    WITH RECURSIVE heirs AS (
        SELECT h.inhrelid FROM pg_inherits h WHERE h.inhparent = relation
        UNION SELECT h.inhrelid FROM heirs JOIN pg_inherits h ON h.inhparent = heirs.inhrelid
    )
    SELECT a.attrelid::regclass AS name, pg_get_expr(d.adbin, d.adrelid) AS expression INTO heir
      FROM heirs JOIN pg_attribute a ON a.attrelid = heirs.inhrelid AND a.attname = column_name
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE pg_get_expr(d.adbin, d.adrelid) IS DISTINCT FROM was.expression LIMIT 1;
    IF found THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('defaults of column "%s" differ within table %s', column_name, relation),
            DETAIL = format('The default is %s, that of %s is %s.',
                coalesce(was.expression, 'none'), heir.name, coalesce(heir.expression, 'none')),
            HINT = 'Give the partitions and children the default of the table first.';
    END IF;

    -- The next ID comes after the last of the greatest one's millisecond.
    EXECUTE format('SELECT max(%I) FROM %s', column_name, relation) INTO top;
    BEGIN
        PERFORM snowid.advance((top >> 23 << 23) | (shard_id << 10) | 1023, counted_from) WHERE top >= 0;
    EXCEPTION WHEN invalid_parameter_value OR sequence_generator_limit_exceeded THEN
        top_at := to_char(snowid_internal.id_timestamp(top, counted_from), 'YYYY-MM-DD HH24:MI:SS.MS+00');
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('new IDs would not be greater than those in column "%s" of table %s', column_name, relation),
            DETAIL = format('The greatest is %s, which is an ID of %s; the clock says %s.',
                top, top_at, to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS.MS+00')),
            HINT = 'If they count from another epoch, pass it. An earlier epoch makes greater IDs.';
    END;

    SELECT m.migrated_from, m.remark INTO memory FROM snowid.migrated_columns m
     WHERE m.relation = relation AND m.column_name = column_name;
    IF NOT found THEN
        memory.remark := was.remark;
    END IF;
    IF memory.migrated_from IS NULL OR starts_with(was.expression, home || '.next_id(') IS NOT TRUE THEN
        memory.migrated_from := CASE
            WHEN was.attidentity = 'a' THEN 'identity always'
            WHEN was.attidentity = 'd' THEN 'identity by default'
            WHEN was.expression IS NULL THEN 'no default'
            WHEN was.expression = format('nextval(%L::regclass)', pg_get_serial_sequence(relation::text, column_name))
            THEN 'its sequence'
            ELSE 'default ' || was.expression END;
    END IF;
    IF was.attidentity <> '' THEN
        PERFORM snowid_internal.remake_sequence(relation, column_name, NULL::text);
    END IF;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', relation, column_name, wanted);
    PERFORM snowid_internal.check_calls('pg_attrdef', d.oid) FROM pg_attrdef d JOIN pg_attribute a
         ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE d.adrelid = relation AND a.attname = column_name;
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', relation, column_name,
        concat_ws(chr(10), memory.remark, mark || memory.migrated_from));
    RETURN wanted;
END
$migrate$;
COMMENT ON FUNCTION snowid.migrate_column(regclass, name, bigint, timestamptz) IS
    'makes next_id the default of a bigint column, after checking that new IDs will be greater than those it has, and returns it';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.migrate_column(regclass, name, bigint, timestamptz)');

CREATE FUNCTION snowid.revert_column(relation regclass, column_name name) RETURNS text
    LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $revert$
#variable_conflict use_variable
DECLARE
    alter_column CONSTANT text := format('ALTER TABLE %s ALTER COLUMN %I ', relation, column_name);
    memory record;
    forget text;
    sequence text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = relation) THEN
        RAISE EXCEPTION USING ERRCODE = 'wrong_object_type', MESSAGE = format('%s is not a table', relation);
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', relation);
    SELECT m.migrated_from, m.remark INTO memory FROM snowid.migrated_columns m
     WHERE m.relation = relation AND m.column_name = column_name;
    forget := format('COMMENT ON COLUMN %s.%I IS %L', relation, column_name, memory.remark);
    IF starts_with(memory.migrated_from, 'default ') THEN
        -- Its writer would have it executed by whoever calls this: parsing is enough, '{1}'::a_domain[] has its
        -- domain checked.
        RAISE NOTICE USING MESSAGE = format('column "%s" of table %s keeps its default', column_name, relation),
            HINT = 'What is returned restores the one of before. It is what the column''s comment says: for the table''s owner to read and run.';
        RETURN format('%sSET DEFAULT %s; %s;', alter_column, substr(memory.migrated_from, 9), forget);
    ELSIF memory.migrated_from IN ('no default', 'its sequence', 'identity always', 'identity by default') IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('nothing is known of what column "%s" of table %s was before', column_name, relation),
            DETAIL = 'snowid.migrate_column writes that into the column''s comment.',
            HINT = format('Use %sSET DEFAULT.', alter_column);
    END IF;
    sequence := pg_get_serial_sequence(relation::text, column_name);
    IF sequence IS NULL AND memory.migrated_from <> 'no default' THEN
        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
            MESSAGE = format('the sequence of column "%s" of table %s is gone', column_name, relation),
            DETAIL = format('What the column had before is: %s.', memory.migrated_from),
            HINT = format('Make one that is OWNED BY %s.%I and has the value to go on from.', relation, column_name);
    END IF;
    IF memory.migrated_from = 'its sequence' THEN
        EXECUTE format('%sSET DEFAULT nextval(%L::regclass)', alter_column, sequence);
    ELSE
        EXECUTE alter_column || 'DROP DEFAULT';
    END IF;
    IF starts_with(memory.migrated_from, 'identity ') THEN
        PERFORM snowid_internal.remake_sequence(relation, column_name, upper(substr(memory.migrated_from, 10)));
    END IF;
    EXECUTE forget;
    RETURN memory.migrated_from;
END
$revert$;
COMMENT ON FUNCTION snowid.revert_column(regclass, name) IS
    'undoes snowid.migrate_column: the column has no default, its sequence or the identity again, which goes on where it was; any other default it returns as a statement for the owner';
SELECT snowid_internal.for_owner('EXECUTE', 'FUNCTION snowid.revert_column(regclass, name)');
