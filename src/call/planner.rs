//! The SQL functions that serve the planner; see `sql/planner.sql`.
#![allow(unsafe_code)]

use super::args::Args;
use super::checks;
use crate::error::Error;
use crate::planner;
use pgrx::pg_sys::{self, NodeTag};
use snowid_base::guard::guarded;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH};
use snowid_core::layout::{INSTAGRAM, Layout, TWITTER};
use snowid_core::range;

/// snowid_internal.planner_support(internal): what PostgreSQL asks about the functions that name it.
pub fn support(args: Args) -> Result<i64, Error> {
    let request = args.bigint(0) as *mut pg_sys::Node;
    // SAFETY: PostgreSQL passes a request, whose tag says which.
    unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => {
                // Not simpler by itself, but now worth looking at the conditions.
                planner::wake();
            }
            // recheck: by its meaning all rows pass.
            NodeTag::T_SupportRequestSelectivity => {
                (*request.cast::<pg_sys::SupportRequestSelectivity>()).selectivity = 1.0;
                return Ok(args.bigint(0));
            }
            _ => {}
        }
    }
    Ok(0)
}

/// snowid_internal.last_id_before(timestamptz [, epoch])
pub fn last_id_before(args: Args) -> Result<i64, Error> {
    last(args, false, INSTAGRAM_EPOCH, INSTAGRAM)
}

/// snowid_internal.last_id_until(timestamptz [, epoch])
pub fn last_id_until(args: Args) -> Result<i64, Error> {
    last(args, true, INSTAGRAM_EPOCH, INSTAGRAM)
}

/// snowid_internal.last_snowflake_before(timestamptz [, epoch])
pub fn last_snowflake_before(args: Args) -> Result<i64, Error> {
    last(args, false, TWITTER_EPOCH, TWITTER)
}

/// snowid_internal.last_snowflake_until(timestamptz [, epoch])
pub fn last_snowflake_until(args: Args) -> Result<i64, Error> {
    last(args, true, TWITTER_EPOCH, TWITTER)
}

fn last(args: Args, inclusive: bool, default: Epoch, layout: Layout) -> Result<i64, Error> {
    Ok(range::last(args.bigint(0), inclusive, checks::epoch(args, 1, default)?, layout))
}

/// snowid_internal.range_start(bigint, bigint)
pub fn range_start(args: Args) -> Result<i64, Error> {
    Ok(range::start(args.bigint(0), args.bigint(1)))
}

/// snowid_internal.recheck(boolean)
pub fn same(args: Args) -> Result<bool, Error> {
    Ok(args.bigint(0) as u8 != 0)
}

/// snowid_internal.instant(date): as comparing with a date takes it, beyond timestamptz too.
pub fn instant_of_date(args: Args) -> Result<PgMicros, Error> {
    Ok(guarded(|| instant::of_date(args.integer(0))))
}

/// snowid_internal.instant(timestamp): as comparing with a timestamp takes it, beyond timestamptz too.
pub fn instant_of_timestamp(args: Args) -> Result<PgMicros, Error> {
    Ok(guarded(|| instant::of_timestamp(args.bigint(0))))
}

/// What overflows becomes an infinity, instead of an error.
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
mod instant {
    use super::*;

    pub fn of_date(date: i32) -> PgMicros {
        // SAFETY: takes values, under a guard.
        unsafe { pg_sys::date2timestamptz_opt_overflow(date, &mut 0) }
    }

    pub fn of_timestamp(timestamp: i64) -> PgMicros {
        // SAFETY: as above.
        unsafe { pg_sys::timestamp2timestamptz_opt_overflow(timestamp, &mut 0) }
    }
}

/// As above: from PostgreSQL 19 on where the error has a place to go to.
#[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
mod instant {
    use super::*;
    use std::ptr;

    pub fn of_date(date: i32) -> PgMicros {
        let mut nowhere = nowhere();
        // SAFETY: takes a value and a valid node, under a guard.
        unsafe { pg_sys::date2timestamptz_safe(date, ptr::from_mut(&mut nowhere).cast()) }
    }

    pub fn of_timestamp(timestamp: i64) -> PgMicros {
        let mut nowhere = nowhere();
        // SAFETY: as above.
        unsafe { pg_sys::timestamp2timestamptz_safe(timestamp, ptr::from_mut(&mut nowhere).cast()) }
    }

    fn nowhere() -> pg_sys::ErrorSaveContext {
        pg_sys::ErrorSaveContext { type_: NodeTag::T_ErrorSaveContext, ..Default::default() }
    }
}
