//! What can be wrong with the lease, as the log, `snowid.status` and the errors of `snowflake_id()` say
//! it.
//!
//! A message tells nothing of the server, of others or of their settings: it goes to every caller.

use super::records::BadRecord;
use pgrx::{PgLogLevel, PgSqlErrorCode, PgSqlErrorCode::*};
use snowid_base::memory::Notice;
use snowid_base::report::report;
use snowid_core::instant::{UnixMs, Utc};
use snowid_core::layout::twitter_parts;
use std::io;

const CLOCK_HINT: &str = "Check that the system clock is right and synchronized. \
    \"pg_snowid.max_clock_difference\" sets what is tolerated.";

#[derive(Debug)]
pub enum Problem {
    /// etcd does not answer, or not as it should; with a pair in force it is only a warning.
    Etcd {
        failure: String,
        holds: bool,
    },
    /// A setting, or a file that it names, keeps etcd from being asked.
    Setting(String),
    Record(BadRecord),
    File(io::Error),
    /// The lease file is not what was written: edited or torn.
    FileDamaged,
    Random(io::Error),
    /// Another live server has the name.
    Held {
        name: String,
        host: String,
        port: i32,
        data_directory: String,
    },
    ClockBehind {
        node: u32,
        recorded: UnixMs,
        now: UnixMs,
        tolerated: i64,
    },
    ClockDiffers {
        median: UnixMs,
        servers: usize,
        now: UnixMs,
        tolerated: i64,
    },
    Exhausted {
        pairs: usize,
        datacenter: Option<u32>,
        worker: Option<u32>,
    },
    Released,
}

impl Problem {
    pub fn notice(&self) -> Notice {
        let (code, message, detail, _) = self.texts();
        Notice::new(code as i32, message, &detail)
    }

    /// Whether nothing is known of what etcd would say: what it said before holds to its bound.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Etcd { .. } | Self::Setting(_))
    }

    /// Whether it may be over in a moment.
    pub fn is_brief(&self) -> bool {
        self.is_silence() || matches!(self, Self::File(_) | Self::Random(_))
    }

    /// What tells a new problem from one that is logged already: not the time.
    pub fn key(&self) -> String {
        match self {
            Self::ClockBehind { recorded, .. } => format!("clock {recorded}"),
            Self::ClockDiffers { .. } => "clock".into(),
            // One outage fails in many ways.
            Self::Etcd { holds, .. } => format!("etcd {holds}"),
            _ => {
                let (_, message, detail, _) = self.texts();
                format!("{message} {detail}")
            }
        }
    }

    pub fn log(&self) {
        let (code, message, detail, hint) = self.texts();
        let level =
            if matches!(self, Self::Released) { PgLogLevel::LOG } else { PgLogLevel::WARNING };
        report(code, message, detail, hint).report(level);
    }

    /// Code, message, detail and hint.
    fn texts(&self) -> (PgSqlErrorCode, &'static str, String, &'static str) {
        match self {
            Self::Etcd { failure, holds } => (
                if *holds {
                    ERRCODE_CONNECTION_FAILURE
                } else {
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
                },
                if *holds { "could not reach etcd" } else { "no worker ID is claimed yet" },
                format!("{}{failure}.", if *holds { "" } else { "Could not reach etcd: " }),
                "Check etcd and the settings \"pg_snowid.etcd_*\". This server tries again every few seconds.",
            ),
            Self::Setting(what) => (
                ERRCODE_CONFIG_FILE_ERROR,
                "etcd cannot be asked with the settings that are in force",
                format!("{what}."),
                "Nothing is sent. Correct the settings \"pg_snowid.etcd_*\" or the files that they name, and reload \
                 the configuration.",
            ),
            Self::Record(BadRecord(key)) => (
                ERRCODE_DATA_CORRUPTED,
                "etcd holds a record that is not of pg_snowid",
                format!("The value of key \"{key}\" has another format, or a number out of range."),
                "Delete it if it is not needed. Another \"pg_snowid.etcd_prefix\" keeps other users of etcd apart.",
            ),
            Self::File(error) => (
                ERRCODE_IO_ERROR,
                "could not write file \"pg_snowid.lease\"",
                format!("The system says: {error}."),
                "It lies in the data directory. This server tries again every few seconds.",
            ),
            Self::FileDamaged => (
                ERRCODE_DATA_CORRUPTED,
                "file \"pg_snowid.lease\" is damaged",
                "Its checksum is not that of its content.".into(),
                "It is not used: this server is another instance with its name, as without the file.",
            ),
            Self::Random(error) => (
                ERRCODE_SYSTEM_ERROR,
                "could not generate random values",
                format!("The system says: {error}."),
                "They come from /dev/urandom. This server tries again every few seconds.",
            ),
            Self::Held { name, host, port, data_directory } => (
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "another live server has this server's name",
                format!(
                    "The name is \"{name}\". It runs on host \"{host}\", port {port}, with the data directory \"{data_directory}\"."
                ),
                "If this is a copy, or \"cluster_name\" is the same on several servers, set \"pg_snowid.node_name\" \
                 to a name of this server's own. After a failover, stop the old primary: this server goes on by \
                 itself when the other's lease has run out.",
            ),
            Self::ClockBehind { node, recorded, now, tolerated } => {
                let (datacenter, worker) = twitter_parts(*node);
                (
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "clock is behind the last time recorded for the worker ID",
                    format!(
                        "For datacenter {datacenter}, worker {worker} that is {}, the clock says {}; \
                         {tolerated} ms are tolerated.",
                        Utc(*recorded),
                        Utc(*now)
                    ),
                    CLOCK_HINT,
                )
            }
            Self::ClockDiffers { median, servers, now, tolerated } => (
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "clock differs from the other live servers'",
                format!(
                    "The median of {servers} is {}, the clock says {}; {tolerated} ms are tolerated.",
                    Utc(*median),
                    Utc(*now)
                ),
                CLOCK_HINT,
            ),
            Self::Exhausted { pairs, datacenter, worker } => {
                let part = |name, id: &Option<u32>| id.map(|id| format!("{name} {id}"));
                let parts = [part("datacenter", datacenter), part("worker", worker)];
                let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
                let of = if parts.is_empty() { "" } else { " of " };
                (
                    ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                    "worker IDs are exhausted",
                    format!("All {pairs} pairs{of}{parts} belong to servers of the fleet."),
                    "Call snowid.release_worker() on a server that no longer needs its pair. Pairs of servers that \
                     are gone are free after \"pg_snowid.etcd_grace\".",
                )
            }
            Self::Released => (
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "this server has released its worker ID",
                "snowid.release_worker() was called.".into(),
                "Reload the configuration or restart the server to claim one again.",
            ),
        }
    }
}

/// A line in the log for what is no problem.
pub fn log(message: String, detail: String) {
    report(ERRCODE_SUCCESSFUL_COMPLETION, message, detail, "").report(PgLogLevel::LOG);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_random_bytes_are_no_fault_of_the_lease_file() {
        let problem = Problem::Random(io::Error::from(io::ErrorKind::NotFound));
        let notice = problem.notice();
        assert_eq!(notice.message(), "could not generate random values");
        assert!(!format!("{:?}", problem.texts()).contains("file"));
    }
}
