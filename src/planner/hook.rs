//! Where the planner tells what it has read of a table in the catalog.
#![allow(unsafe_code)]

use super::relation_info;
use pgrx::pg_sys::{self, PlannerInfo, RelOptInfo};
use std::cell::Cell;

#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
mod of_the_major {
    use super::*;

    thread_local! {
        // A backend is one thread.
        static PREVIOUS: Cell<pg_sys::get_relation_info_hook_type> = const { Cell::new(None) };
    }

    /// Called once, when the library is loaded.
    pub fn install() {
        // SAFETY: hooks are set at load, by the backend's only thread.
        unsafe {
            PREVIOUS.set(pg_sys::get_relation_info_hook);
            pg_sys::get_relation_info_hook = Some(hook);
        }
    }

    /// Nothing here needs dropping when the other hook raises an error.
    unsafe extern "C-unwind" fn hook(
        root: *mut PlannerInfo,
        oid: pg_sys::Oid,
        inh: bool,
        rel: *mut RelOptInfo,
    ) {
        // SAFETY: what the planner passes to its hooks is valid.
        unsafe {
            if let Some(previous) = PREVIOUS.get() {
                previous(root, oid, inh, rel);
            }
            relation_info(root, oid, rel);
        }
    }
}

/// From PostgreSQL 19 on the planner calls it for what is no table too.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
mod of_the_major {
    use super::*;

    thread_local! {
        static PREVIOUS: Cell<pg_sys::build_simple_rel_hook_type> = const { Cell::new(None) };
    }

    /// Called once, when the library is loaded.
    pub fn install() {
        // SAFETY: hooks are set at load, by the backend's only thread.
        unsafe {
            PREVIOUS.set(pg_sys::build_simple_rel_hook);
            pg_sys::build_simple_rel_hook = Some(hook);
        }
    }

    /// Nothing here needs dropping when the other hook raises an error.
    unsafe extern "C-unwind" fn hook(
        root: *mut PlannerInfo,
        rel: *mut RelOptInfo,
        rte: *mut pg_sys::RangeTblEntry,
    ) {
        // SAFETY: what the planner passes to its hooks is valid.
        unsafe {
            if let Some(previous) = PREVIOUS.get() {
                previous(root, rel, rte);
            }
            if (*rte).rtekind == pg_sys::RTEKind::RTE_RELATION {
                relation_info(root, (*rte).relid, rel);
            }
        }
    }
}

pub use of_the_major::install;
