//! Drawing ids, one by one and in blocks.

use crate::abi::Args;
use crate::arguments;
use crate::error::Error;
use crate::generator::{FOREVER, Generator};
use crate::settings::{self, shards};
use crate::shared;
use crate::shared::lease::Worker;
use snowid_core::instant::{Epoch, INSTAGRAM_EPOCH, TWITTER_EPOCH};
use snowid_core::layout::{INSTAGRAM, TWITTER};
use snowid_core::step::Claim;

/// next_id(shard_id, epoch)
#[inline(always)]
pub fn next_id(args: Args) -> Result<i64, Error> {
    let epoch = arguments::epoch(args, 1, INSTAGRAM_EPOCH)?;
    shard(args.bigint(0), epoch, "next_id()")?.id()
}

/// snowflake_id([datacenter_id, worker_id,] epoch)
#[inline(always)]
pub fn snowflake_id(args: Args) -> Result<i64, Error> {
    const NAME: &str = "snowflake_id()";
    if args.count() < 2 {
        return own_worker(arguments::epoch(args, 0, TWITTER_EPOCH)?, NAME)?.id();
    }
    let epoch = arguments::epoch(args, 2, TWITTER_EPOCH)?;
    worker(args.bigint(0), args.bigint(1), epoch, NAME)?.id()
}

/// next_ids(shard_id, count, epoch): what is left of the block to start with.
pub fn next_ids(args: Args) -> Result<Block, Error> {
    let epoch = arguments::epoch(args, 2, INSTAGRAM_EPOCH)?;
    Ok(Block::new(shard(args.bigint(0), epoch, "next_ids()")?, arguments::count(args.bigint(1))?))
}

/// snowflake_ids([datacenter_id, worker_id,] count, epoch)
pub fn snowflake_ids(args: Args) -> Result<Block, Error> {
    const NAME: &str = "snowflake_ids()";
    if args.count() < 3 {
        let epoch = arguments::epoch(args, 1, TWITTER_EPOCH)?;
        return Ok(Block::new(own_worker(epoch, NAME)?, arguments::count(args.bigint(0))?));
    }
    let epoch = arguments::epoch(args, 3, TWITTER_EPOCH)?;
    let generator = worker(args.bigint(0), args.bigint(1), epoch, NAME)?;
    Ok(Block::new(generator, arguments::count(args.bigint(2))?))
}

/// The generator of a shard, for `function`.
#[inline(always)]
pub fn shard(id: i64, epoch: Epoch, function: &'static str) -> Result<Generator, Error> {
    let node = arguments::shard(id)?;
    if !shards::has(node) {
        return Err(Error::NotThisDatabases { shard: node });
    }
    let (block, database) = shared::ready(function)?;
    let cell = &block.shards[node as usize];
    Ok(Generator { cell, database, layout: INSTAGRAM, node, epoch, until: FOREVER })
}

/// The generator of a worker, for `function`.
#[inline(always)]
pub fn worker(
    datacenter: i64,
    worker: i64,
    epoch: Epoch,
    function: &'static str,
) -> Result<Generator, Error> {
    let node = arguments::worker(datacenter, worker)?;
    let (block, database) = shared::ready(function)?;
    let cell = &block.workers[node as usize];
    Ok(Generator { cell, database, layout: TWITTER, node, epoch, until: FOREVER })
}

/// The generator of the worker that this server is: by its lease, else as it is set to be.
#[inline(always)]
fn own_worker(epoch: Epoch, function: &'static str) -> Result<Generator, Error> {
    let (block, database) = shared::ready(function)?;
    if let Some(Worker { node, until }) = block.lease.worker() {
        let cell = &block.workers[node as usize];
        return Ok(Generator { cell, database, layout: TWITTER, node, epoch, until });
    }
    if settings::uses_etcd() {
        return Err(Error::NoWorkerId);
    }
    let datacenter = settings::datacenter_id().ok_or(Error::Unset { name: "datacenter_id" })?;
    let id = settings::worker_id().ok_or(Error::Unset { name: "worker_id" })?;
    worker(datacenter.into(), id.into(), epoch, function)
}

/// A block on its way out. Each atomic step claims as much of a millisecond as is free and wanted;
/// no further millisecond is claimed before the caller has come to it, so that the ids carry the
/// time at which they were made, and a query that stops early leaves little unused.
#[derive(Clone, Copy)]
pub struct Block {
    generator: Generator,
    /// Ids not yet claimed.
    unclaimed: u32,
    /// What is left of the last claim.
    claim: Claim,
}

impl Block {
    fn new(generator: Generator, count: u32) -> Self {
        let claim = Claim { ms: 0, first: 0, count: 0, clock_regressed: false };
        Self { generator, unclaimed: count, claim }
    }

    /// The next id of the block.
    #[inline]
    pub fn next(&mut self) -> Result<Option<i64>, Error> {
        if self.claim.count == 0 {
            if self.unclaimed == 0 {
                return Ok(None);
            }
            self.claim = self.generator.claim(self.unclaimed)?;
            self.unclaimed -= self.claim.count;
        }
        let id = self.generator.compose(self.claim.ms, self.claim.first);
        self.claim.first += 1;
        self.claim.count -= 1;
        Ok(Some(id))
    }
}
