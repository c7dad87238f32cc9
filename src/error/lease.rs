//! Errors about the (datacenter, worker) pair that this server is.
//!
//! What the lease worker found wrong tells every caller the fact; the detail names users, files and
//! other servers, and is for the log and for who may watch.

use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::memory::Lease;
use snowid_base::report::report;
use snowid_core::instant::{UnixMs, Utc};

#[derive(Clone, Copy)]
pub enum LeaseError {
    /// The setting `pg_snowid.<name>` is needed and not set.
    Unset {
        name: &'static str,
    },
    /// Nothing leases a pair, since the library isn't preloaded.
    NotPreloaded,
    /// No pair is leased now; the lease worker has said why.
    NoWorkerId {
        lease: &'static Lease,
    },
    RanOut {
        lease: &'static Lease,
        until: UnixMs,
        ms: UnixMs,
        now: UnixMs,
    },
    NotLeased,
    ReleaseUnconfirmed {
        lease: &'static Lease,
    },
    UserInEndpoints,
}

impl LeaseError {
    pub fn report(self) -> ErrorReport {
        match self {
            Self::Unset { name } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("parameter \"pg_snowid.{name}\" is not set"),
                "Each server that makes snowflake IDs needs a (datacenter, worker) pair of its own.",
                format!(
                    "Set it to 0 to 31 with ALTER SYSTEM SET pg_snowid.{name} = N and \
                     SELECT pg_reload_conf(), or call snowflake_id(datacenter_id, worker_id)."
                ),
            ),
            Self::NotPreloaded => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid must be loaded via \"shared_preload_libraries\" to lease a worker ID",
                "The setting \"pg_snowid.etcd_endpoints\" is not empty: a background worker of the library \
                 claims the ID.",
                "Add pg_snowid to \"shared_preload_libraries\" in postgresql.conf and restart the \
                 server, or call snowflake_id(datacenter_id, worker_id).",
            ),
            Self::NoWorkerId { lease } => no_worker_id(lease),
            Self::RanOut { lease, until, ms, now } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "the lease of this server's worker ID has run out",
                format!(
                    "It is good for IDs before {}; the next one would be of {}, the clock says {}. {}",
                    Utc(until),
                    Utc(ms),
                    Utc(now),
                    last_problem(lease)
                )
                .trim_end(),
                "Generating goes on by itself when the lease is renewed; the server's log says what is in the way. \
                 \"pg_snowid.etcd_lease\" sets how long a server goes on without etcd.",
            ),
            Self::NotLeased => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "this server's worker ID is not leased",
                "The setting \"pg_snowid.etcd_endpoints\" is empty.",
                "",
            ),
            Self::ReleaseUnconfirmed { lease } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "etcd has not confirmed the release of the worker ID yet",
                last_problem(lease),
                "This server no longer uses it, and goes on trying to tell etcd so. Its log says \
                 what is in the way.",
            ),
            // Without the value, which may have a password.
            Self::UserInEndpoints => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                "parameter \"pg_snowid.etcd_endpoints\" must not hold a user or password",
                "An endpoint is a scheme, a host and a port, without \"@\".",
                "Set \"pg_snowid.etcd_user\" and \"pg_snowid.etcd_password_file\".",
            ),
        }
    }
}

fn no_worker_id(lease: &Lease) -> ErrorReport {
    match lease.notice() {
        Some(notice) => report(
            PgSqlErrorCode::from(notice.code as isize),
            notice.message(),
            "",
            "The server's log says more, as does snowid.status to members of pg_monitor.",
        ),
        None => report(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "no worker ID is claimed yet",
            "The background worker has only just started, or could not be.",
            "Try again. If that does not help, the server's log says why; \"max_worker_processes\" may be too low.",
        ),
    }
}

/// What was found wrong last, as a sentence for details; empty if nothing was.
fn last_problem(lease: &Lease) -> String {
    lease.notice().map_or(String::new(), |notice| format!("Last problem: {}.", notice.message()))
}
