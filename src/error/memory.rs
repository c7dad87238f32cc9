//! Errors about shared memory, and about loading the library.

use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::memory::{Header, OTHER_VERSION, OtherLayout};
use snowid_base::report::report;

#[derive(Clone, Copy)]
pub enum MemoryError {
    NotPreloaded,
    /// There is room for so many, and all of them exist.
    TooManyDatabases {
        most: usize,
        preloaded: bool,
    },
    OtherLayout(OtherLayout),
    /// This process has loaded another library of pg_snowid before.
    OtherLibrary {
        first: &'static Header,
    },
    /// Its session, or the client that began it, has set one of ours before the library was loaded.
    SetBeforeLoad {
        name: &'static str,
    },
    /// PostgreSQL takes no setting over then.
    LoadedInParallel {
        name: &'static str,
    },
}

impl MemoryError {
    pub fn report(self) -> ErrorReport {
        match self {
            Self::NotPreloaded => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid must be loaded via \"shared_preload_libraries\" to generate IDs",
                "PostgreSQL 15 and 16 give shared memory to preloaded libraries only.",
                "Add pg_snowid to \"shared_preload_libraries\" in postgresql.conf and restart the \
                 server. Decoding and composing work without.",
            ),
            Self::TooManyDatabases { most, preloaded } => report(
                ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "too many databases generate IDs on this server",
                format!("There is room for {most}, and all of those exist."),
                if preloaded {
                    "Raise \"pg_snowid.max_databases\" and restart the server, or drop databases \
                     that are not needed."
                } else {
                    "Add pg_snowid to \"shared_preload_libraries\", raise \
                     \"pg_snowid.max_databases\" and restart the server, or drop databases that \
                     are not needed."
                },
            ),
            Self::OtherLayout(error) => error.report(),
            Self::OtherLibrary { first } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "another library of pg_snowid is loaded already",
                format!("This session has loaded {first}, and now {} besides.", Header::ours()),
                OTHER_VERSION,
            ),
            Self::SetBeforeLoad { name } => report(
                ERRCODE_CANT_CHANGE_RUNTIME_PARAM,
                format!("parameter \"{name}\" cannot be set before pg_snowid is loaded"),
                "The session or its client has set it, which hides what the server and the \
                 database say.",
                "Connect without it, or RESET it. Where pg_snowid is in \
                 \"shared_preload_libraries\" it is loaded from the start.",
            ),
            Self::LoadedInParallel { name } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid cannot be loaded during a parallel operation",
                format!("The value of \"{name}\" would be lost."),
                "Add pg_snowid to \"shared_preload_libraries\" or to \
                 \"session_preload_libraries\", or call a function of it before in the session.",
            ),
        }
    }
}
