//! The system's clocks, through libc (whose vDSO makes a reading cost some 20 ns).
#![allow(unsafe_code)]

use snowid_core::instant::UnixMs;

/// The wall clock in ms since 1970; a clock before 1970 reads 0.
#[inline]
pub fn unix_ms() -> UnixMs {
    let now = read(libc::CLOCK_REALTIME);
    // Below 10^9: dividing it as 32 bits is 2 of some 30 ns cheaper.
    (now.tv_sec * 1000 + i64::from(now.tv_nsec as u32 / 1_000_000)).max(0)
}

/// The wall clock in ns since 1970.
pub fn unix_ns() -> i64 {
    let now = read(libc::CLOCK_REALTIME);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Nanoseconds of a clock that nobody sets.
pub fn monotonic_ns() -> u64 {
    let now = read(libc::CLOCK_MONOTONIC);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Milliseconds since boot, time suspended included.
pub fn boot_ms() -> i64 {
    let now = read(libc::CLOCK_BOOTTIME);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// Sleeps so long, at most a second, or until a signal comes. The kernel may let sleepers oversleep,
/// by 50 us unless told otherwise: more than it takes to make a millisecond's ids, so it is told.
pub fn sleep_ns(ns: u64) {
    const AS_IT_WAS: libc::c_ulong = 0;
    let time = libc::timespec { tv_sec: 0, tv_nsec: ns.min(999_999_999) as libc::c_long };
    // SAFETY: the argument is a valid timespec; the time left over is not asked for. The slack is
    // this thread's, and a refusal only makes the sleep longer.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
        libc::nanosleep(&time, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_TIMERSLACK, AS_IT_WAS);
    }
}

#[inline]
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: these clocks exist on every Linux; `now` is ours.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now
}
