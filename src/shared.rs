//! Shared memory: the cells of all shards and workers of the server, and what it knows of the
//! high-water mark of each database.
//!
//! Protocol: one zeroed block, made once in a server's life and never freed. All databases share the
//! cells, so that a shard drawn in two of them still yields distinct ids. Anyone may touch a cell at
//! any time, by its own atomic operations alone (see `snowid_core::cell`); no lock guards it. A
//! database takes its entry under the block's lock, and keeps it until it is dropped; who writes
//! the entry's other fields holds the lock of the page that stores the mark (see `high_water`).
//!
//! Where the block lives, and that all who use it agree on its layout: see `place`. A backend that has
//! found its entry and seen recovery ended keeps the address in `DATABASE`: recovery cannot begin again
//! under it.
#![allow(unsafe_code)]

pub mod lease;
mod lock;
pub mod place;

use crate::error::Error;
use crate::guard::{guarded, report};
use crate::settings;
use lease::Lease;
use lock::Lock;
use pgrx::pg_sys;
use snowid_core::cell::Cell;
use snowid_core::layout::{INSTAGRAM, TWITTER};
use std::mem::{offset_of, size_of};
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
    /// Held to take a database's entry.
    lock: Lock,
    /// As many as the block has room for, see `Block::databases`.
    databases: [Database; 0],
}

impl Block {
    /// Where each part lies, for `place`.
    const PLACES: [usize; 6] = [
        offset_of!(Self, shards),
        offset_of!(Self, workers),
        offset_of!(Self, clock),
        offset_of!(Self, lease),
        offset_of!(Self, lock),
        offset_of!(Self, databases),
    ];

    /// Completes a zeroed block.
    fn init_locks(&self) {
        // SAFETY: called where shared memory stands.
        let tranche = unsafe { pg_sys::LWLockNewTrancheId() };
        self.lock.init(tranche);
        self.lease.lock.init(tranche);
    }
}

const _: () = assert!(size_of::<Block>() + DATABASES * size_of::<Database>() < 1 << 20, "1 MB");

/// What the entries of the databases take at the end of a block that is made now.
fn room_for_databases() -> usize {
    let count = if place::is_preloaded() { settings::max_databases() } else { DATABASES };
    count * size_of::<Database>()
}

impl Block {
    /// The entries of the databases, as many as there is room for.
    fn databases(&self) -> &[Database] {
        // SAFETY: the block is of the size that its header says, and ends with zeroed entries.
        unsafe { std::slice::from_raw_parts(self.databases.as_ptr(), max_databases()) }
    }
}

/// How many databases of the server can generate ids.
pub fn max_databases() -> usize {
    (place::block_size() - size_of::<Block>()) / size_of::<Database>()
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

impl Database {
    const PLACES: [usize; 9] = [
        offset_of!(Self, oid),
        offset_of!(Self, ceiling),
        offset_of!(Self, floor),
        offset_of!(Self, durable),
        offset_of!(Self, written),
        offset_of!(Self, lsn),
        offset_of!(Self, raises),
        offset_of!(Self, flush_waits),
        size_of::<Self>(),
    ];
}

/// The wall clock less the time since boot, in ms, when it was last found plausible; 0: never yet.
#[repr(C, align(64))]
pub struct ClockOffset(pub AtomicI64);

/// The catalog cache of databases by oid.
const DATABASE_CACHE: i32 = pg_sys::SysCacheIdentifier::DATABASEOID as i32;

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
    let database = entry(block, oid).ok_or(Error::TooManyDatabases)?;
    DATABASE.store(ptr::from_ref(database).cast_mut(), Ordering::Relaxed);
    Ok((block, database))
}

/// The entry of a database, taken now if need be: a free one, else one of a database that was
/// dropped. None if all are in use.
fn entry(block: &'static Block, oid: u32) -> Option<&'static Database> {
    let databases = block.databases();
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
        let entry = block.lock.hold(|| {
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

/// The block, also on a standby; None where there can be none. May raise errors, PostgreSQL's and ours.
pub fn look() -> Option<&'static Block> {
    if BLOCK.load(Ordering::Relaxed).is_null()
        && let Some(block) = place::block().unwrap_or_else(|error| report(error))
    {
        keep(block);
    }
    // SAFETY: as in `ready`.
    unsafe { BLOCK.load(Ordering::Relaxed).as_ref() }
}

fn keep(block: &'static Block) {
    BLOCK.store(ptr::from_ref(block).cast_mut(), Ordering::Relaxed);
}

/// Where the block lives, in words for `snowid.status`.
pub fn home() -> &'static str {
    match (look(), place::is_preloaded()) {
        (None, _) => "none: pg_snowid is not in shared_preload_libraries",
        (Some(_), true) => "preloaded",
        (Some(_), false) => "dsm registry",
    }
}
