//! Shared memory: the cells of all shards and workers of the server, and what it knows of the
//! high-water mark of each database.
//!
//! Protocol: one zeroed block, made once in a server's life and never freed. All databases share the
//! cells, so that a shard drawn in two of them still yields distinct ids. Anyone may touch a cell at
//! any time, by its own atomic operations alone (see `snowid_core::cell`); no lock guards it. A
//! database takes its entry under AddinShmemInitLock, and keeps it until it is dropped; who writes
//! the entry's other fields holds the lock of the page that stores the mark (see `high_water`).
//!
//! Where the block lives: preloaded, in the main segment; else, from PostgreSQL 17 on, in a segment
//! that the server's DSM registry makes at the first use. A backend that has found its entry and
//! seen recovery ended keeps the address in `DATABASE`: recovery cannot begin again under it.
#![allow(unsafe_code)]

pub mod lease;

use crate::abi::guarded;
use crate::error::Error;
use crate::settings;
use lease::Lease;
use pgrx::{pg_guard, pg_sys};
use snowid_core::cell::Cell;
use snowid_core::layout::{INSTAGRAM, TWITTER};
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// How many databases of a server can generate ids, where the library isn't preloaded: all sessions
/// must agree on it, and only a start fixes a setting.
const DATABASES: usize = 4096;

#[repr(C)]
pub struct Block {
    pub shards: [Cell; INSTAGRAM.node_max() as usize + 1],
    pub workers: [Cell; TWITTER.node_max() as usize + 1],
    pub clock: ClockOffset,
    pub lease: Lease,
    /// As many as [`max_databases`] says.
    databases: [Database; 0],
}

const _: () = assert!(size_of::<Block>() + DATABASES * size_of::<Database>() < 1 << 20, "1 MB");

/// How many databases of the server can generate ids.
pub fn max_databases() -> usize {
    if is_preloaded() { settings::max_databases() } else { DATABASES }
}

fn block_size() -> usize {
    size_of::<Block>() + max_databases() * size_of::<Database>()
}

/// The entries of the databases. To be called once the block is known.
fn databases() -> &'static [Database] {
    let block = BLOCK.load(Ordering::Relaxed);
    // SAFETY: the block is `block_size` bytes, which end with so many entries of atomics.
    unsafe { std::slice::from_raw_parts((&raw const (*block).databases).cast(), max_databases()) }
}

/// What the server knows of a database's high-water mark; see `snowid_core::mark`.
#[repr(C, align(64))]
pub struct Database {
    oid: AtomicU32,
    pub ceiling: AtomicI64,
    pub floor: AtomicI64,
    pub durable: AtomicI64,
    pub written: AtomicI64,
    /// The WAL position up to which `written` is on disk.
    pub lsn: AtomicU64,
    pub raises: AtomicU64,
    pub flush_waits: AtomicU64,
}

/// The wall clock less the time since boot, in ms, when it was last found plausible; 0: never yet.
#[repr(C, align(64))]
pub struct ClockOffset(pub AtomicI64);

/// The catalog cache of databases by oid.
const DATABASE_CACHE: i32 = pg_sys::SysCacheIdentifier::DATABASEOID as i32;

const NAME: &std::ffi::CStr = c"pg_snowid";

/// The block, once this process knows it. In a preloaded server the postmaster hands it down.
static BLOCK: AtomicPtr<Block> = AtomicPtr::new(ptr::null_mut());
/// This backend's database, once ids may be drawn in it; `BLOCK` is set then.
static DATABASE: AtomicPtr<Database> = AtomicPtr::new(ptr::null_mut());

/// What to draw from on behalf of `function`.
#[inline]
pub fn ready(function: &'static str) -> Result<(&'static Block, &'static Database), Error> {
    // SAFETY: null, or part of the block, which is never freed and holds atomics only.
    unsafe {
        match DATABASE.load(Ordering::Relaxed).as_ref() {
            Some(database) => Ok((&*BLOCK.load(Ordering::Relaxed), database)),
            None => first_ready(function),
        }
    }
}

#[cold]
#[inline(never)]
fn first_ready(function: &'static str) -> Result<(&'static Block, &'static Database), Error> {
    guarded(|| make_ready(function))
}

fn make_ready(function: &'static str) -> Result<(&'static Block, &'static Database), Error> {
    // SAFETY: takes no arguments; called in a backend, under a guard.
    if unsafe { pg_sys::RecoveryInProgress() } {
        return Err(Error::Recovery { function });
    }
    let block = look().ok_or(Error::NotPreloaded)?;
    // SAFETY: set before any function can be called, and never changed.
    let oid = unsafe { pg_sys::MyDatabaseId }.to_u32();
    let database = entry(databases(), oid).ok_or(Error::TooManyDatabases)?;
    DATABASE.store(ptr::from_ref(database).cast_mut(), Ordering::Relaxed);
    Ok((block, database))
}

/// The entry of a database, taken now if need be: a free one, else one of a database that was
/// dropped. None if all are in use.
fn entry(databases: &'static [Database], oid: u32) -> Option<&'static Database> {
    let find = |wanted: u32| {
        let (before, from) = databases.split_at(oid as usize % databases.len());
        from.iter().chain(before).find(|entry| entry.oid.load(Ordering::Acquire) == wanted)
    };
    if let Some(entry) = find(oid) {
        return Some(entry);
    }
    loop {
        // Before the lock, since it reads the catalog. Another may reuse that entry meanwhile: then
        // the next one.
        let dropped = if find(0).is_none() { dropped_database(databases) } else { None };
        let entry = with_init_lock(|| {
            find(oid).or_else(|| {
                let entry = find(0).or_else(|| find(dropped?))?;
                entry.forget();
                entry.oid.store(oid, Ordering::Release);
                Some(entry)
            })
        });
        if entry.is_some() || dropped.is_none() {
            return entry;
        }
    }
}

/// The oid of an entry whose database exists no more: none of its sessions can be left.
fn dropped_database(databases: &[Database]) -> Option<u32> {
    let mut oids = databases.iter().map(|entry| entry.oid.load(Ordering::Relaxed));
    oids.find(|&oid| {
        let key = pg_sys::Datum::from(oid);
        let none = pg_sys::Datum::from(0usize);
        // SAFETY: a catalog look-up in a transaction, under a guard.
        unsafe { !pg_sys::SearchSysCacheExists(DATABASE_CACHE, key, none, none, none) }
    })
}

impl Database {
    fn forget(&self) {
        for field in [&self.ceiling, &self.floor, &self.durable, &self.written] {
            field.store(0, Ordering::Relaxed);
        }
        for field in [&self.lsn, &self.raises, &self.flush_waits] {
            field.store(0, Ordering::Relaxed);
        }
    }
}

/// Runs `f` under PostgreSQL's lock for making shared memory; after an error PostgreSQL unlocks.
fn with_init_lock<R>(f: impl FnOnce() -> R) -> R {
    /// AddinShmemInitLock's place in the array of built-in locks (`lwlocklist.h`, 15 to 18).
    const ADDIN_SHMEM_INIT: usize = 21;
    // SAFETY: the array exists in every process of a server; called under a guard.
    unsafe {
        let lock = &raw mut (*pg_sys::MainLWLockArray.add(ADDIN_SHMEM_INIT)).lock;
        pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let result = f();
        pg_sys::LWLockRelease(lock);
        result
    }
}

/// The block, also on a standby; None where there can be none. May raise PostgreSQL's errors.
pub fn look() -> Option<&'static Block> {
    if BLOCK.load(Ordering::Relaxed).is_null() {
        BLOCK.store(registry::block(), Ordering::Relaxed);
    }
    // SAFETY: as in `ready`.
    unsafe { BLOCK.load(Ordering::Relaxed).as_ref() }
}

/// Whether the library was preloaded.
pub fn is_preloaded() -> bool {
    preload::done()
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
            if !settings::is_preloading() {
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
            pg_sys::RequestAddinShmemSpace(block_size());
        }
    }

    #[pg_guard]
    unsafe extern "C-unwind" fn on_startup() {
        // SAFETY: called by the postmaster once the main segment stands. ShmemInitStruct returns
        // space of the size asked for, aligned to cache lines; a zeroed block is valid.
        unsafe {
            if let Some(next) = NEXT_STARTUP {
                pg_sys::ffi::pg_guard_ffi_boundary(|| next());
            }
            with_init_lock(|| {
                let mut found = false;
                let size = block_size();
                let block = pg_sys::ShmemInitStruct(NAME.as_ptr(), size, &mut found);
                if !found {
                    ptr::write_bytes(block.cast::<u8>(), 0, size);
                }
                BLOCK.store(block.cast(), Ordering::Relaxed);
            });
        }
    }
}

#[cfg(any(feature = "pg17", feature = "pg18"))]
mod registry {
    use super::*;

    pub fn block() -> *mut Block {
        let mut found = false;
        // SAFETY: the registry returns a segment of the size asked for, mapped until this process
        // ends, page-aligned, and calls `zero` on it once, before anyone else sees it.
        unsafe {
            pg_sys::GetNamedDSMSegment(NAME.as_ptr(), block_size(), Some(zero), &mut found).cast()
        }
    }

    unsafe extern "C-unwind" fn zero(block: *mut std::ffi::c_void) {
        // SAFETY: the registry passes the new segment; a zeroed block is valid.
        unsafe { ptr::write_bytes(block.cast::<u8>(), 0, block_size()) }
    }
}

#[cfg(not(any(feature = "pg17", feature = "pg18")))]
mod registry {
    use super::*;

    /// There is no registry before PostgreSQL 17.
    pub fn block() -> *mut Block {
        ptr::null_mut()
    }
}
