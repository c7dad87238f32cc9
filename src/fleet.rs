//! The background worker that leases this server's (datacenter, worker) pair from etcd. It is a library of
//! its own (folder `etcd/`), which its process alone loads.
#![allow(unsafe_code)]

use crate::settings;
use pgrx::bgworkers::{BackgroundWorkerBuilder, BgWorkerStartTime};
use pgrx::pg_sys;
use std::time::Duration;

/// Called from `_PG_init`: has the postmaster start the worker, at the promotion of a standby.
pub fn register() {
    // SAFETY: a flag of this process.
    let is_upgrade = unsafe { pg_sys::IsBinaryUpgrade };
    if settings::is_preloading() && settings::uses_etcd() && !is_upgrade {
        BackgroundWorkerBuilder::new("pg_snowid lease")
            .set_library("pg_snowid_etcd")
            .set_function("snowid_lease_main")
            .set_start_time(BgWorkerStartTime::RecoveryFinished)
            .set_restart_time(Some(Duration::from_secs(1)))
            .load();
    }
}
