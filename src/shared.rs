//! Shared memory: the cells of all shards and workers of the server.
//!
//! Protocol: one zeroed block, made once in a server's life and never freed; all databases share it,
//! so that a shard drawn in two of them still yields distinct ids. Anyone may touch a cell at any
//! time, by its own atomic operations alone (see `snowid_core::cell`); no lock guards it.
//!
//! Where the block lives: preloaded, in the main segment; else, from PostgreSQL 17 on, in a segment
//! that the server's DSM registry makes at the first use. A backend that has found the block and
//! seen recovery ended keeps the address in `READY`: recovery cannot begin again under it.
#![allow(unsafe_code)]

use crate::abi::guarded;
use crate::error::Error;
use pgrx::{pg_guard, pg_sys};
use snowid_core::cell::Cell;
use snowid_core::layout::{INSTAGRAM, TWITTER};
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

#[repr(C)]
pub struct Cells {
    pub shards: [Cell; INSTAGRAM.node_max() as usize + 1],
    pub workers: [Cell; TWITTER.node_max() as usize + 1],
}

const _: () = assert!(size_of::<Cells>() == 576 * 1024, "a cell is one cache line");

const NAME: &std::ffi::CStr = c"pg_snowid";

/// The block, once this process knows it. In a preloaded server the postmaster hands it down.
static BLOCK: AtomicPtr<Cells> = AtomicPtr::new(ptr::null_mut());
/// The block, once ids may be drawn from it.
static READY: AtomicPtr<Cells> = AtomicPtr::new(ptr::null_mut());

/// The cells to draw from on behalf of `function`.
#[inline]
pub fn cells(function: &'static str) -> Result<&'static Cells, Error> {
    // SAFETY: either null or the block, which is never freed and holds atomics only.
    match unsafe { READY.load(Ordering::Relaxed).as_ref() } {
        Some(cells) => Ok(cells),
        None => guarded(|| make_ready(function)),
    }
}

#[cold]
fn make_ready(function: &'static str) -> Result<&'static Cells, Error> {
    // SAFETY: takes no arguments; called in a backend, under a guard.
    if unsafe { pg_sys::RecoveryInProgress() } {
        return Err(Error::Recovery { function });
    }
    let cells = look().ok_or(Error::NotPreloaded)?;
    READY.store(ptr::from_ref(cells).cast_mut(), Ordering::Relaxed);
    Ok(cells)
}

/// The cells, also on a standby; None where there can be none. May raise PostgreSQL's errors.
pub fn look() -> Option<&'static Cells> {
    if BLOCK.load(Ordering::Relaxed).is_null() {
        BLOCK.store(registry::block(), Ordering::Relaxed);
    }
    // SAFETY: as in `cells`.
    unsafe { BLOCK.load(Ordering::Relaxed).as_ref() }
}

/// Where the block lives, in words for `snowid.status`.
pub fn home() -> &'static str {
    match (look(), preload::done()) {
        (None, _) => "none: pg_snowid is not in shared_preload_libraries",
        (Some(_), true) => "preloaded",
        (Some(_), false) => "dsm registry",
    }
}

/// Called from `_PG_init`: reserves the block if the library is being preloaded.
pub fn request() {
    preload::request();
}

mod preload {
    use super::*;
    use std::sync::atomic::AtomicBool;

    static DONE: AtomicBool = AtomicBool::new(false);
    static mut NEXT_REQUEST: pg_sys::shmem_request_hook_type = None;
    static mut NEXT_STARTUP: pg_sys::shmem_startup_hook_type = None;

    pub fn done() -> bool {
        DONE.load(Ordering::Relaxed)
    }

    pub fn request() {
        // SAFETY: runs once, in the only thread of the process that loads the library; hooks are
        // chained as PostgreSQL's extensions do.
        unsafe {
            if !pg_sys::process_shared_preload_libraries_in_progress {
                return;
            }
            DONE.store(true, Ordering::Relaxed);
            NEXT_REQUEST = pg_sys::shmem_request_hook;
            pg_sys::shmem_request_hook = Some(on_request);
            NEXT_STARTUP = pg_sys::shmem_startup_hook;
            pg_sys::shmem_startup_hook = Some(on_startup);
        }
    }

    #[pg_guard]
    unsafe extern "C-unwind" fn on_request() {
        // SAFETY: called by the postmaster at the point where space may be requested.
        unsafe {
            if let Some(next) = NEXT_REQUEST {
                pg_sys::ffi::pg_guard_ffi_boundary(|| next());
            }
            pg_sys::RequestAddinShmemSpace(size_of::<Cells>());
        }
    }

    #[pg_guard]
    unsafe extern "C-unwind" fn on_startup() {
        /// AddinShmemInitLock's place in the array of built-in locks (`lwlocklist.h`, 15 to 18).
        const ADDIN_SHMEM_INIT: usize = 21;
        // SAFETY: called by the postmaster once the main segment stands. ShmemInitStruct returns
        // space of the size asked for, aligned to cache lines; zeroed cells are valid.
        unsafe {
            if let Some(next) = NEXT_STARTUP {
                pg_sys::ffi::pg_guard_ffi_boundary(|| next());
            }
            let lock = &raw mut (*pg_sys::MainLWLockArray.add(ADDIN_SHMEM_INIT)).lock;
            pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
            let mut found = false;
            let block =
                pg_sys::ShmemInitStruct(NAME.as_ptr(), size_of::<Cells>(), &mut found).cast();
            if !found {
                ptr::write_bytes::<Cells>(block, 0, 1);
            }
            BLOCK.store(block, Ordering::Relaxed);
            pg_sys::LWLockRelease(lock);
        }
    }
}

#[cfg(any(feature = "pg17", feature = "pg18"))]
mod registry {
    use super::*;

    pub fn block() -> *mut Cells {
        let mut found = false;
        // SAFETY: the registry returns a segment of the size asked for, mapped until this process
        // ends, page-aligned, and calls `zero` on it once, before anyone else sees it.
        unsafe {
            pg_sys::GetNamedDSMSegment(NAME.as_ptr(), size_of::<Cells>(), Some(zero), &mut found)
                .cast()
        }
    }

    unsafe extern "C-unwind" fn zero(block: *mut std::ffi::c_void) {
        // SAFETY: the registry passes the new segment; zeroed cells are valid.
        unsafe { ptr::write_bytes::<Cells>(block.cast(), 0, 1) }
    }
}

#[cfg(not(any(feature = "pg17", feature = "pg18")))]
mod registry {
    use super::*;

    /// There is no registry before PostgreSQL 17.
    pub fn block() -> *mut Cells {
        ptr::null_mut()
    }
}
