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

mod durable;
mod page;

use crate::clock;
use crate::error::Error;
use crate::settings;
use crate::shared::{self, Database};
use page::Page;
use snowid_core::instant::UnixMs;
use snowid_core::mark::Mark;
use std::sync::atomic::Ordering;

/// Sees to it that an id of `ms` may be drawn. To be called under a guard.
pub fn attend(database: &Database, ms: UnixMs) -> Result<(), Error> {
    check_jump()?;
    loop {
        let (covered, lsn) = attend_once(database, ms)?;
        if covered {
            return Ok(());
        }
        database.flush_waits.fetch_add(1, Ordering::Relaxed);
        durable::wait(lsn)?;
    }
}

/// Attends under the page's lock; returns whether `ms` is covered, and what to flush if not.
fn attend_once(database: &Database, ms: UnixMs) -> Result<(bool, u64), Error> {
    let mut page = Page::lock()?;
    let result = if ms < database.ceiling.load(Ordering::Relaxed) {
        Ok((true, 0))
    } else {
        let now = clock::unix_ms();
        check_downtime(database, page.mark(), now).map(|()| {
            let mark = raise_if_due(database, &mut page, ms, now);
            database.ceiling.store(mark.ceiling(ms), Ordering::Release);
            (mark.covers(ms), database.lsn.load(Ordering::Relaxed))
        })
    };
    page.release();
    result
}

/// Makes the mark of a sequence that was just created stand above all that this server has issued
/// in the database, and the next draw look at it again: a restore may set it in between.
pub fn init(database: &Database) -> Result<(), Error> {
    let mut page = Page::lock()?;
    let now = clock::unix_ms();
    raise_if_due(database, &mut page, now, now);
    database.ceiling.store(0, Ordering::Release);
    page.release();
    durable::wait(database.lsn.load(Ordering::Relaxed))
}

/// Takes the clock as it is for right, however far it is from what was expected.
pub fn accept_clock(database: &Database) -> Result<(), Error> {
    if let Some(block) = shared::look() {
        block.clock.0.store(clock::unix_ms() - clock::boot_ms(), Ordering::Relaxed);
    }
    init(database)
}

/// Carries out what the rules say for a caller that wants an id of `ms`; all but the ceiling, which
/// the caller stores last.
fn raise_if_due(database: &Database, page: &mut Page, ms: UnixMs, now: UnixMs) -> Mark {
    let mut mark = Mark {
        floor: database.floor.load(Ordering::Relaxed),
        durable: database.durable.load(Ordering::Relaxed),
        written: database.written.load(Ordering::Relaxed),
    };
    if durable::is(database.lsn.load(Ordering::Relaxed)) {
        mark.flushed();
    }
    let set_by_another = page.mark() > mark.written;
    if let Some(raised) = mark.attend(page.mark(), ms, now) {
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

/// Refuses a clock that has jumped forward while the server ran: a mark raised by it would hold ids
/// up for years once it is set right. The time since boot tells a jump from elapsed time.
fn check_jump() -> Result<(), Error> {
    let Some(block) = shared::look() else { return Ok(()) };
    let (now, tolerated) = (clock::unix_ms(), settings::max_clock_jump());
    let offset = now - clock::boot_ms();
    let known = block.clock.0.load(Ordering::Relaxed);
    if known != 0 && offset - known > tolerated {
        return Err(Error::ClockJumped { now, expected: now - offset + known, tolerated });
    }
    block.clock.0.store(offset, Ordering::Relaxed);
    Ok(())
}

/// Refuses, at the first look at a mark since the server started, a clock implausibly far past it.
fn check_downtime(database: &Database, mark: UnixMs, now: UnixMs) -> Result<(), Error> {
    let tolerated = settings::max_downtime();
    let first_look = database.written.load(Ordering::Relaxed) == 0;
    if first_look && mark > page::NEVER_USED && now - mark > tolerated {
        return Err(Error::ClockPastMark { now, mark, tolerated });
    }
    Ok(())
}
