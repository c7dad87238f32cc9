//! The shared memory that pg_snowid has made: the server preloads it wherever there is this worker.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use snowid_base::memory::{Header, Memory, OtherLayout};
use std::ffi::{CStr, c_void};

/// The memory, if it is laid out as this library takes it to be.
pub fn find() -> Result<&'static Memory, OtherLayout> {
    // SAFETY: pg_snowid has made both, and doesn't change or free them; memory of this layout is reached
    // by its own operations alone.
    unsafe {
        let header = &*named(Header::NAME, size_of::<Header>()).cast::<Header>();
        header.check()?;
        Ok(&*named(Header::MEMORY, header.size()).cast::<Memory>())
    }
}

/// A piece of the main segment; PostgreSQL raises an error where it isn't of this size. Where nobody has
/// made it, which can't be, it comes zeroed, and is no header.
fn named(name: &CStr, size: usize) -> *mut c_void {
    // SAFETY: called under a guard.
    unsafe { pg_sys::ShmemInitStruct(name.as_ptr(), size, &mut false) }
}
