//! Drawing tickets from sequences, one by one and in blocks.

use crate::abi::Args;
use crate::arguments;
use crate::error::Error;
use crate::guard::guarded;
use crate::sequence;
use pgrx::pg_sys::Datum;
use snowid_core::block::Block;

/// next_ticket(name)
pub fn next_ticket(args: Args) -> Result<i64, Error> {
    let name = args.oid(0);
    guarded(|| sequence::next(name))
}

/// next_tickets(name, count)
pub fn next_tickets(args: Args) -> Result<Block, Error> {
    let (name, count) = (args.oid(0), arguments::count(args.integer(1))?);
    guarded(|| sequence::block(name, count))
}

/// snowid.sequence_value(sequence): last_value, is_called
pub fn sequence_value(args: Args) -> Result<[Datum; 2], Error> {
    let sequence = args.oid(0);
    let (last_value, is_called) = guarded(|| sequence::value(sequence))?;
    Ok([last_value.into(), is_called.into()])
}
