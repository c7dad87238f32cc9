//! Every error that pg_snowid raises: SQLSTATE, message, detail and hint in one place.
//!
//! An error carries only its values, so that making one costs nothing on the way; the texts are
//! written when it is raised.

mod layouts;
mod text;

pub use layouts::LayoutError;
pub use text::TextError;

use crate::shared::DATABASES;
use pgrx::PgSqlErrorCode;
use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_core::instant::{BadEpoch, PgMicros, UnixMs, Utc, unix_ms};
use std::borrow::Cow;
use std::fmt::Display;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument or setting `name` must lie between 0 and `max`.
    OutOfRange {
        name: &'static str,
        value: i32,
        max: u32,
    },
    /// `pg_snowid.<name>` is needed and not set.
    Unset {
        name: &'static str,
    },
    EpochInfinite,
    EpochFraction,
    EpochInFuture {
        epoch: UnixMs,
        now: UnixMs,
    },
    InstantInfinite,
    InstantBeforeEpoch {
        instant: PgMicros,
        epoch: UnixMs,
    },
    InstantPastLast {
        instant: PgMicros,
        last: UnixMs,
    },
    /// A decoded instant lies beyond timestamptz.
    Undecodable {
        id: i64,
    },
    Exhausted {
        last: UnixMs,
    },
    ClockBehind {
        ms: UnixMs,
        now: UnixMs,
        tolerated: i64,
    },
    /// Ids to advance to are ids that can be generated.
    NegativeId {
        id: i64,
    },
    AdvanceTooFar {
        ms: UnixMs,
        now: UnixMs,
        tolerated: i64,
    },
    ClockJumped {
        now: UnixMs,
        expected: UnixMs,
        tolerated: i64,
    },
    ClockPastMark {
        now: UnixMs,
        mark: UnixMs,
        tolerated: i64,
    },
    MarkMissing,
    MarkDamaged,
    MarkUnlogged,
    MarkUnconfirmed,
    TooManyDatabases,
    NotPreloaded,
    Recovery {
        function: &'static str,
    },
}

const SYNC_CLOCK: &str = "Check that the system clock is right and synchronized. Generating goes on \
    by itself once the clock is near that time; \"pg_snowid.max_clock_regression\" sets how near.";

const RECREATE: &str = "Create the extension again: DROP EXTENSION pg_snowid, \
    CREATE EXTENSION pg_snowid, then call snowid.advance with the greatest ID of each shard.";

const ACCEPT_CLOCK: &str = "Set the clock right. If it is right, an administrator says so with \
    SELECT snowid.accept_clock().";

impl Error {
    /// The error as PostgreSQL reports it.
    pub fn report(self) -> ErrorReport {
        match self {
            Self::OutOfRange { name, value, max } => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{name} {value} is out of range"),
                format!("It must be between 0 and {max}."),
                "",
            ),
            Self::Unset { name } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("parameter \"pg_snowid.{name}\" is not set"),
                "Each server that makes snowflake IDs needs a (datacenter, worker) pair of its own.",
                format!(
                    "Set it to 0 to 31 with ALTER SYSTEM SET pg_snowid.{name} = N and \
                     SELECT pg_reload_conf(), or call snowflake_id(datacenter_id, worker_id)."
                ),
            ),
            Self::EpochInfinite => {
                report(ERRCODE_INVALID_PARAMETER_VALUE, "epoch must be finite", "", "")
            }
            Self::EpochFraction => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                "epoch must be a whole millisecond",
                "IDs count whole milliseconds since their epoch.",
                "Use date_trunc('milliseconds', epoch).",
            ),
            Self::EpochInFuture { epoch, now } => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                "epoch is in the future",
                format!("The epoch is {}, the clock says {}.", Utc(epoch), Utc(now)),
                "An epoch must have begun before IDs are made in it.",
            ),
            Self::InstantInfinite => report(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                "an infinite instant has no ID",
                "",
                "Use a finite instant.",
            ),
            Self::InstantBeforeEpoch { instant, epoch } => report(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                "instant is before the epoch",
                format!("The instant is {}, the epoch is {}.", Utc(unix_ms(instant)), Utc(epoch)),
                "An earlier epoch reaches further back.",
            ),
            Self::InstantPastLast { instant, last } => report(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                "instant is past the last ID of the epoch",
                format!(
                    "The instant is {}, the last positive ID is of {}.",
                    Utc(unix_ms(instant)),
                    Utc(last)
                ),
                "A later epoch reaches further.",
            ),
            Self::Undecodable { id } => report(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                "timestamp out of range",
                format!("ID {id} and the epoch together lie beyond what timestamptz can hold."),
                "",
            ),
            Self::Exhausted { last } => report(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                "the epoch has no positive IDs left",
                format!("Its last ID is of {}.", Utc(last)),
                "Generate with a later epoch.",
            ),
            Self::ClockBehind { ms, now, tolerated } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "clock is too far behind the last ID",
                format!(
                    "The next ID would be of {}, the clock says {}; {tolerated} ms are tolerated.",
                    Utc(ms),
                    Utc(now)
                ),
                SYNC_CLOCK,
            ),
            Self::NegativeId { id } => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                format!("ID {id} is negative"),
                "Negative IDs are never generated.",
                "",
            ),
            Self::AdvanceTooFar { ms, now, tolerated } => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                "ID is too far in the future to advance to",
                format!(
                    "It is of {}, the clock says {}; {tolerated} ms are tolerated.",
                    Utc(ms),
                    Utc(now)
                ),
                "Check the ID and its epoch. \
                 \"pg_snowid.max_clock_regression\" sets how far IDs may be ahead of the clock.",
            ),
            Self::ClockJumped { now, expected, tolerated } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "clock has jumped forward",
                format!(
                    "The clock says {}, expected was {}; {} s are tolerated.",
                    Utc(now),
                    Utc(expected),
                    tolerated / 1000
                ),
                ACCEPT_CLOCK,
            ),
            Self::ClockPastMark { now, mark, tolerated } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "clock is implausibly far past the high-water mark",
                format!(
                    "The clock says {}, the last IDs of this database are from before {}; \
                     {} s are tolerated.",
                    Utc(now),
                    Utc(mark),
                    tolerated / 1000
                ),
                ACCEPT_CLOCK,
            ),
            Self::MarkMissing => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "sequence \"snowid.high_water\" does not exist",
                "Without the high-water mark IDs could repeat after a crash.",
                RECREATE,
            ),
            Self::MarkDamaged => report(
                ERRCODE_DATA_CORRUPTED,
                "sequence \"snowid.high_water\" is damaged",
                "Its page does not hold a sequence.",
                RECREATE,
            ),
            Self::MarkUnlogged => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "sequence \"snowid.high_water\" is not logged",
                "Its value would be lost in a crash.",
                "Use ALTER SEQUENCE snowid.high_water SET LOGGED.",
            ),
            Self::MarkUnconfirmed => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "no synchronous standby has confirmed the high-water mark",
                "The configuration was reloaded while waiting for one.",
                "Try again.",
            ),
            Self::TooManyDatabases => report(
                ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "too many databases generate IDs on this server",
                format!("Up to {DATABASES} can since a start of the server."),
                "Drop databases that are not needed, or restart the server: it then forgets those \
                 that no longer generate IDs.",
            ),
            Self::NotPreloaded => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid must be loaded via \"shared_preload_libraries\" to generate IDs",
                "PostgreSQL 15 and 16 give shared memory to preloaded libraries only.",
                "Add pg_snowid to \"shared_preload_libraries\" in postgresql.conf and restart the \
                 server. Decoding and composing work without.",
            ),
            Self::Recovery { function } => report(
                ERRCODE_READ_ONLY_SQL_TRANSACTION,
                format!("cannot execute {function} during recovery"),
                "",
                "",
            ),
        }
    }
}

impl From<Error> for ErrorReport {
    fn from(error: Error) -> Self {
        error.report()
    }
}

impl From<BadEpoch> for Error {
    fn from(bad: BadEpoch) -> Self {
        match bad {
            BadEpoch::Infinite => Self::EpochInfinite,
            BadEpoch::Fraction => Self::EpochFraction,
        }
    }
}

/// What a message shows of a text: its beginning, in bytes that the database's encoding has.
pub fn shown(text: &[u8]) -> String {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => text
            .iter()
            .map(|b| if b.is_ascii() { char::from(*b) } else { '?' })
            .collect::<Cow<str>>(),
    };
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// A report whose detail and hint are left out where they are empty.
fn report(
    code: PgSqlErrorCode,
    message: impl Display,
    detail: impl Display,
    hint: impl Display,
) -> ErrorReport {
    let mut report = ErrorReport::new(code, message.to_string(), "pg_snowid");
    let (detail, hint) = (detail.to_string(), hint.to_string());
    if !detail.is_empty() {
        report = report.set_detail(detail);
    }
    if !hint.is_empty() {
        report = report.set_hint(hint);
    }
    report
}
