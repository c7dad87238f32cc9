use super::*;
use crate::layout::INSTAGRAM;
use proptest::prelude::*;

const T: UnixMs = 1_800_000_000_000;
const RULES: Rules = Rules {
    sequence_max: INSTAGRAM.sequence_max(),
    spread: 63,
    ahead_max: 60_000,
    oldest: 0,
    elapsed_max: T as u64 + 1_000_000_000_000,
    floor: 0,
    ceiling: T + 1_000_000_000_000,
};
const NO_SPREAD: Rules = Rules { spread: 0, ..RULES };

/// One shard driven along a clock trace.
struct Shard {
    last: Word,
    rules: Rules,
    regressions: u32,
}

impl Shard {
    fn new(rules: Rules) -> Self {
        Self { last: Word::default(), rules, regressions: 0 }
    }

    fn try_draw(
        &mut self,
        now: UnixMs,
        want: u32,
        outwaited: Option<UnixMs>,
    ) -> Result<Claim, Refusal> {
        let (claim, next) = step(self.last, now, want, outwaited, &self.rules)?;
        assert!(
            !self.last.reached(claim.ms, claim.first),
            "{claim:?} is not after {:?}",
            self.last
        );
        assert!(next.reached(claim.ms, claim.first + claim.count - 1));
        self.last = next;
        self.regressions += u32::from(claim.clock_regressed);
        Ok(claim)
    }

    fn draw(&mut self, now: UnixMs) -> Claim {
        self.try_draw(now, 1, None).unwrap()
    }

    /// As a caller does that waits out each full millisecond by real time alone.
    fn draw_paced(&mut self, now: UnixMs) -> (Claim, u32) {
        match self.try_draw(now, 1, None) {
            Err(Refusal::Full { ms }) => (self.try_draw(now, 1, Some(ms)).unwrap(), 1),
            other => (other.unwrap(), 0),
        }
    }
}

#[test]
fn clock_that_moves_on_opens_its_millisecond() {
    let mut shard = Shard::new(NO_SPREAD);
    assert_eq!(shard.draw(T), Claim { ms: T, first: 0, count: 1, clock_regressed: false });
    assert_eq!(shard.draw(T).first, 1);
    assert_eq!(shard.draw(T + 1), Claim { ms: T + 1, first: 0, count: 1, clock_regressed: false });
}

#[test]
fn full_millisecond_is_refused_until_the_clock_ticks() {
    let mut shard = Shard::new(NO_SPREAD);
    for sequence in 0..=1023 {
        assert_eq!(shard.draw(T).first, sequence);
    }
    let full = shard.last;
    assert_eq!(shard.try_draw(T, 1, None), Err(Refusal::Full { ms: T }));
    assert_eq!(shard.try_draw(T, 1, Some(T - 1)), Err(Refusal::Full { ms: T }));
    assert_eq!(shard.last, full);
    assert_eq!(shard.draw(T + 1).ms, T + 1);
}

#[test]
fn block_takes_what_the_millisecond_has_left() {
    let mut shard = Shard::new(NO_SPREAD);
    let claim = |ms, first, count| Claim { ms, first, count, clock_regressed: false };
    assert_eq!(shard.try_draw(T, 1000, None), Ok(claim(T, 0, 1000)));
    assert_eq!(shard.try_draw(T, 1000, None), Ok(claim(T, 1000, 24)));
    assert_eq!(shard.try_draw(T, 976, None), Err(Refusal::Full { ms: T }));
    assert_eq!(shard.try_draw(T + 1, u32::MAX, None), Ok(claim(T + 1, 0, 1024)));
}

#[test]
#[cfg_attr(miri, ignore = "statistics: hours under Miri")]
fn spread_costs_nothing_at_full_rate() {
    let mut shard = Shard::new(RULES);
    let counts: Vec<u32> =
        (0..100).map(|i| shard.try_draw(T + i, u32::MAX, None).unwrap().count).collect();
    assert!((961..=1024).contains(&counts[0]));
    assert!(counts[1..].iter().all(|&count| count == 1024));
}

/// How often each remainder of `n` is met where a shard draws `rate` ids in each of `ms` milliseconds,
/// or what there is left of them.
fn remainders(rules: Rules, rate: u32, ms: i64, n: usize) -> Vec<u32> {
    let mut shard = Shard::new(rules);
    let mut hits = vec![0u32; n];
    for now in (0..ms).flat_map(|i| std::iter::repeat_n(T + i, rate as usize)) {
        if let Ok(claim) = shard.try_draw(now, 1, None) {
            hits[claim.first as usize % n] += 1;
        }
    }
    hits
}

#[test]
fn busy_shard_loses_no_ids_to_the_spread() {
    let mut shard = Shard::new(RULES);
    shard.try_draw(T, u32::MAX, None).unwrap();
    for (i, used) in (1..).zip([576, 577, 800, 1000, 1023, 1024, 600]) {
        assert_eq!(shard.try_draw(T + i, used, None).unwrap().first, 0, "{used}");
    }
    assert_eq!(shard.try_draw(T + 8, 10, None).unwrap().first, 0);
    let starts: Vec<u32> =
        (9..20).map(|i| shard.try_draw(T + i, 10, None).unwrap().first).collect();
    assert!(starts.iter().any(|&first| first > 0), "a quiet one starts where it may: {starts:?}");
    shard.try_draw(T + 20, u32::MAX, None).unwrap();
    let starts: Vec<u32> = (11..22)
        .map(|i| {
            let first = shard.try_draw(T + 2 * i, u32::MAX, None).unwrap().first;
            assert!(first <= 63);
            first
        })
        .collect();
    assert!(starts.iter().any(|&first| first > 0), "so does one after a pause: {starts:?}");
}

#[test]
#[cfg_attr(miri, ignore = "statistics: hours under Miri")]
fn busy_shard_stays_even_to_an_eighth() {
    for rate in [130, 200, 300, 500, 570, 576, 580, 600, 639, 640, 700, 901, 1000, 1023] {
        for n in [2, 3, 7, 8, 16, 32, 63, 64] {
            let hits = remainders(RULES, rate, 300, n);
            let (least, most) = (*hits.iter().min().unwrap(), *hits.iter().max().unwrap());
            assert!(most * 8 <= least * 9 + 300, "{rate} a ms, modulo {n}: {least} to {most}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics: hours under Miri")]
fn spread_covers_every_remainder_evenly_at_any_regular_rate() {
    const DRAWS: u32 = 8000;
    for interval in [2, 3, 5, 7, 8, 10, 16, 50, 64, 100, 128, 250, 1000, 1024, 60_000] {
        let mut shard = Shard::new(RULES);
        for n in [2, 4, 8, 16, 32, 64] {
            let mut hits = vec![0u32; n];
            for i in 0..DRAWS {
                hits[shard.draw(T + i64::from(i) * interval).first as usize % n] += 1;
            }
            shard.last = Word::default();
            // Five standard deviations of a fair throw.
            let mean = f64::from(DRAWS) / n as f64;
            let slack = 5.0 * (mean * (1.0 - 1.0 / n as f64)).sqrt();
            for (remainder, &count) in hits.iter().enumerate() {
                assert!(
                    (f64::from(count) - mean).abs() <= slack,
                    "every {interval} ms: {remainder} of {n} was met {count} times, not {mean}"
                );
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics: hours under Miri")]
fn pairs_of_one_millisecond_each_meet_both_parities() {
    let mut shard = Shard::new(RULES);
    let (mut orders, mut items) = ([0, 0], [0, 0]);
    for i in 0..10_000 {
        orders[shard.draw(T + 2 * i).first as usize % 2] += 1;
        items[shard.draw(T + 2 * i).first as usize % 2] += 1;
    }
    for hits in [orders, items] {
        assert!(hits.iter().all(|&count| count > 4700), "{hits:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "statistics: hours under Miri")]
fn spread_reaches_its_bound_and_not_past_it() {
    for spread in [0, 1, 2, 6, 7, 63, 1023] {
        let mut shard = Shard::new(Rules { spread, ..RULES });
        let starts: Vec<u32> = (0..50_000).map(|i| shard.draw(T + 2 * i).first).collect();
        assert_eq!(starts.iter().min(), Some(&0));
        assert_eq!(starts.iter().max(), Some(&spread));
    }
}

#[test]
fn clock_steps_back_within_tolerance_ids_go_on_and_one_event_counts() {
    for back in [1, 5, 100, 5_000, 59_998] {
        let mut shard = Shard::new(NO_SPREAD);
        shard.draw(T);
        let waited: u32 = (0..3000).map(|_| shard.draw_paced(T - back).1).sum();
        // 1023 ids were left at T; each further 1024 took one wait.
        let opened = u32::try_from(shard.last.ms() - T).unwrap();
        assert_eq!(waited, opened);
        assert_eq!(opened, 2);
        assert_eq!(shard.regressions, 1);
        assert!(shard.last.ahead());
        shard.draw(T + 10);
        assert!(!shard.last.ahead());
        shard.draw(T + 9);
        assert_eq!(shard.regressions, 2, "a second step back is a second event");
    }
}

#[test]
fn clock_steps_back_past_tolerance_is_refused_and_changes_nothing() {
    let mut shard = Shard::new(NO_SPREAD);
    shard.draw(T);
    let before = shard.last;
    let now = T - 3_600_000;
    assert_eq!(shard.try_draw(now, 1, None), Err(Refusal::TooFarAhead { ms: T, now }));
    assert_eq!(shard.last, before);
    // Back at the very millisecond of the last id nothing repeats.
    assert_eq!(shard.draw(T), Claim { ms: T, first: 1, count: 1, clock_regressed: false });
}

#[test]
fn tolerance_ends_to_the_millisecond_and_zero_allows_none() {
    let mut shard = Shard::new(NO_SPREAD);
    shard.draw(T);
    assert!(shard.try_draw(T - 60_000, 1, None).is_ok());
    assert!(shard.try_draw(T - 60_001, 1, None).is_err());
    shard.rules.ahead_max = 0;
    assert!(shard.try_draw(T - 1, 1, None).is_err());
    assert!(shard.try_draw(T, 1, None).is_ok());
}

#[test]
fn full_millisecond_at_the_edge_of_tolerance_cannot_open_the_next() {
    let mut shard = Shard::new(Rules { ahead_max: 5, ..NO_SPREAD });
    shard.try_draw(T, u32::MAX, None).unwrap();
    let refused = shard.try_draw(T - 5, 1, Some(T));
    assert_eq!(refused, Err(Refusal::TooFarAhead { ms: T + 1, now: T - 5 }));
}

#[test]
fn leap_second_repeated_issues_no_id_twice() {
    let mut shard = Shard::new(RULES);
    for now in (T..T + 1000).chain(T..T + 2000) {
        shard.draw_paced(now);
    }
    assert_eq!(shard.regressions, 1);
    assert_eq!(shard.last.ms(), T + 1999);
}

#[test]
fn slewed_clock_that_crawls_or_races_keeps_ids_at_its_time() {
    let mut shard = Shard::new(NO_SPREAD);
    for i in 0..10_000 {
        // 500 ppm slow, then 500 ppm fast.
        let real = 10_000 * i;
        let wall =
            if i < 5000 { real - real / 2000 } else { real - 5000 + (real - 50_000_000) / 2000 };
        let now = T + wall / 1000;
        assert_eq!(shard.draw(now).ms, now);
    }
    assert_eq!(shard.regressions, 0);
}

#[test]
fn suspended_machine_goes_on_at_the_clock() {
    let mut shard = Shard::new(RULES);
    shard.draw(T);
    let woken = T + 30 * 24 * 3_600_000;
    assert_eq!(shard.draw(woken).ms, woken);
    assert_eq!(shard.regressions, 0);
}

#[test]
fn epoch_ends_to_the_millisecond() {
    let mut shard = Shard::new(Rules { oldest: T, elapsed_max: 1, ..NO_SPREAD });
    assert_eq!(shard.try_draw(T - 1, 1, None), Err(Refusal::BeforeEpoch));
    assert_eq!(shard.last, Word::default());
    assert!(shard.try_draw(T, 1, None).is_ok());
    assert!(shard.try_draw(T + 1, 1024, None).is_ok());
    assert_eq!(shard.try_draw(T + 1, 1, Some(T + 1)), Err(Refusal::Exhausted));
    assert_eq!(shard.try_draw(T + 2, 1, None), Err(Refusal::Exhausted));
}

#[test]
fn floor_ahead_of_the_clock_starts_there_and_is_no_clock_regression() {
    let mut shard = Shard::new(Rules { floor: T + 2000, ..NO_SPREAD });
    assert_eq!(shard.draw(T).ms, T + 2000);
    assert_eq!(
        shard.draw(T + 1),
        Claim { ms: T + 2000, first: 1, count: 1, clock_regressed: false }
    );
    assert_eq!(shard.draw(T + 2001).ms, T + 2001);
    assert_eq!(shard.regressions, 0);
}

#[test]
fn floor_of_another_database_lifts_a_shard_that_is_in_use() {
    let mut shard = Shard::new(NO_SPREAD);
    shard.draw(T);
    shard.rules.floor = T + 50;
    assert_eq!(shard.draw(T + 1).ms, T + 50);
    shard.rules.floor = 0;
    assert_eq!(shard.draw(T + 2), Claim { ms: T + 50, first: 1, count: 1, clock_regressed: false });
    assert_eq!(shard.regressions, 0);
}

#[test]
fn ceiling_is_never_reached() {
    let mut shard = Shard::new(Rules { ceiling: T + 1, ..NO_SPREAD });
    shard.try_draw(T, u32::MAX, None).unwrap();
    let full = shard.last;
    assert_eq!(shard.try_draw(T + 1, 1, None), Err(Refusal::AtCeiling { ms: T + 1 }));
    assert_eq!(shard.try_draw(T, 1, Some(T)), Err(Refusal::AtCeiling { ms: T + 1 }));
    assert_eq!(shard.last, full);
}

#[test]
fn floor_further_ahead_than_tolerated_is_refused() {
    let mut shard = Shard::new(Rules { floor: T + 60_001, ceiling: 0, ..NO_SPREAD });
    let refused = Refusal::TooFarAhead { ms: T + 60_001, now: T };
    assert_eq!(shard.try_draw(T, 1, None), Err(refused));
}

#[test]
fn word_keeps_its_four_parts_apart() {
    for (ms, sequence, ahead) in [(0, 0, false), (T, 4095, true), ((1 << 48) - 1, 0x3fff, false)] {
        let word = Word::new(ms, sequence, ahead);
        for (word, sealed) in [(word, false), (word.with_seal(), true)] {
            assert_eq!((word.ms(), word.sequence(), word.ahead()), (ms, sequence, ahead));
            assert_eq!(word.is_sealed(), sealed);
            assert_eq!(word.without_seal(), Word::new(ms, sequence, ahead));
        }
    }
}

proptest! {
    /// Whatever the clock does: `Shard::try_draw` asserts that each claim lies after the last one.
    #[test]
    fn any_clock_and_any_block_only_ever_increase(
        trace in prop::collection::vec((-70_000i64..70_000, 1u32..2000, any::<bool>()), 1..200),
        spread in 0u32..1024,
    ) {
        let mut shard = Shard::new(Rules { spread, ..RULES });
        let mut now = T;
        for (step, want, waits) in trace {
            now += step;
            let before = shard.last;
            match shard.try_draw(now, want, None) {
                Ok(claim) => prop_assert!(claim.ms >= now && claim.ms <= now + 60_000),
                Err(refusal) => {
                    prop_assert_eq!(shard.last, before);
                    if let (Refusal::Full { ms }, true) = (refusal, waits) {
                        let _ = shard.try_draw(now, want, Some(ms));
                    }
                }
            }
        }
    }
}
