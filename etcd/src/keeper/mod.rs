//! What the background worker does in a turn: claim a pair, renew it, release it.

mod claim;
mod release;

use crate::access::BadSetting;
use crate::client::{Client, Failure, Transaction};
use crate::file::{Damaged, File, Held};
use crate::identity::Identity;
use crate::is_stopping;
use crate::problem::{Problem, log};
use crate::records::{Keys, PairRecord, Snapshot, json};
use crate::settings::{self, Etcd};
use snowid_base::clock;
use snowid_base::memory::{Memory, Source, Worker};
use snowid_core::instant::{UnixMs, Utc};
use snowid_core::layout::{TWITTER, twitter_parts};
use snowid_core::lease::{self, Server};
use std::time::Duration;

/// How often a claim is tried again at once when others change the records meanwhile.
const RACES: usize = 100;

pub struct Keeper {
    memory: &'static Memory,
    identity: Identity,
    keys: Keys,
    settings: Etcd,
    server: Server,
    client: Result<Client, BadSetting>,
    /// The instance is on disk: etcd may know it.
    registered: bool,
    /// From the file, until something is in force.
    stored: Option<Held>,
    holding: Option<Holding>,
    stage: Stage,
    /// The problem that was logged last.
    logged: Option<String>,
}

/// The pair in force.
#[derive(Clone, Copy)]
struct Holding {
    node: u32,
    floor: UnixMs,
    bound: UnixMs,
    /// What to renew; None: it is to be claimed again.
    leased: Option<Leased>,
    /// The clock less the time since boot.
    clock_offset: i64,
}

/// etcd's lease, and the revision of the pair's record.
#[derive(Clone, Copy)]
struct Leased {
    lease: i64,
    revision: i64,
}

enum Stage {
    Leasing,
    /// The pair is out of use here, its ids end there, and etcd is to be told.
    Releasing(Option<Worker>),
    Released,
}

impl Keeper {
    pub fn new(memory: &'static Memory) -> Result<Self, Problem> {
        let mut identity = Identity::new().map_err(Problem::Random)?;
        let stored = adopt_file(&mut identity);
        let settings = settings::etcd();
        memory.lease.attach();
        // A predecessor of this process may have released the pair, and that holds until a reload.
        let is_released = memory.lease.source() == Source::Released;
        Ok(Self {
            memory,
            keys: Keys(settings.prefix.clone()),
            server: server(&identity),
            client: client(&settings),
            registered: stored.is_some(),
            settings,
            identity,
            stored,
            holding: None,
            stage: if is_released { Stage::Released } else { Stage::Leasing },
            logged: None,
        })
    }

    /// Whether a backend wants more than a renewal.
    pub fn has_request(&mut self) -> bool {
        if !self.memory.lease.take_release() {
            return false;
        }
        if matches!(self.stage, Stage::Leasing) {
            self.stage = Stage::Releasing(self.seal());
        }
        true
    }

    /// The configuration was read again.
    pub fn reload(&mut self) {
        let settings = settings::etcd();
        let server = server(&self.identity);
        let limits = |server: &Server| (server.datacenter, server.worker);
        if settings.lease != self.settings.lease || limits(&server) != limits(&self.server) {
            self.holding.iter_mut().for_each(|holding| holding.leased = None);
        }
        self.client = client(&settings);
        self.logged = None;
        self.settings = settings;
        self.server = server;
        if matches!(self.stage, Stage::Released) {
            self.stage = Stage::Leasing;
        }
    }

    /// Does what is due; returns how long to wait for the next turn.
    pub fn turn(&mut self) -> Duration {
        let done = match self.stage {
            Stage::Leasing => self.claim_or_renew(),
            Stage::Releasing(sealed) => self.release(sealed),
            Stage::Released => Err(Problem::Released),
        };
        let interval =
            Duration::from_millis(lease::report_interval(self.settings.lease * 1000) as u64);
        match done {
            Ok(()) => {
                self.note(None);
                interval
            }
            Err(mut problem) => {
                if let Problem::Etcd { holds, .. } = &mut problem {
                    *holds = self.holding.is_some();
                }
                if matches!(problem, Problem::Held { .. }) {
                    self.holding = None;
                }
                let is_brief = problem.is_brief();
                if !is_brief && !matches!(problem, Problem::Released) {
                    self.refused();
                }
                self.note(Some(problem));
                if is_brief { interval.min(crate::PAUSE) } else { interval }
            }
        }
    }

    /// etcd has answered, and not with a pair: nor is what was in store or what a predecessor of this
    /// process left in force any good. A pair that this process holds is good until its bound.
    fn refused(&mut self) {
        self.stored = None;
        if self.holding.is_none() {
            self.memory.lease.withdraw(Source::None);
        }
    }

    /// The server stops, or the worker: another server with this name need not wait for the lease to
    /// run out. The bound stays, so that backends may go on until they end.
    pub fn stop(&mut self) {
        let Some(Holding { node, bound, leased: Some(leased), .. }) = self.holding else { return };
        if self.logged.is_some() {
            return;
        }
        let pair = PairRecord { bound_ms: bound, ..self.pair(node, clock::unix_ms()) };
        if File::write(&self.identity, Some(Held::new(node, &pair))).is_err() {
            return;
        }
        let live = self.keys.live(&self.identity.name);
        let transaction = Transaction::default()
            .leased(&live, leased.lease)
            .unchanged(&self.keys.pair(node), leased.revision)
            .put(&self.keys.pair(node), json(&pair), None)
            .delete(&live);
        // Nothing is lost if that fails. The lease would run out by itself.
        let _ = self.ask(|client, _| {
            client.transact(transaction).and_then(|_| client.revoke(leased.lease))
        });
    }

    fn claim_or_renew(&mut self) -> Result<(), Problem> {
        let done = match self.holding {
            Some(Holding { leased: Some(leased), clock_offset, .. })
                if (clock_offset - offset()).abs() <= self.settings.clock_difference =>
            {
                self.renew(leased)
            }
            _ => self.claim(),
        };
        match (&done, self.stored) {
            (Err(problem), Some(stored)) if problem.is_silence() => self.use_stored(stored)?,
            _ => {}
        }
        done
    }

    /// What to record of a pair that this server has, or will have.
    fn pair(&self, node: u32, now: UnixMs) -> PairRecord {
        let holding = self.holding.filter(|holding| holding.node == node);
        let last = self.memory.workers[node as usize].last();
        let (floor, bound) = match self.memory.lease.sealed() {
            // Draws that had begun may come up to there, once the seal is taken back.
            Some(sealed) if sealed.node == node && last.is_sealed() => (sealed.until, last.ms()),
            _ => {
                let (floor, bound) = holding.map_or((0, 0), |held| (held.floor, held.bound));
                let drawn = if last == Default::default() { 0 } else { last.ms() + 1 };
                (floor.max(drawn), bound)
            }
        };
        // Ids of a database whose mark is ahead of the clock go on from that, as far as is tolerated.
        let wanted = self.memory.lease.take_wanted().min(now + settings::max_clock_regression());
        PairRecord {
            name: self.identity.name.clone(),
            instance: self.identity.instance.clone(),
            boot: self.identity.boot.clone(),
            time_ms: now,
            bound_ms: self.bound(now, floor.max(wanted), bound),
            floor_ms: floor,
            released: false,
        }
    }

    fn bound(&self, now: UnixMs, ahead: UnixMs, recorded: UnixMs) -> UnixMs {
        lease::bound(now, ahead, recorded, self.settings.lease * 1000)
    }

    /// etcd knows it: the file, then shared memory.
    fn put_in_force(
        &mut self,
        node: u32,
        floor: UnixMs,
        pair: &PairRecord,
        leased: Leased,
    ) -> Result<(), Problem> {
        File::write(&self.identity, Some(Held::new(node, pair))).map_err(Problem::File)?;
        self.publish(node, floor, pair.bound_ms, Some(leased), Source::Etcd);
        Ok(())
    }

    fn publish(
        &mut self,
        node: u32,
        floor: UnixMs,
        until: UnixMs,
        leased: Option<Leased>,
        source: Source,
    ) {
        let (cell, now) = (&self.memory.workers[node as usize], clock::unix_ms());
        match self.memory.lease.sealed() {
            Some(sealed) if sealed.node == node => {
                cell.unseal(floor.max(sealed.until) - 1, TWITTER.sequence_max(), now);
                self.memory.lease.set_sealed(None);
            }
            _ if floor > 0 => {
                cell.advance(floor - 1, TWITTER.sequence_max(), now);
            }
            _ => {}
        }
        self.memory.lease.publish(Worker { node, until }, source);
        self.stored = None;
        self.holding = Some(Holding { node, floor, bound: until, leased, clock_offset: offset() });
    }

    /// etcd was not reached since the start: what it knew before holds to its bound.
    fn use_stored(&mut self, stored: Held) -> Result<(), Problem> {
        let (node, now) = (stored.node(), clock::unix_ms());
        let tolerated = self.settings.clock_difference;
        if stored.time_ms - now > tolerated {
            let recorded = stored.time_ms;
            return Err(Problem::ClockBehind { node, recorded, now, tolerated });
        }
        if self.server.may_have(node) {
            let floor = stored.floor_ms.max(stored.time_ms);
            self.publish(node, floor, stored.bound_ms, None, Source::Cached);
            let (datacenter, worker) = twitter_parts(node);
            log(
                format!("using datacenter {datacenter}, worker {worker} without etcd"),
                format!("The stored lease is good for IDs before {}.", Utc(stored.bound_ms)),
            );
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Snapshot, Problem> {
        let entries = self.ask(|client, settings| client.read(&settings.prefix))?;
        Snapshot::new(entries, &self.keys).map_err(Problem::Record)
    }

    /// Asks etcd.
    fn ask<T>(
        &mut self,
        call: impl FnOnce(&mut Client, &Etcd) -> Result<T, Failure>,
    ) -> Result<T, Problem> {
        let answer = match &mut self.client {
            Ok(client) => call(client, &self.settings),
            Err(bad) => Err(Failure::Setting(bad.clone())),
        };
        answer.map_err(Into::into)
    }

    /// Tells errors and the view what is wrong, and the log if it is something new.
    fn note(&mut self, problem: Option<Problem>) {
        self.memory.lease.set_notice(problem.as_ref().map(Problem::notice));
        let key = problem.as_ref().map(Problem::key);
        if key == self.logged {
            return;
        }
        match (&problem, &self.logged) {
            (Some(problem), _) => problem.log(),
            (None, Some(_)) => {
                log("the lease of the worker ID is renewed again".into(), String::new())
            }
            (None, None) => {}
        }
        self.logged = key;
    }
}

/// Makes a server the instance that its file says, if that is its own and not copied from another one;
/// returns what it holds.
fn adopt_file(identity: &mut Identity) -> Option<Held> {
    let file = File::read().unwrap_or_else(|Damaged| {
        Problem::FileDamaged.log();
        None
    });
    let file = file.filter(|file| file.is_of(identity))?;
    identity.instance = file.instance;
    file.held
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Etcd(failure) => Self::Etcd { failure, holds: false },
            Failure::Setting(BadSetting(what)) => Self::Setting(what),
        }
    }
}

fn server(identity: &Identity) -> Server {
    Server {
        name: identity.name.clone(),
        holder: identity.holder(),
        datacenter: settings::datacenter_id(),
        worker: settings::worker_id(),
        has: None,
    }
}

/// A wrong setting is a reason why etcd can't be asked, as others are.
fn client(settings: &Etcd) -> Result<Client, BadSetting> {
    Client::new(settings, is_stopping)
}

fn offset() -> i64 {
    clock::unix_ms() - clock::boot_ms()
}
