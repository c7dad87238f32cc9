//! Drawing tickets from sequences, one by one and in blocks.

use super::args::Args;
use super::checks;
use crate::error::Error;
use crate::tickets;
use pgrx::pg_sys::Datum;
use snowid_base::guard::guarded;
use snowid_core::block::Block;

/// next_ticket(relation)
pub fn next_ticket(args: Args) -> Result<i64, Error> {
    let sequence = args.oid(0);
    guarded(|| tickets::next(sequence))
}

/// next_tickets(relation, count)
pub fn next_tickets(args: Args) -> Result<Block, Error> {
    let (sequence, count) = (args.oid(0), checks::count(args.bigint(1))?);
    guarded(|| tickets::block(sequence, count))
}

/// snowid_internal.sequence_value(relation): last_value, is_called
pub fn sequence_value(args: Args) -> Result<[Datum; 2], Error> {
    let sequence = args.oid(0);
    let (last_value, is_called) = guarded(|| tickets::value(sequence))?;
    Ok([last_value.into(), is_called.into()])
}
