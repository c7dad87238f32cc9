//! Conditions on the time of an id, as conditions on the id.
//!
//! Of conditions that are joined by AND, those on one id are taken together. With instants that are
//! known they become the exact range of ids and are replaced by it:
//!
//! ```text
//! id_timestamp(id) >= '2026-01-01' AND id_timestamp(id) < '2026-02-01'
//! id >= 3971046231244800000 AND id < 3993514278912000000
//! ```
//!
//! Instants that are known only when the query runs become bounds that are computed then:
//!
//! ```text
//! id_timestamp(id) < now()
//! id <= snowid_internal.last_id_before(now()) AND snowid_internal.recheck(id_timestamp(id) < now())
//! ```
//!
//! Why the recheck? Ids are ordered by time as unsigned numbers, and an index orders them as signed
//! ones, where those with the sign bit come first. No generator makes them, but a table may hold
//! them, and rows must be the same by index and without. Bounds at run time are therefore as wide as
//! they have to be for ids with the sign bit, and the condition itself follows, in a wrapping that
//! tells the planner that it takes away no rows. Where the id can't be negative (a CHECK, a
//! partition's bounds, another condition) bounds are exact and nothing is rechecked.
//!
//! A condition stays as it is where it isn't joined by AND and OR alone up to the WHERE or ON.

use super::expression::{self, Expr, Operator, bigint, compare};
use super::ours::{self, Reader};
use super::table::Table;
use pgrx::pg_sys::{self, BoolExprType};
use snowid_core::instant::PgMicros;
use snowid_core::range::{Comparison, Ids, Signed};

/// `id_timestamp(id) <comparison> value`
struct Condition {
    at: usize,
    reader: Reader,
    id: Expr,
    comparison: Comparison,
    value: Value,
}

#[derive(Clone, Copy)]
enum Value {
    Known(PgMicros),
    /// An expression of type timestamptz, and whether it has columns of other tables.
    Later(Expr, bool),
}

/// A bound known at run time: `last_id_before(…)` or so.
#[derive(Clone, Copy)]
struct Bound {
    value: Expr,
    joins: bool,
}

/// The conditions to use instead of these, which are joined by AND; None where all stay.
pub fn rewrite(conditions: &[Expr], table: &mut Table) -> Option<Vec<Expr>> {
    let mut places: Vec<Vec<Expr>> = vec![];
    let mut changed = false;
    for &condition in conditions {
        let new = rewrite_or(condition, table);
        changed |= new.is_some();
        places.push(vec![new.unwrap_or(condition)]);
    }

    let mut found: Vec<Condition> = conditions
        .iter()
        .enumerate()
        .filter_map(|(at, &condition)| find(at, condition, table))
        .collect();
    while !found.is_empty() {
        let (reader, id) = (found[0].reader, found[0].id);
        let of_one;
        (of_one, found) = found.into_iter().partition(|c| c.reader == reader && c.id.equals(id));
        changed |= replace(&of_one, conditions, &mut places, table).is_some();
    }
    changed.then(|| places.concat())
}

/// An OR whose parts are rewritten each.
fn rewrite_or(condition: Expr, table: &mut Table) -> Option<Expr> {
    let parts = condition.operands(BoolExprType::OR_EXPR)?;
    let mut changed = false;
    let mut flat = vec![];
    for part in parts {
        let all = part.operands(BoolExprType::AND_EXPR).unwrap_or_else(|| vec![part]);
        let new = rewrite(&all, table);
        changed |= new.is_some();
        // The planner wants no OR right in an OR, and no AND right in an AND.
        match new.as_deref() {
            Some(&[one]) => flat.extend(one.operands(BoolExprType::OR_EXPR).unwrap_or(vec![one])),
            Some(several) => flat.push(expression::and(several)),
            None => flat.push(part),
        }
    }
    changed.then(|| expression::or(&flat))
}

fn find(at: usize, condition: Expr, table: &mut Table) -> Option<Condition> {
    let (operator, left, right) = condition.operator()?;
    let of_table = |side: Expr| {
        let (reader, id) = ours::reading(side)?;
        table.has(id).then_some((reader, id))
    };
    let (reader, id, other, swapped) = match (of_table(left), of_table(right)) {
        (Some((reader, id)), None) => (reader, id, right, false),
        (None, Some((reader, id))) => (reader, id, left, true),
        _ => return None,
    };
    let comparison = ours::comparison(operator)?;
    let comparison = if swapped { comparison.swapped() } else { comparison };
    let value = match other.constant(pg_sys::TIMESTAMPTZOID) {
        Some(instant) => Value::Known(instant),
        // Two tables whose ids' times are compared: neither is the one to look for by the other.
        None if other.is_unrepeatable() || ours::reading(other).is_some() => return None,
        None => Value::Later(reader.instant(other)?, table.other_columns(other)?),
    };
    // An equality of two tables is what hash and merge joins are made of.
    if matches!((comparison, value), (Comparison::At, Value::Later(_, true))) {
        return None;
    }
    // Last, since it looks at the table.
    (!table.is_left_alone()).then_some(Condition { at, reader, id, comparison, value })
}

/// Puts into the places of conditions on one id what is to be there instead; None if they stay.
fn replace(
    found: &[Condition],
    conditions: &[Expr],
    places: &mut [Vec<Expr>],
    table: &mut Table,
) -> Option<()> {
    let first = &found[0];
    let Instead { mut new, replaced, rechecked } =
        Instead::of(found, table.is_positive(first.id, conditions))?;
    if table.keeps_conditions() {
        places[first.at].extend(new);
        return Some(());
    }
    if !rechecked.is_empty() {
        let all: Vec<Expr> = rechecked.iter().map(|&at| conditions[at]).collect();
        new.push(first.reader.recheck(expression::and(&all))?);
    }
    for at in replaced.into_iter().chain(rechecked) {
        places[at].clear();
    }
    places[first.at] = new;
    Some(())
}

/// What is to be there instead of conditions on one id.
#[derive(Default)]
struct Instead {
    new: Vec<Expr>,
    /// Where conditions stand that the new ones say all of.
    replaced: Vec<usize>,
    /// Where those stand that are to be rechecked besides.
    rechecked: Vec<usize>,
}

impl Instead {
    fn of(found: &[Condition], mut positive: bool) -> Option<Self> {
        let (reader, id) = (found[0].reader, found[0].id);
        let (known, ids) = known_range(found);
        let (later, mut bounds) = later_bounds(found)?;
        // The upper bound that a lower one goes with: with it no id with the sign bit comes after.
        let upper = bounds.iter().filter_map(|bound| bound.1).min_by_key(|upper| upper.joins);
        let mut instead = Self::default();
        match ids.before() {
            // A lower bound that is known goes with an upper one that isn't.
            Some(before) if !positive && upper.is_some_and(|upper| !upper.joins) => {
                bounds.push((Some(Bound { value: bigint(before), joins: false }), None));
                instead.rechecked = known;
            }
            _ if known.is_empty() => {}
            _ => {
                instead.new = exact(ids.signed(positive), id);
                positive |= ids.positive();
                instead.replaced = known;
            }
        }
        if positive { &mut instead.replaced } else { &mut instead.rechecked }.extend(later);
        for lower in bounds.iter().filter_map(|bound| bound.0) {
            instead.new.push(above(reader, id, lower, upper, positive)?);
        }
        for upper in bounds.iter().filter_map(|bound| bound.1) {
            instead.new.push(compare(id, Operator::LessOrEqual, upper.value));
        }
        Some(instead)
    }
}

/// The conditions whose instant is known, and the ids that they leave together.
fn known_range(found: &[Condition]) -> (Vec<usize>, Ids) {
    let (mut known, mut ids) = (vec![], Ids::ALL);
    for Condition { at, reader, comparison, value, .. } in found {
        if let Value::Known(instant) = *value {
            ids = ids.and(Ids::of(*comparison, instant, reader.epoch, reader.layout));
            known.push(*at);
        }
    }
    (known, ids)
}

/// A lower and an upper bound, neither of which there must be.
type Bounds = (Option<Bound>, Option<Bound>);

/// The conditions whose instant is known only when the query runs, and the bounds that they make.
fn later_bounds(found: &[Condition]) -> Option<(Vec<usize>, Vec<Bounds>)> {
    let (mut later, mut bounds) = (vec![], vec![]);
    for Condition { at, reader, comparison, value, .. } in found {
        let Value::Later(value, joins) = *value else { continue };
        let last = |inclusive| Some(Some(Bound { value: reader.last(value, inclusive)?, joins }));
        bounds.push(match comparison {
            Comparison::From => (last(false)?, None),
            Comparison::After => (last(true)?, None),
            Comparison::Before => (None, last(false)?),
            Comparison::Until => (None, last(true)?),
            Comparison::At => (last(false)?, last(true)?),
        });
        later.push(*at);
    }
    Some((later, bounds))
}

/// Ids above a bound; where they may have the sign bit, those with it too, but for what an upper bound
/// takes away.
fn above(
    reader: Reader,
    id: Expr,
    lower: Bound,
    upper: Option<Bound>,
    positive: bool,
) -> Option<Expr> {
    let above = compare(id, Operator::Greater, lower.value);
    Some(match upper {
        _ if positive => above,
        Some(upper) if !upper.joins || lower.joins => {
            let start = reader.range_start(lower.value, upper.value)?;
            compare(id, Operator::GreaterOrEqual, start)
        }
        _ => expression::or(&[above, compare(id, Operator::Less, bigint(0))]),
    })
}

fn exact(range: Signed, id: Expr) -> Vec<Expr> {
    let from = |from| compare(id, Operator::GreaterOrEqual, bigint(from));
    let below = |below| compare(id, Operator::Less, bigint(below));
    match range {
        // Not IS NOT NULL, for which PostgreSQL 16.14 prunes a DEFAULT partition that has rows.
        Signed::Within { from: None, below: None } => vec![from(i64::MIN)],
        Signed::Within { from: start, below: end } => {
            start.map(from).into_iter().chain(end.map(below)).collect()
        }
        Signed::Without { from: start, below: end } => {
            vec![expression::or(&[from(start), below(end)])]
        }
    }
}
