//! What a call returns.
#![allow(unsafe_code)]

use pgrx::pg_sys::{self, Datum, FunctionCallInfo};
use snowid_base::guard::guarded;
use snowid_core::text::Text;

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
