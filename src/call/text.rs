//! Ids as text and back. Pure.

use super::args::{Args, GuardedArgs};
use crate::error::{Error, TextError};
use snowid_core::text::{self, Malformed, Text};

/// id_to_text(id)
pub fn id_to_text(args: Args) -> Result<Text, Error> {
    Ok(text::to_decimal(args.bigint(0)))
}

/// id_to_shortcode(id)
pub fn id_to_shortcode(args: Args) -> Result<Text, Error> {
    Ok(text::to_shortcode(args.bigint(0)))
}

/// id_to_base32(id)
pub fn id_to_base32(args: Args) -> Result<Text, Error> {
    Ok(text::to_base32(args.bigint(0)))
}

/// id_from_text(text)
pub fn id_from_text(args: GuardedArgs) -> Result<i64, TextError> {
    read(args, "ID", "0-9, after a \"-\" if it is negative", text::from_decimal)
}

/// id_from_shortcode(text)
pub fn id_from_shortcode(args: GuardedArgs) -> Result<i64, TextError> {
    read(args, "shortcode", "A-Z, a-z, 0-9, \"-\" and \"_\"", text::from_shortcode)
}

/// id_from_base32(text)
pub fn id_from_base32(args: GuardedArgs) -> Result<i64, TextError> {
    let characters = "0-9 and A-Z without I, L, O and U";
    read(args, "base32 ID", characters, text::from_base32)
}

fn read(
    args: GuardedArgs,
    form: &'static str,
    characters: &'static str,
    parse: fn(&[u8]) -> Result<i64, Malformed>,
) -> Result<i64, TextError> {
    let text = args.text(0).0;
    parse(&text).map_err(|why| TextError { form, characters, text, why })
}
