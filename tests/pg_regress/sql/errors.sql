-- An error raised below SQL functions and PL/pgSQL keeps its SQLSTATE, so that it can be caught.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;
DO $$ BEGIN PERFORM next_id(8192); RAISE 'not refused';
      EXCEPTION WHEN invalid_parameter_value THEN END $$;
DO $$ BEGIN PERFORM next_id(1, '1990-01-01+00'); RAISE 'not refused';
      EXCEPTION WHEN sequence_generator_limit_exceeded THEN END $$;
DO $$ BEGIN PERFORM snowflake_id(); RAISE 'not refused';
      EXCEPTION WHEN object_not_in_prerequisite_state THEN END $$;
DO $$ BEGIN PERFORM make_id('infinity', 1); RAISE 'not refused';
      EXCEPTION WHEN datetime_field_overflow THEN END $$;
-- The session goes on.
SELECT next_id(1) > 0 AS goes_on;
