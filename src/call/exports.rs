//! The C symbols that `sql/*.sql` refers to, one line each.
#![allow(unsafe_code)]

use super::{VERSION_1, call, call_guarded, call_set, call_table};
use super::{admin, backfill, compose, decode, generate, layouts, planner, text, tickets, views};
use crate::draw::Series;
use pgrx::pg_sys::{Datum, FunctionCallInfo, Pg_finfo_record};

macro_rules! export {
    ($finfo:ident, $symbol:ident, |$fcinfo:ident| $call:expr) => {
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $finfo() -> &'static Pg_finfo_record {
            &VERSION_1
        }

        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $symbol($fcinfo: FunctionCallInfo) -> Datum {
            // SAFETY: PostgreSQL calls this by an SQL definition in sql/, which fits the body.
            unsafe { $call }
        }
    };
}

export!(pg_finfo_snowid_next_id, snowid_next_id, |f| call(f, generate::next_id));
export!(pg_finfo_snowid_next_ids, snowid_next_ids, |f| {
    call_set(f, generate::next_ids, Series::next)
});
export!(pg_finfo_snowid_snowflake_id, snowid_snowflake_id, |f| call(f, generate::snowflake_id));
export!(pg_finfo_snowid_snowflake_ids, snowid_snowflake_ids, |f| {
    call_set(f, generate::snowflake_ids, Series::next)
});

export!(pg_finfo_snowid_next_ticket, snowid_next_ticket, |f| call(f, tickets::next_ticket));
export!(pg_finfo_snowid_next_tickets, snowid_next_tickets, |f| {
    call_set(f, tickets::next_tickets, |block| Ok(block.next()))
});
export!(pg_finfo_snowid_sequence_value, snowid_sequence_value, |f| {
    call(f, tickets::sequence_value)
});

export!(pg_finfo_snowid_make_id, snowid_make_id, |f| call(f, compose::make_id));
export!(pg_finfo_snowid_make_snowflake_id, snowid_make_snowflake_id, |f| {
    call(f, compose::make_snowflake_id)
});
export!(pg_finfo_snowid_id_floor, snowid_id_floor, |f| call(f, compose::id_floor));
export!(pg_finfo_snowid_snowflake_floor, snowid_snowflake_floor, |f| {
    call(f, compose::snowflake_floor)
});

export!(pg_finfo_snowid_id_timestamp, snowid_id_timestamp, |f| call(f, decode::id_timestamp));
export!(pg_finfo_snowid_id_shard, snowid_id_shard, |f| call(f, decode::id_shard));
export!(pg_finfo_snowid_id_sequence, snowid_id_sequence, |f| call(f, decode::id_sequence));
export!(pg_finfo_snowid_decode_id, snowid_decode_id, |f| call(f, decode::decode_id));
export!(pg_finfo_snowid_snowflake_timestamp, snowid_snowflake_timestamp, |f| {
    call(f, decode::snowflake_timestamp)
});
export!(pg_finfo_snowid_snowflake_datacenter, snowid_snowflake_datacenter, |f| {
    call(f, decode::snowflake_datacenter)
});
export!(pg_finfo_snowid_snowflake_worker, snowid_snowflake_worker, |f| {
    call(f, decode::snowflake_worker)
});
export!(pg_finfo_snowid_snowflake_sequence, snowid_snowflake_sequence, |f| {
    call(f, decode::snowflake_sequence)
});
export!(pg_finfo_snowid_decode_snowflake, snowid_decode_snowflake, |f| {
    call(f, decode::decode_snowflake)
});

export!(pg_finfo_snowid_id_to_text, snowid_id_to_text, |f| call(f, text::id_to_text));
export!(pg_finfo_snowid_id_from_text, snowid_id_from_text, |f| {
    call_guarded(f, text::id_from_text)
});
export!(pg_finfo_snowid_id_to_shortcode, snowid_id_to_shortcode, |f| {
    call(f, text::id_to_shortcode)
});
export!(pg_finfo_snowid_id_from_shortcode, snowid_id_from_shortcode, |f| {
    call_guarded(f, text::id_from_shortcode)
});
export!(pg_finfo_snowid_id_to_base32, snowid_id_to_base32, |f| call(f, text::id_to_base32));
export!(pg_finfo_snowid_id_from_base32, snowid_id_from_base32, |f| {
    call_guarded(f, text::id_from_base32)
});

export!(pg_finfo_snowid_check_layout, snowid_check_layout, |f| {
    call_guarded(f, layouts::check_layout)
});
export!(pg_finfo_snowid_decode_as, snowid_decode_as, |f| call_guarded(f, layouts::decode_as));
export!(pg_finfo_snowid_make_as, snowid_make_as, |f| call_guarded(f, layouts::make_as));
export!(pg_finfo_snowid_floor_as, snowid_floor_as, |f| call_guarded(f, layouts::floor_as));

export!(pg_finfo_snowid_advance, snowid_advance, |f| call(f, admin::advance));
export!(pg_finfo_snowid_advance_snowflake, snowid_advance_snowflake, |f| {
    call(f, admin::advance_snowflake)
});
export!(pg_finfo_snowid_init_high_water, snowid_init_high_water, |f| {
    call(f, admin::init_high_water)
});
export!(pg_finfo_snowid_accept_clock, snowid_accept_clock, |f| call(f, admin::accept_clock));
export!(pg_finfo_snowid_accept_high_water, snowid_accept_high_water, |f| {
    call(f, admin::accept_high_water)
});
export!(pg_finfo_snowid_release_worker, snowid_release_worker, |f| {
    call(f, admin::release_worker)
});
export!(pg_finfo_snowid_check_epoch, snowid_check_epoch, |f| call(f, admin::check_epoch));
export!(pg_finfo_snowid_lock_backfill, snowid_lock_backfill, |f| {
    call(f, backfill::lock_backfill)
});

export!(pg_finfo_snowid_read_generators, snowid_read_generators, |f| {
    call_table(f, views::generators)
});
export!(pg_finfo_snowid_read_status, snowid_read_status, |f| call_table(f, views::status));

export!(pg_finfo_snowid_planner_support, snowid_planner_support, |f| call(f, planner::support));
export!(pg_finfo_snowid_last_id_before, snowid_last_id_before, |f| {
    call(f, planner::last_id_before)
});
export!(pg_finfo_snowid_last_id_until, snowid_last_id_until, |f| call(f, planner::last_id_until));
export!(pg_finfo_snowid_last_snowflake_before, snowid_last_snowflake_before, |f| {
    call(f, planner::last_snowflake_before)
});
export!(pg_finfo_snowid_last_snowflake_until, snowid_last_snowflake_until, |f| {
    call(f, planner::last_snowflake_until)
});
export!(pg_finfo_snowid_range_start, snowid_range_start, |f| call(f, planner::range_start));
export!(pg_finfo_snowid_recheck, snowid_recheck, |f| call(f, planner::same));
export!(pg_finfo_snowid_instant_of_date, snowid_instant_of_date, |f| {
    call(f, planner::instant_of_date)
});
export!(pg_finfo_snowid_instant_of_timestamp, snowid_instant_of_timestamp, |f| {
    call(f, planner::instant_of_timestamp)
});
