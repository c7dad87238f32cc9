//! The sequence `snowid.high_water`, whose last value is the mark.
//!
//! What a server writes bears its stamp, in `log_cnt`: nextval has no use for it here, since the
//! increment makes nextval fail, and setval makes it 0.
#![allow(unsafe_code)]

use crate::error::{Error, MarkError};
use crate::wal::page::{Log, SequencePage};
use pgrx::pg_sys;
use snowid_core::instant::UnixMs;
use snowid_core::mark::Stored;

/// A new sequence's last value.
pub const NEVER_USED: UnixMs = 1;

/// In `log_cnt`: a server has written the mark.
const STAMP: i64 = 1;

/// The sequence's page, held by its exclusive lock until [`MarkPage::release`] or until PostgreSQL's own
/// clean-up after an error.
pub struct MarkPage {
    relation: pg_sys::Relation,
    page: SequencePage,
    uncommitted: bool,
}

impl MarkPage {
    pub fn lock() -> Result<Self, Error> {
        // SAFETY: called in a transaction, under a guard; what is opened here is closed in `release`.
        unsafe {
            let relation = open()?;
            let form = (*relation).rd_rel;
            let problem = if (*form).relkind != pg_sys::RELKIND_SEQUENCE as std::ffi::c_char {
                Some(MarkError::Missing)
            } else if (*form).relpersistence != pg_sys::RELPERSISTENCE_PERMANENT as std::ffi::c_char
            {
                Some(MarkError::Unlogged)
            } else {
                None
            };
            if let Some(error) = problem {
                pg_sys::relation_close(relation, LOCK);
                return Err(error.into());
            }
            // Before the buffer's lock, since it reads the catalog.
            let uncommitted = is_uncommitted(relation);
            let Some(page) = SequencePage::lock(relation, Log::Difference) else {
                pg_sys::relation_close(relation, LOCK);
                return Err(MarkError::Damaged.into());
            };
            let page = Self { relation, page, uncommitted };
            let Stored { mark, .. } = page.stored();
            if mark < NEVER_USED {
                page.release();
                return Err(MarkError::Impossible { mark }.into());
            }
            Ok(page)
        }
    }

    pub fn stored(&self) -> Stored {
        Stored { mark: self.page.last_value(), by_hand: self.page.unlogged() != STAMP }
    }

    /// Stores a mark; returns the WAL position that has to be flushed for it, 0 if none.
    pub fn raise(&mut self, mark: UnixMs) -> u64 {
        self.page.set_drawn(mark);
        self.page.set_unlogged(STAMP);
        self.page.write()
    }

    /// Whether the current transaction may have created the sequence, or given it new storage: then
    /// its mark may yet vanish.
    pub fn is_uncommitted(&self) -> bool {
        self.uncommitted
    }

    /// The WAL position of the last change to the page before it was locked.
    pub fn lsn(&self) -> u64 {
        self.page.lsn()
    }

    pub fn release(self) {
        self.page.release();
        // SAFETY: undoes what `lock` did, once.
        unsafe { pg_sys::relation_close(self.relation, LOCK) };
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
/// extension anew looks its name up again. One that isn't the extension's is none: a query goes on drawing
/// after the extension was dropped, and who makes another by this name can give it any mark and stamp.
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
            // SAFETY: it is open; the name is a C string.
            unsafe {
                let extension = pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, oid);
                if extension != pg_sys::InvalidOid
                    && extension == pg_sys::get_extension_oid(c"pg_snowid".as_ptr(), true)
                {
                    return Ok(relation);
                }
                pg_sys::relation_close(relation, LOCK);
            }
            return Err(MarkError::Missing.into());
        }
        if oid == tried {
            return Err(MarkError::Missing.into());
        }
        tried = oid;
    }
}
