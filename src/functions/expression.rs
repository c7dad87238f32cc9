//! Texts that are to become part of a statement.
#![allow(unsafe_code)]

use crate::abi::{Args, guarded};
use crate::error::Error;
use pgrx::pg_sys::{self, RawParseMode};

/// snowid.check_expression(expression): a syntax error unless the text, by itself, is what may stand
/// between two parentheses: it can't close them, end the statement, or hide what follows.
pub fn check_expression(args: Args) -> Result<bool, Error> {
    let text = args.bigint(0) as *const pg_sys::text;
    // SAFETY: the SQL definition says text, not NULL; both calls allocate in the current context.
    guarded(|| unsafe {
        let expression = pg_sys::text_to_cstring(text);
        pg_sys::raw_parser(expression, RawParseMode::RAW_PARSE_PLPGSQL_EXPR);
    });
    Ok(true)
}
