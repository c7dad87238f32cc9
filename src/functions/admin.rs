//! Administration: moving generators forward, and what the views show.

use crate::abi::Args;
use crate::arguments;
use crate::clock;
use crate::error::Error;
use crate::fleet;
use crate::functions::generate;
use crate::generator::Generator;
use crate::guard::guarded;
use crate::high_water;
use crate::interrupts;
use crate::privileges;
use crate::settings::{self, shards};
use crate::shared;
use crate::shared::lease::{Lease, Source};
use pgrx::prelude::*;
use snowid_core::cell::Cell;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH, UnixMs, pg_micros};
use snowid_core::layout::{Fields, INSTAGRAM, Layout, TWITTER, twitter_parts};
use snowid_core::mark::LEAD;
use snowid_core::step::Word;
use std::sync::atomic::Ordering;

/// snowid.advance(id, epoch)
pub fn advance(args: Args) -> Result<i64, Error> {
    let epoch = arguments::epoch(args, 1, INSTAGRAM_EPOCH)?;
    let id = args.bigint(0);
    let shard = INSTAGRAM.node(id as u64).into();
    advance_past(id, generate::shard(shard, epoch, "snowid.advance()")?)
}

/// snowid.advance_snowflake(id, epoch)
pub fn advance_snowflake(args: Args) -> Result<i64, Error> {
    let epoch = arguments::epoch(args, 1, TWITTER_EPOCH)?;
    let id = args.bigint(0);
    let (datacenter, worker) = twitter_parts(TWITTER.node(id as u64));
    let function = "snowid.advance_snowflake()";
    advance_past(id, generate::worker(datacenter.into(), worker.into(), epoch, function)?)
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
        Err(Error::NotPreloaded) => Ok(false),
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
        let (block, _) = shared::ready("snowid.release_worker()")?;
        if !settings::uses_etcd() {
            return Err(Error::NotLeased);
        }
        if !shared::place::is_preloaded() {
            return Err(Error::NoWorkerId);
        }
        const PATIENCE_NS: u64 = 10_000_000_000;
        let since = clock::monotonic_ns();
        block.lease.request_release();
        while block.lease.is_release_pending() {
            if clock::monotonic_ns() - since > PATIENCE_NS {
                return Err(Error::ReleaseUnconfirmed);
            }
            interrupts::sleep_ns(10_000_000);
        }
        Ok(true)
    })
}

/// snowid_internal.check_epoch(epoch): the epoch, if ids can be made in it now.
pub fn check_epoch(args: Args) -> Result<PgMicros, Error> {
    let epoch = arguments::epoch(args, 0, INSTAGRAM_EPOCH)?.unix_ms();
    let now = clock::unix_ms();
    if epoch > now { Err(Error::EpochInFuture { epoch, now }) } else { Ok(args.bigint(0)) }
}

/// snowid_internal.read_generators()
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn read_generators() -> TableIterator<
    'static,
    (
        name!(kind, &'static str),
        name!(shard_id, Option<i32>),
        name!(datacenter_id, Option<i32>),
        name!(worker_id, Option<i32>),
        name!(last_id, Option<i64>),
        name!(last_at, Option<TimestampWithTimeZone>),
        name!(waits, i64),
        name!(clock_regressions, i64),
    ),
> {
    let sees = Sees::now();
    let rows = in_use().map(move |used| {
        let Used { layout, node, cell, last } = used;
        let last = sees.last_of(layout).then_some(last);
        let last_id = last.and_then(|last| last_id(last, layout, node));
        let last_at = last.and_then(|last| timestamp(last.ms()));
        let (kind, shard, datacenter, worker) = if layout == INSTAGRAM {
            ("shard", Some(node as i32), None, None)
        } else {
            let (datacenter, worker) = twitter_parts(node);
            ("worker", None, Some(datacenter as i32), Some(worker as i32))
        };
        let (waits, regressions) = (cell.waits() as i64, cell.clock_regressions() as i64);
        (kind, shard, datacenter, worker, last_id, last_at, waits, regressions)
    });
    TableIterator::new(rows)
}

/// snowid_internal.read_status()
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn read_status() -> TableIterator<
    'static,
    (
        name!(version, &'static str),
        name!(last_at, Option<TimestampWithTimeZone>),
        name!(last_ahead_ms, Option<i64>),
        name!(next_id_exhausts_at, Option<TimestampWithTimeZone>),
        name!(snowflake_id_exhausts_at, Option<TimestampWithTimeZone>),
        name!(shared_memory, &'static str),
        name!(datacenter_id, Option<i32>),
        name!(worker_id, Option<i32>),
        name!(max_clock_regression_ms, i64),
        name!(max_clock_jump_ms, i64),
        name!(max_downtime_ms, i64),
        name!(sequence_spread, i32),
        name!(high_water_raises, Option<i64>),
        name!(high_water_flush_waits, Option<i64>),
        name!(worker_source, &'static str),
        name!(node_name, Option<String>),
        name!(lease_until, Option<TimestampWithTimeZone>),
        name!(lease_problem, Option<String>),
    ),
> {
    let own = own_worker();
    let database = shared::ready("").ok().map(|(_, database)| database);
    let sees = Sees::now();
    let seen = in_use().filter(|used| sees.last_of(used.layout));
    let last = seen.map(|used| used.last.ms()).max();
    TableIterator::once((
        env!("CARGO_PKG_VERSION"),
        last.and_then(timestamp),
        last.map(|ms| (ms - clock::unix_ms()).max(0)),
        exhausts_at(INSTAGRAM, INSTAGRAM_EPOCH),
        exhausts_at(TWITTER, TWITTER_EPOCH),
        shared::home(),
        own.datacenter,
        own.worker,
        settings::max_clock_regression(),
        settings::max_clock_jump(),
        settings::max_downtime(),
        settings::sequence_spread() as i32,
        database.map(|database| database.raises.load(Ordering::Relaxed) as i64),
        database.map(|database| database.flush_waits.load(Ordering::Relaxed) as i64),
        own.source,
        own.node_name,
        own.until.and_then(timestamp),
        own.problem,
    ))
}

/// What `snowflake_id()` goes by.
struct OwnWorker {
    source: &'static str,
    datacenter: Option<i32>,
    worker: Option<i32>,
    node_name: Option<String>,
    until: Option<UnixMs>,
    problem: Option<String>,
}

fn own_worker() -> OwnWorker {
    if !settings::uses_etcd() {
        return OwnWorker {
            source: "settings",
            datacenter: settings::datacenter_id(),
            worker: settings::worker_id(),
            node_name: None,
            until: None,
            problem: None,
        };
    }
    // What tells of the server's inside is for those who may see it.
    let watches = privileges::is_monitor();
    let lease = shared::look().map(|block| &block.lease);
    let held = lease.and_then(Lease::worker);
    let parts = held.map(|held| twitter_parts(held.node));
    let problem = if shared::place::is_preloaded() {
        lease.and_then(Lease::notice).map(|notice| match watches {
            true => format!("{}: {}", notice.message(), notice.detail()),
            false => notice.message(),
        })
    } else {
        Some(Error::NoWorkerId.report().message().into())
    };
    OwnWorker {
        source: match lease.map(Lease::source) {
            Some(Source::Cached) => "etcd, cached",
            _ => "etcd",
        },
        datacenter: parts.map(|(datacenter, _)| datacenter as i32),
        worker: parts.map(|(_, worker)| worker as i32),
        node_name: watches.then(fleet::node_name),
        until: held.map(|held| held.until),
        problem,
    }
}

/// A shard or worker that has issued or been advanced to something.
struct Used {
    layout: Layout,
    node: u32,
    cell: &'static Cell,
    last: Word,
}

/// Those of the server that this database may draw from.
fn in_use() -> impl Iterator<Item = Used> {
    let used = |cells: &'static [Cell], layout| {
        (0..).zip(cells).filter_map(move |(node, cell)| {
            let last = cell.last();
            (last != Word::default()).then_some(Used { layout, node, cell, last })
        })
    };
    shared::look().into_iter().flat_map(move |block| {
        let shards = used(&block.shards, INSTAGRAM).filter(|used| shards::has(used.node));
        shards.chain(used(&block.workers, TWITTER))
    })
}

/// Whose last ids the caller may see: those of shards that are the database's own, or all.
#[derive(Clone, Copy)]
struct Sees {
    shards: bool,
    workers: bool,
}

impl Sees {
    fn now() -> Self {
        let all = privileges::reads_all_statistics();
        Self { shards: all || shards::are_listed(), workers: all }
    }

    fn last_of(self, layout: Layout) -> bool {
        if layout == INSTAGRAM { self.shards } else { self.workers }
    }
}

/// The last id in the default epoch; None where that epoch has no such id.
fn last_id(last: Word, layout: Layout, node: u32) -> Option<i64> {
    let epoch = if layout == INSTAGRAM { INSTAGRAM_EPOCH } else { TWITTER_EPOCH };
    let elapsed = u64::try_from(last.ms() - epoch.unix_ms()).ok()?;
    let fields = Fields { elapsed, node, sequence: last.sequence() };
    (elapsed <= layout.elapsed_max()).then(|| layout.pack(fields) as i64)
}

/// The first instant for which the epoch has no id.
fn exhausts_at(layout: Layout, epoch: Epoch) -> Option<TimestampWithTimeZone> {
    timestamp(epoch.plus(layout.elapsed_max() + 1))
}

fn timestamp(ms: UnixMs) -> Option<TimestampWithTimeZone> {
    TimestampWithTimeZone::try_from(pg_micros(ms)?).ok()
}
