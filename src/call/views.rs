//! What the views of generators and status show.

use crate::draw::OwnWorker;
use crate::session::privileges;
use crate::settings::{self, shards};
use crate::shared;
use pgrx::IntoDatum;
use pgrx::pg_sys::Datum;
use snowid_base::clock;
use snowid_core::cell::Cell;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH, pg_micros};
use snowid_core::layout::{Fields, INSTAGRAM, Layout, TWITTER, twitter_parts};
use snowid_core::step::Word;
use std::sync::atomic::Ordering;

/// A row, whose columns may be NULL.
pub type Columns<const N: usize> = [Option<Datum>; N];

/// snowid_internal.read_generators(): kind, shard_id, datacenter_id, worker_id, last_id, last_at, waits,
/// clock_regressions
pub fn generators() -> Vec<Columns<8>> {
    let sees = Sees::now();
    let row = |used| {
        let Used { layout, node, cell, last } = used;
        let last = sees.last_of(layout).then_some(last);
        let last_id = last.and_then(|last| last_id(last, layout, node));
        let last_at = last.and_then(|last| pg_micros(last.ms()));
        let (kind, shard, datacenter, worker) = if layout == INSTAGRAM {
            ("shard", Some(node as i32), None, None)
        } else {
            let (datacenter, worker) = twitter_parts(node);
            ("worker", None, Some(datacenter as i32), Some(worker as i32))
        };
        [
            kind.into_datum(),
            shard.into_datum(),
            datacenter.into_datum(),
            worker.into_datum(),
            last_id.into_datum(),
            last_at.into_datum(),
            (cell.waits() as i64).into_datum(),
            (cell.clock_regressions() as i64).into_datum(),
        ]
    };
    in_use().map(row).collect()
}

/// snowid_internal.read_status(): the columns that sql/ names
pub fn status() -> Vec<Columns<18>> {
    let own = OwnWorker::now();
    let database = shared::ready("").ok().map(|(_, database)| database);
    let sees = Sees::now();
    let seen = in_use().filter(|used| sees.last_of(used.layout));
    let last = seen.map(|used| used.last.ms()).max();
    vec![[
        env!("CARGO_PKG_VERSION").into_datum(),
        last.and_then(pg_micros).into_datum(),
        last.map(|ms| (ms - clock::unix_ms()).max(0)).into_datum(),
        exhausts_at(INSTAGRAM, INSTAGRAM_EPOCH).into_datum(),
        exhausts_at(TWITTER, TWITTER_EPOCH).into_datum(),
        shared::home().into_datum(),
        own.datacenter.map(|id| id as i32).into_datum(),
        own.worker.map(|id| id as i32).into_datum(),
        settings::max_clock_regression().into_datum(),
        settings::max_clock_jump().into_datum(),
        settings::max_downtime().into_datum(),
        (settings::sequence_spread() as i32).into_datum(),
        database.map(|database| database.raises.load(Ordering::Relaxed) as i64).into_datum(),
        database.map(|database| database.flush_waits.load(Ordering::Relaxed) as i64).into_datum(),
        own.source.into_datum(),
        own.node_name.into_datum(),
        own.until.and_then(pg_micros).into_datum(),
        own.problem.into_datum(),
    ]]
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
fn exhausts_at(layout: Layout, epoch: Epoch) -> Option<PgMicros> {
    pg_micros(epoch.plus(layout.elapsed_max() + 1))
}
