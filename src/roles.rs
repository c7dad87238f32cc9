//! What the calling role may see.
#![allow(unsafe_code)]

use pgrx::pg_sys;

/// Whether it has the rights of `pg_monitor`, as superusers have. To be called under a guard.
pub fn is_monitor() -> bool {
    let monitor = pg_sys::Oid::from(pg_sys::ROLE_PG_MONITOR);
    // SAFETY: look-ups in a transaction.
    unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), monitor) }
}
