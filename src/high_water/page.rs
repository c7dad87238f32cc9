//! The only page of the sequence `snowid.high_water`, whose last value is the mark.
//!
//! It is changed by generic WAL, which every server replays, whether it has this library or not.
#![allow(unsafe_code)]

use crate::error::Error;
use pgrx::pg_sys;
use snowid_core::instant::UnixMs;

/// A new sequence's last value.
pub const NEVER_USED: UnixMs = 1;

/// PostgreSQL's mark of a sequence's page (`SEQ_MAGIC` in sequence.c).
const SEQUENCE_MAGIC: u32 = 0x1717;

/// The page, held by its exclusive lock until [`Page::release`] or until PostgreSQL's own clean-up
/// after an error: so there is no `Drop`, which would come before that and unlock twice.
pub struct Page {
    relation: pg_sys::Relation,
    buffer: pg_sys::Buffer,
    change: *mut pg_sys::GenericXLogState,
    /// A copy, which becomes the page if it is changed.
    image: *mut u8,
    /// Where in it the mark is.
    offset: usize,
    uncommitted: bool,
}

impl Page {
    pub fn lock() -> Result<Self, Error> {
        // SAFETY: called in a transaction, under a guard; what is opened here is closed in `release`,
        // in reverse order. The image is a whole page, whoever wrote it.
        unsafe {
            let relation = open()?;
            let form = (*relation).rd_rel;
            let problem = if (*form).relkind != pg_sys::RELKIND_SEQUENCE as std::ffi::c_char {
                Some(Error::MarkMissing)
            } else if (*form).relpersistence != pg_sys::RELPERSISTENCE_PERMANENT as std::ffi::c_char
            {
                Some(Error::MarkUnlogged)
            } else {
                None
            };
            if let Some(error) = problem {
                pg_sys::relation_close(relation, LOCK);
                return Err(error);
            }
            // Before the buffer's lock, since it reads the catalog.
            let uncommitted = is_uncommitted(relation);
            let buffer = pg_sys::ReadBuffer(relation, 0);
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32);
            let change = pg_sys::GenericXLogStart(relation);
            let image = pg_sys::GenericXLogRegisterBuffer(change, buffer, 0).cast::<u8>();
            let bytes = std::slice::from_raw_parts(image, pg_sys::BLCKSZ as usize);
            let offset = offset_of_mark(bytes);
            let offset_or_0 = offset.unwrap_or(0);
            let page = Self { relation, buffer, change, image, offset: offset_or_0, uncommitted };
            if offset.is_none() {
                page.release();
                return Err(Error::MarkDamaged);
            }
            Ok(page)
        }
    }

    pub fn mark(&self) -> UnixMs {
        // SAFETY: `offset_of_mark` has checked that 8 bytes are there.
        unsafe { self.image.add(self.offset).cast::<i64>().read_unaligned() }
    }

    /// Stores a mark; returns the WAL position that has to be flushed for it, 0 if none.
    pub fn raise(&mut self, mark: UnixMs) -> u64 {
        // SAFETY: as in `mark`; the image is our own until it is finished, and is finished once.
        unsafe {
            self.image.add(self.offset).cast::<i64>().write_unaligned(mark);
            let change = std::mem::replace(&mut self.change, std::ptr::null_mut());
            self.image = std::ptr::null_mut();
            pg_sys::GenericXLogFinish(change)
        }
    }

    /// Whether the current transaction may have created the sequence, or given it new storage: then
    /// its mark may yet vanish.
    pub fn is_uncommitted(&self) -> bool {
        self.uncommitted
    }

    /// The WAL position of the last change to the page before it was locked.
    pub fn lsn(&self) -> u64 {
        // SAFETY: a page starts with its header.
        let lsn = unsafe { (*self.image.cast::<pg_sys::PageHeaderData>()).pd_lsn };
        u64::from(lsn.xlogid) << 32 | u64::from(lsn.xrecoff)
    }

    pub fn release(self) {
        // SAFETY: undoes what `lock` did, once.
        unsafe {
            if !self.change.is_null() {
                pg_sys::GenericXLogAbort(self.change);
            }
            pg_sys::UnlockReleaseBuffer(self.buffer);
            pg_sys::relation_close(self.relation, LOCK);
        }
    }
}

/// What nextval takes; held during a call only.
const LOCK: pg_sys::LOCKMODE = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;

/// Whether the current transaction has created the relation, given it new storage, or changed its row
/// in pg_class, which alone a parallel worker can see of its leader's work.
///
/// # Safety
/// The relation is open.
unsafe fn is_uncommitted(relation: pg_sys::Relation) -> bool {
    // SAFETY: as the caller says; the row is held while it is read.
    unsafe {
        let relation = &*relation;
        #[cfg(feature = "pg15")]
        let new_storage = relation.rd_firstRelfilenodeSubid;
        #[cfg(not(feature = "pg15"))]
        let new_storage = relation.rd_firstRelfilelocatorSubid;
        if relation.rd_createSubid != 0 || new_storage != 0 {
            return true;
        }
        let key = pg_sys::Datum::from(relation.rd_id);
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, key);
        if row.is_null() {
            return true;
        }
        let creator = (*(*row).t_data).t_choice.t_heap.t_xmin;
        pg_sys::ReleaseSysCache(row);
        pg_sys::TransactionIdIsCurrentTransactionId(creator)
    }
}

/// Opens the sequence. Who waited for the lock of a transaction that dropped it and created the
/// extension anew looks its name up again.
///
/// # Safety
/// To be called in a transaction, under a guard.
unsafe fn open() -> Result<pg_sys::Relation, Error> {
    let mut tried = pg_sys::InvalidOid;
    loop {
        // SAFETY: the names are C strings; no relation has the oid 0.
        let (oid, relation) = unsafe {
            let schema = pg_sys::get_namespace_oid(c"snowid".as_ptr(), true);
            let oid = pg_sys::get_relname_relid(c"high_water".as_ptr(), schema);
            (oid, pg_sys::try_relation_open(oid, LOCK))
        };
        if !relation.is_null() {
            return Ok(relation);
        }
        if oid == tried {
            return Err(Error::MarkMissing);
        }
        tried = oid;
    }
}

/// Where a sequence's page has its last value: the first column of its only tuple. None if it is not
/// a sequence's page (`bufpage.h`, `itemid.h`, `htup_details.h`, `sequence.c`).
fn offset_of_mark(page: &[u8]) -> Option<usize> {
    const HEADER: usize = 24;
    const SPECIAL_IN_HEADER: usize = 16;
    const HOFF_IN_TUPLE: usize = 22;
    const ITEM_NORMAL: u32 = 1;
    let u16_at = |at: usize| page.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let u32_at =
        |at: usize| page.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    let special = usize::from(u16_at(SPECIAL_IN_HEADER)?);
    let item = u32_at(HEADER)?;
    let (tuple, state, length) = ((item & 0x7fff) as usize, item >> 15 & 3, (item >> 17) as usize);
    let data = tuple + usize::from(*page.get(tuple + HOFF_IN_TUPLE)?);
    let sound = u32_at(special)? == SEQUENCE_MAGIC
        && state == ITEM_NORMAL
        && tuple > HEADER
        && data + 8 <= tuple + length
        && tuple + length <= special;
    sound.then_some(data)
}
