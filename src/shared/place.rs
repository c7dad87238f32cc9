//! Where the memory lies.
//!
//! Preloaded, it is in the main segment; else, from PostgreSQL 17 on, in a segment that the server's
//! DSM registry makes at the first use. Libraries of several versions can meet there: a new file was
//! put in place, and sessions that start from then on load it. So every process compares the
//! [`Header`] with its own before it so much as asks for the memory.
//!
//! One process can't hold two libraries: PostgreSQL hands on to a second which one was the first.
#![allow(unsafe_code)]

use crate::error::{Error, MemoryError};
use crate::settings;
use pgrx::pg_sys;
use snowid_base::guard::{guarded, throw};
use snowid_base::memory::{Database, Header, Memory, OtherLayout};
use std::ffi::{CStr, c_void};
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Refuses to be the second library of pg_snowid in this process.
pub fn claim_process() -> Result<(), MemoryError> {
    // SAFETY: PostgreSQL's table of such pointers lives as long as the process, as do libraries.
    unsafe {
        let first = pg_sys::find_rendezvous_variable(c"pg_snowid library".as_ptr());
        let first = &mut *first.cast::<*const Header>();
        match first.as_ref() {
            Some(other) if !ptr::eq(other, Header::OURS) => {
                Err(MemoryError::OtherLibrary { first: other })
            }
            _ => {
                *first = Header::OURS;
                Ok(())
            }
        }
    }
}

/// What finds a named piece of shared memory, and has it made where there is none yet.
type Find = fn(name: &CStr, size: usize, make: Make) -> *mut c_void;
type Make = unsafe extern "C-unwind" fn(*mut c_void);

/// The header in shared memory, once this process has found it.
static HEADER: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());

/// How many databases can generate ids where the library isn't preloaded: all sessions must agree on
/// it, and only a start fixes a setting.
const DATABASES: usize = 4096;

const _: () =
    assert!(size_of::<Memory>() + DATABASES * size_of::<Database>() < 1 << 20, "1 MB by default");

/// The header of memory that is made now.
fn new_header() -> Header {
    Header::with_room_for(if is_preloaded() { settings::max_databases() } else { DATABASES })
}

/// The header. To be called once this process knows the memory.
pub fn header() -> &'static Header {
    // SAFETY: it was found before the memory was, and is never changed.
    unsafe { &*HEADER.load(Ordering::Relaxed) }
}

/// The memory, if it is laid out as this library takes it to be.
fn memory_by(find: Find) -> Result<&'static Memory, OtherLayout> {
    let header = find(Header::NAME, size_of::<Header>(), make_header).cast::<Header>();
    HEADER.store(header, Ordering::Relaxed);
    // SAFETY: `find` returns what `make` has made, which is never freed and, of the header, never
    // changed; memory of this layout is reached by its own operations alone.
    unsafe {
        (*header).check()?;
        let memory = &*find(Header::MEMORY, (*header).size(), make_memory).cast::<Memory>();
        tranche::name(memory.lock.tranche());
        Ok(memory)
    }
}

unsafe extern "C-unwind" fn make_header(place: *mut c_void) {
    // SAFETY: the place is of the header's size, and nobody else's yet.
    unsafe { place.cast::<Header>().write(new_header()) }
}

unsafe extern "C-unwind" fn make_memory(place: *mut c_void) {
    guarded(|| {
        // SAFETY: the place is of the size that the header says, and nobody else's yet. Zeroed memory
        // is valid, but for its locks.
        unsafe {
            place.cast::<u8>().write_bytes(0, header().size());
            (*place.cast::<Memory>()).init_locks(tranche::new());
        }
    });
}

/// The memory; None where there can be none. May raise PostgreSQL's errors. In a preloaded server the
/// postmaster has found it for all.
pub fn memory() -> Result<Option<&'static Memory>, OtherLayout> {
    registry::FIND.map(memory_by).transpose()
}

/// Whether the library was preloaded.
pub fn is_preloaded() -> bool {
    preload::DONE.load(Ordering::Relaxed)
}

/// Called from `_PG_init`: reserves the memory if the library is being preloaded.
pub fn request() {
    if settings::is_preloading() {
        preload::request();
    }
}

/// The kind of our locks: pg_stat_activity shows its name where one is waited for.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
mod tranche {
    use pgrx::pg_sys;

    pub fn new() -> i32 {
        // SAFETY: called where shared memory stands.
        unsafe { pg_sys::LWLockNewTrancheId() }
    }

    /// Tells this process the name.
    pub fn name(tranche: i32) {
        // SAFETY: the name lives forever.
        unsafe { pg_sys::LWLockRegisterTranche(tranche, c"pg_snowid".as_ptr()) }
    }
}

/// From PostgreSQL 19 on the server knows the name.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
mod tranche {
    use pgrx::pg_sys;

    pub fn new() -> i32 {
        // SAFETY: called where shared memory stands; the name is copied.
        unsafe { pg_sys::LWLockNewTrancheId(c"pg_snowid".as_ptr()) }
    }

    pub fn name(_: i32) {}
}

mod preload {
    use super::*;
    use pgrx::pg_sys::ffi::pg_guard_ffi_boundary;

    pub static DONE: AtomicBool = AtomicBool::new(false);
    static mut NEXT_REQUEST: pg_sys::shmem_request_hook_type = None;
    static mut NEXT_STARTUP: pg_sys::shmem_startup_hook_type = None;

    pub fn request() {
        DONE.store(true, Ordering::Relaxed);
        // SAFETY: runs once, in the only thread of the postmaster; hooks are chained as PostgreSQL's
        // extensions do.
        unsafe {
            NEXT_REQUEST = pg_sys::shmem_request_hook;
            pg_sys::shmem_request_hook = Some(on_request);
            NEXT_STARTUP = pg_sys::shmem_startup_hook;
            pg_sys::shmem_startup_hook = Some(on_startup);
        }
    }

    unsafe extern "C-unwind" fn on_request() {
        // SAFETY: called by the postmaster at the point where space may be requested.
        guarded(|| unsafe {
            if let Some(next) = NEXT_REQUEST {
                pg_guard_ffi_boundary(|| next());
            }
            pg_sys::RequestAddinShmemSpace(size_of::<Header>());
            pg_sys::RequestAddinShmemSpace(new_header().size());
        });
    }

    unsafe extern "C-unwind" fn on_startup() {
        // SAFETY: called by the postmaster once the main segment stands, at each start of it.
        guarded(|| unsafe {
            if let Some(next) = NEXT_STARTUP {
                pg_guard_ffi_boundary(|| next());
            }
            crate::shared::keep(memory_by(find).unwrap_or_else(|error| throw(Error::from(error))));
        });
    }

    /// In the main segment, aligned to cache lines.
    fn find(name: &CStr, size: usize, make: Make) -> *mut c_void {
        let mut found = false;
        // SAFETY: called by the postmaster, which alone uses the segment yet.
        unsafe {
            let place = pg_sys::ShmemInitStruct(name.as_ptr(), size, &mut found);
            if !found {
                make(place);
            }
            place
        }
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
mod registry {
    use super::*;

    pub const FIND: Option<Find> = Some(find);

    /// In a segment of its own, aligned to pages and mapped until this process ends.
    fn find(name: &CStr, size: usize, make: Make) -> *mut c_void {
        let mut found = false;
        // SAFETY: the registry calls `make` once, before anyone else finds the segment.
        unsafe {
            #[cfg(any(feature = "pg17", feature = "pg18"))]
            return pg_sys::GetNamedDSMSegment(name.as_ptr(), size, Some(make), &mut found);
            #[cfg(not(any(feature = "pg17", feature = "pg18")))]
            {
                let make = make as *mut c_void;
                pg_sys::GetNamedDSMSegment(name.as_ptr(), size, Some(call), &mut found, make)
            }
        }
    }

    /// From PostgreSQL 19 on an argument is passed to what makes the segment: here it is that itself.
    #[cfg(not(any(feature = "pg17", feature = "pg18")))]
    unsafe extern "C-unwind" fn call(place: *mut c_void, make: *mut c_void) {
        // SAFETY: as `find` passes it.
        unsafe { std::mem::transmute::<*mut c_void, Make>(make)(place) }
    }
}

#[cfg(any(feature = "pg15", feature = "pg16"))]
mod registry {
    /// There is no registry before PostgreSQL 17.
    pub const FIND: Option<super::Find> = None;
}
