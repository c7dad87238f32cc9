//! The worker that this server is: by its lease, else as it is set to be.

use super::generator::Generator;
use crate::error::{Error, LeaseError};
use crate::session::privileges;
use crate::settings;
use crate::shared::{self, place};
use snowid_base::memory::{Lease, Source, Worker};
use snowid_core::instant::{Epoch, UnixMs};
use snowid_core::layout::{TWITTER, twitter_node, twitter_parts};

impl Generator {
    /// That of the worker that this server is, for `function`.
    #[inline(always)]
    pub fn own(epoch: Epoch, function: &'static str) -> Result<Self, Error> {
        let (memory, database) = shared::ready(function)?;
        let lease = &memory.lease;
        if let Some(Worker { node, until }) = lease.worker() {
            let cell = &memory.workers[node as usize];
            return Ok(Self { cell, database, layout: TWITTER, node, epoch, until });
        }
        if settings::uses_etcd() {
            return Err(shared::no_worker_id(lease).into());
        }
        let set = |part: Option<u32>, name| part.ok_or(LeaseError::Unset { name });
        let datacenter = set(settings::datacenter_id(), "datacenter_id")?;
        let worker = set(settings::worker_id(), "worker_id")?;
        Self::of_worker(twitter_node(datacenter, worker), epoch, function)
    }
}

/// What `snowflake_id()` goes by.
pub struct OwnWorker {
    pub source: &'static str,
    pub datacenter: Option<u32>,
    pub worker: Option<u32>,
    pub node_name: Option<String>,
    pub until: Option<UnixMs>,
    pub problem: Option<String>,
}

impl OwnWorker {
    pub fn now() -> Self {
        if !settings::uses_etcd() {
            return Self {
                source: "settings",
                datacenter: settings::datacenter_id(),
                worker: settings::worker_id(),
                node_name: None,
                until: None,
                problem: None,
            };
        }
        // What tells of the server's inside is for those who may see it.
        let watches = privileges::is_monitor();
        let lease = shared::look().map(|memory| &memory.lease);
        let held = lease.and_then(Lease::worker);
        let parts = held.map(|held| twitter_parts(held.node));
        let problem = if place::is_preloaded() {
            lease.and_then(Lease::notice).map(|notice| match watches {
                true => format!("{}: {}", notice.message(), notice.detail()),
                false => notice.message(),
            })
        } else {
            Some(LeaseError::NotPreloaded.report().message().into())
        };
        Self {
            source: match lease.map(Lease::source) {
                Some(Source::Cached) => "etcd, cached",
                _ => "etcd",
            },
            datacenter: parts.map(|(datacenter, _)| datacenter),
            worker: parts.map(|(_, worker)| worker),
            node_name: watches.then(settings::node_name),
            until: held.map(|held| held.until),
            problem,
        }
    }
}
