//! One generator: the last issued word of a shard or worker, and its counters.
//!
//! Protocol: `word` is the only state that ids depend on. It is changed by compare-and-swap alone
//! and only ever grows in (millisecond, sequence), so no two callers get one value, without a lock,
//! whatever dies in between. The word is loaded before the clock is read: a time below the word's
//! then means that the clock went back, not that another caller was faster. All bytes zero is a
//! valid cell that has issued nothing. The counters are statistics and order nothing.

use crate::instant::UnixMs;
use crate::step::{Claim, Refusal, Rules, Word, step};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// A cache line of its own for each generator, so that busy neighbours don't slow each other down.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Cell {
    word: AtomicU64,
    waits: AtomicU64,
    clock_regressions: AtomicU64,
}

impl Cell {
    /// Claims up to `want` (at least 1) ids in one atomic step; see [`step`] for the arguments. The
    /// rules are asked for after the clock, so that nothing of them has to outlive the call of it.
    #[inline(always)]
    pub fn draw(
        &self,
        want: u32,
        clock: impl Fn() -> UnixMs,
        outwaited: Option<UnixMs>,
        rules: impl Fn() -> Rules,
    ) -> Result<Claim, Refusal> {
        loop {
            let last = self.word.load(Ordering::Acquire);
            let now = clock();
            let (claim, next) = step(Word(last), now, want, outwaited, &rules())?;
            let swapped =
                self.word.compare_exchange_weak(last, next.0, Ordering::AcqRel, Ordering::Relaxed);
            if swapped.is_ok() {
                return Ok(claim);
            }
        }
    }

    /// Makes every later id greater than (ms, sequence); returns what stands after it. Where that is
    /// ahead of the clock the word says so, lest the next claim take it for a clock gone back.
    pub fn advance(&self, ms: UnixMs, sequence: u32, now: UnixMs) -> Word {
        let before = self.exchange(ms, sequence, now);
        if before.reached(ms, sequence) { before } else { Word::new(ms, sequence, ms > now) }
    }

    /// The same; returns what stood before it, and so the last id that is not greater.
    pub fn exchange(&self, ms: UnixMs, sequence: u32, now: UnixMs) -> Word {
        let mut last = self.last();
        while !last.reached(ms, sequence) {
            let next = Word::new(ms, sequence, ms > now);
            match self.word.compare_exchange_weak(
                last.0,
                next.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => break,
                Err(other) => last = Word(other),
            }
        }
        last
    }

    /// The last issued word, zero if nothing was.
    pub fn last(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    pub fn count_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count_clock_regression(&self) {
        self.clock_regressions.fetch_add(1, Ordering::Relaxed);
    }

    /// How many calls had to wait for a millisecond.
    pub fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// How many times the clock was found behind the last id.
    pub fn clock_regressions(&self) -> u64 {
        self.clock_regressions.load(Ordering::Relaxed)
    }
}
