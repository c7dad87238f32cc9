//! The arguments of a call.
#![allow(unsafe_code)]

use pgrx::datum::{FromDatum, IntoDatum, UnboxDatum};
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use pgrx::{AllocatedByRust, direct_function_call};
use std::ffi::CStr;
use std::ops::Deref;

const _: () = assert!(size_of::<Datum>() == 8, "bigint and timestamptz are passed by value");

/// The arguments of a call. The functions are STRICT: no argument is NULL.
#[derive(Clone, Copy)]
pub struct Args(pub(super) FunctionCallInfo);

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
pub struct GuardedArgs(pub(super) Args);

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
