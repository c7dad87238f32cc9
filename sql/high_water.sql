-- The high-water mark in Unix ms; see src/draw. pg_dump carries it. Not for nextval, which would
-- move it ahead of its WAL: the increment makes that fail.
CREATE SEQUENCE snowid.high_water AS bigint INCREMENT BY 9223372036854775807;
COMMENT ON SEQUENCE snowid.high_water IS
    'a time in ms since 1970 below which all IDs of this database lie; IDs made after a crash, a failover or a restore start at it';
SELECT pg_catalog.pg_extension_config_dump('snowid.high_water', '');
-- So that its pg_dump can read the mark, and its pg_restore set it.
SELECT snowid_internal.for_owner('SELECT, UPDATE', 'SEQUENCE snowid.high_water');

CREATE FUNCTION snowid_internal.init_high_water() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_init_high_water';
COMMENT ON FUNCTION snowid_internal.init_high_water() IS
    'makes a new high-water mark stand above the IDs that this server has made; for the extension''s own script';
REVOKE ALL ON FUNCTION snowid_internal.init_high_water() FROM PUBLIC;

-- For superusers only, as accept_high_water is: the clock is the whole server's, and a mark far ahead moves shards of
-- all databases.
CREATE FUNCTION snowid.accept_clock() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_accept_clock';
COMMENT ON FUNCTION snowid.accept_clock() IS
    'takes the system clock for right although it has jumped or is implausibly far past the high-water mark';
REVOKE ALL ON FUNCTION snowid.accept_clock() FROM PUBLIC;

CREATE FUNCTION snowid.accept_high_water() RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'snowid_accept_high_water';
COMMENT ON FUNCTION snowid.accept_high_water() IS
    'takes a high-water mark that a restore or setval has set far ahead of the clock for right: IDs start at it; false if there is none';
REVOKE ALL ON FUNCTION snowid.accept_high_water() FROM PUBLIC;
