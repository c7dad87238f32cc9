//! Drawing tickets from sequences, one by one and in blocks.

use super::args::Args;
use super::checks;
use crate::error::Error;
use crate::tickets;
use pgrx::pg_sys::Datum;
use snowid_base::guard::guarded;
use snowid_core::block::Block;

/// next_ticket(name)
pub fn next_ticket(args: Args) -> Result<i64, Error> {
    let name = args.oid(0);
    guarded(|| tickets::next(name))
}

/// next_tickets(name, count)
pub fn next_tickets(args: Args) -> Result<Block, Error> {
    let (name, count) = (args.oid(0), checks::count(args.integer(1))?);
    guarded(|| tickets::block(name, count))
}

/// snowid.sequence_value(sequence): last_value, is_called
pub fn sequence_value(args: Args) -> Result<[Datum; 2], Error> {
    let sequence = args.oid(0);
    let (last_value, is_called) = guarded(|| tickets::value(sequence))?;
    Ok([last_value.into(), is_called.into()])
}
