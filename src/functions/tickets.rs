//! Drawing tickets from sequences, one by one and in blocks.

use crate::abi::Args;
use crate::arguments;
use crate::error::Error;
use crate::guard::guarded;
use crate::sequence;
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
