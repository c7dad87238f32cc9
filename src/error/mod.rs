//! Every error that pg_snowid raises: SQLSTATE, message, detail and hint in one place.
//!
//! An error carries only its values, or functions that yield them, so that making one costs nothing
//! on the way; the texts are written when it is raised. Nothing here knows the rest of the library.

mod layouts;
mod lease;
mod mark;
mod memory;
mod relation;
mod sequence;
mod shards;
#[cfg(test)]
mod tests;
mod text;

pub use layouts::LayoutError;
pub use lease::LeaseError;
pub use mark::MarkError;
pub use memory::MemoryError;
pub use relation::RelationName;
pub use sequence::SequenceError;
pub use shards::BadShards;
pub use text::TextError;

use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::memory::OtherLayout;
use snowid_base::report::report;
use snowid_core::instant::{BadEpoch, PgMicros, UnixMs, Utc, unix_ms};
use std::borrow::Cow;

#[derive(Clone, Copy)]
pub enum Error {
    /// An argument or setting `name` must lie between 0 and `max`.
    OutOfRange {
        name: &'static str,
        value: i64,
        max: u32,
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
    /// `pg_snowid.shards` doesn't list it, but what `allowed` says.
    NotThisDatabases {
        shard: u32,
        allowed: fn() -> String,
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
    Mark(MarkError),
    /// What the WAL record was for that no synchronous standby has confirmed.
    Unconfirmed {
        what: &'static str,
    },
    Sequence(SequenceError),
    Memory(MemoryError),
    Lease(LeaseError),
    Recovery {
        function: &'static str,
    },
}

const SYNC_CLOCK: &str = "Check that the system clock is right and synchronized. Generating goes on \
    by itself once the clock is near that time; \"pg_snowid.max_clock_regression\" sets how near.";

const ADVANCE_FAR: &str = "Check the ID and its epoch. Superusers advance as far as IDs may be ahead of \
    the clock, which \"pg_snowid.max_clock_regression\" sets, others by 2 s at most.";

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
                ADVANCE_FAR,
            ),
            Self::NotThisDatabases { shard, allowed } => report(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("shard {shard} is not for this database"),
                allowed(),
                "A superuser sets which with ALTER DATABASE ... SET pg_snowid.shards; sessions \
                 that begin later go by it.",
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
            Self::Mark(error) => error.report(),
            Self::Unconfirmed { what } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("no synchronous standby has confirmed the {what}"),
                "The configuration was reloaded while waiting for one.",
                "Try again.",
            ),
            Self::Sequence(error) => error.report(),
            Self::Memory(error) => error.report(),
            Self::Lease(error) => error.report(),
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

impl From<MarkError> for Error {
    fn from(error: MarkError) -> Self {
        Self::Mark(error)
    }
}

impl From<SequenceError> for Error {
    fn from(error: SequenceError) -> Self {
        Self::Sequence(error)
    }
}

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<OtherLayout> for Error {
    fn from(error: OtherLayout) -> Self {
        Self::Memory(MemoryError::OtherLayout(error))
    }
}

impl From<LeaseError> for Error {
    fn from(error: LeaseError) -> Self {
        Self::Lease(error)
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
