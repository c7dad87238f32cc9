//! Conditions on `id_timestamp(id)` use the index on id.
//!
//! PostgreSQL asks the function of a comparison operator how an index may serve it, so our functions
//! can't answer for `id_timestamp(id) >= t`. Therefore a hook: before the planner distributes the
//! conditions of a query to its tables, it asks for what is known of each table
//! (`get_relation_info_hook`), and there the conditions of WHERE and ON that are about a column of
//! that table are rewritten (`condition`), in the planner's own copy of the query. By then views are
//! merged in, functions of bound schemas inlined and parameters of a custom plan put in.
//!
//! A backend in which no such query was ever planned pays one look at a flag for each table. The flag
//! is set by the support function of `id_timestamp` and the others, which the planner calls before
//! the hook for every query that has them; that call also loads the library where it isn't preloaded.
//!
//! - `condition`: the rewriting
//! - `table`: what is known of the table
//! - `ours`: our functions in the catalog, which `call::planner` has the bodies of
//! - `expression`: expression trees
#![allow(unsafe_code)]

mod condition;
mod expression;
mod ours;
mod table;

use expression::Expr;
use pgrx::pg_sys::{self, NodeTag, Oid, PlannerInfo, RelOptInfo};
use snowid_base::guard::guarded;
use std::cell::Cell;
use table::Table;

thread_local! {
    // A backend is one thread.
    static PREVIOUS: Cell<pg_sys::get_relation_info_hook_type> = const { Cell::new(None) };
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

/// Called once, when the library is loaded.
pub fn install() {
    // SAFETY: hooks are set at load, by the backend's only thread.
    unsafe {
        PREVIOUS.set(pg_sys::get_relation_info_hook);
        pg_sys::get_relation_info_hook = Some(relation_info);
    }
}

/// A query that is being planned has a function whose conditions are worth looking at.
pub fn wake() {
    SEEN.set(true);
}

/// The planner has asked what is known of a table. Nothing here needs dropping when the other hook
/// raises an error.
unsafe extern "C-unwind" fn relation_info(
    root: *mut PlannerInfo,
    oid: Oid,
    inh: bool,
    rel: *mut RelOptInfo,
) {
    // SAFETY: what the planner passes to its hooks is valid.
    unsafe {
        if let Some(previous) = PREVIOUS.get() {
            previous(root, oid, inh, rel);
        }
        if SEEN.get() {
            guarded(|| rewrite_for(root, oid, rel));
        }
    }
}

/// Rewrites the conditions on one table.
///
/// # Safety
/// The planner's, in `get_relation_info_hook`.
unsafe fn rewrite_for(root: *mut PlannerInfo, oid: Oid, rel: *mut RelOptInfo) {
    // SAFETY: as the caller says; plans without a query (CLUSTER) have no jointree.
    unsafe {
        if (*rel).reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
            let mut table = Table::new(root, rel, oid);
            walk((*(*root).parse).jointree.cast(), &mut table);
        }
    }
}

/// Rewrites the conditions of a tree of joins. They are lists by now, joined by AND.
///
/// # Safety
/// Null, or the jointree of the query, or a part of it.
unsafe fn walk(node: *mut pg_sys::Node, table: &mut Table) {
    // SAFETY: the tags say what the nodes are.
    unsafe {
        if node.is_null() {
            return;
        }
        match (*node).type_ {
            NodeTag::T_FromExpr => {
                let from = node.cast::<pg_sys::FromExpr>();
                for item in expression::items((*from).fromlist) {
                    walk(item.as_ptr(), table);
                }
                rewrite_quals(&mut (*from).quals, table);
            }
            NodeTag::T_JoinExpr => {
                let join = node.cast::<pg_sys::JoinExpr>();
                walk((*join).larg, table);
                walk((*join).rarg, table);
                // A full join must be a merge or hash join by all of its conditions.
                if (*join).jointype != pg_sys::JoinType::JOIN_FULL {
                    rewrite_quals(&mut (*join).quals, table);
                }
            }
            _ => {}
        }
    }
}

/// # Safety
/// The conditions of the query's WHERE or of an ON.
unsafe fn rewrite_quals(quals: &mut *mut pg_sys::Node, table: &mut Table) {
    // SAFETY: null, or a list.
    let is_list = unsafe { Expr::new(*quals).is_some() && (**quals).type_ == NodeTag::T_List };
    if is_list && let Some(new) = condition::rewrite(&expression::items(quals.cast()), table) {
        *quals = expression::list(&new).cast();
    }
}
