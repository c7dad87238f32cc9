//! Drawing ids: one atomic step on the shard's cell, and the wait where its millisecond is full.
//!
//! [`Generator::claim`] is the hot path: it calls nothing of PostgreSQL. All else (a full
//! millisecond, a mark that wants attention, a clock found behind, an error) leaves it for a cold
//! function under a guard.

use super::high_water;
use crate::error::{Error, LeaseError, MarkError};
use crate::session::wait::{self, Event};
use crate::settings::{self, shards};
use crate::shared;
use pgrx::{PgLogLevel, PgSqlErrorCode, ereport};
use snowid_base::clock;
use snowid_base::guard::guarded;
use snowid_base::memory::Database;
use snowid_core::cell::Cell;
use snowid_core::instant::{Epoch, UnixMs, Utc};
use snowid_core::layout::{Fields, INSTAGRAM, Layout, TWITTER, twitter_parts};
use snowid_core::step::{Claim, Refusal, Rules};
use snowid_core::wait::Wait;
use std::sync::atomic::Ordering;

/// A shard or worker, and the epoch that its ids shall count from.
#[derive(Clone, Copy)]
pub struct Generator {
    pub cell: &'static Cell,
    pub database: &'static Database,
    pub layout: Layout,
    pub node: u32,
    pub epoch: Epoch,
    /// Ids lie below this too; for a leased worker until its lease is renewed.
    pub until: UnixMs,
}

/// What `until` is where nothing is leased.
const FOREVER: UnixMs = UnixMs::MAX;

impl Generator {
    /// That of a shard, for `function`.
    #[inline(always)]
    pub fn of_shard(shard: u32, epoch: Epoch, function: &'static str) -> Result<Self, Error> {
        if !shards::has(shard) {
            return Err(Error::NotThisDatabases { shard, allowed: shards::allowed });
        }
        let (memory, database) = shared::ready(function)?;
        let cell = &memory.shards[shard as usize];
        Ok(Self { cell, database, layout: INSTAGRAM, node: shard, epoch, until: FOREVER })
    }

    /// That of a worker, for `function`.
    #[inline(always)]
    pub fn of_worker(node: u32, epoch: Epoch, function: &'static str) -> Result<Self, Error> {
        let (memory, database) = shared::ready(function)?;
        let cell = &memory.workers[node as usize];
        Ok(Self { cell, database, layout: TWITTER, node, epoch, until: FOREVER })
    }

    /// Draws one id.
    #[inline(always)]
    pub fn id(&self) -> Result<i64, Error> {
        let claim = self.claim(1)?;
        Ok(self.compose(claim.ms, claim.first))
    }

    /// The id of a claimed (ms, sequence).
    #[inline(always)]
    pub fn compose(&self, ms: UnixMs, sequence: u32) -> i64 {
        let elapsed = (ms - self.epoch.unix_ms()) as u64;
        self.layout.pack(Fields { elapsed, node: self.node, sequence }) as i64
    }

    /// Claims 1 to `want` ids of one millisecond; waits for it where need be.
    ///
    /// Inlined as a whole, so that the layout is a constant and rules and claim live in registers:
    /// handed from function to function in memory they doubled the instructions of a call.
    #[inline(always)]
    pub fn claim(&self, want: u32) -> Result<Claim, Error> {
        match self.cell.draw(want, clock::unix_ms, None, || self.rules()) {
            Ok(claim) => {
                if claim.clock_regressed {
                    self.clock_regressed(claim.ms);
                }
                Ok(claim)
            }
            Err(_) => self.claim_slowly(want),
        }
    }

    #[cold]
    #[inline(never)]
    fn clock_regressed(self, ms: UnixMs) {
        guarded(|| self.note_clock_regression(ms));
    }

    /// Tries again, and sees to what is in the way. It takes itself by value, so that the caller puts
    /// it into memory only on its way here.
    #[cold]
    #[inline(never)]
    fn claim_slowly(mut self, want: u32) -> Result<Claim, Error> {
        guarded(|| {
            let mut wait: Option<Wait> = None;
            let mut own_ceiling = 0;
            loop {
                let outwaited = wait.and_then(|wait| wait.outwaited(clock::monotonic_ns()));
                let rules = || {
                    let rules = self.rules();
                    Rules { ceiling: rules.ceiling.max(own_ceiling).min(self.until), ..rules }
                };
                match self.cell.draw(want, clock::unix_ms, outwaited, rules) {
                    Ok(claim) => {
                        if claim.clock_regressed {
                            self.note_clock_regression(claim.ms);
                        }
                        return Ok(claim);
                    }
                    Err(Refusal::Full { ms }) => wait = Some(self.wait_for(ms, wait)),
                    Err(Refusal::AtCeiling { ms }) if ms >= self.until => {
                        self.until = self.renewed_until(ms)?;
                    }
                    Err(Refusal::AtCeiling { ms }) => {
                        own_ceiling = high_water::attend(self.database, ms)?;
                    }
                    Err(refusal) => return Err(self.error(refusal)),
                }
            }
        })
    }

    /// To where the worker's lease has been renewed, if that covers an id of `ms`.
    fn renewed_until(&self, ms: UnixMs) -> Result<UnixMs, Error> {
        let (memory, _) = shared::ready("")?;
        let lease = &memory.lease;
        match lease.worker() {
            Some(worker) if worker.node == self.node && worker.until > ms => Ok(worker.until),
            Some(_) => {
                // Ids may be ahead of the clock: the worker doesn't know how far.
                lease.want(ms);
                Err(LeaseError::RanOut { lease, until: self.until, ms, now: clock::unix_ms() }
                    .into())
            }
            None => Err(shared::no_worker_id(lease).into()),
        }
    }

    /// Sleeps for a full millisecond, once: until it ends, or a signal comes.
    fn wait_for(&self, ms: UnixMs, before: Option<Wait>) -> Wait {
        let now = clock::monotonic_ns();
        let full = match before {
            Some(wait) => wait.found_full(ms, now),
            None => {
                self.cell.count_wait();
                Wait::new(ms, now)
            }
        };
        wait::sleep_ns(Event::NextMillisecond, full.pause(clock::unix_ns(), now));
        full
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        Rules {
            sequence_max: self.layout.sequence_max(),
            spread: settings::sequence_spread(),
            ahead_max: settings::max_clock_regression(),
            oldest: self.epoch.unix_ms(),
            elapsed_max: self.layout.elapsed_max(),
            // The ceiling first: a floor that came with a later ceiling is no less right.
            ceiling: self.database.ceiling.load(Ordering::Acquire).min(self.until),
            floor: self.database.floor.load(Ordering::Relaxed),
        }
    }

    /// The last millisecond of the epoch.
    #[inline]
    pub fn newest(&self) -> UnixMs {
        self.epoch.plus(self.layout.elapsed_max())
    }

    fn error(&self, refusal: Refusal) -> Error {
        match refusal {
            Refusal::TooFarAhead { ms, now } => {
                let tolerated = settings::max_clock_regression();
                let mark = self.database.floor.load(Ordering::Relaxed);
                if ms == mark {
                    MarkError::FarAhead { mark, now, tolerated }.into()
                } else {
                    Error::ClockBehind { ms, now, tolerated }
                }
            }
            Refusal::BeforeEpoch => {
                Error::EpochInFuture { epoch: self.epoch.unix_ms(), now: clock::unix_ms() }
            }
            Refusal::Exhausted => Error::Exhausted { last: self.newest() },
            Refusal::Full { .. } | Refusal::AtCeiling { .. } => unreachable!("is waited for"),
        }
    }

    /// Counts and logs that the clock was found behind: once an event, not once an id.
    fn note_clock_regression(&self, ms: UnixMs) {
        self.cell.count_clock_regression();
        ereport!(
            PgLogLevel::LOG,
            PgSqlErrorCode::ERRCODE_WARNING,
            format!("clock is behind the last ID of {}", self.name()),
            format!(
                "The last ID is of {}, the clock says {}. IDs go on from there.",
                Utc(ms),
                Utc(clock::unix_ms())
            )
        );
    }

    fn name(&self) -> String {
        if self.layout == INSTAGRAM {
            return format!("shard {}", self.node);
        }
        let (datacenter, worker) = twitter_parts(self.node);
        format!("datacenter {datacenter}, worker {worker}")
    }
}
