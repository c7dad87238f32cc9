//! The high-water mark of a database: a time below which all its ids lie, on disk before they are
//! given out. After a crash, a promotion or a restore ids start at the mark that was recovered.
//!
//! Pure: the caller holds the lock of the page that stores the mark, tells what stands there and
//! what is flushed, and writes what it is told to.
//!
//! Once a second or so a caller comes to the ceiling and attends to the mark. In the steady state it
//! finds the raise that its predecessor wrote a second ago flushed by the WAL writer, and writes the
//! next one without waiting for it:
//!
//! ```text
//!   written      ................2000............3000............4000
//!   durable      2000............................3000............4000
//!   attention at 1000 (write)....2000 (flushed: write the next)..3000
//! ```

use crate::instant::UnixMs;

/// A raise puts the mark so many ms ahead of the clock: that is what a crash costs in time.
pub const LEAD: i64 = 2000;
/// A raise is due when less than this is left.
pub const EARLY: i64 = LEAD / 2;
/// How far the next raise leads, for a caller whose flush has taken `waited` ms: where flushes take
/// longer than a raise leads, as with a slow standby, ids would never catch up with the mark.
pub fn lead_after(waited: i64, most: i64) -> i64 {
    LEAD + (2 * waited).min(most)
}

/// Where ids already run ahead of the clock, a raise goes this much past them, lest a server that
/// crashes again and again gets ever further ahead.
pub const STEP: i64 = 250;

/// A mark as it stands in its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub mark: UnixMs,
    /// By someone who isn't a server: setval, also a restore's.
    pub by_hand: bool,
}

impl Stored {
    /// Whether someone has set it further ahead of the clock than a server does. Ids from there on
    /// would hold the shards up for all databases of the server, so none are made until the clock is
    /// near, or the mark is accepted; ids below it may be in what was restored with it.
    pub const fn is_far_ahead(self, now: UnixMs) -> bool {
        self.by_hand && self.mark.saturating_sub(now) > LEAD
    }

    /// Whether someone has set it lower than `written` by a server.
    pub const fn is_set_back(self, written: UnixMs) -> bool {
        self.by_hand && self.mark < written
    }
}

/// What a server knows of a database's mark. All zero: nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Ids lie at or above this: the mark that was found when the server started using it.
    pub floor: UnixMs,
    /// Ids lie below this: the greatest mark known to be on disk.
    pub durable: UnixMs,
    /// What was last written; more than `durable` while it is being flushed.
    pub written: UnixMs,
}

impl Mark {
    /// Takes note that all that was written is on disk.
    pub fn flushed(&mut self) {
        self.durable = self.written;
    }

    /// Sees to the mark for a caller that wants an id of `ms` and finds `page` stored, which isn't far
    /// ahead. Returns the mark to store, if one is due: `target`, the clock and a lead, or more.
    pub fn attend(&mut self, page: Stored, ms: UnixMs, target: UnixMs) -> Option<UnixMs> {
        if page.mark > self.written || page.by_hand {
            // The first look, or a restore has set it: what it holds may be above what is made here.
            self.floor = self.floor.max(page.mark);
        }
        // Someone has set it back, or the extension was created anew: what was durable isn't.
        let lost = page.mark < self.written;
        if lost {
            self.durable = 0;
        }
        self.written = self.written.max(page.mark);
        let due = self.durable.max(self.written) - ms <= EARLY;
        // One set by hand is taken over at once, as a server's.
        if due || lost || page.by_hand {
            self.written = self.written.max(target).max(ms + STEP);
            return Some(self.written);
        }
        None
    }

    /// Whether an id of `ms` may be given out.
    pub const fn covers(&self, ms: UnixMs) -> bool {
        ms < self.durable
    }

    /// From which time on the next caller shall attend again, after a caller with an id of `ms`.
    pub const fn ceiling(&self, ms: UnixMs) -> UnixMs {
        if self.written > self.durable || ms >= self.durable {
            self.durable
        } else {
            // Halfway: LEAD - EARLY after a raise, and soon enough where less was left.
            ms + (self.durable - ms + 1) / 2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const T: UnixMs = 1_800_000_000_000;

    #[test]
    fn a_raise_leads_further_after_a_slow_flush() {
        assert_eq!(lead_after(0, 60_000), LEAD);
        assert_eq!(lead_after(700, 60_000), LEAD + 1400);
        assert_eq!(lead_after(50_000, 60_000), LEAD + 60_000);
    }

    #[test]
    fn the_mark_that_is_found_is_the_floor() {
        let mut mark = Mark::default();
        mark.attend(Stored { mark: T + 500, by_hand: false }, T, T + LEAD);
        assert_eq!(mark.floor, T + 500, "a server's, at the first look");
        let (ms, written) = (mark.written - 1, mark.written);
        assert_eq!(mark.attend(Stored { mark: written, by_hand: false }, T, T), None);
        assert_eq!(mark.floor, T + 500, "its own is none");
        mark.attend(Stored { mark: ms, by_hand: true }, T, T + LEAD);
        assert_eq!(mark.floor, ms, "one set by hand, also a lower one");
    }

    #[test]
    fn the_next_attention_is_halfway_to_what_is_durable() {
        let mark = |left| Mark { floor: 0, durable: T + left, written: T + left };
        assert_eq!(mark(LEAD).ceiling(T), T + EARLY);
        assert_eq!(mark(1).ceiling(T), T + 1, "the last id is given");
        assert_eq!(mark(0).ceiling(T), T);
        assert_eq!(Mark { written: T + 9, ..mark(5) }.ceiling(T), T + 5, "while it is flushed");
    }

    #[test]
    fn a_mark_is_set_back_by_hand_alone() {
        let set = |mark, by_hand| Stored { mark, by_hand };
        assert!(set(T - 1, true).is_set_back(T));
        assert!(!set(T, true).is_set_back(T));
        assert!(!set(T + 1, true).is_set_back(T));
        assert!(!set(T - 1, false).is_set_back(T));
    }

    /// A server with a page, a disk, and callers that attend as backends do.
    #[derive(Default)]
    struct Server {
        mark: Mark,
        ceiling: UnixMs,
        page: UnixMs,
        by_hand: bool,
        disk: UnixMs,
        last: UnixMs,
        raises: u32,
        flush_waits: u32,
        /// How long a flush takes that a caller waits for.
        flush_ms: i64,
    }

    impl Server {
        /// One id; the time that it carries. An id below the floor or not covered is a bug.
        fn draw(&mut self, mut now: UnixMs) -> UnixMs {
            let mut lead = LEAD;
            loop {
                let ms = now.max(self.mark.floor).max(self.last);
                if ms < self.ceiling {
                    assert!(ms < self.disk, "an id of {ms} above the mark {} on disk", self.disk);
                    self.last = ms;
                    return ms;
                }
                if self.disk == self.page {
                    self.mark.flushed();
                }
                let page = Stored { mark: self.page, by_hand: self.by_hand };
                assert!(!page.is_far_ahead(now), "this is refused");
                if let Some(mark) = self.mark.attend(page, ms, now + lead) {
                    (self.page, self.by_hand) = (mark, false);
                    self.raises += 1;
                }
                self.ceiling = self.mark.ceiling(ms);
                if !self.mark.covers(ms) {
                    self.disk = self.page;
                    self.flush_waits += 1;
                    assert!(self.flush_waits < 100_000, "it never catches up with the mark");
                    now += self.flush_ms;
                    lead = lead_after(self.flush_ms, 60_000);
                }
            }
        }

        /// What setval does, where the next caller attends.
        fn set(&mut self, mark: UnixMs) {
            (self.page, self.disk, self.by_hand, self.ceiling) = (mark, mark, true, 0);
        }

        /// What the WAL writer does now and then.
        fn flush(&mut self) {
            self.disk = self.page;
        }

        fn crash(&mut self) {
            *self = Self { page: self.disk, disk: self.disk, ..Self::default() };
        }
    }

    #[test]
    fn first_id_of_a_new_database_waits_for_one_flush() {
        let mut server = Server::default();
        assert_eq!(server.draw(T), T);
        assert_eq!((server.raises, server.flush_waits, server.disk), (1, 1, T + LEAD));
    }

    #[test]
    fn steady_draws_raise_once_a_second_and_never_wait() {
        let mut server = Server::default();
        for i in 0..60_000 {
            assert_eq!(server.draw(T + i), T + i);
            if i % 200 == 0 {
                server.flush();
            }
        }
        assert_eq!(server.flush_waits, 1);
        assert!((58..=61).contains(&server.raises), "{}", server.raises);
    }

    #[test]
    fn idle_database_writes_nothing_and_waits_once_at_its_next_id() {
        let mut server = Server::default();
        server.draw(T);
        server.draw(T + 100_000);
        assert_eq!((server.raises, server.flush_waits), (2, 2));
    }

    #[test]
    fn crash_with_the_clock_set_back_starts_at_the_mark() {
        let mut server = Server::default();
        server.draw(T);
        let last = server.draw(T + 900);
        server.crash();
        let first = server.draw(T - 3_600_000);
        assert!(first >= T + LEAD && first > last);
    }

    #[test]
    fn crash_after_crash_runs_ahead_by_a_step_each_not_by_the_lead() {
        let mut server = Server::default();
        for _ in 0..20 {
            server.draw(T);
            server.crash();
        }
        assert!(server.draw(T) <= T + LEAD + 20 * STEP);
    }

    #[test]
    fn mark_set_by_a_restore_lifts_the_next_ids_also_where_a_greater_was_written() {
        for mark in [T + 500, T + LEAD] {
            let mut server = Server::default();
            server.draw(T);
            server.set(mark);
            assert_eq!(server.draw(T + 1), mark);
            assert!(
                !server.by_hand && server.page >= T + 1 + LEAD,
                "it is the server's from then on"
            );
            server.crash();
            assert!(server.draw(T - 10_000) > mark);
        }
    }

    #[test]
    fn mark_set_by_hand_is_refused_past_what_a_server_leads() {
        for (mark, far) in [(1, false), (T + LEAD, false), (T + LEAD + 1, true), (i64::MAX, true)] {
            assert_eq!(Stored { mark, by_hand: true }.is_far_ahead(T), far, "{mark}");
            assert!(!Stored { mark, by_hand: false }.is_far_ahead(T), "a server's own goes on");
        }
    }

    #[test]
    fn mark_set_lower_is_written_again_before_the_next_id() {
        let mut server = Server::default();
        server.draw(T);
        server.set(1);
        assert!(Stored { mark: 1, by_hand: true }.is_set_back(server.mark.written));
        let last = server.draw(T + 1);
        assert!(server.disk > last);
        server.crash();
        assert!(server.draw(T - 10_000) > last);
    }

    #[test]
    fn flush_slower_than_the_lead_still_yields_ids() {
        let mut server = Server { flush_ms: 3 * LEAD, ..Server::default() };
        assert_eq!(server.draw(T), T + 2 * server.flush_ms);
        assert_eq!(server.flush_waits, 2);
    }

    #[test]
    fn mark_years_ahead_is_not_raised() {
        let mut mark = Mark::default();
        let page = Stored { mark: T + 63_072_000_000, by_hand: false };
        assert_eq!(mark.attend(page, T, T + LEAD), None);
        assert_eq!(mark.floor, page.mark);
    }

    proptest! {
        /// `Server::draw` asserts that each id is covered by what is on disk.
        #[test]
        fn ids_after_any_crashes_are_above_all_before(
            story in prop::collection::vec((0u8..10, -5_000i64..5_000), 1..300),
        ) {
            let mut server = Server::default();
            let (mut now, mut greatest) = (T, 0);
            for (event, step) in story {
                match event {
                    0 => {
                        server.crash();
                        let first = server.draw(now);
                        prop_assert!(first > greatest, "{first} after {greatest}");
                    }
                    1 => server.flush(),
                    2 => {
                        // Anywhere that isn't refused; what it stands for is above it from then on.
                        let mark = now.min(now + step);
                        server.set(mark);
                        greatest = greatest.max(mark - 1);
                    }
                    _ => now += step / i64::from(event),
                }
                greatest = greatest.max(server.draw(now));
            }
        }
    }
}
