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

use super::known::{self, Clock};
use super::nodes::{self, Node, Operator, bigint, compare};
use super::table::Table;
use pgrx::pg_sys::{self, BoolExprType};
use snowid_core::instant::PgMicros;
use snowid_core::range::{Comparison, Ids, Signed};

/// `id_timestamp(id) <comparison> value`
struct Condition {
    at: usize,
    clock: Clock,
    id: Node,
    comparison: Comparison,
    value: Value,
}

#[derive(Clone, Copy)]
enum Value {
    Known(PgMicros),
    /// An expression of type timestamptz, and whether it has columns of other tables.
    Later(Node, bool),
}

/// A bound known at run time: `last_id_before(…)` or so.
#[derive(Clone, Copy)]
struct Bound {
    value: Node,
    joins: bool,
}

/// The conditions to use instead of these, which are joined by AND; None where all stay.
pub fn rewrite(conditions: &[Node], table: &mut Table) -> Option<Vec<Node>> {
    let mut places: Vec<Vec<Node>> = vec![];
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
        let (clock, id) = (found[0].clock, found[0].id);
        let of_one;
        (of_one, found) = found.into_iter().partition(|c| c.clock == clock && c.id.equals(id));
        changed |= replace(&of_one, conditions, &mut places, table).is_some();
    }
    changed.then(|| places.concat())
}

/// An OR whose parts are rewritten each.
fn rewrite_or(condition: Node, table: &mut Table) -> Option<Node> {
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
            Some(several) => flat.push(nodes::and(several)),
            None => flat.push(part),
        }
    }
    changed.then(|| nodes::or(&flat))
}

fn find(at: usize, condition: Node, table: &mut Table) -> Option<Condition> {
    let (operator, left, right) = condition.operator()?;
    let of_table = |side: Node| {
        let (clock, id) = known::reading(side)?;
        table.has(id).then_some((clock, id))
    };
    let (clock, id, other, swapped) = match (of_table(left), of_table(right)) {
        (Some((clock, id)), None) => (clock, id, right, false),
        (None, Some((clock, id))) => (clock, id, left, true),
        _ => return None,
    };
    let comparison = known::comparison(operator)?;
    let comparison = if swapped { comparison.swapped() } else { comparison };
    let value = match other.constant(pg_sys::TIMESTAMPTZOID) {
        Some(instant) => Value::Known(instant),
        // Two tables whose ids' times are compared: neither is the one to look for by the other.
        None if other.is_unrepeatable() || known::reading(other).is_some() => return None,
        None => Value::Later(clock.instant(other)?, table.other_columns(other)?),
    };
    // An equality of two tables is what hash and merge joins are made of.
    if matches!((comparison, value), (Comparison::At, Value::Later(_, true))) {
        return None;
    }
    // Last, since it looks at the table.
    (!table.is_left_alone()).then_some(Condition { at, clock, id, comparison, value })
}

/// Puts into the places of conditions on one id what is to be there instead; None if they stay.
fn replace(
    found: &[Condition],
    conditions: &[Node],
    places: &mut [Vec<Node>],
    table: &mut Table,
) -> Option<()> {
    let (clock, id) = (found[0].clock, found[0].id);
    let mut positive = table.is_positive(id, conditions);
    let (mut new, mut rechecked, mut replaced, mut later) = (vec![], vec![], vec![], vec![]);

    let (mut known, mut ids) = (vec![], Ids::ALL);
    for condition in found {
        if let Value::Known(instant) = condition.value {
            ids = ids.and(Ids::of(condition.comparison, instant, clock.epoch, clock.layout));
            known.push(condition.at);
        }
    }

    let mut bounds = vec![];
    for condition in found {
        if let Value::Later(value, joins) = condition.value {
            let last =
                |inclusive| Some(Some(Bound { value: clock.last(value, inclusive)?, joins }));
            let (lower, upper) = match condition.comparison {
                Comparison::From => (last(false)?, None),
                Comparison::After => (last(true)?, None),
                Comparison::Before => (None, last(false)?),
                Comparison::Until => (None, last(true)?),
                Comparison::At => (last(false)?, last(true)?),
            };
            bounds.push((lower, upper));
            later.push(condition.at);
        }
    }
    // The upper bound that a lower one goes with: with it no id with the sign bit comes after.
    let upper = bounds.iter().filter_map(|bound| bound.1).min_by_key(|upper| upper.joins);
    match ids.before() {
        // A lower bound that is known goes with an upper one that isn't.
        Some(before) if !positive && upper.is_some_and(|upper| !upper.joins) => {
            bounds.push((Some(Bound { value: bigint(before), joins: false }), None));
            rechecked.extend(known);
        }
        _ if known.is_empty() => {}
        _ => {
            new.extend(exact(ids.signed(positive), id));
            positive |= ids.positive();
            replaced.extend(known);
        }
    }
    if positive { &mut replaced } else { &mut rechecked }.extend(later);
    for (lower, _) in bounds.iter() {
        let Some(lower) = lower else { continue };
        let above = compare(id, Operator::Greater, lower.value);
        new.push(match upper {
            _ if positive => above,
            Some(upper) if !upper.joins || lower.joins => {
                let start = clock.range_start(lower.value, upper.value)?;
                compare(id, Operator::GreaterOrEqual, start)
            }
            _ => nodes::or(&[above, compare(id, Operator::Less, bigint(0))]),
        });
    }
    for (_, upper) in bounds {
        new.extend(upper.map(|upper| compare(id, Operator::LessOrEqual, upper.value)));
    }

    if table.keeps_conditions() {
        places[found[0].at].extend(new);
        return Some(());
    }
    if !rechecked.is_empty() {
        let all: Vec<Node> = rechecked.iter().map(|&at| conditions[at]).collect();
        new.push(clock.recheck(nodes::and(&all))?);
    }
    for at in replaced.into_iter().chain(rechecked) {
        places[at].clear();
    }
    places[found[0].at] = new;
    Some(())
}

fn exact(range: Signed, id: Node) -> Vec<Node> {
    let from = |from| compare(id, Operator::GreaterOrEqual, bigint(from));
    let below = |below| compare(id, Operator::Less, bigint(below));
    match range {
        // Not IS NOT NULL, for which PostgreSQL 16.14 prunes a DEFAULT partition that has rows.
        Signed::Within { from: None, below: None } => vec![from(i64::MIN)],
        Signed::Within { from: start, below: end } => {
            start.map(from).into_iter().chain(end.map(below)).collect()
        }
        Signed::Without { from: start, below: end } => vec![nodes::or(&[from(start), below(end)])],
    }
}
