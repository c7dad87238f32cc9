//! Administration: moving generators forward, taking clock and mark for right, giving the lease up.

use super::args::Args;
use super::checks;
use crate::draw::generator::Generator;
use crate::draw::high_water;
use crate::error::{Error, LeaseError, MemoryError};
use crate::session::privileges;
use crate::session::wait::{self, Event};
use crate::settings;
use crate::shared::{self, place};
use snowid_base::clock;
use snowid_base::guard::guarded;
use snowid_core::instant::{INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH, UnixMs};
use snowid_core::layout::{INSTAGRAM, TWITTER};
use snowid_core::mark::LEAD;
use std::sync::atomic::Ordering;

/// snowid.advance(id, epoch)
pub fn advance(args: Args) -> Result<i64, Error> {
    let epoch = checks::epoch(args, 1, INSTAGRAM_EPOCH)?;
    let id = args.bigint(0);
    let shard = INSTAGRAM.node(id as u64);
    advance_past(id, Generator::of_shard(shard, epoch, "snowid.advance()")?)
}

/// snowid.advance_snowflake(id, epoch)
pub fn advance_snowflake(args: Args) -> Result<i64, Error> {
    let epoch = checks::epoch(args, 1, TWITTER_EPOCH)?;
    let id = args.bigint(0);
    let node = TWITTER.node(id as u64);
    advance_past(id, Generator::of_worker(node, epoch, "snowid.advance_snowflake()")?)
}

/// Makes all later ids greater than `id`; returns the least id that can come. An id further ahead
/// than generating tolerates would stop the shard in every database of the server: refused.
fn advance_past(id: i64, generator: Generator) -> Result<i64, Error> {
    let Generator { cell, database, layout, epoch, .. } = generator;
    if id < 0 {
        return Err(Error::NegativeId { id });
    }
    let ms = epoch.plus(layout.elapsed(id as u64));
    let now = clock::unix_ms();
    check_ahead(ms, now)?;
    // Durable first: a crash must not forget what was promised. Nothing to do in a normal import.
    if ms >= database.ceiling.load(Ordering::Acquire) {
        guarded(|| high_water::attend(database, ms))?;
    }
    // An id before 1970 has nothing to overtake.
    let last = cell.advance(ms.max(0), layout.sequence(id as u64), now);
    let (ms, sequence) = if last.sequence() < layout.sequence_max() {
        (last.ms(), last.sequence() + 1)
    } else {
        (last.ms() + 1, 0)
    };
    if ms > generator.newest() {
        Err(Error::Exhausted { last: generator.newest() })
    } else {
        Ok(generator.compose(ms, sequence))
    }
}

/// Refuses to advance further ahead of the clock than the caller may: a superuser as far as ids may be,
/// others as far as a mark leads. The mark that remembers it is the database's: after a crash it holds for
/// all that is drawn there, and some of that other databases may draw too.
fn check_ahead(ms: UnixMs, now: UnixMs) -> Result<(), Error> {
    let (ahead, most) = (ms - now, settings::max_clock_regression());
    let least = LEAD.min(most);
    let tolerated = if ahead > least && privileges::is_superuser() { most } else { least };
    if ahead > tolerated { Err(Error::AdvanceTooFar { ms, now, tolerated }) } else { Ok(()) }
}

/// snowid_internal.init_high_water(), called by the extension's script. Where nothing can be generated, as on
/// a server of before 17 that hasn't the library preloaded, there is nothing to stand above.
pub fn init_high_water(_: Args) -> Result<bool, Error> {
    match shared::ready("CREATE EXTENSION") {
        Ok((_, database)) => guarded(|| high_water::init(database)).map(|()| true),
        Err(Error::Memory(MemoryError::NotPreloaded)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// snowid.accept_clock()
pub fn accept_clock(_: Args) -> Result<bool, Error> {
    let (_, database) = shared::ready("snowid.accept_clock()")?;
    guarded(|| high_water::accept_clock(database)).map(|()| true)
}

/// snowid.accept_high_water()
pub fn accept_high_water(_: Args) -> Result<bool, Error> {
    let (_, database) = shared::ready("snowid.accept_high_water()")?;
    guarded(|| high_water::accept(database))
}

/// snowid.release_worker()
pub fn release_worker(_: Args) -> Result<bool, Error> {
    guarded(|| {
        let (memory, _) = shared::ready("snowid.release_worker()")?;
        if !settings::uses_etcd() {
            return Err(LeaseError::NotLeased.into());
        }
        if !place::is_preloaded() {
            return Err(LeaseError::NotPreloaded.into());
        }
        const PATIENCE_NS: u64 = 10_000_000_000;
        let (lease, since) = (&memory.lease, clock::monotonic_ns());
        lease.request_release();
        while lease.is_release_pending() {
            if clock::monotonic_ns() - since > PATIENCE_NS {
                return Err(LeaseError::ReleaseUnconfirmed { lease }.into());
            }
            wait::sleep_ns(Event::WorkerRelease, 10_000_000);
        }
        Ok(true)
    })
}

/// snowid_internal.check_epoch(epoch): the epoch, if ids can be made in it now.
pub fn check_epoch(args: Args) -> Result<PgMicros, Error> {
    let epoch = checks::epoch(args, 0, INSTAGRAM_EPOCH)?.unix_ms();
    let now = clock::unix_ms();
    if epoch > now { Err(Error::EpochInFuture { epoch, now }) } else { Ok(args.bigint(0)) }
}
