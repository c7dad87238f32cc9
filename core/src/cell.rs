//! One generator: the last issued word of a shard or worker, and its counters.
//!
//! Protocol: `word` is the only state that ids depend on. It is changed by compare-and-swap alone
//! and only ever grows in (millisecond, sequence), so no two callers get one value, without a lock,
//! whatever dies in between; but for a seal, which is taken back to what stood before it or more,
//! and only where nobody has moved the word since. The word is loaded before the clock is read: a
//! time below the word's then means that the clock went back, not that another caller was faster.
//! All bytes zero is a valid cell that has issued nothing. The counters are statistics and order
//! nothing.

use crate::instant::UnixMs;
use crate::step::{Claim, Refusal, Rules, Word, step};
use std::mem::offset_of;

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
    /// Where its parts lie, for those who share one.
    pub const PLACES: [usize; 4] = [
        offset_of!(Self, word),
        offset_of!(Self, waits),
        offset_of!(Self, clock_regressions),
        size_of::<Self>(),
    ];

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
        let target = Word::new(ms, sequence, ms > now);
        let before = self.raise(target);
        if before.reached(ms, sequence) { before } else { target }
    }

    /// Ends the draws that have begun and may come no further than (ms, sequence), by standing there;
    /// returns what stood before it, and so the last id that is not greater.
    pub fn seal(&self, ms: UnixMs, sequence: u32, now: UnixMs) -> Word {
        self.raise(Word::new(ms, sequence, ms > now).with_seal())
    }

    /// Lets ids go on after (ms, sequence), which is at or above what stood before the seal. Where that
    /// isn't left, since it was drawn or advanced past or counted on, this is an advance.
    pub fn unseal(&self, ms: UnixMs, sequence: u32, now: UnixMs) {
        let (last, next) = (self.last(), Word::new(ms, sequence, ms > now));
        let is_undone = last.is_sealed()
            && self
                .word
                .compare_exchange(last.0, next.0, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok();
        if !is_undone {
            self.advance(ms, sequence, now);
        }
    }

    /// Raises the word to a target that it hasn't reached; returns what stood before it. A seal that
    /// has reached it becomes a word like any other: the caller counts on it.
    fn raise(&self, target: Word) -> Word {
        let mut last = self.last();
        loop {
            let reached = last.reached(target.ms(), target.sequence());
            let next = if reached { last.without_seal() } else { target };
            if next == last {
                return last;
            }
            match self.word.compare_exchange_weak(
                last.0,
                next.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return last,
                Err(other) => last = Word(other),
            }
        }
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const T: UnixMs = 1_800_000_000_000;
    const MAX: u32 = 4095;

    /// A cell that issued (T, 7) and is sealed a minute on.
    fn sealed() -> Cell {
        let cell = Cell::default();
        cell.advance(T, 7, T);
        assert_eq!(cell.seal(T + 60_000, MAX, T), Word::new(T, 7, false), "the last id");
        assert!(cell.last().reached(T + 60_000, MAX));
        cell
    }

    #[test]
    fn a_seal_is_taken_back() {
        let cell = sealed();
        cell.unseal(T, MAX, T);
        assert_eq!(cell.last(), Word::new(T, MAX, false));
    }

    #[test]
    fn what_stands_past_the_clock_says_so() {
        let cell = Cell::default();
        cell.seal(T, 7, T);
        assert!(!cell.last().ahead(), "in the clock's own millisecond");
        cell.seal(T + 1, 7, T);
        assert!(cell.last().ahead());
        cell.unseal(T + 1, 9, T);
        assert_eq!(cell.last(), Word::new(T + 1, 9, true));
    }

    #[test]
    fn the_counters_count_each_its_own() {
        let cell = Cell::default();
        cell.count_wait();
        cell.count_wait();
        assert_eq!((cell.waits(), cell.clock_regressions()), (2, 0));
        cell.count_clock_regression();
        cell.count_clock_regression();
        cell.count_clock_regression();
        assert_eq!((cell.waits(), cell.clock_regressions()), (2, 3));
    }

    #[test]
    fn a_seal_that_was_drawn_past_stays() {
        let cell = sealed();
        cell.advance(T + 60_001, 0, T);
        cell.unseal(T, MAX, T);
        assert_eq!(cell.last(), Word::new(T + 60_001, 0, true));
    }

    #[test]
    fn a_seal_that_was_advanced_below_stays() {
        let cell = sealed();
        // Whoever was told so counts on it that later ids are greater.
        cell.advance(T + 30_000, 0, T);
        cell.unseal(T, MAX, T);
        assert_eq!(cell.last(), Word::new(T + 60_000, MAX, true));
    }

    #[test]
    fn where_nothing_is_sealed_taking_back_is_an_advance() {
        let cell = Cell::default();
        cell.unseal(T, MAX, T);
        assert_eq!(cell.last(), Word::new(T, MAX, false));
        cell.unseal(T - 1, MAX, T);
        assert_eq!(cell.last(), Word::new(T, MAX, false), "never back");
    }
}
