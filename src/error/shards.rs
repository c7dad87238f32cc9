//! What is wrong with the list in `pg_snowid.shards`.

use pgrx::PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::report::report;

/// A list that is none, by the item that is wrong with it.
pub struct BadShards {
    pub list: String,
    pub item: String,
}

impl BadShards {
    fn fact(&self) -> String {
        format!("\"{}\" is not a shard or a range of shards from 0 to 8191.", self.item)
    }

    /// Refuses it. PostgreSQL has a message of its own.
    pub fn report(&self) -> ErrorReport {
        report(ERRCODE_INVALID_PARAMETER_VALUE, "", self.fact(), "")
    }

    /// Takes it where it was stored earlier.
    pub fn warning(&self) -> ErrorReport {
        report(
            ERRCODE_INVALID_PARAMETER_VALUE,
            format!("invalid value for parameter \"pg_snowid.shards\": \"{}\"", self.list),
            format!("{} No IDs are drawn from any.", self.fact()),
            "",
        )
    }

    /// Refuses a draw where it was taken.
    pub fn none_allowed(&self) -> String {
        format!("It may draw from none. In \"{}\", {}", self.list, self.fact())
    }
}
