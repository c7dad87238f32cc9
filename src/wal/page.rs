//! The only page of a sequence, which holds its last value.
//!
//! It is changed by generic WAL, which every server replays, whether it has this library or not.
#![allow(unsafe_code)]

use of_the_major::{EXCLUSIVE, SHARE, position};
use pgrx::pg_sys::{self, HeapTupleHeaderData, ItemIdData, PageHeaderData};
use std::mem::offset_of;

/// PostgreSQL's mark of a sequence's page (`SEQ_MAGIC` in sequence.c).
const SEQUENCE_MAGIC: u32 = 0x1717;

/// How a change goes into the WAL.
#[derive(Clone, Copy)]
pub enum Log {
    /// The bytes that differ. Not for a sequence that nextval draws from: it changes the page 32 times
    /// without WAL, so that replay would find another page than the one that was changed.
    Difference = 0,
    /// The page as it is, without its empty middle.
    Whole = pg_sys::GENERIC_XLOG_FULL_IMAGE as isize,
}

/// The page, held by its exclusive lock until [`SequencePage::release`] or until PostgreSQL's own clean-up
/// after an error: so there is no `Drop`, which would come before that and unlock twice.
pub struct SequencePage {
    buffer: pg_sys::Buffer,
    change: *mut pg_sys::GenericXLogState,
    /// A copy, which becomes the page when it is written.
    image: *mut u8,
    /// Where in it the sequence's data is.
    offset: usize,
}

impl SequencePage {
    /// None if the page isn't a sequence's.
    ///
    /// # Safety
    /// To be called in a transaction, under a guard; the relation is open.
    pub unsafe fn lock(relation: pg_sys::Relation, log: Log) -> Option<Self> {
        // SAFETY: as the caller says; what is locked here is released in `release`, in reverse order.
        // The image is a whole page, whoever wrote it.
        unsafe {
            let is_ours = has_our_columns(relation);
            let buffer = pg_sys::ReadBuffer(relation, 0);
            pg_sys::LockBuffer(buffer, EXCLUSIVE);
            let change = pg_sys::GenericXLogStart(relation);
            let image = pg_sys::GenericXLogRegisterBuffer(change, buffer, log as i32).cast::<u8>();
            let bytes = std::slice::from_raw_parts(image, pg_sys::BLCKSZ as usize);
            let offset = offset_of_data(bytes).filter(|_| is_ours);
            let page = Self { buffer, change, image, offset: offset.unwrap_or(0) };
            if offset.is_none() {
                page.release();
                return None;
            }
            Some(page)
        }
    }

    pub fn last_value(&self) -> i64 {
        // SAFETY: `offset_of_data` has checked that the data is there.
        unsafe { self.data().last_value.read_unaligned() }
    }

    /// Whether the last value was drawn; else it is the next one.
    pub fn is_called(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.data().is_called.read() != 0 }
    }

    pub fn set_last_value(&mut self, value: i64) {
        // SAFETY: as above; the image is our own until it is written.
        unsafe { self.data().last_value.write_unaligned(value) }
    }

    /// Notes that all values up to this one were drawn. nextval may draw none after it without WAL of
    /// its own.
    pub fn set_drawn(&mut self, last: i64) {
        self.set_last_value(last);
        self.end_unlogged();
        // SAFETY: as above.
        unsafe { self.data().is_called.write(1) }
    }

    /// From here on nextval may draw no value without WAL of its own.
    pub fn end_unlogged(&mut self) {
        self.set_unlogged(0);
    }

    /// How many values nextval may draw without WAL; setval leaves none.
    pub fn unlogged(&self) -> i64 {
        // SAFETY: as above.
        unsafe { self.data().log_cnt.read_unaligned() }
    }

    pub fn set_unlogged(&mut self, count: i64) {
        // SAFETY: as above.
        unsafe { self.data().log_cnt.write_unaligned(count) }
    }

    /// Stores the changes, as the last thing before the release; returns the WAL position that has to
    /// be flushed for them, 0 if none.
    pub fn write(&mut self) -> u64 {
        // SAFETY: the image is our own until it is finished, and is finished once.
        unsafe {
            let change = std::mem::replace(&mut self.change, std::ptr::null_mut());
            self.image = std::ptr::null_mut();
            pg_sys::GenericXLogFinish(change)
        }
    }

    /// The WAL position of the last change to the page before it was locked.
    pub fn lsn(&self) -> u64 {
        // SAFETY: a page starts with its header.
        unsafe { lsn(self.image) }
    }

    pub fn release(self) {
        // SAFETY: undoes what `lock` did, once.
        unsafe {
            if !self.change.is_null() {
                pg_sys::GenericXLogAbort(self.change);
            }
            pg_sys::UnlockReleaseBuffer(self.buffer);
        }
    }

    /// # Safety
    /// The page isn't written yet.
    unsafe fn data(&self) -> Data {
        // SAFETY: `offset_of_data` has checked that so much is there.
        unsafe { Data::at(self.image.add(self.offset)) }
    }
}

/// A sequence's columns, as [`has_our_columns`] has checked.
struct Data {
    last_value: *mut i64,
    /// How many values after the last one nextval may draw without WAL.
    log_cnt: *mut i64,
    is_called: *mut u8,
}

const DATA_LENGTH: usize = 17;

impl Data {
    /// # Safety
    /// `DATA_LENGTH` bytes are there.
    unsafe fn at(data: *mut u8) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            Self { last_value: data.cast(), log_cnt: data.add(8).cast(), is_called: data.add(16) }
        }
    }
}

/// What a sequence's page says to whoever only reads it.
pub struct State {
    pub last_value: i64,
    /// Whether the last value was drawn; else it is the next one.
    pub is_called: bool,
    /// The WAL position of the last change to the page.
    pub lsn: u64,
}

/// None if the page isn't a sequence's.
///
/// # Safety
/// To be called in a transaction, under a guard; the relation is open.
pub unsafe fn read(relation: pg_sys::Relation) -> Option<State> {
    // SAFETY: as the caller says; the page is locked while it is read, and whole.
    unsafe {
        let is_ours = has_our_columns(relation);
        let buffer = pg_sys::ReadBuffer(relation, 0);
        pg_sys::LockBuffer(buffer, SHARE);
        let page = pg_sys::BufferGetPage(buffer).cast::<u8>();
        let bytes = std::slice::from_raw_parts(page, pg_sys::BLCKSZ as usize);
        let state = offset_of_data(bytes).filter(|_| is_ours).map(|offset| {
            let data = Data::at(page.add(offset));
            State {
                last_value: data.last_value.read_unaligned(),
                is_called: data.is_called.read() != 0,
                lsn: lsn(page),
            }
        });
        pg_sys::UnlockReleaseBuffer(buffer);
        state
    }
}

/// # Safety
/// It is a page, locked or a copy.
unsafe fn lsn(page: *const u8) -> u64 {
    // SAFETY: a page starts with its header.
    position(unsafe { (*page.cast::<pg_sys::PageHeaderData>()).pd_lsn })
}

/// Where a sequence's page has its data: the columns of its only tuple. None if it is not a sequence's
/// page (`SEQ_MAGIC` in sequence.c).
fn offset_of_data(page: &[u8]) -> Option<usize> {
    const HEADER: usize = size_of::<PageHeaderData>();
    let u16_at = |at: usize| page.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let u32_at =
        |at: usize| page.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    let special = usize::from(u16_at(offset_of!(PageHeaderData, pd_special))?);
    // SAFETY: any four bytes are an item.
    let item: ItemIdData = unsafe { std::mem::transmute(u32_at(HEADER)?) };
    let (tuple, length) = (item.lp_off() as usize, item.lp_len() as usize);
    let data = tuple + usize::from(*page.get(tuple + offset_of!(HeapTupleHeaderData, t_hoff))?);
    let sound = u32_at(special)? == SEQUENCE_MAGIC
        && item.lp_flags() == pg_sys::LP_NORMAL
        && tuple > HEADER
        && data + DATA_LENGTH <= tuple + length
        && tuple + length <= special;
    sound.then_some(data)
}

/// Whether a sequence has the columns that [`Data`] takes its data for.
///
/// # Safety
/// To be called in a transaction, under a guard; the relation is open.
unsafe fn has_our_columns(relation: pg_sys::Relation) -> bool {
    // SAFETY: as the caller says.
    let types = [1, 2, 3].map(|n| unsafe { pg_sys::SPI_gettypeid((*relation).rd_att, n) });
    types == [pg_sys::INT8OID, pg_sys::INT8OID, pg_sys::BOOLOID]
}

/// What PostgreSQL's headers say in another way from one major to another.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
mod of_the_major {
    use super::pg_sys;

    pub const SHARE: i32 = pg_sys::BUFFER_LOCK_SHARE as i32;
    pub const EXCLUSIVE: i32 = pg_sys::BUFFER_LOCK_EXCLUSIVE as i32;

    pub fn position(lsn: pg_sys::PageXLogRecPtr) -> u64 {
        u64::from(lsn.xlogid) << 32 | u64::from(lsn.xrecoff)
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
mod of_the_major {
    use super::pg_sys;
    pub use pg_sys::BufferLockMode::{
        BUFFER_LOCK_EXCLUSIVE as EXCLUSIVE, BUFFER_LOCK_SHARE as SHARE,
    };

    /// One number, but on the page its upper half still comes first.
    pub fn position(lsn: pg_sys::PageXLogRecPtr) -> u64 {
        if cfg!(target_endian = "little") { lsn.lsn.rotate_left(32) } else { lsn.lsn }
    }
}
