//! Errors about texts that are no ids.

use super::shown;
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::report::report;
use snowid_core::text::Malformed;

/// A text that is none of its form.
pub struct TextError {
    /// What it should have been, such as "shortcode".
    pub form: &'static str,
    /// The characters that the form has.
    pub characters: &'static str,
    pub text: Vec<u8>,
    pub why: Malformed,
}

impl From<TextError> for ErrorReport {
    fn from(TextError { form, characters, text, why }: TextError) -> Self {
        let detail = match why {
            Malformed::Empty => "It is empty.".into(),
            Malformed::Length { expected } => {
                format!(
                    "It has {} characters, not {expected}.",
                    String::from_utf8_lossy(&text).chars().count()
                )
            }
            Malformed::Character { position } => {
                format!("Character {position} is not one of {characters}.")
            }
            Malformed::LeadingZero => {
                "It begins with the digit for zero; each ID has one text.".into()
            }
            Malformed::TooGreat => "It is beyond 64 bits.".into(),
        };
        let message = format!("invalid {form}: \"{}\"", shown(&text));
        report(ERRCODE_INVALID_TEXT_REPRESENTATION, message, detail, "")
    }
}
