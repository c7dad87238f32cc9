//! Comparisons of an id's time as ranges of ids: `id_timestamp(id) >= t` holds for the ids from the
//! first of t's millisecond on.
//!
//! Times order ids as unsigned numbers, a bigint orders them as signed ones: there the ids with the
//! sign bit, whose times are the latest, come first. [`Ids`] counts unsigned, [`Ids::signed`] says
//! what that is for a bigint.

use crate::instant::{Epoch, INFINITY, MINUS_INFINITY, PgMicros, unix_ms};
use crate::layout::{Fields, Layout};

/// How a time is compared with an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Before,
    Until,
    At,
    From,
    After,
}

impl Comparison {
    /// The same comparison with its sides exchanged.
    pub const fn swapped(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::Until => Self::From,
            Self::At => Self::At,
            Self::From => Self::Until,
            Self::After => Self::Before,
        }
    }
}

/// One more than the greatest id, and the first id whose sign bit is set.
const END: u128 = 1 << 64;
const SIGN: u128 = 1 << 63;

/// The ids from `start` to before `end`, read as unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    start: u128,
    end: u128,
}

/// Ranges of a bigint. A bound that is None is not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// `id >= from AND id < below`
    Within { from: Option<i64>, below: Option<i64> },
    /// `id >= from OR id < below`
    Without { from: i64, below: i64 },
}

impl Ids {
    pub const ALL: Self = Self { start: 0, end: END };

    /// The ids whose time compares so with an instant, infinite ones included.
    pub fn of(comparison: Comparison, instant: PgMicros, epoch: Epoch, layout: Layout) -> Self {
        let from = |instant| first(instant, false, epoch, layout);
        let after = |instant| first(instant, true, epoch, layout);
        match comparison {
            Comparison::Before => Self { start: 0, end: from(instant) },
            Comparison::Until => Self { start: 0, end: after(instant) },
            Comparison::At => Self { start: from(instant), end: after(instant) },
            Comparison::From => Self { start: from(instant), end: END },
            Comparison::After => Self { start: after(instant), end: END },
        }
    }

    /// The ids of both.
    pub fn and(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// Whether none has the sign bit.
    pub fn positive(self) -> bool {
        self.end <= SIGN || self.start >= self.end
    }

    /// The id right before these, if they are those from some positive one on.
    pub fn before(self) -> Option<i64> {
        (0 < self.start && self.start <= SIGN && self.end == END)
            .then(|| (self.start as i128 - 1) as i64)
    }

    /// As ranges of a bigint, which `positive` says to be none below 0.
    pub fn signed(self, positive: bool) -> Signed {
        let all = if positive { Self { start: 0, end: SIGN } } else { Self::ALL };
        let ids = self.and(all);
        if ids.start >= ids.end {
            // Contradictory on purpose.
            return Signed::Within { from: Some(0), below: Some(0) };
        }
        if ids == all {
            return Signed::Within { from: None, below: None };
        }
        if ids.start < SIGN && SIGN < ids.end {
            return Signed::Without { from: ids.start as i64, below: below(ids.end) };
        }
        // The least bigint and the greatest are no bounds.
        let least = if positive { 0 } else { SIGN };
        Signed::Within {
            from: (ids.start != least).then_some(ids.start as i64),
            below: (ids.end != SIGN).then(|| below(ids.end)),
        }
    }
}

/// An end as a bigint; ids with the sign bit end before 0.
const fn below(end: u128) -> i64 {
    end as u64 as i64
}

/// The least id whose time isn't before the instant, or is after it; [`END`] if there is none.
fn first(instant: PgMicros, after: bool, epoch: Epoch, layout: Layout) -> u128 {
    if instant == INFINITY || instant == MINUS_INFINITY {
        return if instant == INFINITY { END } else { 0 };
    }
    // Ids have whole milliseconds: the next one, or this one if the instant is its beginning.
    let ms = 1 + if after { unix_ms(instant) } else { unix_ms(instant - 1) };
    match u64::try_from(ms - epoch.unix_ms()) {
        Err(_) => 0,
        Ok(elapsed) if elapsed > layout.elapsed(u64::MAX) => END,
        Ok(elapsed) => layout.pack(Fields { elapsed, node: 0, sequence: 0 }).into(),
    }
}

/// The greatest positive id whose time is before the instant, or up to it; -1 if there is none.
pub fn last(instant: PgMicros, inclusive: bool, epoch: Epoch, layout: Layout) -> i64 {
    (first(instant, inclusive, epoch, layout).min(SIGN) as i128 - 1) as i64
}

/// For ids whose times lie between two instants, those of [`last`] before the first and of `last`
/// before or up to the second: where they begin as a bigint. Where the second lies beyond the
/// positive ids, those with the sign bit can be among them, which come first.
pub fn start(before: i64, last: i64) -> i64 {
    if last == i64::MAX { i64::MIN } else { before.saturating_add(1) }
}

/// Whether all ids have a time that a timestamptz can hold.
pub fn decodable(epoch: Epoch, layout: Layout) -> bool {
    epoch.instant(layout.elapsed(u64::MAX)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::{INSTAGRAM_EPOCH, TWITTER_EPOCH};
    use crate::layout::{INSTAGRAM, TWITTER};
    use proptest::prelude::*;

    const COMPARISONS: [Comparison; 5] = [
        Comparison::Before,
        Comparison::Until,
        Comparison::At,
        Comparison::From,
        Comparison::After,
    ];
    const LAYOUTS: [(Layout, Epoch); 2] = [(INSTAGRAM, INSTAGRAM_EPOCH), (TWITTER, TWITTER_EPOCH)];

    fn time(id: i64, epoch: Epoch, layout: Layout) -> PgMicros {
        epoch.instant(layout.elapsed(id as u64)).unwrap()
    }

    fn holds(comparison: Comparison, time: PgMicros, instant: PgMicros) -> bool {
        match comparison {
            Comparison::Before => time < instant,
            Comparison::Until => time <= instant,
            Comparison::At => time == instant,
            Comparison::From => time >= instant,
            Comparison::After => time > instant,
        }
    }

    fn contains(signed: Signed, id: i64) -> bool {
        match signed {
            Signed::Within { from, below } => {
                from.is_none_or(|from| id >= from) && below.is_none_or(|below| id < below)
            }
            Signed::Without { from, below } => id >= from || id < below,
        }
    }

    #[test]
    fn ids_up_to_an_instant_of_positive_ones_are_positive() {
        let ids = |comparison| Ids::of(comparison, 0, Epoch::new(0).unwrap(), INSTAGRAM);
        assert!(ids(Comparison::Before).positive(), "there are none");
        assert!(ids(Comparison::Until).positive());
        assert!(ids(Comparison::At).positive());
        assert!(!ids(Comparison::From).positive());
        assert!(!Ids::ALL.positive());
        assert!(Ids { start: 0, end: SIGN }.positive());
        assert!(!Ids { start: 0, end: SIGN + 1 }.positive());
    }

    /// Whatever is said about one comparison, for one id.
    fn check(comparison: Comparison, instant: PgMicros, id: i64, epoch: Epoch, layout: Layout) {
        let time = time(id, epoch, layout);
        let expected = holds(comparison, time, instant);
        let ids = Ids::of(comparison, instant, epoch, layout);
        let what = format!("{id} {comparison:?} {instant}");
        assert_eq!(contains(ids.signed(false), id), expected, "{what}");
        assert_eq!(holds(comparison.swapped(), instant, time), expected, "{what}");
        if ids.positive() {
            assert!(!(expected && id < 0), "{what}");
        }
        if id >= 0 {
            assert_eq!(contains(ids.signed(true), id), expected, "{what}");
            let (before, until) =
                (last(instant, false, epoch, layout), last(instant, true, epoch, layout));
            assert_eq!(id <= before, time < instant, "{what}");
            assert_eq!(id <= until, time <= instant, "{what}");
        }
    }

    /// The instants around a millisecond, and those at the ends.
    fn around(instant: PgMicros) -> [PgMicros; 9] {
        let ms = instant.div_euclid(1000) * 1000;
        [instant, ms - 1, ms, ms + 1, ms + 999, ms + 1000, ms + 1001, INFINITY, MINUS_INFINITY]
    }

    #[test]
    #[cfg_attr(miri, ignore = "all pairs of limits: hours under Miri")]
    fn a_comparison_holds_for_the_ids_of_its_range_at_all_limits() {
        for (layout, epoch) in LAYOUTS {
            let second = layout.pack(Fields { elapsed: 1, node: 0, sequence: 0 }) as i64;
            let mut limits = vec![];
            for id in [0, second, i64::MIN, i64::MAX, -1] {
                limits.extend([-1, 0, 1].map(|step| id.wrapping_add(step)));
                limits.extend([-1, 0, 1].map(|step| id.wrapping_add(second).wrapping_add(step)));
                limits.extend([-1, 0, 1].map(|step| id.wrapping_sub(second).wrapping_add(step)));
            }
            for &of in &limits {
                for instant in around(time(of, epoch, layout)) {
                    for comparison in COMPARISONS {
                        for &id in &limits {
                            check(comparison, instant, id, epoch, layout);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ranges_are_as_short_as_they_can_be() {
        let of = |comparison, instant| Ids::of(comparison, instant, INSTAGRAM_EPOCH, INSTAGRAM);
        let within = |from, below| Signed::Within { from, below };
        let ms = |n: u64| INSTAGRAM_EPOCH.instant(n).unwrap();
        let all = within(None, None);
        // From the epoch on, and up to infinity.
        assert_eq!(of(Comparison::From, ms(0)).signed(false), all);
        assert_eq!(of(Comparison::From, MINUS_INFINITY).signed(false), all);
        assert_eq!(of(Comparison::Before, INFINITY).signed(false), all);
        assert_eq!(of(Comparison::Before, INFINITY).signed(true), all);
        // None
        let none = within(Some(0), Some(0));
        assert_eq!(of(Comparison::Before, ms(0)).signed(false), none);
        assert_eq!(of(Comparison::From, INFINITY).signed(true), none);
        assert_eq!(of(Comparison::At, ms(1) + 1).signed(false), none);
        // One or two bounds
        let (from, before) = (of(Comparison::From, ms(1)), of(Comparison::Before, ms(2)));
        assert_eq!(from.signed(false), Signed::Without { from: 1 << 23, below: 0 });
        assert_eq!(from.signed(true), within(Some(1 << 23), None));
        assert_eq!(before.signed(false), within(Some(0), Some(2 << 23)));
        assert_eq!(before.signed(true), within(None, Some(2 << 23)));
        for positive in [false, true] {
            assert_eq!(from.and(before).signed(positive), within(Some(1 << 23), Some(2 << 23)));
        }
        for (ids, before) in
            [(Ids::ALL, None), (from, Some((1 << 23) - 1)), (from.and(before), None)]
        {
            assert_eq!(ids.before(), before);
        }
        // The last positive millisecond, and the first past it
        let last = INSTAGRAM.elapsed_max();
        assert_eq!(of(Comparison::Until, ms(last)).signed(false), within(Some(0), None));
        assert_eq!(of(Comparison::Until, ms(last)).signed(true), all);
        assert_eq!(of(Comparison::After, ms(last)).signed(false), within(None, Some(0)));
        assert_eq!(of(Comparison::After, ms(last)).signed(true), none);
        let past = i64::MIN + (1 << 23);
        assert_eq!(of(Comparison::At, ms(last + 1)).signed(false), within(None, Some(past)));
        let until = of(Comparison::Until, ms(last + 1));
        assert_eq!(until.signed(false), Signed::Without { from: 0, below: past });
        assert_eq!(from.and(until).signed(false), Signed::Without { from: 1 << 23, below: past });
    }

    #[test]
    fn an_epoch_near_the_end_of_timestamptz_has_ids_without_a_time() {
        assert!(LAYOUTS.iter().all(|&(layout, epoch)| decodable(epoch, layout)));
        let late = Epoch::new(9_223_371_331_199_999_000).unwrap();
        assert!(!decodable(late, INSTAGRAM) && !decodable(late, TWITTER));
    }

    proptest! {
        #[test]
        fn a_comparison_holds_for_the_ids_of_its_range(
            id: i64, other: i64, offset in -3000i64..3000, epoch in -4_000_000_000_000i64..4_000_000_000_000,
        ) {
            let epoch = Epoch::new(epoch * 1000).unwrap();
            for layout in [INSTAGRAM, TWITTER] {
                for of in [id, other] {
                    for instant in around(time(of, epoch, layout) + offset) {
                        for comparison in COMPARISONS {
                            check(comparison, instant, id, epoch, layout);
                        }
                    }
                }
            }
        }

        #[test]
        fn two_comparisons_hold_for_the_ids_of_both(
            id: i64, near in -20_000_000i64..20_000_000, far: i64, a in -3000i64..3000, b in -3000i64..3000,
        ) {
            for (layout, epoch) in LAYOUTS {
                let at = time(id, epoch, layout);
                for (first, second) in [
                    (time(id.wrapping_sub(near.abs()), epoch, layout) + a, time(id.wrapping_add(near.abs()), epoch, layout) + b),
                    (at + a, time(far, epoch, layout) + b),
                    (time(far, epoch, layout) + b, at + a),
                ] {
                    let of = |comparison, instant| Ids::of(comparison, instant, epoch, layout);
                    let ids = of(Comparison::From, first).and(of(Comparison::Before, second));
                    let expected = first <= at && at < second;
                    prop_assert_eq!(contains(ids.signed(false), id), expected);
                    if expected {
                        prop_assert!(id >= 0 || !ids.positive());
                        // What bounds known only at run time come to.
                        let (before, last) = (last(first, false, epoch, layout), last(second, false, epoch, layout));
                        prop_assert!(start(before, last) <= id && id <= last);
                        prop_assert!(id > before || id < 0);
                    }
                }
            }
        }
    }
}
