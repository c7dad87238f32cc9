-- What pg_snowid is measured against, as far as a server brings it: all in the schema bench.

CREATE SCHEMA bench;
CREATE SEQUENCE bench.cache_1;
CREATE SEQUENCE bench.cache_100 CACHE 100;

-- Instagram's function, after "Sharding & IDs at Instagram" (2012): milliseconds since an epoch of
-- one's own << 23 | shard << 10 | nextval % 1024. In PL/pgSQL, step by step as it was published, and as
-- one SQL expression, which the planner inlines.
CREATE SEQUENCE bench.instagram;

CREATE FUNCTION bench.instagram_plpgsql(OUT id bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    epoch_ms bigint := 1314220021721;
    shard integer := 5;
    number bigint;
    now_ms bigint;
BEGIN
    SELECT nextval('bench.instagram') % 1024 INTO number;
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) INTO now_ms;
    id := (now_ms - epoch_ms) << 23;
    id := id | (shard << 10);
    id := id | number;
END
$$;

CREATE FUNCTION bench.instagram_sql() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN (floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1314220021721) << 23
        | (5 << 10) | nextval('bench.instagram') % 1024;

-- UUIDv7 where the server has none: a version 4 with the time put in front. Its sizes are those of
-- a native one, its time isn't.
CREATE FUNCTION bench.uuidv7() RETURNS uuid LANGUAGE sql VOLATILE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
        substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;

CREATE SCHEMA bound;
SELECT snowid.bind_schema('bound', epoch => '2025-01-01+00');

-- Arguments to call with, so that the loop's own cost is the same for all: ten calls a row.
CREATE TABLE bench.args AS
    SELECT 1 AS one, g % 8192 AS shard, g % 32 AS datacenter, g / 32 % 32 AS worker,
           3706503089356805120 + g AS id, 1.8e9::double precision + g AS seconds
      FROM generate_series(1::bigint, 20000) g;
CREATE TABLE bench.few_args AS SELECT * FROM bench.args LIMIT 1000;
VACUUM ANALYZE bench.args, bench.few_args;
