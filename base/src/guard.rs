//! The boundary to C. Errors, PostgreSQL's and ours, unwind Rust's frames as panics; here they become
//! PostgreSQL's errors again, which leave by longjmp: no frame between here and C may own anything that
//! needs dropping.
//!
//! pgrx has such a guard. With it, where the server inherited RUST_BACKTRACE, clients would be shown a
//! backtrace.
#![allow(unsafe_code)]

use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel};
use pgrx::pg_sys::{self, AsPgCStr, ErrorData};
use pgrx::{PgLogLevel, PgTryBuilder};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// Called first when the library is loaded, to take the place of pgrx's hook, which captures backtraces.
pub fn install() {
    panic::set_hook(Box::new(|panic| {
        // What isn't an error on its way: a fault of ours, whose place belongs in the server's log.
        if panic.payload().is::<&str>() || panic.payload().is::<String>() {
            eprintln!("pg_snowid {panic}");
        }
    }));
}

/// Runs what may raise an error, of PostgreSQL or a panic of ours: either becomes PostgreSQL's.
#[inline(never)]
pub fn guarded<R>(f: impl FnOnce() -> R) -> R {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| rethrow(panic))
}

/// Unwinds to the guard, which makes it PostgreSQL's error.
pub fn throw(error: impl Into<ErrorReport>) -> ! {
    error.into().report(PgLogLevel::ERROR);
    unreachable!("an ERROR does not return")
}

#[cold]
fn rethrow(panic: Box<dyn Any + Send>) -> ! {
    if let Some(CaughtError::PostgresError(_)) = panic.downcast_ref() {
        drop(panic);
        // SAFETY: pgrx has left the error where PostgreSQL keeps it, with its context and all. It is to be
        // thrown in the memory that errors are thrown in; nothing up to here needs dropping.
        unsafe {
            pg_sys::CurrentMemoryContext = pg_sys::ErrorContext;
            pg_re_throw()
        }
    }
    let mut error = error_data(&caught(panic));
    // SAFETY: the error is whole; nothing in the frames up to here needs dropping.
    unsafe { ThrowErrorData(&mut error) }
    unreachable!("an ERROR does not return")
}

fn caught(panic: Box<dyn Any + Send>) -> ErrorReportWithLevel {
    PgTryBuilder::new(AssertUnwindSafe(|| panic::resume_unwind(panic)))
        .catch_others(|caught| match caught {
            CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic { ereport: report, .. } => report,
        })
        .execute()
}

/// The error in PostgreSQL's memory.
fn error_data(report: &ErrorReportWithLevel) -> ErrorData {
    // SAFETY: what outlives the error's report is in the context that PostgreSQL keeps for errors.
    unsafe {
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::ErrorContext);
        let error = ErrorData {
            elevel: report.level() as i32,
            sqlerrcode: report.sql_error_code() as i32,
            message: report.message().as_pg_cstr(),
            detail: report.detail().as_pg_cstr(),
            hint: report.hint().as_pg_cstr(),
            filename: report.file().as_pg_cstr(),
            lineno: report.line_number() as i32,
            funcname: report.function_name().as_pg_cstr(),
            ..Default::default()
        };
        pg_sys::MemoryContextSwitchTo(before);
        error
    }
}

unsafe extern "C-unwind" {
    /// Of `utils/elog.h`, without pgrx's own catching of what it throws.
    fn ThrowErrorData(error: *mut ErrorData);
    fn pg_re_throw() -> !;
}
