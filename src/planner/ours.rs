//! Our functions, recognized in a query and called in what is added to it.
//!
//! A function is ours if it leads to our C function, whatever its name, schema and oid: so neither
//! search_path nor an extension that was dropped and made again matters, and nothing is cached. The
//! look-ups go to PostgreSQL's own catalog caches.
#![allow(unsafe_code)]

use super::expression::{self, Expr};
use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid};
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, TWITTER_EPOCH};
use snowid_core::layout::{INSTAGRAM, Layout, TWITTER};
use snowid_core::range::{self, Comparison};
use std::ffi::CStr;

// SAFETY: they are those of `exports`.
unsafe extern "C-unwind" {
    fn snowid_id_timestamp(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_snowflake_timestamp(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_last_id_before(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_last_id_until(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_last_snowflake_before(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_last_snowflake_until(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_range_start(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_instant_of_date(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_instant_of_timestamp(fcinfo: FunctionCallInfo) -> Datum;
    fn snowid_recheck(fcinfo: FunctionCallInfo) -> Datum;
}

type Function = unsafe extern "C-unwind" fn(FunctionCallInfo) -> Datum;

/// What reads the time of an id: `id_timestamp` or `snowflake_timestamp`, and its epoch.
#[derive(Clone, Copy)]
pub struct Reader {
    pub layout: Layout,
    pub epoch: Epoch,
    /// The epoch where it is an argument.
    argument: Option<Expr>,
    /// Where our functions for plans are.
    schema: Oid,
}

impl PartialEq for Reader {
    fn eq(&self, other: &Self) -> bool {
        (self.layout, self.epoch) == (other.layout, other.epoch)
    }
}

/// Whether this function reads the time of an id, and of which layout.
pub fn layout(function: Oid) -> Option<(Layout, Epoch)> {
    // SAFETY: catalog look-ups of a function that a valid expression calls. Few functions have a
    // support function; only those are looked at closely, and ours leads to itself: a function with
    // SECURITY DEFINER or settings of its own doesn't.
    let has_support = unsafe { pg_sys::get_func_support(function) } != pg_sys::InvalidOid;
    if has_support && leads_to(function, snowid_id_timestamp) {
        Some((INSTAGRAM, INSTAGRAM_EPOCH))
    } else if has_support && leads_to(function, snowid_snowflake_timestamp) {
        Some((TWITTER, TWITTER_EPOCH))
    } else {
        None
    }
}

/// A call of `id_timestamp` or `snowflake_timestamp` with a known epoch, under which each id has a
/// time: how it reads, and what.
pub fn reading(expression: Expr) -> Option<(Reader, Expr)> {
    let (function, args) = expression.call()?;
    let (layout, default) = layout(function)?;
    let (id, argument) = match args[..] {
        [id] => (id, None),
        [id, epoch] => (id, Some(epoch)),
        _ => return None,
    };
    let epoch = match argument {
        Some(constant) => Epoch::new(constant.constant(pg_sys::TIMESTAMPTZOID)?).ok()?,
        None => default,
    };
    if id.type_oid() != pg_sys::INT8OID || !range::decodable(epoch, layout) {
        return None;
    }
    Some((Reader { layout, epoch, argument, schema: schema(function) }, id))
}

/// The schema of our functions for plans: that of the support function.
fn schema(reader: Oid) -> Oid {
    // SAFETY: catalog look-ups.
    unsafe { pg_sys::get_func_namespace(pg_sys::get_func_support(reader)) }
}

impl Reader {
    /// The greatest positive id whose time is before an instant, or up to it.
    pub fn last(&self, instant: Expr, inclusive: bool) -> Option<Expr> {
        let (name, symbol): (_, Function) = match (self.layout == INSTAGRAM, inclusive) {
            (true, false) => (c"last_id_before", snowid_last_id_before),
            (true, true) => (c"last_id_until", snowid_last_id_until),
            (false, false) => (c"last_snowflake_before", snowid_last_snowflake_before),
            (false, true) => (c"last_snowflake_until", snowid_last_snowflake_until),
        };
        let args: Vec<Expr> = [instant].into_iter().chain(self.argument).collect();
        self.call(name, symbol, pg_sys::INT8OID, &args)
    }

    /// Where ids begin as a bigint, of which the two are what `last` says of both ends.
    pub fn range_start(&self, before: Expr, last: Expr) -> Option<Expr> {
        self.call(c"range_start", snowid_range_start, pg_sys::INT8OID, &[before, last])
    }

    /// An expression that times are compared with, as a timestamptz.
    pub fn instant(&self, value: Expr) -> Option<Expr> {
        let to = pg_sys::TIMESTAMPTZOID;
        match value.type_oid() {
            pg_sys::TIMESTAMPTZOID => Some(value),
            pg_sys::DATEOID => self.call(c"instant", snowid_instant_of_date, to, &[value]),
            pg_sys::TIMESTAMPOID => {
                self.call(c"instant", snowid_instant_of_timestamp, to, &[value])
            }
            _ => None,
        }
    }

    /// A condition that is to hold too, but whose share of the rows is accounted for by others.
    pub fn recheck(&self, condition: Expr) -> Option<Expr> {
        self.call(c"recheck", snowid_recheck, pg_sys::BOOLOID, &[condition])
    }

    fn call(&self, name: &CStr, symbol: Function, returns: Oid, args: &[Expr]) -> Option<Expr> {
        call(self.schema, name, symbol, returns, args)
    }
}

/// A call of one of our functions for plans; None where it is missing or another's.
fn call(schema: Oid, name: &CStr, symbol: Function, returns: Oid, args: &[Expr]) -> Option<Expr> {
    let types: Vec<Oid> = args.iter().map(|arg| arg.type_oid()).collect();
    // SAFETY: a catalog look-up by name, argument types and schema.
    let function = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
            pg_sys::Anum_pg_proc_oid as i16,
            Datum::from(name.as_ptr()),
            Datum::from(pg_sys::buildoidvector(types.as_ptr(), types.len() as i32)),
            Datum::from(schema),
            Datum::from(0usize),
        )
    };
    (function != pg_sys::InvalidOid && leads_to(function, symbol))
        .then(|| expression::call(function, returns, args))
}

/// Whether an SQL function is this C function.
fn leads_to(function: Oid, symbol: Function) -> bool {
    let mut info = pg_sys::FmgrInfo::default();
    // SAFETY: fills `info` for a function that exists.
    unsafe { pg_sys::fmgr_info(function, &mut info) };
    info.fn_addr.is_some_and(|address| address as usize == symbol as usize)
}

/// The comparison that an operator makes of a timestamptz with a timestamptz, date or timestamp, or
/// the other way round.
pub fn comparison(operator: Oid) -> Option<Comparison> {
    // SAFETY: catalog look-ups.
    let strategy = unsafe {
        let family = pg_sys::get_opclass_family(pg_sys::TIMESTAMPTZ_BTREE_OPS_OID);
        pg_sys::get_op_opfamily_strategy(operator, family)
    };
    match u32::try_from(strategy).ok()? {
        pg_sys::BTLessStrategyNumber => Some(Comparison::Before),
        pg_sys::BTLessEqualStrategyNumber => Some(Comparison::Until),
        pg_sys::BTEqualStrategyNumber => Some(Comparison::At),
        pg_sys::BTGreaterEqualStrategyNumber => Some(Comparison::From),
        pg_sys::BTGreaterStrategyNumber => Some(Comparison::After),
        _ => None,
    }
}
