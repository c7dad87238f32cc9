//! A lock of our own in shared memory: one of PostgreSQL's lightweight locks.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use std::cell::UnsafeCell;

#[repr(C, align(64))]
pub struct Lock(UnsafeCell<pg_sys::LWLock>);

// SAFETY: made for sharing between processes; it is reached by PostgreSQL's functions alone.
unsafe impl Sync for Lock {}

impl Lock {
    /// Makes zeroed memory a lock, once, before anyone else sees it.
    pub fn init(&self, tranche: i32) {
        // SAFETY: as the caller promises, nobody uses it yet.
        unsafe { pg_sys::LWLockInitialize(self.0.get(), tranche) }
    }

    /// What PostgreSQL knows its kind by.
    pub fn tranche(&self) -> i32 {
        // SAFETY: what `init` has written isn't changed again.
        unsafe { (*self.0.get()).tranche.into() }
    }

    /// Runs `f` while no other process does; after an error PostgreSQL unlocks. Under a guard.
    pub fn hold<R>(&self, f: impl FnOnce() -> R) -> R {
        // SAFETY: initialized in `init`; called in a process that may wait for locks.
        unsafe {
            pg_sys::LWLockAcquire(self.0.get(), pg_sys::LWLockMode::LW_EXCLUSIVE);
            let result = f();
            pg_sys::LWLockRelease(self.0.get());
            result
        }
    }
}
