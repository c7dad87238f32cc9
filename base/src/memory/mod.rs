//! What lies in shared memory: the cells of all shards and workers of the server, the lease of its own
//! pair, and what it knows of the high-water mark of each database.
//!
//! Protocol: one zeroed piece, made once in a server's life and never freed. All databases share the
//! cells, so that a shard drawn in two of them still yields distinct ids. Anyone may touch a cell at
//! any time, by its own atomic operations alone (see `snowid_core::cell`); no lock guards it. A
//! database takes its entry under the memory's lock, and keeps it until it is dropped; who writes the
//! entry's other fields holds the lock of the page that stores the mark. Of the lease see `lease`.
//!
//! Whoever uses it has compared its [`Header`] before.
#![allow(unsafe_code)]

mod header;
mod lease;
mod lock;

pub use header::{Header, OTHER_VERSION, OtherLayout};
pub use lease::{Lease, Notice, Source, Worker};
pub use lock::Lock;

use snowid_core::cell::Cell;
use snowid_core::layout::{INSTAGRAM, TWITTER};
use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

#[repr(C)]
pub struct Memory {
    pub shards: [Cell; INSTAGRAM.node_max() as usize + 1],
    pub workers: [Cell; TWITTER.node_max() as usize + 1],
    pub clock: ClockOffset,
    pub lease: Lease,
    /// Held to take a database's entry.
    pub lock: Lock,
    /// As many as there is room for, see [`Header::databases`].
    databases: [Database; 0],
}

impl Memory {
    /// Where each part lies, for the header.
    const PLACES: [usize; 6] = [
        offset_of!(Self, shards),
        offset_of!(Self, workers),
        offset_of!(Self, clock),
        offset_of!(Self, lease),
        offset_of!(Self, lock),
        offset_of!(Self, databases),
    ];

    /// Completes zeroed memory.
    pub fn init_locks(&self, tranche: i32) {
        self.lock.init(tranche);
        self.lease.lock.init(tranche);
    }

    /// The entries of the databases.
    ///
    /// # Safety
    /// There are so many.
    pub unsafe fn databases(&self, count: usize) -> &[Database] {
        // SAFETY: as the caller says; they are zeroed, or in use.
        unsafe { std::slice::from_raw_parts(self.databases.as_ptr(), count) }
    }
}

/// What the server knows of a database's high-water mark; see `snowid_core::mark`.
#[repr(C, align(64))]
pub struct Database {
    pub oid: AtomicU32,
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

    /// Makes it as good as new for another database.
    pub fn forget(&self) {
        for field in [&self.ceiling, &self.floor, &self.durable, &self.written] {
            field.store(0, Ordering::Relaxed);
        }
        for field in [&self.lsn, &self.raises, &self.flush_waits] {
            field.store(0, Ordering::Relaxed);
        }
    }
}

/// The wall clock less the time since boot, in ms, when it was last found plausible; 0: never yet.
#[repr(C, align(64))]
pub struct ClockOffset(pub AtomicI64);
