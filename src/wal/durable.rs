//! Whether a WAL record is safe, and waiting for it: flushed here and, with synchronous_standby_names
//! set, flushed by a synchronous standby, whatever the session's synchronous_commit says. What a
//! session with it off draws must be as unrepeatable as any other.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::session::wait::{self, Event};
use pgrx::pg_sys;
use snowid_base::clock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the record that ends at `lsn` is safe; position 0 always is.
pub fn is(lsn: u64) -> bool {
    // SAFETY: called in a backend, under a guard.
    lsn == 0 || unsafe { pg_sys::GetFlushRecPtr(std::ptr::null_mut()) } >= lsn && is_confirmed(lsn)
}

/// Has the WAL writer flush the record soon, without waiting for it.
pub fn hasten(lsn: u64) {
    // SAFETY: as above.
    unsafe { pg_sys::XLogSetAsyncXactLSN(lsn) }
}

/// Flushes the record and waits until it is safe. A cancel ends the wait, as an error. Errors name
/// `what` it was written for.
pub fn wait(lsn: u64, what: &'static str) -> Result<(), Error> {
    const POLL_NS: u64 = 1_000_000;
    const PATIENCE_NS: u64 = 1_000_000_000;
    // SAFETY: as above.
    unsafe { pg_sys::XLogFlush(lsn) };
    let since = clock::monotonic_ns();
    while !is_confirmed(lsn) {
        // Only the session's own setting asks for it: that isn't read again before the statement ends.
        // SAFETY: a flag that a signal handler sets.
        let reloaded = unsafe { (&raw const pg_sys::ConfigReloadPending).read_volatile() } != 0;
        let patient = clock::monotonic_ns() - since < PATIENCE_NS;
        if reloaded && !patient && !server_wants_confirmation() {
            return Err(Error::Unconfirmed { what });
        }
        wait::sleep_ns(Event::SyncStandby, POLL_NS);
    }
    Ok(())
}

/// Whether a synchronous standby, if there shall be one, has flushed the record.
fn is_confirmed(lsn: u64) -> bool {
    if lsn == 0 || !wants_confirmation() {
        return true;
    }
    // SAFETY: an aligned word that only grows, which WAL senders store when a standby has answered.
    unsafe {
        let flushed = &raw const (*pg_sys::WalSndCtl).lsn[pg_sys::SYNC_REP_WAIT_FLUSH as usize];
        flushed.read_volatile() >= lsn
    }
}

/// Whether commits wait for a synchronous standby. The server's view counts, since a session in a
/// long statement may not have read its configuration again. Servers whose view cannot be told leave
/// it to the session's own setting.
fn wants_confirmation() -> bool {
    /// The server's view can be told: it was seen to want it.
    static TOLD: AtomicBool = AtomicBool::new(false);
    // SAFETY: settings of this backend.
    let (senders, names) = unsafe { (pg_sys::max_wal_senders, pg_sys::SyncRepStandbyNames) };
    if senders == 0 {
        return false;
    }
    if server_wants_confirmation() {
        TOLD.store(true, Ordering::Relaxed);
        return true;
    }
    // SAFETY: a setting's value is null or a C string.
    !TOLD.load(Ordering::Relaxed) && !names.is_null() && unsafe { *names } != 0
}

/// Whether the checkpointer has noted that there are synchronous standbys. Servers of minor releases
/// before May 2025 have a boolean there, 0 or 1, which says nothing here: 1 has another meaning later.
fn server_wants_confirmation() -> bool {
    // SAFETY: the structure stands in every backend, and is the one that the server's headers declare.
    let status = unsafe { (&raw const (*pg_sys::WalSndCtl).sync_standbys_status).read_volatile() };
    u32::from(status) & pg_sys::SYNC_STANDBY_DEFINED != 0
}
