//! Whether a WAL record is safe, and waiting for it: flushed here and, with synchronous_standby_names
//! set, flushed by a synchronous standby, whatever the session's synchronous_commit says. What a
//! session with it off draws must be as unrepeatable as any other.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::{clock, interrupts};
use pgrx::pg_sys;

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

/// Flushes the record and waits until it is safe. A cancel ends the wait, as an error.
pub fn wait(lsn: u64) -> Result<(), Error> {
    const POLL_NS: u64 = 1_000_000;
    const PATIENCE_NS: u64 = 1_000_000_000;
    // SAFETY: as above.
    unsafe { pg_sys::XLogFlush(lsn) };
    let since = clock::monotonic_ns();
    while !is_confirmed(lsn) {
        // Names that were taken away meanwhile are not seen before the statement ends.
        // SAFETY: a flag that a signal handler sets.
        let reloaded = unsafe { (&raw const pg_sys::ConfigReloadPending).read_volatile() } != 0;
        if reloaded && clock::monotonic_ns() - since > PATIENCE_NS {
            return Err(Error::MarkUnconfirmed);
        }
        interrupts::sleep_ns(POLL_NS);
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
/// long statement may not have read its configuration again; where it doesn't say that they do, the
/// session's own setting may.
fn wants_confirmation() -> bool {
    /// In the byte behind the positions (`walsender_private.h`): the standbys are defined. Minor
    /// releases before May 2025 have a boolean there, 0 or 1.
    const SYNC_STANDBY_DEFINED: u8 = 1 << 1;
    // SAFETY: settings, and a byte that the checkpointer stores.
    unsafe {
        if pg_sys::max_wal_senders == 0 {
            return false;
        }
        let status = (&raw const (*pg_sys::WalSndCtl).lsn).add(1).cast::<u8>().read_volatile();
        let names = pg_sys::SyncRepStandbyNames;
        status & SYNC_STANDBY_DEFINED != 0 || !names.is_null() && *names != 0
    }
}
