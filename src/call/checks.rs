//! The checks of what SQL hands in, each in one place.

use super::args::Args;
use crate::error::Error;
use snowid_core::instant::{Epoch, INFINITY, MINUS_INFINITY, PgMicros, UnixMs};
use snowid_core::layout::{INSTAGRAM, Layout, TWITTER_PART_MAX, twitter_node};

/// The most ids that one call of a block function makes: some 10 s of a shard's full rate.
pub const COUNT_MAX: u32 = 10_000_000;

/// The epoch in argument `n`. Most calls have the default one, which needs no checks: as the SQL
/// definition's default, or by the overload without it.
#[inline]
pub fn epoch(args: Args, n: usize, default: Epoch) -> Result<Epoch, Error> {
    if args.count() <= n || default.instant(0) == Some(args.bigint(n)) {
        return Ok(default);
    }
    Epoch::new(args.bigint(n)).map_err(Error::from)
}

/// A shard, as the node of the Instagram layout.
#[inline]
pub fn shard(id: i64) -> Result<u32, Error> {
    in_range("shard_id", id, INSTAGRAM.node_max())
}

/// A datacenter and a worker, as the node of the Twitter layout.
#[inline]
pub fn worker(datacenter: i64, worker: i64) -> Result<u32, Error> {
    let datacenter = in_range("datacenter_id", datacenter, TWITTER_PART_MAX)?;
    Ok(twitter_node(datacenter, in_range("worker_id", worker, TWITTER_PART_MAX)?))
}

pub fn sequence(sequence: i64, layout: Layout) -> Result<u32, Error> {
    in_range("sequence", sequence, layout.sequence_max())
}

/// How many ids a block shall have.
pub fn count(count: i64) -> Result<u32, Error> {
    in_range("count", count, COUNT_MAX)
}

/// Milliseconds from the epoch to an instant that has ids.
pub fn elapsed(instant: PgMicros, epoch: Epoch, layout: Layout) -> Result<u64, Error> {
    let max = layout.elapsed_max();
    in_epoch(instant, epoch.elapsed(instant).into(), max, epoch.unix_ms(), epoch.plus(max))
}

/// The units of time `elapsed` from an epoch to an instant, of which there may be up to `max`, which
/// is `last`.
#[inline]
pub fn in_epoch(
    instant: PgMicros,
    elapsed: i128,
    max: u64,
    epoch: UnixMs,
    last: UnixMs,
) -> Result<u64, Error> {
    if instant == INFINITY || instant == MINUS_INFINITY {
        Err(Error::InstantInfinite)
    } else if elapsed < 0 {
        Err(Error::InstantBeforeEpoch { instant, epoch })
    } else if elapsed > max.into() {
        Err(Error::InstantPastLast { instant, last })
    } else {
        Ok(elapsed as u64)
    }
}

#[inline]
fn in_range(name: &'static str, value: i64, max: u32) -> Result<u32, Error> {
    if value as u64 > max.into() {
        Err(Error::OutOfRange { name, value, max })
    } else {
        Ok(value as u32)
    }
}
