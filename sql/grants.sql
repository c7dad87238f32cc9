-- Who may do what in the schema snowid.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA snowid FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA snowid TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON snowid.generators, snowid.status TO @extowner@ WITH GRANT OPTION;
-- So that its pg_dump can read the mark, and its pg_restore set it.
GRANT SELECT, UPDATE ON SEQUENCE snowid.high_water TO @extowner@;
GRANT EXECUTE ON FUNCTION snowid.read_generators(), snowid.read_status() TO pg_monitor;
GRANT SELECT ON snowid.generators, snowid.status TO pg_monitor;
-- bind_schema runs it as its caller; it tells nothing that the caller doesn't know.
GRANT EXECUTE ON FUNCTION snowid.check_epoch(timestamptz) TO PUBLIC;

SELECT snowid.init_high_water();
