-- Other people's ids: layouts as rows, those that come with pg_snowid and the user's own, and functions that read
-- and make ids by them.

CREATE TABLE snowid.custom_layouts (
    name text PRIMARY KEY CHECK (name <> ''),
    epoch timestamptz NOT NULL,
    time_unit interval NOT NULL DEFAULT '1 millisecond',
    time_bits integer NOT NULL,
    field_names text[] NOT NULL CONSTRAINT field_names_is_a_list CHECK (array_ndims(field_names) = 1),
    field_bits integer[] NOT NULL CONSTRAINT field_bits_is_a_list CHECK (array_ndims(field_bits) = 1),
    note text
);
COMMENT ON TABLE snowid.custom_layouts IS
    'layouts of your own, which snowid.layouts shows with the built-in ones: the time is the highest field, the others follow from high to low; bits above the time are 0';
COMMENT ON COLUMN snowid.custom_layouts.name IS 'what the functions are given';
COMMENT ON COLUMN snowid.custom_layouts.epoch IS 'when the time is 0; a whole millisecond';
COMMENT ON COLUMN snowid.custom_layouts.time_unit IS
    'what the time counts; an instant within a unit is rounded down';
COMMENT ON COLUMN snowid.custom_layouts.time_bits IS 'width of the time, the highest field';
COMMENT ON COLUMN snowid.custom_layouts.field_names IS 'names of the fields below the time, from high to low';
COMMENT ON COLUMN snowid.custom_layouts.field_bits IS
    'widths of these fields; 64 bits at most, together with the time';
COMMENT ON COLUMN snowid.custom_layouts.note IS 'where the layout comes from';
SELECT pg_catalog.pg_extension_config_dump('snowid.custom_layouts', '');
-- Layouts are no secret.
SELECT snowid_internal.for_owner('INSERT, UPDATE, DELETE, TRUNCATE', 'TABLE snowid.custom_layouts');
GRANT SELECT ON snowid.custom_layouts TO PUBLIC;

-- By the whole row, so that there is one check, which the functions make too.
CREATE FUNCTION snowid_internal.check_layout(layout snowid.custom_layouts) RETURNS boolean
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_check_layout';
COMMENT ON FUNCTION snowid_internal.check_layout(snowid.custom_layouts) IS
    'true, or an error that says why this is no layout';
ALTER TABLE snowid.custom_layouts ADD CONSTRAINT is_a_layout CHECK (snowid_internal.check_layout(custom_layouts));
COMMENT ON CONSTRAINT is_a_layout ON snowid.custom_layouts IS 'fields have names of their own and fit into 64 bits with the time';
COMMENT ON CONSTRAINT field_names_is_a_list ON snowid.custom_layouts IS 'one dimension, or empty';
COMMENT ON CONSTRAINT field_bits_is_a_list ON snowid.custom_layouts IS 'one dimension, or empty';

CREATE VIEW snowid_internal.builtin_layouts (name, epoch, time_unit, time_bits, field_names, field_bits, note, since) AS VALUES
    ('pg_snowid'::text, '2011-01-01 00:00:00+00'::timestamptz, '1 ms'::interval, 41, '{shard_id,sequence}'::text[], '{13,10}'::integer[],
     'next_id() with its default epoch; Instagram''s layout'::text, '0.1'::text),
    ('instagram', '2011-08-24 21:07:01.721+00', '1 ms', 41, '{shard_id,sequence}', '{13,10}',
     'Instagram, "Sharding & IDs at Instagram" (2012): epoch 1314220021721', '0.1'),
    ('twitter', '2010-11-04 01:42:54.657+00', '1 ms', 41, '{datacenter_id,worker_id,sequence}', '{5,5,12}',
     'Twitter''s Snowflake (2010): epoch 1288834974657; snowflake_id() with its default epoch', '0.1'),
    ('discord', '2015-01-01 00:00:00+00', '1 ms', 42, '{worker_id,process_id,increment}', '{5,5,12}',
     'Discord, API reference, Snowflakes: epoch 1420070400000', '0.1'),
    ('mastodon', '1970-01-01 00:00:00+00', '1 ms', 48, '{tail}', '{16}',
     'Mastodon, lib/mastodon/snowflake.rb: the Unix epoch; the tail is a hash plus a sequence', '0.1'),
    ('pgedge', '2023-01-01 00:00:00+00', '1 ms', 41, '{node,count}', '{10,12}',
     'pgEdge''s extension snowflake since October 2023, snowflake.c: epoch 1672531200 s; before, count came first', '0.1'),
    ('shardingsphere', '2016-11-01 00:00:00+00', '1 ms', 41, '{worker_id,sequence}', '{10,12}',
     'Apache ShardingSphere, SnowflakeKeyGenerateAlgorithm.java: midnight in the time zone of its JVM; this row is for UTC', '0.1'),
    ('leaf', '2010-11-04 01:42:54.657+00', '1 ms', 41, '{worker_id,sequence}', '{10,12}',
     'Meituan''s Leaf, SnowflakeIDGenImpl.java: Twitter''s epoch unless another is given', '0.1'),
    ('sonyflake', '2014-09-01 00:00:00+00', '10 ms', 39, '{sequence,machine_id}', '{8,16}',
     'Sony''s Sonyflake, sonyflake.go: StartTime 2014-09-01 unless another is set; version 2 has 2025-01-01', '0.1');
COMMENT ON VIEW snowid_internal.builtin_layouts IS 'the layouts that come with pg_snowid, the same in every database';
GRANT SELECT ON snowid_internal.builtin_layouts TO PUBLIC;
COMMENT ON COLUMN snowid_internal.builtin_layouts.name IS 'what the functions are given';
COMMENT ON COLUMN snowid_internal.builtin_layouts.epoch IS 'when the time is 0';
COMMENT ON COLUMN snowid_internal.builtin_layouts.time_unit IS 'what the time counts';
COMMENT ON COLUMN snowid_internal.builtin_layouts.time_bits IS 'width of the time, the highest field';
COMMENT ON COLUMN snowid_internal.builtin_layouts.field_names IS 'names of the fields below the time, from high to low';
COMMENT ON COLUMN snowid_internal.builtin_layouts.field_bits IS 'widths of these fields';
COMMENT ON COLUMN snowid_internal.builtin_layouts.note IS 'where the layout comes from';
COMMENT ON COLUMN snowid_internal.builtin_layouts.since IS
    'the version of pg_snowid that brought it: names of a later one than the first give way to layouts of your own';

CREATE VIEW snowid.layouts AS
    SELECT c.*, false AS builtin FROM snowid.custom_layouts c
    UNION ALL
    SELECT b.name, b.epoch, b.time_unit, b.time_bits, b.field_names, b.field_bits, b.note, true
      FROM snowid_internal.builtin_layouts b
     WHERE NOT EXISTS (SELECT FROM snowid.custom_layouts c WHERE c.name = b.name);
COMMENT ON VIEW snowid.layouts IS
    'layouts of IDs for decode_as, make_as and floor_as: those that come with pg_snowid, and the rows of snowid.custom_layouts';
GRANT SELECT ON snowid.layouts TO PUBLIC;
COMMENT ON COLUMN snowid.layouts.name IS 'what the functions are given';
COMMENT ON COLUMN snowid.layouts.epoch IS 'when the time is 0';
COMMENT ON COLUMN snowid.layouts.time_unit IS 'what the time counts';
COMMENT ON COLUMN snowid.layouts.time_bits IS 'width of the time, the highest field';
COMMENT ON COLUMN snowid.layouts.field_names IS 'names of the fields below the time, from high to low';
COMMENT ON COLUMN snowid.layouts.field_bits IS 'widths of these fields';
COMMENT ON COLUMN snowid.layouts.note IS 'where the layout comes from';
COMMENT ON COLUMN snowid.layouts.builtin IS 'whether it comes with pg_snowid; false for a row of snowid.custom_layouts';

-- Not the names that later versions build in: a dump of before may hold them, and ids were read by its rows.
CREATE FUNCTION snowid_internal.check_layout_name() RETURNS trigger
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $check$
BEGIN
    IF EXISTS (SELECT FROM snowid_internal.builtin_layouts b WHERE b.name = NEW.name AND b.since = '0.1') THEN
        RAISE EXCEPTION USING ERRCODE = 'reserved_name',
            MESSAGE = format('layout "%s" is built in', NEW.name),
            DETAIL = 'Built-in layouts come with pg_snowid and are the same everywhere.',
            HINT = 'Choose another name.';
    END IF;
    RETURN NEW;
END
$check$;
COMMENT ON FUNCTION snowid_internal.check_layout_name() IS
    'trigger that keeps the names of built-in layouts from being given to others';
REVOKE ALL ON FUNCTION snowid_internal.check_layout_name() FROM PUBLIC;
CREATE TRIGGER name_is_free BEFORE INSERT OR UPDATE ON snowid.custom_layouts
    FOR EACH ROW EXECUTE FUNCTION snowid_internal.check_layout_name();
COMMENT ON TRIGGER name_is_free ON snowid.custom_layouts IS 'keeps the names of built-in layouts';

CREATE TRIGGER local_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid.custom_layouts
    FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_local_rows();
CREATE TRIGGER local_rows_stashed BEFORE TRUNCATE ON snowid.custom_layouts
    FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_local_rows();
CREATE TRIGGER local_rows_put_back AFTER TRUNCATE ON snowid.custom_layouts
    FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_local_rows();
COMMENT ON TRIGGER local_rows ON snowid.custom_layouts IS 'skips rows that come by replication';
COMMENT ON TRIGGER local_rows_stashed ON snowid.custom_layouts IS 'keeps the rows from a TRUNCATE that comes by replication';
COMMENT ON TRIGGER local_rows_put_back ON snowid.custom_layouts IS 'puts them back after it';
ALTER TABLE snowid.custom_layouts ENABLE REPLICA TRIGGER local_rows, ENABLE REPLICA TRIGGER local_rows_stashed,
    ENABLE REPLICA TRIGGER local_rows_put_back;

CREATE FUNCTION snowid.layout(name text) RETURNS snowid.layouts
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $layout$
DECLARE
    found_row snowid.layouts;
BEGIN
    SELECT l.* INTO found_row FROM snowid.layouts l WHERE l.name = layout.name;
    IF NOT found THEN
        RAISE EXCEPTION USING ERRCODE = 'undefined_object',
            MESSAGE = format('layout "%s" does not exist', name),
            HINT = 'The view snowid.layouts has the layouts that there are.';
    END IF;
    RETURN found_row;
END
$layout$;
COMMENT ON FUNCTION snowid.layout(text) IS 'the row of snowid.layouts of this name, or an error';

CREATE FUNCTION snowid.layout(name text, epoch timestamptz) RETURNS snowid.layouts
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $layout$
DECLARE
    changed snowid.layouts := snowid.layout(name);
BEGIN
    changed.epoch := epoch;
    RETURN changed;
END
$layout$;
COMMENT ON FUNCTION snowid.layout(text, timestamptz) IS
    'the row of snowid.layouts of this name with another epoch';

-- With a row as the layout, IMMUTABLE: the result depends on the arguments alone.

CREATE FUNCTION @extschema@.decode_as(layout snowid.layouts, id bigint, OUT created_at timestamptz, OUT fields jsonb)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_decode_as';
COMMENT ON FUNCTION @extschema@.decode_as(snowid.layouts, bigint) IS
    'the time and the fields of an ID in the layout that a row of snowid.layouts describes';

CREATE FUNCTION @extschema@.make_as(layout snowid.layouts, created_at timestamptz, fields jsonb DEFAULT '{}') RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_make_as';
COMMENT ON FUNCTION @extschema@.make_as(snowid.layouts, timestamptz, jsonb) IS
    'the ID with this time (its unit) and these fields, 0 where not given, in the layout that a row of snowid.layouts describes';

CREATE FUNCTION @extschema@.floor_as(layout snowid.layouts, created_at timestamptz) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_floor_as';
COMMENT ON FUNCTION @extschema@.floor_as(snowid.layouts, timestamptz) IS
    'the least ID of the instant''s unit of time in the layout that a row of snowid.layouts describes; 0 before the epoch';

-- With the name of the layout, STABLE: they read the view. Those with an epoch are overloads: a default that says
-- "the layout's own" would be NULL, for which STRICT functions give NULL.

CREATE FUNCTION @extschema@.decode_as(layout text, id bigint, OUT created_at timestamptz, OUT fields jsonb)
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.decode_as(snowid.layout(layout), id);
COMMENT ON FUNCTION @extschema@.decode_as(text, bigint) IS
    'the time and the fields of an ID in a layout of snowid.layouts';

CREATE FUNCTION @extschema@.decode_as(layout text, id bigint, epoch timestamptz, OUT created_at timestamptz, OUT fields jsonb)
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.decode_as(snowid.layout(layout, epoch), id);
COMMENT ON FUNCTION @extschema@.decode_as(text, bigint, timestamptz) IS
    'the time and the fields of an ID in a layout of snowid.layouts, counted from the epoch given';

CREATE FUNCTION @extschema@.make_as(layout text, created_at timestamptz, fields jsonb DEFAULT '{}') RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.make_as(snowid.layout(layout), created_at, fields);
COMMENT ON FUNCTION @extschema@.make_as(text, timestamptz, jsonb) IS
    'the ID with this time (its unit) and these fields, 0 where not given, in a layout of snowid.layouts';

CREATE FUNCTION @extschema@.make_as(layout text, created_at timestamptz, fields jsonb, epoch timestamptz) RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.make_as(snowid.layout(layout, epoch), created_at, fields);
COMMENT ON FUNCTION @extschema@.make_as(text, timestamptz, jsonb, timestamptz) IS
    'the ID with this time and these fields in a layout of snowid.layouts, counted from the epoch given';

CREATE FUNCTION @extschema@.floor_as(layout text, created_at timestamptz) RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.floor_as(snowid.layout(layout), created_at);
COMMENT ON FUNCTION @extschema@.floor_as(text, timestamptz) IS
    'the least ID of the instant''s unit of time in a layout of snowid.layouts; 0 before the epoch. Bounds of a range of time: id >= floor_as(layout, t1) AND id < floor_as(layout, t2)';

CREATE FUNCTION @extschema@.floor_as(layout text, created_at timestamptz, epoch timestamptz) RETURNS bigint
    LANGUAGE sql STABLE STRICT PARALLEL SAFE RETURN @extschema@.floor_as(snowid.layout(layout, epoch), created_at);
COMMENT ON FUNCTION @extschema@.floor_as(text, timestamptz, timestamptz) IS
    'the least ID of the instant''s unit of time in a layout of snowid.layouts, counted from the epoch given';
