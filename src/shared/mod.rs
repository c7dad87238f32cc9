//! Shared memory as this library uses it: what is drawn from, by the database that draws; see
//! `snowid_base::memory` for what lies there, `place` for where.
//!
//! A backend that has found its database's entry and seen recovery ended keeps the address in
//! `DATABASE`: recovery cannot begin again under it.
#![allow(unsafe_code)]

pub mod place;

use crate::error::{Error, LeaseError, MemoryError};
use pgrx::pg_sys;
use snowid_base::guard::{guarded, throw};
use snowid_base::memory::{Database, Lease, Memory};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The catalog cache of databases by oid.
const DATABASE_CACHE: i32 = pg_sys::SysCacheIdentifier::DATABASEOID as i32;

/// The memory, once this process knows it. In a preloaded server the postmaster hands it down.
static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(ptr::null_mut());
/// This backend's database, once ids may be drawn in it; `MEMORY` is set then.
static DATABASE: AtomicPtr<Database> = AtomicPtr::new(ptr::null_mut());

/// What to draw from on behalf of `function`.
#[inline]
pub fn ready(function: &'static str) -> Result<(&'static Memory, &'static Database), Error> {
    // SAFETY: null, or part of the memory, which is never freed and holds atomics only.
    unsafe {
        match DATABASE.load(Ordering::Relaxed).as_ref() {
            Some(database) => Ok((&*MEMORY.load(Ordering::Relaxed), database)),
            None => first_ready(function),
        }
    }
}

#[cold]
#[inline(never)]
fn first_ready(function: &'static str) -> Result<(&'static Memory, &'static Database), Error> {
    guarded(|| make_ready(function))
}

fn make_ready(function: &'static str) -> Result<(&'static Memory, &'static Database), Error> {
    // SAFETY: takes no arguments; called in a backend, under a guard.
    if unsafe { pg_sys::RecoveryInProgress() } {
        return Err(Error::Recovery { function });
    }
    let memory = look().ok_or(MemoryError::NotPreloaded)?;
    // SAFETY: set before any function can be called, and never changed.
    let oid = unsafe { pg_sys::MyDatabaseId }.to_u32();
    let database = entry(memory, oid).ok_or_else(too_many_databases)?;
    DATABASE.store(ptr::from_ref(database).cast_mut(), Ordering::Relaxed);
    Ok((memory, database))
}

/// The entry of a database, taken now if need be: a free one, else one of a database that was
/// dropped. None if all are in use.
fn entry(memory: &'static Memory, oid: u32) -> Option<&'static Database> {
    // SAFETY: the memory is of the size that its header says.
    let databases = unsafe { memory.databases(max_databases()) };
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
        let entry = memory.lock.hold(|| {
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

#[cold]
fn too_many_databases() -> MemoryError {
    let (most, preloaded) = (max_databases(), place::is_preloaded());
    MemoryError::TooManyDatabases { most, preloaded }
}

/// How many databases of the server can generate ids. To be called once this process knows the memory.
fn max_databases() -> usize {
    place::header().databases()
}

/// The memory, also on a standby; None where there can be none. May raise errors, PostgreSQL's and ours.
pub fn look() -> Option<&'static Memory> {
    if MEMORY.load(Ordering::Relaxed).is_null()
        && let Some(memory) = place::memory().unwrap_or_else(|error| throw(Error::from(error)))
    {
        keep(memory);
    }
    // SAFETY: as in `ready`.
    unsafe { MEMORY.load(Ordering::Relaxed).as_ref() }
}

fn keep(memory: &'static Memory) {
    MEMORY.store(ptr::from_ref(memory).cast_mut(), Ordering::Relaxed);
}

/// Where the memory lies, in words for `snowid.status`.
pub fn home() -> &'static str {
    match (look(), place::is_preloaded()) {
        (None, _) => "none: pg_snowid is not in shared_preload_libraries",
        (Some(_), true) => "preloaded",
        (Some(_), false) => "dsm registry",
    }
}

/// Why there is no worker id where one is leased.
#[cold]
pub fn no_worker_id(lease: &'static Lease) -> LeaseError {
    if place::is_preloaded() { LeaseError::NoWorkerId { lease } } else { LeaseError::NotPreloaded }
}
