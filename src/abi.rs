//! PostgreSQL's version-1 calling convention, written out for the functions that must be as cheap
//! as built-in ones: no guard, no allocation, no conversion on the way of a call that succeeds.
//!
//! A body takes [`Args`] and returns a result; an error is raised here, under a guard, when the
//! body has returned. What may raise an error inside a body runs under [`guarded`]. PostgreSQL
//! leaves a function by longjmp then: no frame between may own anything that needs dropping.
#![allow(unsafe_code)]

use crate::error::Error;
use pgrx::PgLogLevel;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};

/// Each function's `pg_finfo_` record.
pub static VERSION_1: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };

const _: () = assert!(size_of::<Datum>() == 8, "bigint and timestamptz are passed by value");

/// The arguments of a call. The functions are STRICT: no argument is NULL.
#[derive(Clone, Copy)]
pub struct Args(FunctionCallInfo);

impl Args {
    /// How many arguments the SQL definition that was called has: overloads share a body.
    #[inline]
    pub fn count(self) -> usize {
        // SAFETY: PostgreSQL passes a valid call frame, see `call`.
        unsafe { (*self.0).nargs as usize }
    }

    /// A bigint, or a timestamptz in PostgreSQL's microseconds.
    #[inline]
    pub fn bigint(self, n: usize) -> i64 {
        debug_assert!(n < self.count());
        // SAFETY: the frame holds `nargs` arguments, of the types that the SQL definition says.
        unsafe { (*(*self.0).args.as_ptr().add(n)).value.value() as i64 }
    }

    /// An oid, or a regclass.
    pub fn oid(self, n: usize) -> pg_sys::Oid {
        pg_sys::Oid::from(self.bigint(n) as u32)
    }

    #[inline]
    pub fn integer(self, n: usize) -> i32 {
        self.bigint(n) as i32
    }
}

/// What a body may return.
pub trait Returns {
    fn datum(self, fcinfo: FunctionCallInfo) -> Datum;
}

/// bigint and timestamptz.
impl Returns for i64 {
    #[inline]
    fn datum(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self)
    }
}

/// integer
impl Returns for i32 {
    #[inline]
    fn datum(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self)
    }
}

/// boolean
impl Returns for bool {
    #[inline]
    fn datum(self, _: FunctionCallInfo) -> Datum {
        Datum::from(self)
    }
}

/// A row of OUT parameters, none NULL.
impl<const N: usize> Returns for [Datum; N] {
    fn datum(self, fcinfo: FunctionCallInfo) -> Datum {
        guarded(|| {
            let mut values = self;
            let mut nulls = [false; N];
            // SAFETY: the frame is PostgreSQL's own; the SQL definition names N OUT parameters of
            // the types given. The row's description is made at the first call of a query, which
            // costs ten times as much as the rest, and lives in `fn_extra` as long as the query.
            unsafe {
                let function = (*fcinfo).flinfo;
                if (*function).fn_extra.is_null() {
                    let mut desc = std::ptr::null_mut();
                    let context = pg_sys::MemoryContextSwitchTo((*function).fn_mcxt);
                    pg_sys::get_call_result_type(fcinfo, std::ptr::null_mut(), &mut desc);
                    (*function).fn_extra = pg_sys::BlessTupleDesc(desc).cast();
                    pg_sys::MemoryContextSwitchTo(context);
                }
                let desc: pg_sys::TupleDesc = (*function).fn_extra.cast();
                let tuple = pg_sys::heap_form_tuple(desc, values.as_mut_ptr(), nulls.as_mut_ptr());
                pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)
            }
        })
    }
}

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
        Err(error) => raise(error),
    }
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
            let state = start(Args(fcinfo)).unwrap_or_else(|error| raise(error));
            guarded(|| {
                let set = pg_sys::init_MultiFuncCall(fcinfo);
                let place =
                    pg_sys::MemoryContextAlloc((*set).multi_call_memory_ctx, size_of::<S>());
                place.cast::<S>().write(state);
                (*set).user_fctx = place;
            });
        }
        let set = (*(*fcinfo).flinfo).fn_extra.cast::<pg_sys::FuncCallContext>();
        let value = next(&mut *(*set).user_fctx.cast::<S>()).unwrap_or_else(|error| raise(error));
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

/// Runs what may raise an error, of PostgreSQL or a panic of ours: either becomes PostgreSQL's.
#[inline(never)]
pub fn guarded<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the callers' frames own nothing that needs dropping (the rule at the top).
    unsafe { pg_sys::panic::pgrx_extern_c_guard(f) }
}

#[cold]
#[inline(never)]
fn raise(error: Error) -> ! {
    guarded(|| {
        error.report().report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    })
}
