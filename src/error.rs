//! Every error that pg_snowid raises: SQLSTATE, message, detail and hint in one place.
//!
//! An error carries only its values, so that making one costs nothing on the way; the texts are
//! written when it is raised.

mod high_water;
mod layouts;
#[cfg(test)]
mod tests;
mod text;

pub use high_water::MarkError;
pub use layouts::LayoutError;
pub use text::TextError;

use crate::relation_name::RelationName;
use crate::settings::shards;
use crate::shared;
use crate::shared::lease::Notice;
use crate::shared::place::{self, Header};
use pgrx::PgSqlErrorCode;
use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_core::instant::{BadEpoch, PgMicros, UnixMs, Utc, unix_ms};
use std::borrow::Cow;
use std::fmt::Display;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument or setting `name` must lie between 0 and `max`.
    OutOfRange {
        name: &'static str,
        value: i64,
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
    /// `pg_snowid.shards` doesn't list it.
    NotThisDatabases {
        shard: u32,
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
    /// No relation has that oid.
    NoRelation {
        oid: Oid,
    },
    NotASequence {
        relation: RelationName,
    },
    SequenceUnlogged {
        sequence: RelationName,
    },
    SequenceCycles {
        sequence: RelationName,
    },
    SequenceDamaged {
        sequence: RelationName,
    },
    /// A block was asked for that the sequence no longer has.
    SequenceAtEnd {
        sequence: RelationName,
        count: u32,
        left: u32,
    },
    TooManyDatabases,
    NotPreloaded,
    /// The block was laid out by a library that has another layout of it.
    OtherLayout {
        made_by: &'static Header,
    },
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
    Recovery {
        function: &'static str,
    },
    /// No (datacenter, worker) pair is leased now; the background worker has said why.
    NoWorkerId,
    LeaseRanOut {
        until: UnixMs,
        ms: UnixMs,
        now: UnixMs,
    },
    NotLeased,
    ReleaseUnconfirmed,
    UserInEndpoints,
}

const SYNC_CLOCK: &str = "Check that the system clock is right and synchronized. Generating goes on \
    by itself once the clock is near that time; \"pg_snowid.max_clock_regression\" sets how near.";

const RECREATE: &str = "Create the extension again: DROP EXTENSION pg_snowid, \
    CREATE EXTENSION pg_snowid, then call snowid.advance with the greatest ID of each shard.";

const ADVANCE_FAR: &str = "Check the ID and its epoch. Superusers advance as far as IDs may be ahead of \
    the clock, which \"pg_snowid.max_clock_regression\" sets, others by 2 s at most.";

const ACCEPT_CLOCK: &str = "Set the clock right. If it is right, an administrator says so with \
    SELECT snowid.accept_clock().";

const OTHER_VERSION: &str = "Connect again. Where a new session fails likewise, restart the server: \
    then it and all sessions load what is installed.";

/// For what is wrong with a lease: its details name users, files and other servers.
const SEE_LOG: &str = "The server's log says more, as does snowid.status to members of pg_monitor.";

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
                ADVANCE_FAR,
            ),
            Self::NotThisDatabases { shard } => report(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("shard {shard} is not for this database"),
                shards::allowed(),
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
            Self::NoRelation { oid } => report(
                ERRCODE_UNDEFINED_TABLE,
                format!("relation with OID {} does not exist", oid.to_u32()),
                "",
                "",
            ),
            Self::NotASequence { relation } => report(
                ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{relation}\" is not a sequence"),
                "",
                "",
            ),
            Self::SequenceUnlogged { sequence } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("sequence \"{sequence}\" is not logged"),
                "A crash would set it back, and its tickets would repeat.",
                "Use ALTER SEQUENCE ... SET LOGGED.",
            ),
            Self::SequenceCycles { sequence } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("sequence \"{sequence}\" cycles"),
                "Tickets never repeat, so their sequence has an end.",
                "Use ALTER SEQUENCE ... NO CYCLE.",
            ),
            Self::SequenceDamaged { sequence } => report(
                ERRCODE_DATA_CORRUPTED,
                format!("sequence \"{sequence}\" is damaged"),
                "Its page or its row in the catalog does not hold a sequence.",
                "",
            ),
            Self::SequenceAtEnd { sequence, count, left } => report(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                format!("sequence \"{sequence}\" has too few values left"),
                format!("It has {left}, {count} are asked for."),
                "",
            ),
            Self::TooManyDatabases => report(
                ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "too many databases generate IDs on this server",
                format!("{} databases that exist have since its start.", shared::max_databases()),
                if place::is_preloaded() {
                    "Raise \"pg_snowid.max_databases\" and restart the server, or drop databases \
                     that are not needed."
                } else {
                    "Add pg_snowid to \"shared_preload_libraries\", raise \
                     \"pg_snowid.max_databases\" and restart the server, or drop databases that \
                     are not needed."
                },
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
            Self::NotPreloaded => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid must be loaded via \"shared_preload_libraries\" to generate IDs",
                "PostgreSQL 15 and 16 give shared memory to preloaded libraries only.",
                "Add pg_snowid to \"shared_preload_libraries\" in postgresql.conf and restart the \
                 server. Decoding and composing work without.",
            ),
            Self::OtherLayout { made_by } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid's shared memory is of another version",
                format!("It was laid out by {made_by}, this session has loaded {}.", place::ours()),
                OTHER_VERSION,
            ),
            Self::OtherLibrary { first } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "another library of pg_snowid is loaded already",
                format!("This session has loaded {first}, and now {} besides.", place::ours()),
                OTHER_VERSION,
            ),
            Self::Recovery { function } => report(
                ERRCODE_READ_ONLY_SQL_TRANSACTION,
                format!("cannot execute {function} during recovery"),
                "",
                "",
            ),
            Self::NoWorkerId if !place::is_preloaded() => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_snowid must be loaded via \"shared_preload_libraries\" to lease a worker ID",
                "The setting \"pg_snowid.etcd_endpoints\" is not empty: a background worker of the library \
                 claims the ID.",
                "Add pg_snowid to \"shared_preload_libraries\" in postgresql.conf and restart the \
                 server, or call snowflake_id(datacenter_id, worker_id).",
            ),
            Self::NoWorkerId => match notice() {
                Some(notice) => {
                    let code = PgSqlErrorCode::from(notice.code as isize);
                    report(code, notice.message(), "", SEE_LOG)
                }
                None => report(
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "no worker ID is claimed yet",
                    "The background worker has only just started, or could not be.",
                    "Try again. If that does not help, the server's log says why; \"max_worker_processes\" may be too low.",
                ),
            },
            Self::LeaseRanOut { until, ms, now } => report(
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "the lease of this server's worker ID has run out",
                    format!(
                        "It is good for IDs before {}; the next one would be of {}, the clock says {}. {}",
                        Utc(until),
                        Utc(ms),
                        Utc(now),
                        last_problem()
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
            // Without the value, which may have a password.
            Self::UserInEndpoints => report(
                ERRCODE_INVALID_PARAMETER_VALUE,
                "parameter \"pg_snowid.etcd_endpoints\" must not hold a user or password",
                "An endpoint is a scheme, a host and a port, without \"@\".",
                "Set \"pg_snowid.etcd_user\" and \"pg_snowid.etcd_password_file\".",
            ),
            Self::ReleaseUnconfirmed => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "etcd has not confirmed the release of the worker ID yet",
                last_problem(),
                "This server no longer uses it, and goes on trying to tell etcd so. Its log says \
                 what is in the way.",
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

/// What the background worker found wrong with the lease.
fn notice() -> Option<Notice> {
    shared::look()?.lease.notice()
}

/// The fact of it, as a sentence for details; empty if there is none.
fn last_problem() -> String {
    notice().map_or(String::new(), |notice| format!("Last problem: {}.", notice.message()))
}

/// A report whose detail and hint are left out where they are empty.
pub fn report(
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
