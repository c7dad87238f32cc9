-- What the extension's objects promise: labels that planner and executor rely on, and a comment on each.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Every function, with its volatility (i: immutable, s: stable, v: volatile), strictness and parallel label
-- (s: safe, u: unsafe)
SELECT p.oid::regprocedure AS function, p.provolatile, p.proisstrict, p.proparallel
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE e.extname = 'pg_snowid'
 ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Functions that break the rules for what queries use. Volatile is what generates, stable what reads the table
-- of layouts by a name (and, of the functions for plans, what depends on the time zone), all else immutable.
-- All are strict, and parallel safe but for tickets, whose sequences aren't. No rows.
CREATE FUNCTION pg_temp.mislabelled() RETURNS SETOF regprocedure LANGUAGE sql AS $$
SELECT p.oid::regprocedure
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE e.extname = 'pg_snowid'
   AND (p.pronamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) OR obj_description(p.oid, 'pg_proc') ~ '^(for plans|planner support)')
   AND (p.provolatile, p.proisstrict, p.proparallel) IS DISTINCT FROM (
       CASE WHEN p.proname ~ '^(next_|snowflake_ids?$)' THEN 'v'
            WHEN p.proname ~ '_as$' AND p.proargtypes[0] = 'text'::regtype OR p.proname = 'instant' THEN 's'
            ELSE 'i' END::"char",
       true,
       CASE WHEN p.proname ~ '^next_ticket' THEN 'u' ELSE 's' END::"char")
$$;
SELECT * FROM pg_temp.mislabelled();
BEGIN;
ALTER FUNCTION id_timestamp(bigint) STABLE;
ALTER FUNCTION decode_id(bigint) CALLED ON NULL INPUT;
ALTER FUNCTION next_id(bigint, timestamptz) PARALLEL UNSAFE;
SELECT * FROM pg_temp.mislabelled() AS function ORDER BY function::text;
ROLLBACK;

-- Leakproof is what has a result for every argument. What can raise an error tells of rows that it is called on.
SELECT p.oid::regprocedure AS leakproof
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE e.extname = 'pg_snowid' AND p.proleakproof
 ORDER BY p.oid::regprocedure::text COLLATE "C";

-- Objects of the extension without a comment, columns of its views included. No rows.
CREATE FUNCTION pg_temp.uncommented() RETURNS SETOF text LANGUAGE sql AS $$
WITH object AS (
    SELECT d.classid, d.objid
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
     WHERE e.extname = 'pg_snowid'
), part AS (
    SELECT classid, objid, 0 AS objsubid FROM object
     -- the row types that come with views
     WHERE classid <> 'pg_type'::regclass
    UNION ALL
    SELECT classid, objid, a.attnum
      FROM object JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid AND c.relkind <> 'S'
      JOIN pg_attribute a ON a.attrelid = objid AND a.attnum > 0
    UNION ALL
    SELECT 'pg_extension'::regclass, oid, 0 FROM pg_extension WHERE extname = 'pg_snowid'
)
SELECT pg_describe_object(classid, objid, objsubid) FROM part
 WHERE NOT EXISTS (SELECT FROM pg_description t
    WHERE (t.classoid, t.objoid, t.objsubid) = (part.classid, part.objid, part.objsubid) AND t.description <> '')
$$;
SELECT * FROM pg_temp.uncommented();
BEGIN;
COMMENT ON FUNCTION id_shard(bigint) IS NULL;
COMMENT ON SCHEMA snowid IS NULL;
COMMENT ON SCHEMA snowid_internal IS NULL;
COMMENT ON VIEW snowid.status IS NULL;
COMMENT ON COLUMN snowid.generators.waits IS NULL;
COMMENT ON EXTENSION pg_snowid IS NULL;
SELECT * FROM pg_temp.uncommented() AS object ORDER BY object COLLATE "C";
ROLLBACK;

-- Tables of the extension that break the rule in sql/tables.sql. No rows.
CREATE FUNCTION pg_temp.unruly() RETURNS SETOF text LANGUAGE sql AS $$
WITH tables AS (
    SELECT c.*, c.oid::regclass AS name, e.extconfig
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
     WHERE e.extname = 'pg_snowid' AND c.relkind NOT IN ('v', 'S', 'c', 'i')
), triggers AS ( -- by bits of tgtype: 1 row, 2 BEFORE, 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE
    SELECT t.*, t.tgfoid = 'snowid_internal.keep_local_rows()'::regprocedure AS keeps FROM pg_trigger t WHERE t.tgqual IS NULL AND t.tgattr = ''
)
SELECT format('table %s %s', t.name, breach.what)
  FROM tables t, LATERAL (
    SELECT 'is no ordinary one' WHERE t.relkind <> 'r' OR t.relpersistence <> 'p'
    UNION ALL SELECT 'has no primary key'
     WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary AND i.indimmediate)
    UNION ALL SELECT 'has another replica identity' WHERE t.relreplident <> 'd'
    UNION ALL SELECT 'has row security' WHERE t.relrowsecurity
    UNION ALL SELECT 'is not dumped' WHERE t.oid <> ALL (coalesce(t.extconfig, '{}'))
    UNION ALL SELECT 'is written without a check' WHERE NOT EXISTS (SELECT FROM triggers g
         WHERE g.tgrelid = t.oid AND NOT g.keeps AND g.tgtype & 23 = 23 AND g.tgenabled IN ('O', 'A'))
    UNION ALL SELECT 'takes replicated rows' WHERE NOT EXISTS (SELECT FROM triggers g
         WHERE g.tgrelid = t.oid AND g.keeps AND g.tgtype = 31 AND g.tgenabled = 'R'
           -- the first of all, by their names
           AND g.tgname <= ALL (SELECT o.tgname FROM triggers o WHERE o.tgrelid = t.oid AND o.tgtype & 3 = 3))
    UNION ALL SELECT 'is emptied by a replicated TRUNCATE' WHERE 2 > (SELECT count(DISTINCT g.tgtype) FROM triggers g
         WHERE g.tgrelid = t.oid AND g.keeps AND g.tgtype IN (32, 34) AND g.tgenabled = 'R')
    UNION ALL SELECT 'is written by everyone' FROM aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) a
     WHERE a.grantee = 0 AND a.privilege_type <> 'SELECT'
  ) AS breach (what)
$$;
SELECT * FROM pg_temp.unruly();
BEGIN;
CREATE TABLE snowid.settings (name text);
ALTER TABLE snowid.settings ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON snowid.settings TO PUBLIC;
ALTER EXTENSION pg_snowid ADD TABLE snowid.settings;
ALTER TABLE snowid.custom_layouts ENABLE TRIGGER local_rows, DISABLE TRIGGER name_is_free, REPLICA IDENTITY FULL;
DROP TRIGGER local_rows_put_back ON snowid.custom_layouts;
SELECT * FROM pg_temp.unruly() AS breach ORDER BY breach COLLATE "C";
ROLLBACK;

-- What else it has made
SELECT d.classid::regclass AS kind, pg_describe_object(d.classid, d.objid, 0) AS object
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
 WHERE e.extname = 'pg_snowid' AND d.classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass)
 ORDER BY pg_describe_object(d.classid, d.objid, 0) COLLATE "C";
SELECT extversion = (SELECT version FROM snowid.status) AS library_fits, extrelocatable FROM pg_extension WHERE extname = 'pg_snowid';
ALTER EXTENSION pg_snowid SET SCHEMA pg_catalog;
\echo :SQLSTATE
