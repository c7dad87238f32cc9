-- Ids as text: decimal, shortcode, base32. Each id has one text in each form; all else is refused.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;

SELECT id, id_to_text(id), id_to_shortcode(id), id_to_base32(id)
  FROM (VALUES (0), (1), (63), (64), (1661696503407488208), (3706503089356805120), (9223372036854775807),
               (-1), (-9223372036854775808)) AS ids (id);
SELECT id_from_shortcode('BcPiCpyHKzQ');
-- Both ways, over all of the range. No rows.
SELECT id
  FROM generate_series(-999, 999) AS n,
       unnest(ARRAY[n, n * 9223372036854775::bigint, n * 9223372036854775::bigint + n * n]) AS id
 WHERE (id_from_text(id_to_text(id)), id_from_shortcode(id_to_shortcode(id)), id_from_base32(id_to_base32(id)),
        id_from_base32(lower(id_to_base32(id)))) IS DISTINCT FROM (id, id, id, id)
    OR id_to_text(id) <> id::text OR id_to_base32(id) !~ '^[0-9A-F][0-9A-HJKMNP-TV-Z]{12}$';

-- A number is exact in PostgreSQL's JSON, and not in a client that reads numbers as double precision.
SELECT to_jsonb(id) AS number, to_jsonb(id::float8) AS as_a_client_reads_it, to_jsonb(id_to_text(id)) AS text
  FROM (VALUES (9007199254740993)) AS ids (id);
CREATE TEMP TABLE photos (id bigint, caption text);
SELECT * FROM jsonb_populate_record(NULL::photos, '{"id": "9007199254740993", "caption": "a boat"}');
SELECT id_from_text('{"id": "9007199254740993"}'::jsonb ->> 'id');

-- Not decimal
SELECT id_from_text('');
\echo :SQLSTATE
SELECT id_from_text('-');
\echo :SQLSTATE
SELECT id_from_text(' 1');
\echo :SQLSTATE
SELECT id_from_text('1_000');
\echo :SQLSTATE
SELECT id_from_text('+1');
\echo :SQLSTATE
SELECT id_from_text('01');
\echo :SQLSTATE
SELECT id_from_text('-0');
\echo :SQLSTATE
SELECT id_from_text('9.007199254740993e15');
\echo :SQLSTATE
SELECT id_from_text('9223372036854775808');
\echo :SQLSTATE
SELECT id_from_text('-9223372036854775809');
\echo :SQLSTATE
SELECT id_from_text(repeat('9', 40));
\echo :SQLSTATE

-- Not a shortcode
SELECT id_from_shortcode('');
\echo :SQLSTATE
SELECT id_from_shortcode('BcPi+pyHKzQ');
\echo :SQLSTATE
SELECT id_from_shortcode('BcPiCpyHKzQ=');
\echo :SQLSTATE
SELECT id_from_shortcode('ABcPiCpyHKzQ');
\echo :SQLSTATE
SELECT id_from_shortcode('QAAAAAAAAAA');
\echo :SQLSTATE
SELECT id_from_shortcode('BAAAAAAAAAAA');
\echo :SQLSTATE
SELECT id_from_shortcode(U&'Bc\00e9');
\echo :SQLSTATE

-- Not base32
SELECT id_from_base32('');
\echo :SQLSTATE
SELECT id_from_base32('800000000000');
\echo :SQLSTATE
SELECT id_from_base32('80000000000000');
\echo :SQLSTATE
SELECT id_from_base32('800000-000000');
\echo :SQLSTATE
SELECT id_from_base32('80000000O0000');
\echo :SQLSTATE
SELECT id_from_base32('80000000l0000');
\echo :SQLSTATE
SELECT id_from_base32('80000000000 0');
\echo :SQLSTATE
SELECT id_from_base32('G000000000000');
\echo :SQLSTATE

-- NULL
SELECT id_to_text(NULL) IS NULL, id_from_text(NULL) IS NULL, id_to_shortcode(NULL) IS NULL,
       id_from_shortcode(NULL) IS NULL, id_to_base32(NULL) IS NULL, id_from_base32(NULL) IS NULL;

-- A text that is compressed and stored out of line
CREATE TEMP TABLE long_texts (code text);
INSERT INTO long_texts VALUES (repeat('B', 1000000));
SELECT id_from_shortcode(left(code, 3)) FROM long_texts;
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM id_from_shortcode(code) FROM long_texts;
EXCEPTION WHEN invalid_text_representation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '%', detail;
END
$$;

-- base32 sorts as the ids do: in "C", and in the collations of languages that keep A to Z as it is.
-- Of those that don't (Estonian has Z before T, Danish AA behind Z) COLLATE "C" is the remedy. Where a
-- server hasn't the collation there is nothing to show.
CREATE TEMP TABLE sorted AS
SELECT id, id_to_base32(id) AS code
  FROM (SELECT hashint8extended(n, 7) AS id FROM generate_series(1, 5000) AS n
        UNION SELECT n FROM generate_series(-1100, 1100) AS n
        UNION SELECT unnest(ARRAY[-9223372036854775808, 9223372036854775807])) AS ids;
CREATE FUNCTION pg_temp.sorts_as_ids(collation_name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    answer boolean;
BEGIN
    EXECUTE format('SELECT bool_and(by_code = by_id) FROM (SELECT row_number() OVER (ORDER BY code COLLATE %I) AS by_code,
        row_number() OVER (ORDER BY id) AS by_id FROM sorted) AS places', collation_name) INTO answer;
    RETURN answer;
EXCEPTION WHEN undefined_object OR feature_not_supported THEN
    RETURN NULL;
END
$$;
SELECT c.name, coalesce(pg_temp.sorts_as_ids(c.name), c.sorts) = c.sorts AS as_expected
  FROM (VALUES ('C', true), ('C.UTF-8', true), ('pg_c_utf8', true), ('en_US.utf8', true), ('und-x-icu', true), ('en-x-icu', true), ('de-x-icu', true), ('fr-x-icu', true),
               ('ja-x-icu', true), ('ru-x-icu', true), ('zh-x-icu', true),
               ('et-x-icu', false), ('da-x-icu', false)) AS c (name, sorts);
SELECT count(*) > 7000 AS enough, pg_temp.sorts_as_ids('C') FROM sorted;

-- They serve in indexes and generated columns.
CREATE TABLE text_links (
    id bigint PRIMARY KEY,
    shortcode text GENERATED ALWAYS AS (id_to_shortcode(id)) STORED UNIQUE
);
CREATE INDEX ON text_links (id_to_base32(id) COLLATE "C");
INSERT INTO text_links SELECT make_id('2025-01-01 00:00:00+00', 5, n) FROM generate_series(0, 99) AS n;
SELECT * FROM text_links WHERE id = id_from_shortcode('DNwJOwAABRj');
SELECT count(*), count(*) FILTER (WHERE id_from_shortcode(shortcode) = id) AS same FROM text_links;
DROP TABLE text_links;
