//! PostgreSQL's version-1 calling convention, written out for the functions that must be as cheap
//! as built-in ones: no guard, no allocation, no conversion on the way of a call that succeeds.
//!
//! A body takes [`Args`] and returns a result; an error is raised here, under a guard, when the
//! body has returned. What may raise an error inside a body runs under [`guarded`], or all of the
//! body does, see [`call_guarded`]. PostgreSQL
//! leaves a function by longjmp then: no frame between may own anything that needs dropping.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::guard::{guarded, report};
use pgrx::datum::{FromDatum, IntoDatum, UnboxDatum};
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use pgrx::{AllocatedByRust, direct_function_call};
use snowid_core::text::Text;
use std::ffi::CStr;
use std::ops::Deref;

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

/// The arguments of a call that [`call_guarded`] runs: reading those that are passed by reference
/// may raise an error.
#[derive(Clone, Copy)]
pub struct GuardedArgs(Args);

/// A value of a composite type.
pub type Row = PgHeapTuple<'static, AllocatedByRust>;

impl Deref for GuardedArgs {
    type Target = Args;

    fn deref(&self) -> &Args {
        &self.0
    }
}

impl GuardedArgs {
    fn datum(self, n: usize) -> Datum {
        Datum::from(self.bigint(n))
    }

    pub fn text(self, n: usize) -> ServerText {
        // SAFETY: the argument is a text by the SQL definition.
        unsafe { ServerText::copy_of(self.datum(n)) }
    }

    /// A jsonb, as JSON.
    pub fn jsonb(self, n: usize) -> ServerText {
        // SAFETY: the argument is a jsonb by the SQL definition; its output is copied at once.
        unsafe {
            let json = direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(self.datum(n))]);
            ServerText(json.expect("a jsonb has an output").to_bytes().to_vec())
        }
    }

    /// A row.
    pub fn row(self, n: usize) -> Row {
        // SAFETY: the argument is of a composite type by the SQL definition; it is copied.
        unsafe { PgHeapTuple::from_composite_datum(self.datum(n)) }
    }
}

/// A text in the database's encoding. A String must be UTF-8, and pgrx makes one of whatever it
/// finds in an array, so texts are read as this.
pub struct ServerText(pub Vec<u8>);

impl ServerText {
    /// # Safety
    /// The datum is a text.
    unsafe fn copy_of(datum: Datum) -> Self {
        // SAFETY: as above; what is detoasted lives until the call ends.
        unsafe {
            let text = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
            Self(pgrx::varlena_to_byte_slice(text).to_vec())
        }
    }
}

impl FromDatum for ServerText {
    unsafe fn from_polymorphic_datum(datum: Datum, null: bool, _: pg_sys::Oid) -> Option<Self> {
        // SAFETY: pgrx has compared the type with type_oid().
        (!null).then(|| unsafe { Self::copy_of(datum) })
    }
}

// SAFETY: the elements of an array of type_oid() are texts.
unsafe impl UnboxDatum for ServerText {
    type As<'src> = Self;

    unsafe fn unbox<'src>(datum: pgrx::datum::Datum<'src>) -> Self
    where
        Self: 'src,
    {
        // SAFETY: as above.
        unsafe { Self::copy_of(datum.sans_lifetime()) }
    }
}

impl IntoDatum for ServerText {
    fn into_datum(self) -> Option<Datum> {
        self.0.into_datum() // a bytea, which has the form of a text
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TEXTOID
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

/// text
impl Returns for Text {
    fn datum(self, _: FunctionCallInfo) -> Datum {
        let text = self.as_bytes();
        // SAFETY: the bytes are copied; they are ASCII, which is valid in every server encoding.
        guarded(|| unsafe {
            pg_sys::cstring_to_text_with_len(text.as_ptr().cast(), text.len() as i32).into()
        })
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
        Err(error) => report(error),
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

#[cold]
#[inline(never)]
fn raise(error: Error) -> ! {
    guarded(|| report(error))
}
