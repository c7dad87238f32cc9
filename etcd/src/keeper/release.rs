//! Giving a pair up for others.

use super::{Holding, Keeper, RACES, Stage};
use crate::client::Transaction;
use crate::file::File;
use crate::identity::holder;
use crate::problem::Problem;
use crate::records::{PairRecord, json};
use snowid_base::clock;
use snowid_base::memory::{Source, Worker};
use snowid_core::instant::UnixMs;
use snowid_core::layout::TWITTER;

impl Keeper {
    /// Ends the use of the pair here; returns it, and where its ids end.
    pub(super) fn seal(&mut self) -> Option<Worker> {
        self.memory.lease.withdraw(Source::None);
        self.stored = None;
        let Holding { node, floor, bound, .. } = self.holding.take()?;
        let cell = &self.memory.workers[node as usize];
        let last = cell.seal(bound, TWITTER.sequence_max(), clock::unix_ms());
        let sealed = Some(Worker { node, until: floor.max(last.ms() + 1) });
        self.memory.lease.set_sealed(sealed);
        sealed
    }

    /// Makes the pair free for others.
    pub(super) fn release(&mut self, sealed: Option<Worker>) -> Result<(), Problem> {
        File::remove().map_err(Problem::File)?;
        self.registered = false;
        if let Some(Worker { node, until: bound }) = sealed {
            for _ in 0..RACES {
                if self.record_release(node, bound)? {
                    break;
                }
            }
        }
        self.stage = Stage::Released;
        self.memory.lease.withdraw(Source::Released);
        Err(Problem::Released)
    }

    fn record_release(&mut self, node: u32, bound: UnixMs) -> Result<bool, Problem> {
        let snapshot = self.read()?;
        let name = &self.identity.name;
        let (live, own, pair) = (self.keys.live(name), self.keys.name(name), self.keys.pair(node));
        let is_own = |instance: &str, boot: &str| holder(instance, boot) == self.server.holder;
        match snapshot.pairs.get(&node) {
            Some(pair) if is_own(&pair.instance, &pair.boot) => {}
            // Another has it: it is no longer ours to give.
            _ => return Ok(true),
        }
        let record = PairRecord {
            bound_ms: bound,
            floor_ms: bound,
            released: true,
            ..self.pair(node, clock::unix_ms())
        };
        let mut transaction = Transaction::default().put(&pair, json(&record), None);
        for key in [&live, &own, &pair] {
            transaction = transaction.unchanged(key, snapshot.revision(key));
        }
        if snapshot.names.get(name) == Some(&node) {
            transaction = transaction.delete(&own);
        }
        if snapshot.live.get(name).is_some_and(|live| is_own(&live.instance, &live.boot)) {
            transaction = transaction.delete(&live);
        }
        Ok(self.ask(|client, _| client.transact(transaction))?.is_some())
    }
}
