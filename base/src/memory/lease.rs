//! The server's own (datacenter, worker) pair where it is leased from etcd: what the background worker
//! publishes and backends read, and how they ask it for something.
//!
//! Protocol: the worker alone writes, but for `release` and `wanted`. `word` holds the pair and its bound together,
//! so that none reads the one with another's other; it is stored after the pair's cell was raised to
//! the floor, and only after the bound is recorded in etcd and on disk. The notice is for errors and
//! `snowid.status` and is read and written under the lock.

use super::Lock;
use pgrx::pg_sys;
use snowid_core::instant::UnixMs;
use snowid_core::layout::TWITTER;
use std::cell::UnsafeCell;
use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};

#[repr(C, align(64))]
pub struct Lease {
    /// `until << 10 | node`; 0: none.
    word: AtomicU64,
    /// The same of the pair that was released last: its ids lie below `until`, its cell stands past it.
    sealed: AtomicU64,
    source: AtomicU32,
    release: AtomicBool,
    /// A time past `until` that a backend had an id for; 0: none.
    wanted: AtomicI64,
    /// The background worker's.
    latch: AtomicPtr<pg_sys::Latch>,
    notice: UnsafeCell<Notice>,
    pub(super) lock: Lock,
}

// SAFETY: the cell is only reached under the lock.
unsafe impl Sync for Lease {}

/// A pair that ids may be drawn for, while their time is before `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    pub node: u32,
    pub until: UnixMs,
}

impl Worker {
    fn pack(self) -> u64 {
        (self.until as u64) << NODE_BITS | u64::from(self.node)
    }

    #[inline]
    fn unpack(word: u64) -> Option<Self> {
        let node = word as u32 & TWITTER.node_max();
        (word != 0).then_some(Self { node, until: (word >> NODE_BITS) as UnixMs })
    }
}

/// Where the pair comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    None = 0,
    Etcd,
    /// The file in the data directory.
    Cached,
    Released,
}

const NODE_BITS: u32 = 10;
const _: () = assert!(TWITTER.node_max() < 1 << NODE_BITS);

/// What is wrong: the fact, which errors say to every caller, and the detail, which tells of the server
/// and is for those who watch over it. An empty message: nothing.
#[repr(C)]
#[derive(Clone)]
pub struct Notice {
    pub code: i32,
    message: Words<128>,
    detail: Words<1280>,
}

#[repr(C)]
#[derive(Clone)]
struct Words<const N: usize> {
    length: u32,
    bytes: [u8; N],
}

impl<const N: usize> Words<N> {
    /// What of it fits.
    fn new(text: &str) -> Self {
        let mut length = text.len().min(N);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        let mut bytes = [0; N];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { length: length as u32, bytes }
    }

    fn get(&self) -> String {
        String::from_utf8_lossy(&self.bytes[..(self.length as usize).min(N)]).into_owned()
    }
}

impl Notice {
    /// Where its parts lie, for the header.
    pub(super) const PLACES: [usize; 4] = [
        offset_of!(Self, code),
        offset_of!(Self, message),
        offset_of!(Self, detail),
        size_of::<Self>(),
    ];

    pub fn new(code: i32, message: &str, detail: &str) -> Self {
        Self { code, message: Words::new(message), detail: Words::new(detail) }
    }

    pub fn message(&self) -> String {
        self.message.get()
    }

    pub fn detail(&self) -> String {
        self.detail.get()
    }

    fn is_empty(&self) -> bool {
        self.message.length == 0
    }
}

impl Lease {
    pub(super) const PLACES: [usize; 8] = [
        offset_of!(Self, word),
        offset_of!(Self, sealed),
        offset_of!(Self, source),
        offset_of!(Self, release),
        offset_of!(Self, wanted),
        offset_of!(Self, latch),
        offset_of!(Self, notice),
        offset_of!(Self, lock),
    ];

    /// The pair in force, if any.
    #[inline]
    pub fn worker(&self) -> Option<Worker> {
        Worker::unpack(self.word.load(Ordering::Acquire))
    }

    /// A pair whose cell is sealed, and where its ids ended.
    pub fn sealed(&self) -> Option<Worker> {
        Worker::unpack(self.sealed.load(Ordering::Acquire))
    }

    pub fn set_sealed(&self, worker: Option<Worker>) {
        self.sealed.store(worker.map_or(0, Worker::pack), Ordering::Release);
    }

    pub fn source(&self) -> Source {
        match self.source.load(Ordering::Acquire) {
            1 => Source::Etcd,
            2 => Source::Cached,
            3 => Source::Released,
            _ => Source::None,
        }
    }

    /// Puts a pair in force; its cell stands at its floor.
    pub fn publish(&self, worker: Worker, source: Source) {
        self.word.store(worker.pack(), Ordering::Release);
        self.source.store(source as u32, Ordering::Release);
    }

    /// Takes the pair out of force. Draws that have begun may yet end, below its bound.
    pub fn withdraw(&self, source: Source) {
        self.word.store(0, Ordering::Release);
        self.source.store(source as u32, Ordering::Release);
    }

    /// Says what is wrong, or that nothing is. To be called under a guard, as the next one.
    pub fn set_notice(&self, notice: Option<Notice>) {
        let notice = notice.unwrap_or_else(|| Notice::new(0, "", ""));
        // SAFETY: the lock excludes others.
        self.lock.hold(|| unsafe { *self.notice.get() = notice });
    }

    pub fn notice(&self) -> Option<Notice> {
        // SAFETY: as above.
        let notice = self.lock.hold(|| unsafe { (*self.notice.get()).clone() });
        (!notice.is_empty()).then_some(notice)
    }

    /// Makes this process the one to be woken.
    pub fn attach(&self) {
        // SAFETY: this process's own latch, in shared memory.
        self.latch.store(unsafe { pg_sys::MyLatch }, Ordering::Release);
    }

    /// Tells the worker that ids have come so far ahead of the clock.
    pub fn want(&self, ms: UnixMs) {
        self.wanted.fetch_max(ms, Ordering::AcqRel);
        self.wake();
    }

    /// The greatest time that was wanted; once.
    pub fn take_wanted(&self) -> UnixMs {
        self.wanted.swap(0, Ordering::AcqRel)
    }

    /// Wakes the background worker, if there is one. To be called under a guard.
    fn wake(&self) {
        let latch = self.latch.load(Ordering::Acquire);
        if !latch.is_null() {
            // SAFETY: latches of processes are never freed; one without an owner may be set.
            unsafe { pg_sys::SetLatch(latch) }
        }
    }

    /// Asks for the pair to be given up.
    pub fn request_release(&self) {
        self.release.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether that is still to be done.
    pub fn is_release_pending(&self) -> bool {
        self.release.load(Ordering::Acquire) || self.source() != Source::Released
    }

    /// Whether that was asked for; once.
    pub fn take_release(&self) -> bool {
        self.release.swap(false, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_ends_at_a_character() {
        assert_eq!(Words::<4>::new("abcd").get(), "abcd");
        assert_eq!(Words::<4>::new("abcé").get(), "abc");
        assert_eq!(Words::<1>::new("é").get(), "");
    }
}
