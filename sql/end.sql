DROP FUNCTION snowid_internal.for_owner(text, text);

SELECT snowid_internal.init_high_water();
