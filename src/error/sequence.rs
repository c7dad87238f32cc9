//! Errors about sequences that tickets are drawn from.

use super::RelationName;
use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::report::report;

#[derive(Clone, Copy)]
pub enum SequenceError {
    /// No relation has that oid.
    NoRelation {
        oid: Oid,
    },
    NotASequence {
        relation: RelationName,
    },
    Unlogged {
        sequence: RelationName,
    },
    Cycles {
        sequence: RelationName,
    },
    Damaged {
        sequence: RelationName,
    },
    /// A block was asked for that the sequence no longer has.
    AtEnd {
        sequence: RelationName,
        count: u32,
        left: u32,
    },
}

impl SequenceError {
    pub fn report(self) -> ErrorReport {
        match self {
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
            Self::Unlogged { sequence } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("sequence \"{sequence}\" is not logged"),
                "A crash would set it back, and its tickets would repeat.",
                "Use ALTER SEQUENCE ... SET LOGGED.",
            ),
            Self::Cycles { sequence } => report(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("sequence \"{sequence}\" cycles"),
                "Tickets never repeat, so their sequence has an end.",
                "Use ALTER SEQUENCE ... NO CYCLE.",
            ),
            Self::Damaged { sequence } => report(
                ERRCODE_DATA_CORRUPTED,
                format!("sequence \"{sequence}\" is damaged"),
                "Its page or its row in the catalog does not hold a sequence.",
                "",
            ),
            Self::AtEnd { sequence, count, left } => report(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                format!("sequence \"{sequence}\" has too few values left"),
                format!("It has {left}, {count} are asked for."),
                "",
            ),
        }
    }
}
