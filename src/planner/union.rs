//! The tables of a UNION ALL that the planner has merged into the query, as a view over the schemas
//! of all shards has it. What it yields has conditions of its own, which the planner translates for
//! each of its tables when it comes to that, and asks what is known of the table right before. There
//! the conditions are wrapped in a function of ours, once for all; the translation simplifies what it
//! makes, which is when our support function is asked to simplify the call: it takes the wrapping
//! off and rewrites the conditions for that table. So the time may be a column of the union, too.
#![allow(unsafe_code)]

use super::nodes::{self, Node, items};
use super::table::Table;
use super::{condition, known};
use pgrx::pg_sys::{self, BoolExprType, PlannerInfo, RelOptInfo, RestrictInfo};
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The query and the table that the planner has come to: its translation of the conditions for it
    /// follows, before it has put the table into its array.
    static AT: Cell<(*mut PlannerInfo, *mut RelOptInfo, u32)> =
        const { Cell::new((ptr::null_mut(), ptr::null_mut(), 0)) };
}

/// # Safety
/// The planner's, in `get_relation_info_hook` for one of several tables that are taken together.
pub unsafe fn wrap_for(root: *mut PlannerInfo, rel: *mut RelOptInfo) {
    // SAFETY: such a table has an entry that names its parent, whose conditions are distributed.
    unsafe {
        AT.set((root, rel, (*rel).relid));
        let mut info = *(*root).append_rel_array.add((*rel).relid as usize);
        if info.is_null() {
            return;
        }
        let parent = *(*root).simple_rel_array.add((*info).parent_relid as usize);
        // A table with children or partitions has been asked about itself.
        if (*parent).rtekind != pg_sys::RTEKind::RTE_SUBQUERY {
            return;
        }
        let infos: Vec<&RestrictInfo> =
            items((*parent).baserestrictinfo).into_iter().map(|info| &*info.as_ptr()).collect();
        let Some(first) = infos.first() else { return };
        let level = first.security_level;
        let is_odd = |info: &&RestrictInfo| info.security_level != level || info.pseudoconstant;
        if infos.iter().any(|info| is_odd(info) || is_delayed(info)) {
            return;
        }
        let conditions: Vec<Node> =
            infos.iter().filter_map(|info| Node::new(info.clause)).collect();
        let translated =
            pg_sys::adjust_appendrel_attrs(root, nodes::and(&conditions).as_ptr(), 1, &mut info);
        let of_time = Node::new(translated).and_then(known::reader_in);
        if let Some(wrapped) = of_time.and_then(|of| known::hand_down(of, nodes::and(&conditions)))
            && !conditions.iter().any(|&condition| known::is_handed_down(condition))
            && let Some(restriction) = Node::new(restrict(root, wrapped, level))
        {
            (*parent).baserestrictinfo = nodes::list(&[restriction]);
        }
    }
}

/// What stands for wrapped conditions, which may have been translated for a table.
///
/// # Safety
/// The planner's, when it simplifies a condition.
pub unsafe fn unwrap(root: *mut PlannerInfo, condition: Node) -> Node {
    let conditions = condition.operands(BoolExprType::AND_EXPR).unwrap_or_else(|| vec![condition]);
    let (at_root, rel, number) = AT.get();
    // SAFETY: as the caller says. The table is the planner's if it is the one that it has come to.
    unsafe {
        let mut of = 0;
        if root.is_null()
            || root != at_root
            || !pg_sys::bms_get_singleton_member(
                pg_sys::pull_varnos(root, condition.as_ptr()),
                &mut of,
            )
            || of as u32 != number
        {
            return condition;
        }
        let entry = *(*root).simple_rte_array.add(number as usize);
        match condition::rewrite(&conditions, &mut Table::new(root, rel, (*entry).relid)) {
            Some(new) => nodes::and(&new),
            None => condition,
        }
    }
}

#[cfg(feature = "pg15")]
fn is_delayed(info: &RestrictInfo) -> bool {
    info.outerjoin_delayed || !info.nullable_relids.is_null()
}

#[cfg(not(feature = "pg15"))]
fn is_delayed(info: &RestrictInfo) -> bool {
    info.has_clone || info.is_clone || !info.incompatible_relids.is_null()
}

/// # Safety
/// A condition of the query on one table.
unsafe fn restrict(
    root: *mut PlannerInfo,
    clause: Node,
    level: pg_sys::Index,
) -> *mut RestrictInfo {
    let (clause, none) = (clause.as_ptr(), ptr::null_mut());
    // SAFETY: as the caller says; the sets of tables are left to PostgreSQL.
    #[cfg(feature = "pg15")]
    unsafe {
        pg_sys::make_restrictinfo(root, clause, true, false, false, level, none, none, none)
    }
    #[cfg(not(feature = "pg15"))]
    unsafe {
        pg_sys::make_restrictinfo(root, clause, true, false, false, false, level, none, none, none)
    }
}
