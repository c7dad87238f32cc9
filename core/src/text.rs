//! Ids as text: decimal, Instagram's shortcode, and a fixed-width form that sorts as the ids do.
//! Each id has one text in each form, and only that is read: what is read and written again is the
//! same text (up to letter case in the fixed-width form).

/// base64url (RFC 4648, section 5), as Instagram uses it for whole numbers: digits of 6 bits from
/// the highest on, without padding.
const BASE64URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Crockford's Base32, as ULIDs use it: digits before letters, in ASCII order, without I, L, O, U.
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DECIMAL: &[u8] = b"0123456789";
/// 13 digits of 5 bits hold 64 bits; the first digit is below 16.
const BASE32_WIDTH: usize = 13;
const SIGN: u64 = 1 << 63;

/// An id's text, ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; Self::MAX],
    start: usize,
}

/// Why a text is no id. Positions count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    Empty,
    /// Not so long as all texts of the form are.
    Length {
        expected: usize,
    },
    Character {
        position: usize,
    },
    /// A zero in front, which no id's text has.
    LeadingZero,
    TooGreat,
}

impl Text {
    /// `-9223372036854775808` is the longest.
    const MAX: usize = 20;

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn prefix(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }
}

/// The decimal digits, as `id::text` writes them.
pub fn to_decimal(id: i64) -> Text {
    let mut text = encode(id.unsigned_abs(), DECIMAL, 1);
    if id < 0 {
        text.prefix(b'-');
    }
    text
}

/// Reads [`to_decimal`]'s text, and nothing else: no spaces, plus sign, underscores, other bases.
pub fn from_decimal(text: &[u8]) -> Result<i64, Malformed> {
    let (digits, sign) = match text {
        [b'-', digits @ ..] => (digits, 1),
        digits => (digits, 0),
    };
    let value = decode(digits, DECIMAL, |digit| digit).map_err(|why| match why {
        Malformed::Character { position } => Malformed::Character { position: position + sign },
        // A sign alone.
        Malformed::Empty if sign == 1 => Malformed::Character { position: 1 },
        other => other,
    })?;
    if digits[0] == b'0' && text.len() > 1 {
        Err(Malformed::LeadingZero)
    } else if sign == 1 {
        0i64.checked_sub_unsigned(value).ok_or(Malformed::TooGreat)
    } else {
        i64::try_from(value).map_err(|_| Malformed::TooGreat)
    }
}

/// Instagram's shortcode of 1 to 11 characters; negative ids as the unsigned numbers above 2^63.
pub fn to_shortcode(id: i64) -> Text {
    encode(id as u64, BASE64URL, 1)
}

pub fn from_shortcode(text: &[u8]) -> Result<i64, Malformed> {
    let value = decode(text, BASE64URL, |digit| digit)?;
    if text[0] == BASE64URL[0] && text.len() > 1 {
        return Err(Malformed::LeadingZero);
    }
    Ok(value as i64)
}

/// 13 digits of Crockford's Base32 that sort as the ids do: the sign bit is turned over, so that
/// negative ids come first.
pub fn to_base32(id: i64) -> Text {
    encode(id as u64 ^ SIGN, CROCKFORD, BASE32_WIDTH)
}

/// Reads [`to_base32`]'s text in capital or small letters. Crockford's aliases (O for 0, I and L for
/// 1) and hyphens are not read: they would give an id more than one text.
pub fn from_base32(text: &[u8]) -> Result<i64, Malformed> {
    if text.len() != BASE32_WIDTH {
        return Err(Malformed::Length { expected: BASE32_WIDTH });
    }
    Ok((decode(text, CROCKFORD, |digit| digit.to_ascii_uppercase())? ^ SIGN) as i64)
}

/// At least `width` digits, the highest first.
fn encode(mut value: u64, alphabet: &[u8], width: usize) -> Text {
    let base = alphabet.len() as u64;
    let mut text = Text { bytes: [0; Text::MAX], start: Text::MAX };
    while value > 0 || text.as_bytes().len() < width {
        text.prefix(alphabet[(value % base) as usize]);
        value /= base;
    }
    text
}

/// The number that one or more digits write.
fn decode(text: &[u8], alphabet: &[u8], normal: fn(u8) -> u8) -> Result<u64, Malformed> {
    if text.is_empty() {
        return Err(Malformed::Empty);
    }
    // A character that is wrong is told as such, even behind what is too great already.
    let mut value = Some(0u64);
    for (index, &byte) in text.iter().enumerate() {
        let digit = alphabet.iter().position(|&digit| digit == normal(byte));
        let digit = digit.ok_or(Malformed::Character { position: index + 1 })? as u64;
        value =
            value.and_then(|value| value.checked_mul(alphabet.len() as u64)?.checked_add(digit));
    }
    value.ok_or(Malformed::TooGreat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &Text) -> String {
        String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn shortcodes_are_instagrams() {
        assert_eq!(text(&to_shortcode(1_661_696_503_407_488_208)), "BcPiCpyHKzQ");
        assert_eq!(from_shortcode(b"BcPiCpyHKzQ"), Ok(1_661_696_503_407_488_208));
        for (id, code) in [(0, "A"), (1, "B"), (63, "_"), (64, "BA"), (i64::MAX, "H__________")] {
            assert_eq!(text(&to_shortcode(id)), code);
        }
        // Unsigned, so negative ids follow the greatest one.
        assert_eq!(text(&to_shortcode(i64::MIN)), "IAAAAAAAAAA");
        assert_eq!(text(&to_shortcode(-1)), "P__________");
    }

    #[test]
    fn what_is_no_shortcode_is_refused() {
        for (code, why) in [
            ("", Malformed::Empty),
            ("A1", Malformed::LeadingZero),
            ("AA", Malformed::LeadingZero),
            ("QAAAAAAAAAA", Malformed::TooGreat), // 2^64
            ("BAAAAAAAAAAA", Malformed::TooGreat),
            ("BcPi+pyHKzQ", Malformed::Character { position: 5 }),
            ("BcPiCpyHKzQ=", Malformed::Character { position: 12 }),
            (" BcPiCpyHKzQ", Malformed::Character { position: 1 }),
            ("BcPiCpyHKzQ\n", Malformed::Character { position: 12 }),
            ("Bé", Malformed::Character { position: 2 }),
        ] {
            assert_eq!(from_shortcode(code.as_bytes()), Err(why), "{code:?}");
        }
    }

    #[test]
    fn base32_is_of_one_width_and_begins_with_the_sign() {
        for (id, code) in [
            (i64::MIN, "0000000000000"),
            (-1, "7ZZZZZZZZZZZZ"),
            (0, "8000000000000"),
            (1, "8000000000001"),
            (32, "8000000000010"),
            (i64::MAX, "FZZZZZZZZZZZZ"),
        ] {
            assert_eq!(text(&to_base32(id)), code);
            assert_eq!(from_base32(code.as_bytes()), Ok(id));
            assert_eq!(from_base32(code.to_lowercase().as_bytes()), Ok(id));
        }
    }

    #[test]
    fn what_is_no_base32_is_refused() {
        for (code, why) in [
            ("", Malformed::Length { expected: 13 }),
            ("800000000000", Malformed::Length { expected: 13 }),
            ("80000000000000", Malformed::Length { expected: 13 }),
            ("G000000000000", Malformed::TooGreat), // 2^64
            ("ZZZZZZZZZZZZZ", Malformed::TooGreat),
            ("80000000O0000", Malformed::Character { position: 9 }),
            ("8I00000000000", Malformed::Character { position: 2 }),
            ("8l00000000000", Malformed::Character { position: 2 }),
            ("80000000U0000", Malformed::Character { position: 9 }),
            ("800000-000000", Malformed::Character { position: 7 }),
            ("800000000000 ", Malformed::Character { position: 13 }),
        ] {
            assert_eq!(from_base32(code.as_bytes()), Err(why), "{code:?}");
        }
    }

    #[test]
    fn decimals_are_read_as_they_are_written_only() {
        for id in [0, 1, -1, 10, i64::MAX, i64::MIN, (1 << 53) + 1] {
            assert_eq!(text(&to_decimal(id)), id.to_string());
            assert_eq!(from_decimal(id.to_string().as_bytes()), Ok(id));
        }
        for (code, why) in [
            ("", Malformed::Empty),
            ("-", Malformed::Character { position: 1 }),
            ("--1", Malformed::Character { position: 2 }),
            ("+1", Malformed::Character { position: 1 }),
            (" 1", Malformed::Character { position: 1 }),
            ("1 ", Malformed::Character { position: 2 }),
            ("1_000", Malformed::Character { position: 2 }),
            ("0x10", Malformed::Character { position: 2 }),
            ("1.0", Malformed::Character { position: 2 }),
            ("-1e3", Malformed::Character { position: 3 }),
            ("01", Malformed::LeadingZero),
            ("-0", Malformed::LeadingZero),
            ("00", Malformed::LeadingZero),
            ("-01", Malformed::LeadingZero),
            ("9223372036854775808", Malformed::TooGreat),
            ("-9223372036854775809", Malformed::TooGreat),
            ("18446744073709551616", Malformed::TooGreat),
        ] {
            assert_eq!(from_decimal(code.as_bytes()), Err(why), "{code:?}");
        }
    }

    proptest! {
        #[test]
        fn every_form_comes_back(id: i64) {
            prop_assert_eq!(from_decimal(to_decimal(id).as_bytes()), Ok(id));
            prop_assert_eq!(from_shortcode(to_shortcode(id).as_bytes()), Ok(id));
            prop_assert_eq!(from_base32(to_base32(id).as_bytes()), Ok(id));
        }

        #[test]
        fn base32_sorts_as_the_ids_do(a: i64, b: i64) {
            prop_assert_eq!(to_base32(a).as_bytes().cmp(to_base32(b).as_bytes()), a.cmp(&b));
        }

        #[test]
        fn what_is_read_is_written_the_same(code in "[A-Za-z0-9_-]{1,14}") {
            if let Ok(id) = from_shortcode(code.as_bytes()) {
                prop_assert_eq!(text(&to_shortcode(id)), code.clone());
            }
            if let Ok(id) = from_base32(code.as_bytes()) {
                prop_assert_eq!(text(&to_base32(id)), code.to_uppercase());
            }
            if let Ok(id) = from_decimal(code.as_bytes()) {
                prop_assert_eq!(text(&to_decimal(id)), code.clone());
            }
        }
    }
}
