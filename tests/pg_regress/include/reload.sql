\set ECHO none
-- Reloads the configuration and waits, some seconds at most, until :setting is :value in this session.
-- A session takes a new configuration in between two statements, so there must be several.
\o /dev/null
SELECT pg_reload_conf();
SELECT format('SELECT pg_sleep(0.05) WHERE current_setting(%L) <> %L', :'setting', :'value')
  FROM generate_series(1, 200) \gexec
\o
\set ECHO all
