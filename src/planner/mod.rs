//! Conditions on `id_timestamp(id)` use the index on id.
//!
//! PostgreSQL asks the function of a comparison operator how an index may serve it, so our functions
//! can't answer for `id_timestamp(id) >= t`. Therefore a hook: before the planner distributes the
//! conditions of a query to its tables, it asks for what is known of each table (`hook`), and there the
//! conditions of WHERE and ON that are about a column of that table are rewritten (`condition`), in the
//! planner's own copy of the query. By then views are merged in, functions of bound schemas inlined and parameters of a custom plan put in.
//!
//! A backend in which no such query was ever planned pays one look at a flag for each table. The flag
//! is set by the support function of `id_timestamp` and the others, which the planner calls before
//! the hook for every query that has them; that call also loads the library where it isn't preloaded.
//!
//! - `hook`: the planner's, by major
//! - `condition`: the rewriting
//! - `table`: what is known of the table
//! - `ours`: our functions in the catalog, which `call::planner` has the bodies of
//! - `expression`: expression trees
#![allow(unsafe_code)]

mod condition;
mod expression;
mod hook;
mod ours;
mod table;

use expression::Expr;
use pgrx::pg_sys::{self, NodeTag, Oid, PlannerInfo, RelOptInfo};
use snowid_base::guard::guarded;
use std::cell::Cell;
use table::Table;

thread_local! {
    // A backend is one thread.
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

pub use hook::install;

/// A query that is being planned has a function whose conditions are worth looking at.
pub fn wake() {
    SEEN.set(true);
}

/// The planner has asked what is known of a table.
///
/// # Safety
/// The planner's, in its hook.
unsafe fn relation_info(root: *mut PlannerInfo, oid: Oid, rel: *mut RelOptInfo) {
    if SEEN.get() {
        // SAFETY: as the caller says.
        guarded(|| unsafe { rewrite_for(root, oid, rel) });
    }
}

/// Rewrites the conditions on one table.
///
/// # Safety
/// As above.
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
