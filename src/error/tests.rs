//! The texts of all errors, without a server.

use super::*;
use pgrx::pg_sys::Oid;
use snowid_base::memory::Header;

/// One of each, but for those whose texts ask the server: a relation's name, a setting, what is wrong with a
/// lease. tests/pg_regress and tests/t show these. A new error fails to compile here until it is added.
fn every_error() -> Vec<Error> {
    use Error::*;
    let all = vec![
        OutOfRange { name: "shard_id", value: -1, max: 8191 },
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
        Sequence(SequenceError::NoRelation { oid: Oid::INVALID }),
        Memory(MemoryError::NotPreloaded),
        Memory(MemoryError::TooManyDatabases { most: 1, preloaded: true }),
        Memory(MemoryError::TooManyDatabases { most: 1, preloaded: false }),
        Memory(MemoryError::OtherLayout(OtherLayout { made_by: Header::OURS })),
        Memory(MemoryError::OtherLibrary { first: Header::OURS }),
        Memory(MemoryError::SetBeforeLoad { name: "pg_snowid.shards" }),
        Memory(MemoryError::LoadedInParallel { name: "pg_snowid.shards" }),
        Recovery { function: "next_id()" },
        Lease(LeaseError::Unset { name: "worker_id" }),
        Lease(LeaseError::NotPreloaded),
        Lease(LeaseError::NotLeased),
        Lease(LeaseError::UserInEndpoints),
    ];
    for error in &all {
        match error {
            OutOfRange { .. } | EpochInfinite | EpochFraction => {}
            EpochInFuture { .. } | InstantInfinite | InstantBeforeEpoch { .. } => {}
            InstantPastLast { .. } | Undecodable { .. } | Exhausted { .. } => {}
            ClockBehind { .. } | NegativeId { .. } | AdvanceTooFar { .. } => {}
            NotThisDatabases { .. } | ClockJumped { .. } | ClockPastMark { .. } => {}
            Mark(MarkError::Missing | MarkError::Damaged | MarkError::Unlogged) => {}
            Mark(MarkError::Impossible { .. } | MarkError::SetFarAhead { .. }) => {}
            Mark(MarkError::FarAhead { .. }) => {}
            Sequence(SequenceError::NoRelation { .. } | SequenceError::NotASequence { .. }) => {}
            Sequence(SequenceError::Unlogged { .. } | SequenceError::Cycles { .. }) => {}
            Sequence(SequenceError::Damaged { .. } | SequenceError::AtEnd { .. }) => {}
            Memory(MemoryError::NotPreloaded | MemoryError::TooManyDatabases { .. }) => {}
            Memory(MemoryError::OtherLayout(_) | MemoryError::OtherLibrary { .. }) => {}
            Memory(MemoryError::SetBeforeLoad { .. }) => {}
            Memory(MemoryError::LoadedInParallel { .. }) => {}
            Lease(LeaseError::Unset { .. } | LeaseError::NotPreloaded) => {}
            Lease(LeaseError::NoWorkerId { .. } | LeaseError::RanOut { .. }) => {}
            Lease(LeaseError::NotLeased | LeaseError::ReleaseUnconfirmed { .. }) => {}
            Lease(LeaseError::UserInEndpoints) => {}
            Unconfirmed { .. } | Recovery { .. } => {}
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
