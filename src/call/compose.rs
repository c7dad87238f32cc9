//! Making ids from their parts, and the least id of an instant.

use super::args::Args;
use super::checks;
use crate::error::Error;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH};
use snowid_core::layout::{Fields, INSTAGRAM, Layout, TWITTER};

/// make_id(created_at, shard_id, sequence, epoch)
pub fn make_id(args: Args) -> Result<i64, Error> {
    let epoch = checks::epoch(args, 3, INSTAGRAM_EPOCH)?;
    let node = checks::shard(args.bigint(1))?;
    let sequence = checks::sequence(args.bigint(2), INSTAGRAM)?;
    compose(args.bigint(0), node, sequence, epoch, INSTAGRAM)
}

/// make_snowflake_id(created_at, datacenter_id, worker_id, sequence, epoch)
pub fn make_snowflake_id(args: Args) -> Result<i64, Error> {
    let epoch = checks::epoch(args, 4, TWITTER_EPOCH)?;
    let node = checks::worker(args.bigint(1), args.bigint(2))?;
    let sequence = checks::sequence(args.bigint(3), TWITTER)?;
    compose(args.bigint(0), node, sequence, epoch, TWITTER)
}

/// id_floor(created_at, epoch)
pub fn id_floor(args: Args) -> Result<i64, Error> {
    floor(args.bigint(0), checks::epoch(args, 1, INSTAGRAM_EPOCH)?, INSTAGRAM)
}

/// snowflake_floor(created_at, epoch)
pub fn snowflake_floor(args: Args) -> Result<i64, Error> {
    floor(args.bigint(0), checks::epoch(args, 1, TWITTER_EPOCH)?, TWITTER)
}

/// The least id of the instant's millisecond.
fn floor(instant: PgMicros, epoch: Epoch, layout: Layout) -> Result<i64, Error> {
    zero_before_epoch(instant, compose(instant, 0, 0, epoch, layout))
}

/// No id lies before the epoch, so every instant before it, -infinity included, has the floor 0:
/// `id >= floor` then holds for all ids, as it should.
pub fn zero_before_epoch(instant: PgMicros, least: Result<i64, Error>) -> Result<i64, Error> {
    match least {
        Err(Error::InstantBeforeEpoch { .. }) => Ok(0),
        Err(Error::InstantInfinite) if instant < 0 => Ok(0),
        other => other,
    }
}

fn compose(
    instant: PgMicros,
    node: u32,
    sequence: u32,
    epoch: Epoch,
    layout: Layout,
) -> Result<i64, Error> {
    let elapsed = checks::elapsed(instant, epoch, layout)?;
    Ok(layout.pack(Fields { elapsed, node, sequence }) as i64)
}
