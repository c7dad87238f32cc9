//! What the current user may.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use snowid_base::guard::guarded;

pub fn is_superuser() -> bool {
    // SAFETY: reads the catalog, in a transaction and under a guard.
    guarded(|| unsafe { pg_sys::superuser() })
}

/// Whether it is a member of pg_read_all_stats, as pg_monitor is, or a superuser.
pub fn reads_all_statistics() -> bool {
    has_rights_of(pg_sys::ROLE_PG_READ_ALL_STATS)
}

/// Whether it has the rights of pg_monitor, as superusers have.
pub fn is_monitor() -> bool {
    has_rights_of(pg_sys::ROLE_PG_MONITOR)
}

fn has_rights_of(role: u32) -> bool {
    // SAFETY: as above.
    guarded(|| unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), pg_sys::Oid::from(role)) })
}
