//! A relation in the text of an error, whose name is looked up when the error is raised.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use std::ffi::CStr;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelationName(pub pg_sys::Oid);

/// The name without its schema, as in PostgreSQL's own errors; the oid of what no longer exists.
impl fmt::Display for RelationName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // SAFETY: errors are raised in a transaction, under a guard; the name is null or a C string.
        unsafe {
            let name = pg_sys::get_rel_name(self.0);
            if name.is_null() {
                return write!(f, "{}", self.0.to_u32());
            }
            f.write_str(&CStr::from_ptr(name).to_string_lossy())
        }
    }
}
