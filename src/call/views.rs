//! What the views of generators and status show.

use crate::draw::OwnWorker;
use crate::session::privileges;
use crate::settings::{self, shards};
use crate::shared;
use pgrx::prelude::*;
use snowid_base::clock;
use snowid_core::cell::Cell;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, TWITTER_EPOCH, UnixMs, pg_micros};
use snowid_core::layout::{Fields, INSTAGRAM, Layout, TWITTER, twitter_parts};
use snowid_core::step::Word;
use std::sync::atomic::Ordering;

/// snowid.read_generators()
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

/// snowid.read_status()
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
    let own = OwnWorker::now();
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
        own.datacenter.map(|id| id as i32),
        own.worker.map(|id| id as i32),
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
    shared::look().into_iter().flat_map(move |memory| {
        let shards = used(&memory.shards, INSTAGRAM).filter(|used| shards::has(used.node));
        shards.chain(used(&memory.workers, TWITTER))
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
