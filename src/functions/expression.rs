//! Texts that become statements, of which a role writes a part and another has them executed.
#![allow(unsafe_code)]

use crate::abi::{Args, guarded};
use crate::error::Error;
use pgrx::pg_sys::{self, Oid, RawParseMode};

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

/// snowid.execute_as(role, statement), where SET ROLE to that role is allowed. Unlike after SET ROLE
/// nothing that the statement calls can go back to the caller's rights: as when ANALYZE calls an owner's functions.
pub fn execute_as(args: Args) -> Result<bool, Error> {
    let role = Oid::from(args.bigint(0) as u32);
    let text = args.bigint(1) as *const pg_sys::text;
    // SAFETY: the SQL definition says regrole and text, not NULL. An error ends the transaction or
    // subtransaction, which puts back the user, the settings and SPI's stack as they were before it.
    guarded(|| unsafe {
        let (mut caller, mut context) = (Oid::INVALID, 0);
        pg_sys::GetUserIdAndSecContext(&mut caller, &mut context);
        #[cfg(feature = "pg15")]
        pg_sys::check_is_member_of_role(caller, role);
        #[cfg(not(feature = "pg15"))]
        pg_sys::check_can_set_role(caller, role);

        let statement = pg_sys::text_to_cstring(text);
        let restricted = context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        pg_sys::SetUserIdAndSecContext(role, restricted);
        let settings = pg_sys::NewGUCNestLevel();
        pg_sys::SPI_connect();
        let result = pg_sys::SPI_execute(statement, false, 0);
        if result < 0 {
            pgrx::error!("SPI_execute failed: {result}");
        }
        pg_sys::SPI_finish();
        pg_sys::AtEOXact_GUC(false, settings);
        pg_sys::SetUserIdAndSecContext(caller, context);
    });
    Ok(true)
}
