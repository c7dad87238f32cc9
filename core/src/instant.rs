//! Instants: Unix milliseconds (what ids count) against PostgreSQL's timestamptz (microseconds since
//! 2000-01-01 00:00:00 UTC, see `datatype/timestamp.h`). Integers only.

/// Milliseconds since 1970-01-01 00:00:00 UTC, without leap seconds.
pub type UnixMs = i64;
/// A timestamptz: microseconds since 2000-01-01 00:00:00 UTC.
pub type PgMicros = i64;

/// timestamptz `infinity` and `-infinity`.
pub const INFINITY: PgMicros = i64::MAX;
pub const MINUS_INFINITY: PgMicros = i64::MIN;

/// 2000-01-01 00:00:00 UTC.
const POSTGRES_EPOCH: UnixMs = 946_684_800_000;
/// The first and the first too great of PostgreSQL's finite instants (4714-11-24 BC, 294277 AD).
const PG_FIRST: PgMicros = -211_813_488_000_000_000;
const PG_END: PgMicros = 9_223_371_331_200_000_000;

/// The instant that an id's milliseconds are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(UnixMs);

/// Why an instant cannot serve as an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEpoch {
    Infinite,
    /// Ids count whole milliseconds, so an epoch between two of them would shift every instant.
    Fraction,
}

/// Default of the Instagram layout here: 2011-01-01 00:00:00 UTC.
pub const INSTAGRAM_EPOCH: Epoch = Epoch(1_293_840_000_000);
/// Twitter's: 2010-11-04 01:42:54.657 UTC.
pub const TWITTER_EPOCH: Epoch = Epoch(1_288_834_974_657);

impl Epoch {
    /// An epoch from a timestamptz, which must be finite and a whole millisecond.
    #[inline]
    pub const fn new(instant: PgMicros) -> Result<Self, BadEpoch> {
        if instant == INFINITY || instant == MINUS_INFINITY {
            Err(BadEpoch::Infinite)
        } else if instant % 1000 != 0 {
            Err(BadEpoch::Fraction)
        } else {
            Ok(Self(unix_ms(instant)))
        }
    }

    #[inline]
    pub const fn unix_ms(self) -> UnixMs {
        self.0
    }

    /// The millisecond so many after the epoch.
    #[inline]
    pub const fn plus(self, elapsed: u64) -> UnixMs {
        // At most 2^42 ms of elapsed time and 2^53 ms of epoch: no overflow.
        self.0 + elapsed as i64
    }

    /// The instant so many milliseconds after the epoch; None where timestamptz ends.
    #[inline]
    pub const fn instant(self, elapsed: u64) -> Option<PgMicros> {
        pg_micros(self.plus(elapsed))
    }

    /// Whole milliseconds from the epoch to a finite instant, negative before it.
    #[inline]
    pub const fn elapsed(self, instant: PgMicros) -> i64 {
        unix_ms(instant) - self.0
    }
}

/// The millisecond that a finite instant lies in.
#[inline]
pub const fn unix_ms(instant: PgMicros) -> UnixMs {
    instant.div_euclid(1000) + POSTGRES_EPOCH
}

/// The first instant of a millisecond; None where timestamptz ends.
#[inline]
pub const fn pg_micros(ms: UnixMs) -> Option<PgMicros> {
    match (ms - POSTGRES_EPOCH).checked_mul(1000) {
        Some(micros) => finite(micros),
        None => None,
    }
}

/// Microseconds as a finite instant; None where timestamptz ends.
#[inline]
pub const fn finite(micros: i64) -> Option<PgMicros> {
    if PG_FIRST <= micros && micros < PG_END { Some(micros) } else { None }
}

/// Writes a millisecond as UTC, whatever TimeZone and DateStyle say: `2026-01-01 00:00:00.000+00`.
pub struct Utc(pub UnixMs);

impl std::fmt::Display for Utc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DAY: i64 = 86_400_000;
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let ms = self.0.rem_euclid(DAY);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
        let fraction = ms % 1000;
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:03}+00{era}"
        )
    }
}

/// The proleptic Gregorian date of a day since 1970-01-01: Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms". Its years begin in March and its cycle of 400 years has 146,097 days.
const fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (cycle, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * cycle + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_before_2000_round_down_too() {
        assert_eq!(unix_ms(0), POSTGRES_EPOCH);
        assert_eq!(unix_ms(999), POSTGRES_EPOCH);
        assert_eq!(unix_ms(-1), POSTGRES_EPOCH - 1);
        assert_eq!(unix_ms(-1000), POSTGRES_EPOCH - 1);
        assert_eq!(unix_ms(-1001), POSTGRES_EPOCH - 2);
    }

    #[test]
    fn an_epoch_is_finite_and_a_whole_millisecond() {
        assert_eq!(Epoch::new(INFINITY), Err(BadEpoch::Infinite));
        assert_eq!(Epoch::new(MINUS_INFINITY), Err(BadEpoch::Infinite));
        assert_eq!(Epoch::new(1), Err(BadEpoch::Fraction));
        assert_eq!(Epoch::new(-999), Err(BadEpoch::Fraction));
        assert_eq!(Epoch::new(0), Ok(Epoch(POSTGRES_EPOCH)));
    }

    #[test]
    fn timestamptz_ends_before_the_ids_of_the_last_epoch_do() {
        let last = Epoch::new(PG_END - 1000).unwrap();
        assert_eq!(last.instant(0), Some(PG_END - 1000));
        assert_eq!(last.instant(1), None);
        assert_eq!(last.instant((1 << 42) - 1), None);
        let first = Epoch::new(PG_FIRST).unwrap();
        assert_eq!(first.instant(0), Some(PG_FIRST));
        assert_eq!(first.elapsed(PG_FIRST + 999), 0);
    }

    #[test]
    fn utc_is_written_as_postgres_writes_it() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00.000+00"),
            (-1, "1969-12-31 23:59:59.999+00"),
            (INSTAGRAM_EPOCH.0, "2011-01-01 00:00:00.000+00"),
            (TWITTER_EPOCH.0, "2010-11-04 01:42:54.657+00"),
            (951_782_400_000, "2000-02-29 00:00:00.000+00"),
            (4_107_542_400_000, "2100-03-01 00:00:00.000+00"),
            (unix_ms(PG_FIRST), "4714-11-24 00:00:00.000+00 BC"),
            (unix_ms(PG_END - 1), "294276-12-31 23:59:59.999+00"),
        ] {
            assert_eq!(Utc(ms).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn an_instant_lies_in_its_millisecond(instant in PG_FIRST..PG_END) {
            let start = pg_micros(unix_ms(instant)).unwrap();
            prop_assert!(start <= instant && instant - start < 1000);
        }

        #[test]
        fn elapsed_undoes_instant(elapsed in 0u64..1 << 42, epoch in -4_000_000_000_000i64..4_000_000_000_000) {
            let epoch = Epoch(epoch);
            prop_assert_eq!(epoch.elapsed(epoch.instant(elapsed).unwrap()), elapsed as i64);
        }
    }
}
