//! Drawing from native sequences so that no value repeats: what is given out is on disk before.
//!
//! nextval draws up to 32 values after its last WAL record, and leaves the flush of that record to
//! the commit. Whoever was told a value earlier may see it again after a crash. Here the record that
//! covers a value is flushed, once for 32 values, before the value is returned. It is the last one
//! that changed the page, or an earlier one: a page that was read back from disk is on disk anyway.
//!
//! That there is such a record nextval takes from the page: how many values it may still draw without
//! one. `ALTER SEQUENCE … START WITH`, `SET LOGGED` and `CREATE DATABASE … TEMPLATE` copy that number,
//! and log the page with the value as it is: nextval goes on, and no record covers what it draws. So a
//! session that draws from a file for the first time writes one itself.
//!
//! A block is claimed in one step, by a WAL record of the whole page: a nextval that comes after it
//! writes one of its own.
#![allow(unsafe_code)]

use crate::error::{Error, RelationName, SequenceError};
use crate::wal::durable;
use crate::wal::page::{self, Log, SequencePage};
use pgrx::pg_sys::{self, ffi::pg_guard_ffi_boundary};
use snowid_core::block::{Block, Sequence};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

/// What [`durable::wait`] says it waits for.
const WHAT: &str = "ticket";

/// Draws a value. To be called under a guard.
pub fn next(oid: pg_sys::Oid) -> Result<i64, Error> {
    // SAFETY: called in a transaction, under a guard. The lock is nextval's own, and is kept as
    // nextval keeps it.
    unsafe {
        let relation = open(oid, c"next_ticket()")?;
        let value = pg_guard_ffi_boundary(|| nextval_internal(oid, false));
        let lsn = covering_record(relation)?;
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        durable::wait(lsn, WHAT)?;
        Ok(value)
    }
}

thread_local! {
    /// Sequences with the file of each for which this session has written a record: from then on all
    /// that is drawn from it has one.
    static COVERED: RefCell<HashMap<pg_sys::Oid, pg_sys::Oid>> = RefCell::default();
}

/// The WAL position that has to be flushed for what nextval has drawn. Writes the record if it isn't
/// known that there is one, or if a checkpoint that began while nextval drew may need a later one.
///
/// # Safety
/// To be called in a transaction, under a guard; the sequence is open and locked.
unsafe fn covering_record(relation: pg_sys::Relation) -> Result<u64, Error> {
    // SAFETY: as the caller says.
    unsafe {
        let (oid, file) = ((*relation).rd_id, (*(*relation).rd_rel).relfilenode);
        let lsn = page::read(relation).ok_or(damaged(oid))?.lsn;
        let covered = COVERED.with_borrow(|files| files.get(&oid) == Some(&file));
        if covered && lsn > pg_sys::GetRedoRecPtr() {
            return Ok(lsn);
        }
        let mut page = SequencePage::lock(relation, Log::Whole).ok_or(damaged(oid))?;
        page.end_unlogged();
        let lsn = page.write();
        page.release();
        // Else the file gets no WAL before the transaction that made it commits, or never.
        if lsn != 0 {
            COVERED.with_borrow_mut(|files| files.insert(oid, file));
        }
        Ok(lsn)
    }
}

/// Draws `count` values that follow each other. To be called under a guard.
pub fn block(oid: pg_sys::Oid, count: u32) -> Result<Block, Error> {
    // SAFETY: as above.
    unsafe {
        let relation = open(oid, c"next_tickets()")?;
        let drawn = if count == 0 { Ok((Block::EMPTY, 0)) } else { claim(relation, count) };
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        let (block, lsn) = drawn?;
        durable::wait(lsn, WHAT)?;
        Ok(block)
    }
}

/// Claims a block; returns it, and the WAL position that has to be flushed for it.
///
/// # Safety
/// To be called in a transaction, under a guard; the sequence is open and locked.
unsafe fn claim(relation: pg_sys::Relation, count: u32) -> Result<(Block, u64), Error> {
    // SAFETY: as the caller says.
    unsafe {
        let oid = (*relation).rd_id;
        // Before the page's lock, since it reads the catalog.
        let rules = rules(oid)?;
        let mut page = SequencePage::lock(relation, Log::Whole).ok_or(damaged(oid))?;
        let sequence = Sequence {
            last_value: page.last_value(),
            is_called: page.is_called(),
            increment: rules.increment,
            min: rules.min,
            max: rules.max,
        };
        let claimed = sequence.claim(count).map(|(block, last)| {
            page.set_drawn(last);
            (block, page.write())
        });
        page.release();
        claimed.map_err(|left| {
            SequenceError::AtEnd { sequence: RelationName(oid), count, left }.into()
        })
    }
}

/// A sequence's last value, and whether it was drawn, as SELECT from it says. To be called under a guard.
pub fn value(oid: pg_sys::Oid) -> Result<(i64, bool), Error> {
    // SAFETY: called in a transaction, under a guard. The lock is that of a SELECT.
    unsafe {
        let relation = open_for(oid, pg_sys::AccessShareLock, pg_sys::ACL_SELECT)?;
        let state = page::read(relation).ok_or(damaged(oid))?;
        pg_sys::relation_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        Ok((state.last_value, state.is_called))
    }
}

/// Opens a sequence for `function`, after the checks that nextval makes, and ours. What is open when
/// one of them fails is closed by PostgreSQL's clean-up after the error.
///
/// # Safety
/// To be called in a transaction, under a guard.
unsafe fn open(oid: pg_sys::Oid, function: &CStr) -> Result<pg_sys::Relation, Error> {
    // SAFETY: as the caller says.
    unsafe {
        let right = pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE;
        let relation = open_for(oid, pg_sys::RowExclusiveLock, right)?;
        let form = (*relation).rd_rel;
        let sequence = RelationName(oid);
        if !(*relation).rd_islocaltemp {
            pg_sys::PreventCommandIfReadOnly(function.as_ptr());
        }
        pg_sys::PreventCommandIfParallelMode(function.as_ptr());
        if (*form).relpersistence as u8 == pg_sys::RELPERSISTENCE_UNLOGGED {
            return Err(SequenceError::Unlogged { sequence }.into());
        }
        if rules(oid)?.cycles {
            return Err(SequenceError::Cycles { sequence }.into());
        }
        Ok(relation)
    }
}

/// Opens a sequence by its oid, for those who have one of the rights to it.
///
/// # Safety
/// To be called in a transaction, under a guard.
unsafe fn open_for(oid: pg_sys::Oid, lock: u32, right: u32) -> Result<pg_sys::Relation, Error> {
    // SAFETY: as the caller says.
    unsafe {
        let relation = pg_sys::try_relation_open(oid, lock as pg_sys::LOCKMODE);
        if relation.is_null() {
            return Err(SequenceError::NoRelation { oid }.into());
        }
        let form = (*relation).rd_rel;
        if (*form).relkind as u8 != pg_sys::RELKIND_SEQUENCE {
            return Err(SequenceError::NotASequence { relation: RelationName(oid) }.into());
        }
        let access = pg_sys::pg_class_aclcheck(oid, pg_sys::GetUserId(), right as pg_sys::AclMode);
        if access != pg_sys::AclResult::ACLCHECK_OK {
            let name: *const c_char = (*form).relname.data.as_ptr();
            pg_sys::aclcheck_error(access, pg_sys::ObjectType::OBJECT_SEQUENCE, name);
        }
        Ok(relation)
    }
}

/// What a sequence's row in `pg_sequence` says.
struct Rules {
    increment: i64,
    min: i64,
    max: i64,
    cycles: bool,
}

/// # Safety
/// To be called in a transaction, under a guard; the sequence is locked.
unsafe fn rules(oid: pg_sys::Oid) -> Result<Rules, Error> {
    const CACHE: i32 = pg_sys::SysCacheIdentifier::SEQRELID as i32;
    // SAFETY: as the caller says; the row is held while it is read. The catalog has these columns, of
    // bigint and boolean, none NULL.
    unsafe {
        let row = pg_sys::SearchSysCache1(CACHE, pg_sys::Datum::from(oid));
        if row.is_null() {
            return Err(damaged(oid).into());
        }
        let value = |column: &CStr| {
            let number = pg_sys::get_attnum((*row).t_tableOid, column.as_ptr());
            pg_sys::SysCacheGetAttr(CACHE, row, number, &mut false).value()
        };
        let rules = Rules {
            increment: value(c"seqincrement") as i64,
            min: value(c"seqmin") as i64,
            max: value(c"seqmax") as i64,
            cycles: value(c"seqcycle") as u8 != 0,
        };
        pg_sys::ReleaseSysCache(row);
        Ok(rules)
    }
}

fn damaged(oid: pg_sys::Oid) -> SequenceError {
    SequenceError::Damaged { sequence: RelationName(oid) }
}

unsafe extern "C-unwind" {
    /// nextval, of `commands/sequence.h`.
    fn nextval_internal(oid: pg_sys::Oid, check_permissions: bool) -> i64;
}
