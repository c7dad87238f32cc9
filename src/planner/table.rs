//! What the planner's catalog says of the table whose ids a query looks for.
#![allow(unsafe_code)]

use super::expression::{self, Expr, Operator, bigint, compare, items};
use super::ours;
use pgrx::pg_sys::{self, Oid};
use std::ffi::c_int;
use std::ptr;

// SAFETY: declared so in utils/partcache.h, which pgrx leaves out.
unsafe extern "C-unwind" {
    fn RelationGetPartitionQual(relation: pg_sys::Relation) -> *mut pg_sys::List;
}

/// A table of the query that is being planned.
pub struct Table {
    root: *mut pg_sys::PlannerInfo,
    rel: *mut pg_sys::RelOptInfo,
    oid: Oid,
    usage: Option<Usage>,
    checks: Option<*mut pg_sys::List>,
}

/// Whether the table itself has something on the time of ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Usage {
    None,
    /// A partial index, a CHECK, a partition key.
    Condition,
    /// A key of an index.
    Key,
}

impl Table {
    /// # Safety
    /// The planner's, of that table, after it has read what the catalog says of it.
    pub unsafe fn new(
        root: *mut pg_sys::PlannerInfo,
        rel: *mut pg_sys::RelOptInfo,
        oid: Oid,
    ) -> Self {
        Self { root, rel, oid, usage: None, checks: None }
    }

    fn number(&self) -> c_int {
        // SAFETY: the planner's own.
        unsafe { (*self.rel).relid as c_int }
    }

    /// Whether the expression is a column of the table.
    pub fn has(&self, expression: Expr) -> bool {
        expression.column().is_some_and(|column| {
            column.varno as c_int == self.number() && column.varlevelsup == 0 && column.varattno > 0
        })
    }

    /// Whether the expression has columns of other tables; None if it has some of this one.
    pub fn other_columns(&self, expression: Expr) -> Option<bool> {
        // SAFETY: a valid expression.
        unsafe {
            let tables = pg_sys::pull_varnos(self.root, expression.as_ptr());
            let own = pg_sys::bms_is_member(self.number(), tables);
            (!own).then(|| pg_sys::bms_membership(tables) != pg_sys::BMS_Membership::BMS_EMPTY_SET)
        }
    }

    /// Whether it has an index on the time itself, which serves the conditions as they are.
    pub fn is_left_alone(&mut self) -> bool {
        self.usage() == Usage::Key
    }

    /// Whether conditions must stay beside what is added, so that partial indexes can be found fit
    /// and constraints and partition bounds can exclude.
    pub fn keeps_conditions(&mut self) -> bool {
        self.usage() == Usage::Condition
    }

    /// Whether the id can't be negative where the conditions, joined by AND, hold.
    pub fn is_positive(&mut self, id: Expr, conditions: &[Expr]) -> bool {
        let positive = |id| expression::list(&[compare(id, Operator::GreaterOrEqual, bigint(0))]);
        // SAFETY: lists of valid conditions. A CHECK may also be NULL: then the id is NULL too, or
        // nothing follows from it.
        unsafe {
            pg_sys::predicate_implied_by(positive(id), expression::list(conditions), false) || {
                let checks = self.checks();
                !checks.is_null()
                    && pg_sys::predicate_implied_by(positive(id.scanned()), checks, true)
            }
        }
    }

    fn usage(&mut self) -> Usage {
        if let Some(usage) = self.usage {
            return usage;
        }
        let usage = self.find_usage();
        self.usage = Some(usage);
        usage
    }

    fn find_usage(&mut self) -> Usage {
        let mut usage = usage_in(self.checks(), Usage::Condition);
        // SAFETY: the planner's own, filled by now; the table is locked.
        unsafe {
            let rel = &*self.rel;
            if !rel.part_scheme.is_null() && !rel.partexprs.is_null() {
                for n in 0..(*rel.part_scheme).partnatts as usize {
                    usage = usage.max(usage_in(*rel.partexprs.add(n), Usage::Condition));
                }
            }
            for index in items(rel.indexlist) {
                let index = &*index.as_ptr::<pg_sys::IndexOptInfo>();
                usage = usage.max(usage_in(index.indexprs, Usage::Key));
                usage = usage.max(usage_in(index.indpred, Usage::Condition));
            }
            // The indexes of a table with children aren't all in that list.
            if self.has_children() {
                let relation = pg_sys::table_open(self.oid, pg_sys::NoLock as c_int);
                let indexes = pg_sys::RelationGetIndexList(relation);
                for n in 0..pg_sys::list_length(indexes) {
                    let index = pg_sys::list_nth_oid(indexes, n);
                    let index = pg_sys::index_open(index, pg_sys::AccessShareLock as c_int);
                    let keys = pg_sys::RelationGetIndexExpressions(index);
                    usage = usage.max(usage_in(keys, Usage::Key));
                    let predicate = pg_sys::RelationGetIndexPredicate(index);
                    usage = usage.max(usage_in(predicate, Usage::Condition));
                    pg_sys::index_close(index, pg_sys::NoLock as c_int);
                }
                pg_sys::table_close(relation, pg_sys::NoLock as c_int);
            }
        }
        usage
    }

    fn has_children(&self) -> bool {
        // SAFETY: the planner's own.
        unsafe { (**(*self.root).simple_rte_array.add(self.number() as usize)).inh }
    }

    /// The table's valid CHECK constraints and, for a partition, its bounds.
    fn checks(&mut self) -> *mut pg_sys::List {
        if let Some(checks) = self.checks {
            return checks;
        }
        let mut all = ptr::null_mut();
        // SAFETY: the table is locked; what is read of it is copied before it changes.
        unsafe {
            let relation = pg_sys::table_open(self.oid, pg_sys::NoLock as c_int);
            let constr = (*(*relation).rd_att).constr;
            let count = if constr.is_null() { 0 } else { (*constr).num_check };
            for n in 0..count as usize {
                let check = &*(*constr).check.add(n);
                if check.ccvalid && !(check.ccnoinherit && self.has_children()) {
                    let check = pg_sys::stringToNode(check.ccbin).cast();
                    let check = pg_sys::eval_const_expressions(self.root, check);
                    all = pg_sys::list_concat(all, pg_sys::make_ands_implicit(check.cast()));
                }
            }
            if (*(*relation).rd_rel).relispartition {
                let bounds =
                    pg_sys::ffi::pg_guard_ffi_boundary(|| RelationGetPartitionQual(relation));
                let bounds = pg_sys::copyObjectImpl(bounds.cast());
                all = pg_sys::list_concat(all, bounds.cast());
            }
            pg_sys::table_close(relation, pg_sys::NoLock as c_int);
            pg_sys::ChangeVarNodes(all.cast(), 1, self.number(), 0);
        }
        self.checks = Some(all);
        all
    }
}

/// `usage` if an expression of the list reads the time of ids.
fn usage_in(list: *mut pg_sys::List, usage: Usage) -> Usage {
    // SAFETY: null, or a list of expressions, which is a node too.
    match unsafe { Expr::new(list) } {
        Some(list) if list.calls(&mut |function| ours::layout(function).is_some()) => usage,
        _ => Usage::None,
    }
}
