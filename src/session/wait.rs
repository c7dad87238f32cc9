//! Waiting as a backend may: a cancel, a timeout or a shutdown ends it with PostgreSQL's error.
#![allow(unsafe_code)]

use pgrx::{check_for_interrupts, pg_sys};
use snowid_base::clock;

/// What is waited for, as `pg_stat_activity.wait_event` shows it from PostgreSQL 17 on.
#[derive(Clone, Copy)]
pub enum Event {
    /// A millisecond whose ids are all drawn is to end.
    NextMillisecond,
    /// A synchronous standby is to confirm what a draw rests on.
    SyncStandby,
    /// The lease worker is to give the server's pair up.
    WorkerRelease,
}

/// Sleeps so long, at most a second, or until a signal comes. To be called under a guard.
///
/// A signal that comes between the check and the sleep is seen when the sleep is over: callers sleep
/// for some milliseconds at most.
pub fn sleep_ns(event: Event, ns: u64) {
    check_for_interrupts!();
    let event = number(event);
    // SAFETY: PostgreSQL points this at the backend's place in shared memory, or a dummy.
    unsafe { pg_sys::my_wait_event_info.write_volatile(event) };
    clock::sleep_ns(ns);
    // SAFETY: as above.
    unsafe { pg_sys::my_wait_event_info.write_volatile(0) };
    check_for_interrupts!();
}

/// PostgreSQL's number of the event. It gives one to a name that it doesn't know yet.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn number(event: Event) -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBERS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];

    let known = &NUMBERS[event as usize];
    if known.load(Ordering::Relaxed) == 0 {
        let name = match event {
            Event::NextMillisecond => c"SnowidNextMillisecond",
            Event::SyncStandby => c"SnowidSyncStandby",
            Event::WorkerRelease => c"SnowidWorkerRelease",
        };
        // SAFETY: under a guard; the name is copied.
        known.store(unsafe { pg_sys::WaitEventExtensionNew(name.as_ptr()) }, Ordering::Relaxed);
    }
    known.load(Ordering::Relaxed)
}

/// Extensions' waits have one name together before PostgreSQL 17.
#[cfg(any(feature = "pg15", feature = "pg16"))]
fn number(_: Event) -> u32 {
    pg_sys::PG_WAIT_EXTENSION
}
