//! The durable high-water mark of each database; `snowid_core::mark` has the idea and the rules.
//!
//! Protocol: the mark is the last value of the sequence `snowid.high_water`, in Unix ms. Whoever
//! changes it, or the database's entry in shared memory, holds the exclusive lock of the sequence's
//! only page, for some microseconds and never during a flush. Of the entry, the floor is stored
//! before the ceiling and the ceiling last: who draws below a new ceiling has the floor to it. No
//! ceiling is ever above what is durable.
//!
//! An id is drawn below the ceiling without coming here. The caller that reaches it attends: about
//! once a second a database, while ids are drawn.
//!
//! The mark is anyone's to set who may restore a dump, and the cells are all databases': one that is set
//! further ahead than a server writes it stops this database's draws until a superuser accepts it.
//!
//! A sequence that the current transaction has created may yet vanish. Its mark serves this
//! transaction alone: the shared ceiling stays 0, and what is noted as written is more than the page
//! holds, so that the first to attend after the commit writes and flushes it again.

use super::mark_page::{self, MarkPage};
use crate::error::{Error, MarkError};
use crate::settings;
use crate::shared;
use crate::wal::durable;
use pgrx::{PgLogLevel, PgSqlErrorCode, ereport};
use snowid_base::clock;
use snowid_base::memory::Database;
use snowid_core::instant::{UnixMs, Utc};
use snowid_core::mark::{LEAD, Mark, STEP, Stored, lead_after};
use std::sync::atomic::Ordering;

/// What [`durable::wait`] says it waits for.
const WHAT: &str = "high-water mark";

/// Sees to it that an id of `ms` may be drawn; returns the ceiling below which the caller may now
/// draw. To be called under a guard.
pub fn attend(database: &Database, ms: UnixMs) -> Result<UnixMs, Error> {
    let mut lead = LEAD;
    loop {
        match attend_once(database, ms, lead)? {
            Attended::Covered { ceiling } => return Ok(ceiling),
            Attended::Uncommitted { ceiling, lsn } => {
                durable::wait(lsn, WHAT)?;
                return Ok(ceiling);
            }
            Attended::Unflushed { lsn } => {
                let since = clock::monotonic_ns();
                database.flush_waits.fetch_add(1, Ordering::Relaxed);
                durable::wait(lsn, WHAT)?;
                let waited = ((clock::monotonic_ns() - since) / 1_000_000) as i64;
                lead = lead_after(waited, settings::max_clock_regression());
            }
        }
    }
}

enum Attended {
    Covered { ceiling: UnixMs },
    Uncommitted { ceiling: UnixMs, lsn: u64 },
    Unflushed { lsn: u64 },
}

/// Attends under the page's lock.
fn attend_once(database: &Database, ms: UnixMs, lead: i64) -> Result<Attended, Error> {
    let mut page = MarkPage::lock()?;
    let ceiling = database.ceiling.load(Ordering::Relaxed);
    if ms < ceiling {
        page.release();
        return Ok(Attended::Covered { ceiling });
    }
    let now = clock::unix_ms();
    let (stored, written) = (page.stored(), database.written.load(Ordering::Relaxed));
    let result = check(database, stored, now).map(|()| raise(database, &mut page, ms, now + lead));
    page.release();
    if result.is_ok() && stored.is_set_back(written) {
        note_set_back(stored.mark, written);
    }
    result
}

/// Makes the mark of a sequence that was just created stand above all that this server has issued
/// in the database.
pub fn init(database: &Database) -> Result<(), Error> {
    let mut page = MarkPage::lock()?;
    let now = clock::unix_ms();
    let raised = check(database, page.stored(), now)
        .map(|()| raise_uncommitted(database, &mut page, now, now + LEAD));
    page.release();
    raised.and_then(|(_, lsn)| durable::wait(lsn, WHAT))
}

/// Takes the clock as it is for right, however far it is from what was expected.
pub fn accept_clock(database: &Database) -> Result<(), Error> {
    let Some(memory) = shared::look() else { return Ok(()) };
    let mut page = MarkPage::lock()?;
    let now = clock::unix_ms();
    let checked = check_not_set_ahead(page.stored(), now);
    if checked.is_ok() {
        memory.clock.0.store(now - clock::boot_ms(), Ordering::Relaxed);
        raise(database, &mut page, now, now + LEAD);
    }
    page.release();
    checked
}

/// Takes a mark that someone has set far ahead of the clock for right: ids start at it. Returns
/// whether there was one.
pub fn accept(database: &Database) -> Result<bool, Error> {
    let mut page = MarkPage::lock()?;
    let stored = page.stored();
    let far_ahead = stored.is_far_ahead(clock::unix_ms());
    let mut lsn = 0;
    if far_ahead {
        database.floor.fetch_max(stored.mark, Ordering::Relaxed);
        lsn = page.raise(stored.mark);
    }
    page.release();
    durable::wait(lsn, WHAT)?;
    Ok(far_ahead)
}

/// Sees to the mark for a caller that wants an id of `ms`; where a raise is due, up to `target`.
fn raise(database: &Database, page: &mut MarkPage, ms: UnixMs, target: UnixMs) -> Attended {
    if page.is_uncommitted() {
        let (ceiling, lsn) = raise_uncommitted(database, page, ms, target);
        return Attended::Uncommitted { ceiling, lsn };
    }
    let mark = raise_if_due(database, page, ms, target);
    database.ceiling.store(mark.ceiling(ms), Ordering::Release);
    if mark.covers(ms) {
        Attended::Covered { ceiling: mark.durable }
    } else {
        Attended::Unflushed { lsn: database.lsn.load(Ordering::Relaxed) }
    }
}

/// Carries out what the rules say for a caller that wants an id of `ms`; all but the ceiling, which
/// the caller stores last.
fn raise_if_due(database: &Database, page: &mut MarkPage, ms: UnixMs, target: UnixMs) -> Mark {
    let mut mark = Mark {
        floor: database.floor.load(Ordering::Relaxed),
        durable: database.durable.load(Ordering::Relaxed),
        written: database.written.load(Ordering::Relaxed),
    };
    if durable::is(database.lsn.load(Ordering::Relaxed)) {
        mark.flushed();
    }
    let stored = page.stored();
    let set_by_another = stored.mark > mark.written;
    if let Some(raised) = mark.attend(stored, ms, target) {
        let lsn = page.raise(raised);
        database.lsn.store(lsn, Ordering::Relaxed);
        database.raises.fetch_add(1, Ordering::Relaxed);
        durable::hasten(lsn);
    } else if set_by_another {
        database.lsn.store(page.lsn(), Ordering::Relaxed);
    }
    database.floor.store(mark.floor, Ordering::Relaxed);
    database.durable.store(mark.durable, Ordering::Relaxed);
    database.written.store(mark.written, Ordering::Relaxed);
    mark
}

/// The same on a sequence that this transaction has created; returns its ceiling, and what to flush.
fn raise_uncommitted(
    database: &Database,
    page: &mut MarkPage,
    ms: UnixMs,
    target: UnixMs,
) -> (UnixMs, u64) {
    let written = database.written.load(Ordering::Relaxed);
    let Stored { mut mark, by_hand } = page.stored();
    let mut lsn = page.lsn();
    if by_hand {
        database.floor.fetch_max(mark, Ordering::Relaxed);
    }
    if by_hand || mark <= ms || mark < written - 1 {
        mark = written.max(target).max(ms + STEP);
        lsn = page.raise(mark);
        database.raises.fetch_add(1, Ordering::Relaxed);
    }
    database.durable.store(0, Ordering::Relaxed);
    database.written.store(written.max(mark.saturating_add(1)), Ordering::Relaxed);
    database.ceiling.store(0, Ordering::Release);
    (mark, lsn)
}

/// Logs that the mark was found lower than this server wrote it: once an event, since it is raised
/// then.
fn note_set_back(mark: UnixMs, written: UnixMs) {
    ereport!(
        PgLogLevel::LOG,
        PgSqlErrorCode::ERRCODE_WARNING,
        "the high-water mark of this database was set back",
        format!(
            "It was found at {}, this server had written {}. It is raised again.",
            Utc(mark),
            Utc(written)
        )
    );
}

/// Refuses a mark or a clock that cannot be right.
fn check(database: &Database, stored: Stored, now: UnixMs) -> Result<(), Error> {
    check_not_set_ahead(stored, now)?;
    check_clock(database, stored, now)
}

fn check_not_set_ahead(stored: Stored, now: UnixMs) -> Result<(), Error> {
    if stored.is_far_ahead(now) {
        return Err(MarkError::SetFarAhead { mark: stored.mark, now }.into());
    }
    Ok(())
}

/// Refuses a clock that cannot be right: a mark raised by it would hold ids up for years once it is
/// set right. While the server runs, the time since boot tells a jump from elapsed time, unless the
/// mark, as a server wrote it, bears the clock out; at the first look since a start there is only the
/// mark.
fn check_clock(database: &Database, stored: Stored, now: UnixMs) -> Result<(), Error> {
    let Some(memory) = shared::look() else { return Ok(()) };
    let Stored { mark, by_hand } = stored;
    let offset = now - clock::boot_ms();
    let known = memory.clock.0.load(Ordering::Relaxed);
    let tolerated = settings::max_clock_jump();
    let borne_out = !by_hand && now - mark <= tolerated;
    if known != 0 && offset - known > tolerated && !borne_out {
        return Err(Error::ClockJumped { now, expected: now - offset + known, tolerated });
    }
    let first_look = database.written.load(Ordering::Relaxed) == 0;
    let tolerated = settings::max_downtime();
    if first_look && mark > mark_page::NEVER_USED && now - mark > tolerated {
        return Err(Error::ClockPastMark { now, mark, tolerated });
    }
    // A clock that goes back leaves what is known, so that it may come back.
    memory.clock.0.fetch_max(offset, Ordering::Relaxed);
    Ok(())
}
