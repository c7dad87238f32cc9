//! Where the block lives, and which library has made it.
//!
//! Preloaded, it is in the main segment; else, from PostgreSQL 17 on, in a segment that the server's
//! DSM registry makes at the first use. Libraries of several versions can meet there: a new file was
//! put in place, and sessions that start from then on load it. So a [`Header`] lies apart from the
//! block, under a name and of a size that never change. It is written once, by the library that makes
//! the block, before anyone else sees it; every process compares it with its own before it so much as
//! asks for the block.
//!
//! One process can't hold two libraries: PostgreSQL hands on to a second which one was the first.
#![allow(unsafe_code)]

use super::lease::{Lease, Notice};
use super::{Block, Database, room_for_databases};
use crate::error::Error;
use crate::guard::{guarded, report};
use crate::settings;
use pgrx::pg_sys;
use snowid_core::cell::Cell;
use snowid_core::step::Word;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Which library has laid out the block, and how.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    magic: [u8; 16],
    layout: u64,
    /// The block's; in [`OURS`] without room for databases.
    size: u64,
    /// The library's version, for errors.
    library: [u8; 32],
}

const _: () = assert!(size_of::<Header>() == 64, "the same in all versions of the library");

/// This library's own; see [`ours`].
pub static OURS: Header = Header {
    magic: *b"pg_snowid memory",
    layout: LAYOUT,
    size: size_of::<Block>() as u64,
    library: padded(env!("CARGO_PKG_VERSION").as_bytes()),
};

/// To be counted up when a part of the block keeps its place and gets another meaning.
const MEANING: usize = 1;

/// What two libraries must have in common to share a block: its meaning, and the place of each part.
const LAYOUT: u64 = digest(&[
    &[MEANING],
    &Word::PLACES,
    &Cell::PLACES,
    &Block::PLACES,
    &Database::PLACES,
    &Lease::PLACES,
    &Notice::PLACES,
]);

/// FNV-1a.
const fn digest(parts: &[&[usize]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut part = 0;
    while part < parts.len() {
        let mut n = 0;
        while n < parts[part].len() {
            hash = (hash ^ parts[part][n] as u64).wrapping_mul(0x0100_0000_01b3);
            n += 1;
        }
        part += 1;
    }
    hash
}

const fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut n = 0;
    while n < text.len() {
        bytes[n] = text[n];
        n += 1;
    }
    bytes
}

/// As it stands in the library's file: a test makes another library of a copy by changing it there.
pub fn ours() -> Header {
    // SAFETY: a static; volatile, since the compiler knows what it holds.
    unsafe { (&raw const OURS).read_volatile() }
}

impl Header {
    fn fits(&self, other: &Header) -> bool {
        (self.magic, self.layout) == (other.magic, other.layout)
    }
}

/// What errors call the library.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.magic != ours().magic {
            return f.write_str("another library");
        }
        let length = self.library.iter().position(|&byte| byte == 0).unwrap_or(self.library.len());
        let version = String::from_utf8_lossy(&self.library[..length]);
        write!(f, "pg_snowid {version} (layout {:016x})", self.layout)
    }
}

/// Refuses to be the second library of pg_snowid in this process.
pub fn claim_process() -> Result<(), Error> {
    // SAFETY: PostgreSQL's table of such pointers lives as long as the process, as do libraries.
    unsafe {
        let first = pg_sys::find_rendezvous_variable(c"pg_snowid library".as_ptr());
        let first = &mut *first.cast::<*const Header>();
        match first.as_ref() {
            Some(other) if !ptr::eq(other, &OURS) => Err(Error::OtherLibrary { first: other }),
            _ => {
                *first = &OURS;
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

/// The size of a block that is made now.
fn new_size() -> usize {
    ours().size as usize + room_for_databases()
}

/// The size of the block. To be called once this process knows it.
pub fn block_size() -> usize {
    // SAFETY: the header was found before the block was, and is never changed.
    unsafe { (*HEADER.load(Ordering::Relaxed)).size as usize }
}

/// The block, if it is laid out as this library takes it to be.
fn block_of(find: Find) -> Result<&'static Block, Error> {
    let header = find(c"pg_snowid", size_of::<Header>(), make_header).cast::<Header>();
    HEADER.store(header, Ordering::Relaxed);
    // SAFETY: `find` returns what `make` has made, which is never freed and, of the header, never
    // changed; a block of this layout is reached by its own operations alone.
    unsafe {
        if !(*header).fits(&ours()) {
            return Err(Error::OtherLayout { made_by: &*header });
        }
        let block = find(c"pg_snowid block", (*header).size as usize, make_block);
        let block = &*block.cast::<Block>();
        block.lock.name();
        Ok(block)
    }
}

unsafe extern "C-unwind" fn make_header(place: *mut c_void) {
    // SAFETY: the place is of the header's size, and nobody else's yet.
    unsafe { place.cast::<Header>().write(Header { size: new_size() as u64, ..ours() }) }
}

unsafe extern "C-unwind" fn make_block(place: *mut c_void) {
    guarded(|| {
        // SAFETY: the place is of the size that the header says, and nobody else's yet. A zeroed
        // block is valid, but for its locks.
        unsafe {
            place.cast::<u8>().write_bytes(0, block_size());
            (*place.cast::<Block>()).init_locks();
        }
    });
}

/// The block; None where there can be none. May raise PostgreSQL's errors. In a preloaded server the
/// postmaster has found it for all.
pub fn block() -> Result<Option<&'static Block>, Error> {
    registry::FIND.map(block_of).transpose()
}

/// Whether the library was preloaded.
pub fn is_preloaded() -> bool {
    preload::DONE.load(Ordering::Relaxed)
}

/// Called from `_PG_init`: reserves the block if the library is being preloaded.
pub fn request() {
    if settings::is_preloading() {
        preload::request();
    }
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
            pg_sys::RequestAddinShmemSpace(new_size());
        });
    }

    unsafe extern "C-unwind" fn on_startup() {
        // SAFETY: called by the postmaster once the main segment stands, at each start of it.
        guarded(|| unsafe {
            if let Some(next) = NEXT_STARTUP {
                pg_guard_ffi_boundary(|| next());
            }
            crate::shared::keep(block_of(find).unwrap_or_else(|error| report(error)));
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
        unsafe { pg_sys::GetNamedDSMSegment(name.as_ptr(), size, Some(make), &mut found) }
    }
}

#[cfg(any(feature = "pg15", feature = "pg16"))]
mod registry {
    /// There is no registry before PostgreSQL 17.
    pub const FIND: Option<super::Find> = None;
}
