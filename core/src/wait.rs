//! How long a caller waits for a full millisecond, and when it has waited it out.
//!
//! Normally the wall clock ticks over and the wait is done. Where it stands behind or still, real
//! time paces instead: a millisecond measured by the monotonic clock since the caller found it full.
//! A millisecond is opened once a real millisecond at most, whoever waits, because each opener saw
//! its predecessor full for that long.

use crate::instant::UnixMs;

const MS: u64 = 1_000_000;

/// A caller's wait for one full millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    full: UnixMs,
    since: u64,
}

impl Wait {
    /// A wait that begins at `monotonic` (ns).
    pub const fn new(full: UnixMs, monotonic: u64) -> Self {
        Self { full, since: monotonic }
    }

    /// The wait goes on for the same millisecond and starts anew for another.
    pub const fn found_full(self, full: UnixMs, monotonic: u64) -> Self {
        if self.full == full { self } else { Self::new(full, monotonic) }
    }

    /// The millisecond, once it is waited out.
    pub const fn outwaited(self, monotonic: u64) -> Option<UnixMs> {
        if self.left(monotonic) == 0 { Some(self.full) } else { None }
    }

    /// How many ns to sleep before the next try, at most a millisecond; `unix_ns` is the wall clock.
    pub fn pause(self, unix_ns: i64, monotonic: u64) -> u64 {
        let left = self.left(monotonic);
        match unix_ns.div_euclid(MS as i64).cmp(&self.full) {
            std::cmp::Ordering::Less => left,
            std::cmp::Ordering::Equal => left.min(MS - unix_ns.rem_euclid(MS as i64) as u64),
            std::cmp::Ordering::Greater => 0,
        }
    }

    const fn left(self, monotonic: u64) -> u64 {
        MS.saturating_sub(monotonic.saturating_sub(self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: UnixMs = 1_800_000_000_000;
    const FULL_NS: i64 = FULL * MS as i64;

    #[test]
    fn clock_in_the_full_millisecond_sleeps_to_its_end() {
        let wait = Wait::new(FULL, 500);
        assert_eq!(wait.pause(FULL_NS + 900_000, 500), 100_000);
        assert_eq!(wait.pause(FULL_NS + 999_999, 500), 1);
        assert_eq!(wait.pause(FULL_NS, 500), MS);
    }

    #[test]
    fn clock_past_the_full_millisecond_tries_at_once() {
        assert_eq!(Wait::new(FULL, 0).pause(FULL_NS + MS as i64, 10), 0);
    }

    #[test]
    fn clock_behind_sleeps_a_millisecond_of_real_time_and_no_longer() {
        let wait = Wait::new(FULL, 7);
        let an_hour_back = FULL_NS - 3_600_000_000_000;
        assert_eq!(wait.pause(an_hour_back, 7), MS);
        assert_eq!(wait.pause(an_hour_back, 7 + MS / 4), MS / 4 * 3);
        assert_eq!(wait.outwaited(7 + MS - 1), None);
        assert_eq!(wait.outwaited(7 + MS), Some(FULL));
        assert_eq!(wait.pause(an_hour_back, 7 + MS), 0);
    }

    #[test]
    fn another_full_millisecond_starts_the_wait_anew() {
        let wait = Wait::new(FULL, 0).found_full(FULL, 900_000);
        assert_eq!(wait.outwaited(MS), Some(FULL));
        let next = wait.found_full(FULL + 1, MS);
        assert_eq!(next.outwaited(MS + 1), None);
        assert_eq!(next.outwaited(2 * MS), Some(FULL + 1));
    }

    #[test]
    fn monotonic_clock_that_misbehaves_cannot_wrap_the_wait() {
        assert_eq!(Wait::new(FULL, 100).pause(0, 50), MS);
    }
}
