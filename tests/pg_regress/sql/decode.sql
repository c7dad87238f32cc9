-- Decoding: the limits of each field, the sign bit, epochs, NULL, and no dependence on settings.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Limits of each field. All 64 bits are read as unsigned.
SELECT id, decoded.*
  FROM (VALUES (0), (1), (1023), (1024), (8388607), (8388608), (9223372036854775807),
               (-9223372036854775808), (-1)) AS ids (id), decode_id(id) AS decoded;
SELECT id, decoded.*
  FROM (VALUES (0), (1), (4095), (4096), (126976), (131072), (4194303), (4194304),
               (9223372036854775807), (-9223372036854775808), (-1)) AS ids (id), decode_snowflake(id) AS decoded;
SELECT id_timestamp(-1), id_shard(-1), id_sequence(-1);
SELECT snowflake_timestamp(-1), snowflake_datacenter(-1), snowflake_worker(-1), snowflake_sequence(-1);

-- Epochs, before and after the defaults
SELECT id_timestamp(8388608, '2025-01-01 00:00:00+00'), id_timestamp(8388608, '1969-12-31 23:59:59.999+00'),
       id_timestamp(8388608, '0044-03-15 12:00:00+00 BC');
SELECT snowflake_timestamp(4194304, '2025-01-01 00:00:00+00'), snowflake_timestamp(4194304, '1969-12-31 23:59:59.999+00');
SELECT * FROM decode_id(3706503089356805120, epoch => '2026-01-01 00:00:00.001+00');
SELECT * FROM decode_snowflake(1874244142495068202, epoch => '2026-01-01 00:00:00.001+00');

-- The ends of timestamptz
SELECT id_timestamp(0, '4714-11-24 00:00:00+00 BC'), id_timestamp(0, '294276-12-31 23:59:59.999+00');
SELECT id_timestamp(8388608, '294276-12-31 23:59:59.999+00');
\echo :SQLSTATE
SELECT decode_id(-1, '294276-12-31 23:59:59.999+00');
\echo :SQLSTATE
SELECT snowflake_timestamp(4194304, '294276-12-31 23:59:59.999+00');
\echo :SQLSTATE
SELECT decode_snowflake(-1, '294276-12-31 23:59:59.999+00');
\echo :SQLSTATE

-- Not an epoch
SELECT id_timestamp(0, 'infinity');
\echo :SQLSTATE
SELECT decode_id(0, '-infinity');
\echo :SQLSTATE
SELECT snowflake_timestamp(0, 'infinity');
\echo :SQLSTATE
SELECT decode_snowflake(0, '-infinity');
\echo :SQLSTATE
SELECT id_timestamp(0, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT decode_id(0, '1999-12-31 23:59:59.999999+00');
\echo :SQLSTATE
SELECT snowflake_timestamp(0, '2025-01-01 00:00:00.0001+00');
\echo :SQLSTATE
SELECT decode_snowflake(0, '1999-12-31 23:59:59.999999+00');
\echo :SQLSTATE

-- NULL
SELECT id_timestamp(NULL) IS NULL, id_timestamp(NULL, '2025-01-01+00') IS NULL, id_timestamp(0, NULL) IS NULL,
       id_shard(NULL) IS NULL, id_sequence(NULL) IS NULL,
       decode_id(NULL) IS NULL, decode_id(NULL, '2025-01-01+00') IS NULL, decode_id(0, NULL) IS NULL;
SELECT snowflake_timestamp(NULL) IS NULL, snowflake_timestamp(NULL, '2025-01-01+00') IS NULL,
       snowflake_timestamp(0, NULL) IS NULL, snowflake_datacenter(NULL) IS NULL, snowflake_worker(NULL) IS NULL,
       snowflake_sequence(NULL) IS NULL, decode_snowflake(NULL) IS NULL,
       decode_snowflake(NULL, '2025-01-01+00') IS NULL, decode_snowflake(0, NULL) IS NULL;
SELECT * FROM decode_id(NULL);

-- The instant doesn't depend on TimeZone or DateStyle, only how it is written does.
SELECT extract(epoch FROM id_timestamp(1661696503407488208)) AS unix,
       extract(epoch FROM snowflake_timestamp(1541815603606036480)) AS snowflake_unix \gset utc_
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SELECT extract(epoch FROM id_timestamp(1661696503407488208)) = :utc_unix AS same_instant,
       extract(epoch FROM snowflake_timestamp(1541815603606036480)) = :utc_snowflake_unix AS same_instant;
SELECT created_at FROM decode_id(3706503089356805120);
SELECT created_at = '2025-01-01 00:00:00+00' AS same_instant FROM decode_id(3706503089356805120);
SET timezone = 'America/St_Johns';
SET datestyle = 'German';
SELECT extract(epoch FROM id_timestamp(1661696503407488208)) = :utc_unix AS same_instant,
       extract(epoch FROM snowflake_timestamp(1541815603606036480)) = :utc_snowflake_unix AS same_instant;
