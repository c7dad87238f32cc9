//! The SQL surface: what `sql/*.sql` calls, in PostgreSQL's version-1 calling convention, written out for
//! the functions that must be as cheap as built-in ones: no guard, no allocation, no conversion on the way
//! of a call that succeeds.
//!
//! A body takes [`Args`] and returns a result; an error is thrown here, under a guard, when the body has
//! returned. What may raise an error inside a body runs under [`guarded`], or all of the body does, see
//! [`call_guarded`]. PostgreSQL leaves a function by longjmp then: no frame between may own anything that
//! needs dropping.
//!
//! - `exports`: the C symbols, one line each
//! - `generate`, `tickets`, `compose`, `decode`, `text`, `layouts`, `backfill`, `planner`, `admin`,
//!   `views`: the bodies, by topic
//! - `checks`: of the arguments, each in one place
//! - `args`, `returns`: what goes in and out
#![allow(unsafe_code)]

mod admin;
mod args;
mod backfill;
mod checks;
mod compose;
mod decode;
mod exports;
mod generate;
mod layouts;
mod planner;
mod returns;
mod text;
mod tickets;
mod views;

use crate::error::Error;
use args::{Args, GuardedArgs};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use returns::Returns;
use snowid_base::guard::{guarded, throw};
use views::Columns;

/// Each function's `pg_finfo_` record.
static VERSION_1: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };

/// Runs a body for PostgreSQL.
///
/// # Safety
/// `fcinfo` is the frame of a call by PostgreSQL of a function whose SQL definition fits the body.
#[inline(always)]
pub unsafe fn call<R: Returns>(
    fcinfo: FunctionCallInfo,
    body: impl FnOnce(Args) -> Result<R, Error>,
) -> Datum {
    match body(Args(fcinfo)) {
        Ok(value) => value.datum(fcinfo),
        Err(error) => leave(error),
    }
}

/// Runs a body that isn't as cheap as a built-in function: it may own memory, and call what raises
/// errors. All of it runs under a guard, which drops what is owned.
///
/// # Safety
/// As for [`call`].
pub unsafe fn call_guarded<R: Returns, E: Into<ErrorReport>>(
    fcinfo: FunctionCallInfo,
    body: impl FnOnce(GuardedArgs) -> Result<R, E>,
) -> Datum {
    guarded(|| match body(GuardedArgs(Args(fcinfo))) {
        Ok(value) => value.datum(fcinfo),
        Err(error) => throw(error),
    })
}

/// Runs one call of a set-returning function that hands out a value a call: `start` makes the state
/// at the first one, `next` yields until None.
///
/// # Safety
/// As for [`call`]; the SQL definition says `RETURNS SETOF bigint`.
pub unsafe fn call_set<S: Copy>(
    fcinfo: FunctionCallInfo,
    start: impl FnOnce(Args) -> Result<S, Error>,
    next: impl FnOnce(&mut S) -> Result<Option<i64>, Error>,
) -> Datum {
    // SAFETY: the frame is valid; `fn_extra` is null at the first call of a set and is then the
    // context that init_MultiFuncCall made, which ends with the set or with the query.
    unsafe {
        if (*(*fcinfo).flinfo).fn_extra.is_null() {
            let state = start(Args(fcinfo)).unwrap_or_else(|error| leave(error));
            guarded(|| {
                let set = pg_sys::init_MultiFuncCall(fcinfo);
                let place =
                    pg_sys::MemoryContextAlloc((*set).multi_call_memory_ctx, size_of::<S>());
                place.cast::<S>().write(state);
                (*set).user_fctx = place;
            });
        }
        let set = (*(*fcinfo).flinfo).fn_extra.cast::<pg_sys::FuncCallContext>();
        let value = next(&mut *(*set).user_fctx.cast::<S>()).unwrap_or_else(|error| leave(error));
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        if let Some(value) = value {
            (*result).isDone = pg_sys::ExprDoneCond::ExprMultipleResult;
            return Datum::from(value);
        }
        guarded(|| pg_sys::end_MultiFuncCall(fcinfo, set));
        (*result).isDone = pg_sys::ExprDoneCond::ExprEndResult;
        (*fcinfo).isnull = true;
        Datum::from(0usize)
    }
}

/// Runs a function that returns a table, all rows at once.
///
/// # Safety
/// As for [`call`]; the SQL definition returns a set of records with columns of these types.
pub unsafe fn call_table<const N: usize>(
    fcinfo: FunctionCallInfo,
    rows: impl FnOnce() -> Vec<Columns<N>>,
) -> Datum {
    // SAFETY: the frame is valid, and PostgreSQL raises an error where no set is expected.
    guarded(|| unsafe {
        pg_sys::InitMaterializedSRF(fcinfo, 0);
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let (table, desc) = ((*result).setResult, (*result).setDesc);
        for row in rows() {
            let mut nulls = row.map(|value| value.is_none());
            let mut values = row.map(|value| value.unwrap_or(Datum::from(0usize)));
            pg_sys::tuplestore_putvalues(table, desc, values.as_mut_ptr(), nulls.as_mut_ptr());
        }
        Datum::from(0usize)
    })
}

#[cold]
#[inline(never)]
fn leave(error: Error) -> ! {
    guarded(|| throw(error))
}
