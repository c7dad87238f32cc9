//! What the parts of a draw cost, without PostgreSQL: a line of benches/report.py's samples each.
//! The least ns a call of 200 short stretches of each part, taken in turn: all above it is noise.

use snowid_core::cell::Cell;
use snowid_core::instant::UnixMs;
use snowid_core::layout::INSTAGRAM;
use snowid_core::step::{Rules, Word, step};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const CALLS: u32 = 2000;

fn main() {
    let rules = Rules {
        sequence_max: INSTAGRAM.sequence_max(),
        spread: 63,
        ahead_max: 60_000,
        oldest: 0,
        elapsed_max: UnixMs::MAX as u64,
        floor: 0,
        ceiling: UnixMs::MAX,
    };
    let cells: Vec<Cell> = (0..8192).map(|_| Cell::default()).collect();
    let word = AtomicU64::new(0);
    let (mut next, time) = (0, unix_ms());
    let mut parts: [(&str, f64, &mut dyn FnMut()); 5] = [
        ("clock", f64::MAX, &mut || {
            black_box(unix_ms());
        }),
        ("step, same millisecond", f64::MAX, &mut || {
            let last = black_box(Word::new(time, 7, false));
            let _ = black_box(step(last, black_box(time), 1, None, black_box(&rules)));
        }),
        ("step, new millisecond", f64::MAX, &mut || {
            let last = black_box(Word::new(time - 5, 7, false));
            let _ = black_box(step(last, black_box(time), 1, None, black_box(&rules)));
        }),
        ("swap", f64::MAX, &mut || {
            let last = black_box(&word).load(Ordering::Acquire);
            let _ = word.compare_exchange_weak(last, last + 1, Ordering::AcqRel, Ordering::Relaxed);
        }),
        ("draw", f64::MAX, &mut || {
            next = (next + 1) % cells.len();
            let _ = black_box(cells[next].draw(1, unix_ms, None, || black_box(rules)));
        }),
    ];
    for _ in 0..200 {
        for (_, least, part) in &mut parts {
            let start = Instant::now();
            for _ in 0..CALLS {
                part();
            }
            *least = least.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
        }
    }
    for (name, least, _) in parts {
        println!("part,\"{name}\",,{least:.2}");
    }
}

fn unix_ms() -> UnixMs {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as UnixMs)
}
