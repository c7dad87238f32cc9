//! Drawing ids, one by one and in blocks.

use super::args::Args;
use super::checks;
use crate::draw::Series;
use crate::draw::generator::Generator;
use crate::error::Error;
use snowid_core::instant::{INSTAGRAM_EPOCH, TWITTER_EPOCH};

/// next_id(shard_id, epoch)
#[inline(always)]
pub fn next_id(args: Args) -> Result<i64, Error> {
    let epoch = checks::epoch(args, 1, INSTAGRAM_EPOCH)?;
    Generator::of_shard(checks::shard(args.bigint(0))?, epoch, "next_id()")?.id()
}

/// snowflake_id([datacenter_id, worker_id,] epoch)
#[inline(always)]
pub fn snowflake_id(args: Args) -> Result<i64, Error> {
    const NAME: &str = "snowflake_id()";
    if args.count() < 2 {
        return Generator::own(checks::epoch(args, 0, TWITTER_EPOCH)?, NAME)?.id();
    }
    let epoch = checks::epoch(args, 2, TWITTER_EPOCH)?;
    Generator::of_worker(checks::worker(args.bigint(0), args.bigint(1))?, epoch, NAME)?.id()
}

/// next_ids(shard_id, count, epoch): what is left of the block to start with.
pub fn next_ids(args: Args) -> Result<Series, Error> {
    let epoch = checks::epoch(args, 2, INSTAGRAM_EPOCH)?;
    let generator = Generator::of_shard(checks::shard(args.bigint(0))?, epoch, "next_ids()")?;
    Ok(Series::new(generator, checks::count(args.bigint(1))?))
}

/// snowflake_ids([datacenter_id, worker_id,] count, epoch)
pub fn snowflake_ids(args: Args) -> Result<Series, Error> {
    const NAME: &str = "snowflake_ids()";
    if args.count() < 3 {
        let epoch = checks::epoch(args, 1, TWITTER_EPOCH)?;
        return Ok(Series::new(Generator::own(epoch, NAME)?, checks::count(args.bigint(0))?));
    }
    let epoch = checks::epoch(args, 3, TWITTER_EPOCH)?;
    let worker = checks::worker(args.bigint(0), args.bigint(1))?;
    let generator = Generator::of_worker(worker, epoch, NAME)?;
    Ok(Series::new(generator, checks::count(args.bigint(2))?))
}
