//! Sleeping as a backend may: a cancel, a timeout or a shutdown ends it with PostgreSQL's error.
#![allow(unsafe_code)]

use pgrx::{check_for_interrupts, pg_sys};
use snowid_base::clock;

/// Sleeps so long, at most a second, or until a signal comes. To be called under a guard.
///
/// A signal that comes between the check and the sleep is seen when the sleep is over: callers sleep
/// for a millisecond at most.
pub fn sleep_ns(ns: u64) {
    check_for_interrupts!();
    // SAFETY: PostgreSQL points this at the backend's place in shared memory, or a dummy.
    unsafe { pg_sys::my_wait_event_info.write_volatile(pg_sys::PG_WAIT_EXTENSION) };
    clock::sleep_ns(ns);
    // SAFETY: as above.
    unsafe { pg_sys::my_wait_event_info.write_volatile(0) };
    check_for_interrupts!();
}
