//! What is wrong with a database's high-water mark.

use super::SYNC_CLOCK;
use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::report::report;
use snowid_core::instant::{UnixMs, Utc};
use snowid_core::mark::LEAD;

const RECREATE: &str = "Create the extension again: DROP EXTENSION pg_snowid, \
    CREATE EXTENSION pg_snowid, then call snowid.advance with the greatest ID of each shard.";

#[derive(Clone, Copy)]
pub enum MarkError {
    Missing,
    /// The page isn't a sequence's.
    Damaged,
    /// No server and no setval writes such a mark.
    Impossible {
        mark: UnixMs,
    },
    Unlogged,
    /// By setval, also a restore's, and not accepted.
    SetFarAhead {
        mark: UnixMs,
        now: UnixMs,
    },
    /// A server's own, or accepted: ids start at it, and the clock is too far behind it.
    FarAhead {
        mark: UnixMs,
        now: UnixMs,
        tolerated: i64,
    },
}

impl MarkError {
    pub fn report(self) -> ErrorReport {
        match self {
            Self::Missing => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "sequence \"snowid.high_water\" does not exist",
                "Without the high-water mark IDs could repeat after a crash.",
                RECREATE,
            ),
            Self::Damaged => report(
                ERRCODE_DATA_CORRUPTED,
                "sequence \"snowid.high_water\" is damaged",
                "Its page does not hold a sequence.",
                RECREATE,
            ),
            Self::Impossible { mark } => report(
                ERRCODE_DATA_CORRUPTED,
                "sequence \"snowid.high_water\" is damaged",
                format!("Its value is {mark}, and never was below 1."),
                RECREATE,
            ),
            Self::Unlogged => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "sequence \"snowid.high_water\" is not logged",
                "Its value would be lost in a crash.",
                "Use ALTER SEQUENCE snowid.high_water SET LOGGED.",
            ),
            Self::SetFarAhead { mark, now } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "the high-water mark of this database was set far ahead of the clock",
                format!(
                    "A restore or setval() has set it to {}, the clock says {}; {LEAD} ms are \
                     tolerated.",
                    Utc(mark),
                    Utc(now)
                ),
                "Generating goes on by itself once the clock is near that time. If the mark is \
                 right, a superuser says so with SELECT snowid.accept_high_water(): IDs then start \
                 at it.",
            ),
            Self::FarAhead { mark, now, tolerated } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "clock is too far behind the high-water mark",
                format!(
                    "IDs of this database start at its mark, {}, the clock says {}; {tolerated} ms \
                     are tolerated.",
                    Utc(mark),
                    Utc(now)
                ),
                SYNC_CLOCK,
            ),
        }
    }
}
