//! The generator's step: from the last issued (millisecond, sequence) of a shard and the time to
//! what may be issued next. Pure: the caller brings the time and carries out the decision.
//!
//! The rules, in the order of the code:
//! - the clock, or the floor where that is greater, stands past the last id: its millisecond is
//!   opened, at a sequence mixed from the time;
//! - else (same millisecond, or the clock stands behind) the next sequence of the last millisecond;
//! - that millisecond is full: wait, until the clock moves past it or the caller has waited out a
//!   millisecond of real time, which opens the next one. So ids go on at the pace of real time even
//!   where the clock stands behind or still;
//! - never further ahead of the clock than tolerated, never outside the epoch's range, never at or
//!   past the ceiling.

use crate::instant::UnixMs;

/// What a shard issued last: Unix milliseconds, two flags, a sequence, in one word that can be swapped
/// atomically. It counts Unix time, so that ids of any epoch share it. Zero: nothing issued yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    const MS_SHIFT: u32 = 16;
    /// Set while the word stands ahead of the clock: its rise marks one event, however many ids.
    const AHEAD: u64 = 1 << 15;
    /// Set where nothing was issued up to here: see `Cell::seal`.
    const SEAL: u64 = 1 << 14;
    const SEQUENCE_MASK: u64 = Self::SEAL - 1;

    /// Where its parts lie: processes that share a word must agree on it.
    pub const PLACES: [usize; 3] =
        [Self::MS_SHIFT as usize, Self::AHEAD as usize, Self::SEAL as usize];

    /// `ms` is not negative and below 2^48 (the year 10889); `sequence` is below 2^14.
    #[inline(always)]
    pub const fn new(ms: UnixMs, sequence: u32, ahead: bool) -> Self {
        Self((ms as u64) << Self::MS_SHIFT | if ahead { Self::AHEAD } else { 0 } | sequence as u64)
    }

    #[inline]
    pub const fn ms(self) -> UnixMs {
        (self.0 >> Self::MS_SHIFT) as UnixMs
    }

    #[inline]
    pub const fn sequence(self) -> u32 {
        (self.0 & Self::SEQUENCE_MASK) as u32
    }

    #[inline]
    pub const fn ahead(self) -> bool {
        self.0 & Self::AHEAD != 0
    }

    pub const fn is_sealed(self) -> bool {
        self.0 & Self::SEAL != 0
    }

    pub const fn with_seal(self) -> Self {
        Self(self.0 | Self::SEAL)
    }

    pub const fn without_seal(self) -> Self {
        Self(self.0 & !Self::SEAL)
    }

    /// Whether ids up to (ms, sequence) have been issued.
    #[inline]
    pub const fn reached(self, ms: UnixMs, sequence: u32) -> bool {
        self.ms() > ms || self.ms() == ms && self.sequence() >= sequence
    }
}

/// What an id may be.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The greatest sequence of the layout.
    pub sequence_max: u32,
    /// A new millisecond starts at a sequence of 0 to this, mixed from the time; at most
    /// `sequence_max`.
    pub spread: u32,
    /// How many ms an id may stand ahead of the clock.
    pub ahead_max: i64,
    /// The first millisecond of the epoch, and how many come after it.
    pub oldest: UnixMs,
    pub elapsed_max: u64,
    /// Ids lie at or above the floor and below the ceiling, which are the database's (see `mark`).
    pub floor: UnixMs,
    pub ceiling: UnixMs,
}

/// Sequences `first .. first + count` of one millisecond, the caller's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub ms: UnixMs,
    pub first: u32,
    pub count: u32,
    /// This claim is the first that found the clock behind the last id.
    pub clock_regressed: bool,
}

/// Why nothing can be issued now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// All sequences of this millisecond are issued: wait.
    Full { ms: UnixMs },
    /// The next id would stand further ahead of the clock than tolerated.
    TooFarAhead { ms: UnixMs, now: UnixMs },
    /// The next id would lie before the epoch.
    BeforeEpoch,
    /// The next id would lie past the epoch's last millisecond.
    Exhausted,
    /// The next id would reach the ceiling: the mark wants attention.
    AtCeiling { ms: UnixMs },
}

/// Decides what up to `want` (at least 1) ids may be issued after `last` at `now`. `outwaited` is the
/// millisecond that the caller found full and has since waited out.
#[inline(always)]
pub fn step(
    last: Word,
    now: UnixMs,
    want: u32,
    outwaited: Option<UnixMs>,
    rules: &Rules,
) -> Result<(Claim, Word), Refusal> {
    let base = now.max(rules.floor);
    let (ms, first) = if base > last.ms() {
        (base, start(last, base, rules))
    } else if last.sequence() < rules.sequence_max {
        (last.ms(), last.sequence() + 1)
    } else if outwaited == Some(last.ms()) {
        (last.ms() + 1, 0)
    } else {
        return Err(Refusal::Full { ms: last.ms() });
    };
    let ahead = ms > now;
    if ahead && ms - now > rules.ahead_max {
        return Err(Refusal::TooFarAhead { ms, now });
    }
    // One comparison for both ends.
    if (ms - rules.oldest) as u64 > rules.elapsed_max {
        return Err(if ms < rules.oldest { Refusal::BeforeEpoch } else { Refusal::Exhausted });
    }
    if ms >= rules.ceiling {
        return Err(Refusal::AtCeiling { ms });
    }
    // In this form nothing is left of it where one id is wanted.
    let further = (want - 1).min(rules.sequence_max - first);
    let clock_regressed = now < last.ms() && !last.ahead();
    let claim = Claim { ms, first, count: further + 1, clock_regressed };
    Ok((claim, Word::new(ms, first + further, ahead)))
}

/// A run of sequences this many times as long as the spread's numbers is about as even under
/// `id % n`, for `n` up to these, wherever it starts: no remainder is met an eighth more often.
const EVEN_RUN: u32 = 8;

/// The first sequence of a new millisecond. One that comes right after such a run starts at 0: the
/// ids before a mixed start are lost, which a busy shard would wait for and has no need of.
#[inline]
fn start(last: Word, ms: UnixMs, rules: &Rules) -> u32 {
    let range = rules.spread + 1;
    // The run itself may have had a mixed start.
    let even = rules.spread + EVEN_RUN * range;
    if last.ms() + 1 == ms && last.sequence() >= even.min(rules.sequence_max) {
        return 0;
    }
    (((mix(ms as u64) >> 32) * u64::from(range)) >> 32) as u32
}

/// The finalizer of MurmurHash3 (Appleby): every bit of the time flips half of the result's bits.
/// A multiplication alone would favour some values when ids are drawn at a regular interval.
#[inline]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;
