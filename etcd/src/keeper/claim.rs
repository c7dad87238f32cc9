//! Claiming a pair, and renewing it.

use super::{Holding, Keeper, Leased, RACES};
use crate::client::{Failure, Transaction};
use crate::file::File;
use crate::problem::{Problem, log};
use crate::records::{LiveRecord, NameRecord, PairRecord, Snapshot, json};
use snowid_base::clock;
use snowid_core::instant::{UnixMs, Utc};
use snowid_core::layout::twitter_parts;
use snowid_core::lease::{self, Refused, Server, Take, Tolerance};

impl Keeper {
    pub(super) fn claim(&mut self) -> Result<(), Problem> {
        if !self.registered {
            File::write(&self.identity, None).map_err(Problem::File)?;
            self.registered = true;
        }
        let mut lease = None;
        for _ in 0..RACES {
            let snapshot = self.read()?;
            let now = clock::unix_ms();
            let fleet = snapshot.fleet(&self.identity.name);
            let tolerance = Tolerance {
                clock: self.settings.clock_difference,
                grace: self.settings.grace * 1000,
            };
            let server = Server { has: self.has(), ..self.server.clone() };
            let take = lease::decide(&fleet, &server, now, tolerance)
                .map_err(|refused| self.refusal(refused, &snapshot, now))?;
            let lease = match lease {
                Some(lease) => lease,
                None => *lease.insert(self.ask(|client, settings| client.grant(settings.lease))?),
            };
            if self.take(&take, &snapshot, lease, now)? {
                return Ok(());
            }
        }
        let failure = Failure::Etcd("other servers change the records all the time".into());
        Err(failure.into())
    }

    /// The pair in force, else the stored one, and its floor.
    fn has(&self) -> Option<(u32, UnixMs)> {
        let stored = self.stored.map(|stored| (stored.node(), stored.floor_ms.max(stored.time_ms)));
        self.holding.map(|holding| (holding.node, holding.floor)).or(stored)
    }

    /// Takes the pair, unless what the decision rests on has changed since: then false.
    fn take(
        &mut self,
        take: &Take,
        snapshot: &Snapshot,
        lease: i64,
        now: UnixMs,
    ) -> Result<bool, Problem> {
        let node = take.node;
        let mut pair = self.pair(node, now);
        pair.floor_ms = pair.floor_ms.max(take.floor);
        let recorded = snapshot.pairs.get(&node).map_or(0, |pair| pair.bound_ms);
        pair.bound_ms = self.bound(now, pair.floor_ms, recorded.max(pair.bound_ms));
        let transaction = self.taking(take, snapshot, lease, &pair);
        // Should the answer be lost, the live key may have the new lease all the same: then the pair is
        // to be claimed again, lest a renewal take that for another server's.
        self.holding.iter_mut().for_each(|holding| holding.leased = None);
        let Some(revision) = self.ask(|client, _| client.transact(transaction))? else {
            return Ok(false);
        };
        let is_new = self.holding.is_none_or(|holding| holding.node != node);
        self.put_in_force(node, take.floor, &pair, Leased { lease, revision })?;
        if is_new {
            let (datacenter, worker) = twitter_parts(node);
            let name = &self.identity.name;
            log(
                format!("claimed datacenter {datacenter}, worker {worker} for \"{name}\""),
                format!("Its IDs begin at {}.", Utc(now.max(take.floor))),
            );
            self.logged = None;
        }
        Ok(true)
    }

    /// All that is recorded when a pair is taken, on the condition of all that was read for it.
    fn taking(
        &self,
        take: &Take,
        snapshot: &Snapshot,
        lease: i64,
        pair: &PairRecord,
    ) -> Transaction {
        let (keys, name, node) = (&self.keys, &self.identity.name, take.node);
        let unchanged = |transaction: Transaction, key: &str| {
            transaction.unchanged(key, snapshot.revision(key))
        };
        let live = LiveRecord::new(&self.identity, node, pair.time_ms);
        let mut transaction = Transaction::default()
            .put(&keys.live(name), json(&live), Some(lease))
            .put(&keys.name(name), json(&NameRecord::new(node)), None)
            .put(&keys.pair(node), json(pair), None);
        for key in [keys.live(name), keys.name(name), keys.pair(node)] {
            transaction = unchanged(transaction, &key);
        }
        if let Some(loser) = &take.from {
            let key = keys.name(loser);
            transaction = unchanged(unchanged(transaction, &key), &keys.live(loser));
            if snapshot.names.get(loser) == Some(&node) && loser != name {
                transaction = transaction.delete(&key);
            }
        }
        if let Some((&given, pair)) =
            take.gives_up.and_then(|node| snapshot.pairs.get_key_value(&node))
        {
            // Its bound stays: until then this server may have drawn.
            let key = keys.pair(given);
            let pair = PairRecord { released: true, ..pair.clone() };
            transaction = unchanged(transaction, &key).put(&key, json(&pair), None);
        }
        transaction
    }

    pub(super) fn renew(&mut self, leased: Leased) -> Result<(), Problem> {
        let Some(Holding { node, floor, .. }) = self.holding else { return Ok(()) };
        let Leased { lease, revision } = leased;
        if !self.ask(|client, _| client.keep_alive(lease))? {
            return self.claim();
        }
        let now = clock::unix_ms();
        let pair = self.pair(node, now);
        let (live_key, pair_key) = (self.keys.live(&self.identity.name), self.keys.pair(node));
        // Unchanged: an older renewal that was given up must not be carried out after this one.
        let transaction = Transaction::default()
            .leased(&live_key, lease)
            .unchanged(&pair_key, revision)
            .put(&live_key, json(&LiveRecord::new(&self.identity, node, now)), Some(lease))
            .put(&pair_key, json(&pair), None);
        if let Some(revision) = self.ask(|client, _| client.transact(transaction))? {
            return self.put_in_force(node, floor, &pair, Leased { lease, revision });
        }
        // Either the answer to a renewal was lost, or a copy has passed for this server.
        if self.read()?.lease(&live_key).is_some_and(|other| other != lease) {
            self.become_another()?;
        }
        self.claim()
    }

    /// Makes this another instance, lest two take the pair from each other in turns.
    fn become_another(&mut self) -> Result<(), Problem> {
        self.identity.renew().map_err(Problem::Random)?;
        self.server.holder = self.identity.holder();
        self.registered = false;
        Ok(())
    }

    fn refusal(&self, refused: Refused, snapshot: &Snapshot, now: UnixMs) -> Problem {
        let tolerated = self.settings.clock_difference;
        match refused {
            Refused::Held => {
                let name = self.identity.name.clone();
                let live = snapshot.live[&name].clone();
                let LiveRecord { host, port, data_directory, .. } = live;
                Problem::Held { name, host, port, data_directory }
            }
            Refused::ClockBehind { node, recorded } => {
                Problem::ClockBehind { node, recorded, now, tolerated }
            }
            Refused::ClockDiffers { median, servers } => {
                Problem::ClockDiffers { median, servers, now, tolerated }
            }
            Refused::Exhausted { pairs } => {
                let Server { datacenter, worker, .. } = self.server;
                Problem::Exhausted { pairs, datacenter, worker }
            }
        }
    }
}
