//! Every interleaving of two or three callers on one cell, with a clock that moves while they run.
//! Run with: RUSTFLAGS="--cfg loom" cargo test -p snowid-core --release --test loom
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use snowid_core::cell::Cell;
use snowid_core::step::{Claim, Refusal, Rules};

const T: i64 = 1_800_000_000_000;

/// A tiny layout, so that milliseconds fill up within the model.
const RULES: Rules = Rules {
    sequence_max: 1,
    spread: 0,
    ahead_max: 100,
    oldest: 0,
    elapsed_max: T as u64 + 1000,
    floor: 0,
    ceiling: T + 1000,
};

fn clock_at(clock: &AtomicU64) -> impl Fn() -> i64 + '_ {
    || clock.load(Ordering::SeqCst) as i64
}

/// One caller: draws, waiting out a full millisecond as a backend does.
fn draw(cell: &Cell, clock: &AtomicU64, draws: u32, want: u32) -> Vec<(i64, u32)> {
    let mut ids = Vec::new();
    for _ in 0..draws {
        let claim = match cell.draw(want, clock_at(clock), None, || RULES) {
            Err(Refusal::Full { ms }) => cell.draw(want, clock_at(clock), Some(ms), || RULES),
            other => other,
        };
        // A second caller may have filled the next millisecond meanwhile: that caller waits again.
        if let Ok(Claim { ms, first, count, .. }) = claim {
            ids.extend((first..first + count).map(|sequence| (ms, sequence)));
        }
    }
    ids
}

fn assert_distinct_and_ordered(callers: Vec<Vec<(i64, u32)>>) {
    for ids in &callers {
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "not increasing: {ids:?}");
    }
    let mut all = callers.concat();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "repeated: {all:?}");
}

/// `preemptions` bounds how often the model takes the processor from a running caller; None tries
/// every interleaving there is.
struct Case {
    callers: usize,
    draws: u32,
    want: u32,
    /// The clock changes to this while the callers run.
    tick: Option<i64>,
    preemptions: Option<usize>,
}

fn check(case: Case) {
    let Case { callers, draws, want, tick, preemptions } = case;
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let cell = Arc::new(Cell::default());
        let clock = Arc::new(AtomicU64::new(T as u64));
        let handles: Vec<_> = (0..callers)
            .map(|_| {
                let (cell, clock) = (cell.clone(), clock.clone());
                thread::spawn(move || draw(&cell, &clock, draws, want))
            })
            .collect();
        if let Some(now) = tick {
            clock.store(now as u64, Ordering::SeqCst);
        }
        assert_distinct_and_ordered(handles.into_iter().map(|h| h.join().unwrap()).collect());
    });
}

#[test]
fn two_callers_while_the_clock_stands() {
    check(Case { callers: 2, draws: 2, want: 1, tick: None, preemptions: None });
}

#[test]
fn two_callers_while_the_clock_moves_on() {
    check(Case { callers: 2, draws: 1, want: 1, tick: Some(T + 1), preemptions: None });
}

#[test]
fn two_callers_while_the_clock_steps_back() {
    check(Case { callers: 2, draws: 1, want: 1, tick: Some(T - 5), preemptions: None });
}

#[test]
fn two_callers_that_fill_milliseconds_while_the_clock_steps_back() {
    check(Case { callers: 2, draws: 2, want: 1, tick: Some(T - 5), preemptions: Some(3) });
}

#[test]
fn two_blocks_while_the_clock_steps_back() {
    check(Case { callers: 2, draws: 1, want: 2, tick: Some(T - 5), preemptions: None });
}

#[test]
fn three_callers_while_the_clock_stands() {
    check(Case { callers: 3, draws: 1, want: 1, tick: None, preemptions: Some(3) });
}

#[test]
fn three_callers_while_the_clock_steps_back() {
    check(Case { callers: 3, draws: 1, want: 1, tick: Some(T - 5), preemptions: Some(2) });
}

#[test]
fn ids_after_an_advance_are_greater_than_it() {
    loom::model(|| {
        let cell = Arc::new(Cell::default());
        let other = cell.clone();
        let advance = thread::spawn(move || other.advance(T + 2, 1, T));
        let early = cell.draw(1, || T, None, || RULES);
        advance.join().unwrap();
        let late = cell.draw(1, || T + 2, Some(T + 2), || RULES).unwrap();
        assert!(late.ms == T + 3, "{late:?}");
        assert!(early.map_or(true, |claim| claim.ms < late.ms));
        assert_eq!(cell.last().ms(), T + 3);
    });
}

#[test]
fn a_draw_that_has_begun_stays_below_the_seal_and_what_comes_after_it_above_the_last_id() {
    loom::model(|| {
        let cell = Arc::new(Cell::default());
        let other = cell.clone();
        let begun =
            thread::spawn(move || other.draw(1, || T, None, || Rules { ceiling: T + 50, ..RULES }));
        let last = cell.seal(T + 50, 1, T);
        cell.unseal(last.ms().max(T), 1, T);
        let begun = begun.join().unwrap();
        let late = cell.draw(1, || T + 2, None, || RULES).unwrap();
        assert!(late.ms == T + 2, "{late:?}");
        // It was counted, or it came after the seal was taken back.
        assert!(begun.is_ok_and(|claim| claim.ms == last.ms() || claim.ms > T) || begun.is_err());
    });
}
