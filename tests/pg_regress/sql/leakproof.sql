-- Functions that raise no error are leakproof: where rows are hidden, conditions on them still use indexes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;

CREATE ROLE regress_snowid_tenant;
CREATE SCHEMA leakproof;
GRANT USAGE ON SCHEMA leakproof TO regress_snowid_tenant;
CREATE TABLE leakproof.t (id bigint, snowflake bigint, tenant text);
INSERT INTO leakproof.t
SELECT make_id('2025-01-01 00:00:00+00'::timestamptz + n * interval '1 second', n % 100, n % 7),
       make_snowflake_id('2025-01-01 00:00:00+00'::timestamptz + n * interval '1 second', n % 3, n % 31, n % 7), n % 10
  FROM generate_series(1, 1000) n;
CREATE INDEX t_shard ON leakproof.t (id_shard(id));
CREATE INDEX t_sequence ON leakproof.t (id_sequence(id));
CREATE INDEX t_datacenter ON leakproof.t (snowflake_datacenter(snowflake));
CREATE INDEX t_worker ON leakproof.t (snowflake_worker(snowflake));
CREATE INDEX t_snowflake_sequence ON leakproof.t (snowflake_sequence(snowflake));
CREATE INDEX t_text ON leakproof.t (id_to_text(id));
CREATE INDEX t_shortcode ON leakproof.t (id_to_shortcode(id));
CREATE INDEX t_base32 ON leakproof.t (id_to_base32(id));
CREATE INDEX t_decoded ON leakproof.t (((decode_id(id)).shard_id));
CREATE INDEX t_decoded_snowflake ON leakproof.t (((decode_snowflake(snowflake)).worker_id));
CREATE INDEX t_floor ON leakproof.t (id_floor(id_timestamp(id)));
ANALYZE leakproof.t;
ALTER TABLE leakproof.t ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON leakproof.t USING (tenant = current_setting('leakproof.tenant'));
CREATE VIEW leakproof.v WITH (security_barrier) AS SELECT * FROM leakproof.t WHERE tenant = current_setting('leakproof.tenant');
GRANT SELECT ON leakproof.t TO regress_snowid_tenant;
SET leakproof.tenant = '5';

-- Whether a condition is one on an index, for who sees only some of the rows.
CREATE FUNCTION leakproof.index_of(relation text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT FROM leakproof.%I WHERE %s', relation, condition) LOOP
        IF line ~ 'Index Cond' THEN
            RETURN btrim(line);
        END IF;
    END LOOP;
    RETURN 'none';
END
$$;
SET enable_seqscan = off;
CREATE TABLE leakproof.conditions (condition text);
INSERT INTO leakproof.conditions VALUES
    ('id_shard(id) = 5'), ('id_sequence(id) = 5'), ('snowflake_datacenter(snowflake) = 1'),
    ('snowflake_worker(snowflake) = 5'), ('snowflake_sequence(snowflake) = 5'),
    ('id_to_text(id) = ''5'''), ('id_to_shortcode(id) = ''F'''), ('id_to_base32(id) = ''0000000000005'''),
    ('(decode_id(id)).shard_id = 5'), ('(decode_snowflake(snowflake)).worker_id = 5'),
    ('id_floor(id_timestamp(id)) = 5'); -- which can raise an error: no index
GRANT SELECT ON leakproof.conditions TO regress_snowid_tenant;
SET ROLE regress_snowid_tenant;
SELECT condition, leakproof.index_of('t', condition) FROM leakproof.conditions;
SELECT count(*) FROM leakproof.t WHERE id_shard(id) = 5;
RESET ROLE;
SELECT condition, leakproof.index_of('v', condition) FROM leakproof.conditions;
SELECT count(*) FROM leakproof.v WHERE id_shard(id) = 5;

RESET enable_seqscan;
SET client_min_messages = warning;
DROP SCHEMA leakproof CASCADE;
DROP ROLE regress_snowid_tenant;
