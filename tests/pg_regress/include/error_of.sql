-- error_of(statement): the error it raises, whole, for errors that tell what the clock says.
CREATE FUNCTION pg_temp.error_of(statement text,
    OUT code text, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    message := 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    detail := regexp_replace(detail, '([Tt]he clock says) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00', '\1 NOW');
    detail := regexp_replace(detail, '(would be of|It is of|has set it to|at its mark,) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00', '\1 THEN');
END
$$;
