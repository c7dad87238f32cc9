//! The texts of all errors, without a server.

use super::*;
use crate::shared::place::OURS;

/// One of each, but for those whose texts ask the server: a relation's name, a setting, how many databases it
/// has room for. tests/pg_regress and tests/t show these. A new error fails to compile here until it is added.
fn every_error() -> Vec<Error> {
    use Error::*;
    let all = vec![
        OutOfRange { name: "shard_id", value: -1, max: 8191 },
        Unset { name: "worker_id" },
        EpochInfinite,
        EpochFraction,
        EpochInFuture { epoch: 2, now: 1 },
        InstantInfinite,
        InstantBeforeEpoch { instant: 0, epoch: 1 },
        InstantPastLast { instant: 0, last: 1 },
        Undecodable { id: 1 },
        Exhausted { last: 1 },
        ClockBehind { ms: 2, now: 1, tolerated: 0 },
        NegativeId { id: -1 },
        AdvanceTooFar { ms: 2, now: 1, tolerated: 0 },
        ClockJumped { now: 2, expected: 1, tolerated: 0 },
        ClockPastMark { now: 2, mark: 1, tolerated: 0 },
        Mark(MarkError::Missing),
        Mark(MarkError::Damaged),
        Mark(MarkError::Impossible { mark: 0 }),
        Mark(MarkError::Unlogged),
        Mark(MarkError::SetFarAhead { mark: 2, now: 1 }),
        Mark(MarkError::FarAhead { mark: 2, now: 1, tolerated: 0 }),
        Unconfirmed { what: "ticket" },
        NoRelation { oid: Oid::INVALID },
        NotPreloaded,
        OtherLayout { made_by: &OURS },
        OtherLibrary { first: &OURS },
        SetBeforeLoad { name: "pg_snowid.shards" },
        LoadedInParallel { name: "pg_snowid.shards" },
        Recovery { function: "next_id()" },
        NoWorkerId,
        LeaseRanOut { until: 1, ms: 2, now: 2 },
        NotLeased,
        ReleaseUnconfirmed,
        UserInEndpoints,
    ];
    for error in &all {
        match error {
            OutOfRange { .. } | Unset { .. } | EpochInfinite | EpochFraction => {}
            EpochInFuture { .. } | InstantInfinite | InstantBeforeEpoch { .. } => {}
            InstantPastLast { .. } | Undecodable { .. } | Exhausted { .. } => {}
            ClockBehind { .. } | NegativeId { .. } | AdvanceTooFar { .. } => {}
            NotThisDatabases { .. } | ClockJumped { .. } | ClockPastMark { .. } => {}
            Mark(MarkError::Missing | MarkError::Damaged | MarkError::Unlogged) => {}
            Mark(MarkError::Impossible { .. } | MarkError::SetFarAhead { .. }) => {}
            Mark(MarkError::FarAhead { .. }) => {}
            SetBeforeLoad { .. } | LoadedInParallel { .. } => {}
            NotASequence { .. } | SequenceUnlogged { .. } | SequenceCycles { .. } => {}
            SequenceDamaged { .. } | SequenceAtEnd { .. } => {}
            Unconfirmed { .. } | TooManyDatabases | NotPreloaded | Recovery { .. } => {}
            OtherLayout { .. } | OtherLibrary { .. } => {}
            NoRelation { .. } | UserInEndpoints => {}
            NoWorkerId | LeaseRanOut { .. } | NotLeased | ReleaseUnconfirmed => {}
        }
    }
    all
}

/// The manner of PostgreSQL's documentation, "Error Message Style Guide".
#[test]
fn every_error_is_in_the_manner_of_postgres() {
    for error in every_error() {
        let report = error.report();
        let message = report.message();
        let first = message.split(' ').next().unwrap();
        assert!(
            first == "ID" || !first.starts_with(char::is_uppercase),
            "starts in lower case: {message}"
        );
        assert!(!message.ends_with('.') && !message.contains('\n'), "is no sentence: {message}");
        for sentences in [report.detail(), report.hint()].into_iter().flatten() {
            assert!(
                sentences.starts_with(char::is_uppercase) && sentences.ends_with('.'),
                "is a sentence: {sentences}"
            );
        }
    }
}

/// What reaches clients as XX000 looks like a bug of the server's.
#[test]
fn every_error_has_a_sqlstate() {
    for error in every_error() {
        let report = format!("{:?}", error.report());
        assert!(report.contains("sqlerrcode: ERRCODE_"), "{report}");
        assert!(!report.contains("ERRCODE_INTERNAL_ERROR"), "{report}");
    }
}
