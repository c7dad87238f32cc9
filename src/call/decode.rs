//! Reading ids. Pure: the result depends on the arguments alone.

use super::args::Args;
use super::checks;
use crate::error::Error;
use pgrx::pg_sys::Datum;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, PgMicros, TWITTER_EPOCH};
use snowid_core::layout::{INSTAGRAM, Layout, TWITTER, twitter_parts};

/// id_timestamp(id [, epoch])
#[inline]
pub fn id_timestamp(args: Args) -> Result<PgMicros, Error> {
    timestamp(args, INSTAGRAM, INSTAGRAM_EPOCH)
}

/// snowflake_timestamp(id [, epoch])
#[inline]
pub fn snowflake_timestamp(args: Args) -> Result<PgMicros, Error> {
    timestamp(args, TWITTER, TWITTER_EPOCH)
}

#[inline]
pub fn id_shard(args: Args) -> Result<i32, Error> {
    Ok(INSTAGRAM.node(args.bigint(0) as u64) as i32)
}

#[inline]
pub fn id_sequence(args: Args) -> Result<i32, Error> {
    Ok(INSTAGRAM.sequence(args.bigint(0) as u64) as i32)
}

#[inline]
pub fn snowflake_datacenter(args: Args) -> Result<i32, Error> {
    Ok(twitter_parts(TWITTER.node(args.bigint(0) as u64)).0 as i32)
}

#[inline]
pub fn snowflake_worker(args: Args) -> Result<i32, Error> {
    Ok(twitter_parts(TWITTER.node(args.bigint(0) as u64)).1 as i32)
}

#[inline]
pub fn snowflake_sequence(args: Args) -> Result<i32, Error> {
    Ok(TWITTER.sequence(args.bigint(0) as u64) as i32)
}

/// decode_id(id [, epoch]): created_at, shard_id, sequence
pub fn decode_id(args: Args) -> Result<[Datum; 3], Error> {
    Ok([id_timestamp(args)?.into(), id_shard(args)?.into(), id_sequence(args)?.into()])
}

/// decode_snowflake(id [, epoch]): created_at, datacenter_id, worker_id, sequence
pub fn decode_snowflake(args: Args) -> Result<[Datum; 4], Error> {
    Ok([
        snowflake_timestamp(args)?.into(),
        snowflake_datacenter(args)?.into(),
        snowflake_worker(args)?.into(),
        snowflake_sequence(args)?.into(),
    ])
}

#[inline]
fn timestamp(args: Args, layout: Layout, default: Epoch) -> Result<PgMicros, Error> {
    let id = args.bigint(0);
    let epoch = checks::epoch(args, 1, default)?;
    epoch.instant(layout.elapsed(id as u64)).ok_or(Error::Undecodable { id })
}
