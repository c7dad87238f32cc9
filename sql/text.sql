-- Ids as text, and back. Each id has one text in each form, and nothing else is read: what isn't the
-- text of an id raises 22P02 (invalid_text_representation), as it does for PostgreSQL's own types. Writing
-- raises nothing, and is LEAKPROOF.

CREATE FUNCTION @extschema@.id_to_text(id bigint) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_to_text';
COMMENT ON FUNCTION @extschema@.id_to_text(bigint) IS
    'the ID in decimal digits, as id::text: exact for JSON clients, whose numbers are exact up to 2^53 only';

CREATE FUNCTION @extschema@.id_from_text(digits text) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_from_text';
COMMENT ON FUNCTION @extschema@.id_from_text(text) IS
    'the ID that these decimal digits are; unlike text::bigint refuses spaces, plus signs, underscores and leading zeros';

CREATE FUNCTION @extschema@.id_to_shortcode(id bigint) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_to_shortcode';
COMMENT ON FUNCTION @extschema@.id_to_shortcode(bigint) IS
    'the ID as Instagram''s shortcode: 1 to 11 digits of base64url, for URLs; a negative ID is taken as unsigned';

CREATE FUNCTION @extschema@.id_from_shortcode(shortcode text) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_from_shortcode';
COMMENT ON FUNCTION @extschema@.id_from_shortcode(text) IS
    'the ID of Instagram''s shortcode; refuses other characters, a leading A, and more than 64 bits';

CREATE FUNCTION @extschema@.id_to_base32(id bigint) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'MODULE_PATHNAME', 'snowid_id_to_base32';
COMMENT ON FUNCTION @extschema@.id_to_base32(bigint) IS
    'the ID as 13 digits of Crockford''s Base32, which sort as the IDs do (negative ones first) where text is compared by COLLATE "C"';

CREATE FUNCTION @extschema@.id_from_base32(base32 text) RETURNS bigint
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'snowid_id_from_base32';
COMMENT ON FUNCTION @extschema@.id_from_base32(text) IS
    'the ID of 13 digits of Crockford''s Base32, in capital or small letters; refuses I, L, O, U, hyphens, other lengths, and more than 64 bits';
