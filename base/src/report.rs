//! What errors and log lines are made of.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::panic::ErrorReport;
use std::fmt::Display;

/// A report whose detail and hint are left out where they are empty.
pub fn report(
    code: PgSqlErrorCode,
    message: impl Display,
    detail: impl Display,
    hint: impl Display,
) -> ErrorReport {
    let mut report = ErrorReport::new(code, message.to_string(), "pg_snowid");
    let (detail, hint) = (detail.to_string(), hint.to_string());
    if !detail.is_empty() {
        report = report.set_detail(detail);
    }
    if !hint.is_empty() {
        report = report.set_hint(hint);
    }
    report
}
