//! Which (datacenter, worker) pair a server of a fleet may hold, decided from what the fleet has
//! recorded. Pure: the caller brings the records and the time, and carries the decision out.
//!
//! The invariant: a holder issues no id whose time is at or past the bound that it has recorded, and
//! the next holder issues none below the bound that it finds. So uniqueness needs no clock and no
//! timing; being live only decides who may hold a pair now.

use crate::instant::UnixMs;
use crate::layout::{TWITTER, twitter_parts};

/// How often a holder reports its time and moves its bound, at most, in ms.
pub const REPORT_MAX: i64 = 5000;

/// What is recorded of a pair. It outlives its holders.
#[derive(Clone, Debug)]
pub struct Pair {
    pub node: u32,
    /// The name of the server that has it, and which incarnation of that name it was.
    pub name: String,
    pub holder: String,
    /// The holder's clock when it last reported.
    pub time: UnixMs,
    /// All ids of the pair are below this.
    pub bound: UnixMs,
    /// The holder had issued ids below this alone when it last reported.
    pub floor: UnixMs,
    pub released: bool,
}

/// A server that holds a lease now.
#[derive(Clone, Debug)]
pub struct Live {
    pub name: String,
    pub holder: String,
    pub node: u32,
    /// Its clock when it last reported.
    pub time: UnixMs,
}

/// All that a fleet has recorded, as of one moment.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    pub pairs: Vec<Pair>,
    pub live: Vec<Live>,
    /// The pair that the server's own name has.
    pub own: Option<u32>,
}

/// The server that wants a pair.
#[derive(Clone, Debug)]
pub struct Server {
    pub name: String,
    pub holder: String,
    /// Where set, only pairs with these will do.
    pub datacenter: Option<u32>,
    pub worker: Option<u32>,
    /// The pair that it has in use or in store, and the floor of that, should etcd have lost its data.
    pub has: Option<(u32, UnixMs)>,
}

/// Tolerances, in ms.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Between the clock and the recorded times.
    pub clock: i64,
    /// How long past its bound an abandoned pair is kept for its name.
    pub grace: i64,
}

/// The pair to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    pub node: u32,
    /// Ids of the pair begin at this.
    pub floor: UnixMs,
    /// The name that loses it.
    pub from: Option<String>,
    /// The pair that the name had and gives up.
    pub gives_up: Option<u32>,
}

/// Why no pair can be taken now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Another live server has the name.
    Held,
    /// The clock is behind what the last holder of the pair recorded.
    ClockBehind { node: u32, recorded: UnixMs },
    /// The clock differs from the other live servers', whose median is this.
    ClockDiffers { median: UnixMs, servers: usize },
    /// All of so many pairs are in use.
    Exhausted { pairs: usize },
}

impl Server {
    pub fn may_have(&self, node: u32) -> bool {
        let (datacenter, worker) = twitter_parts(node);
        self.datacenter.is_none_or(|id| id == datacenter)
            && self.worker.is_none_or(|id| id == worker)
    }

    fn choices(&self) -> impl Iterator<Item = u32> {
        (0..=TWITTER.node_max()).filter(|&node| self.may_have(node))
    }
}

/// How long to wait between two reports, in ms: a lease is renewed three times before it runs out.
pub fn report_interval(lease: i64) -> i64 {
    REPORT_MAX.min(lease / 3)
}

/// The bound to record at `now`, where ids have come to `ahead`: they may go on for the time of a
/// lease without another report. Never less than was `recorded`, up to which they may have been drawn.
pub fn bound(now: UnixMs, ahead: UnixMs, recorded: UnixMs, lease: i64) -> UnixMs {
    (now.max(ahead) + lease).max(recorded)
}

/// Decides which pair the server takes.
pub fn decide(
    fleet: &Fleet,
    server: &Server,
    now: UnixMs,
    tolerance: Tolerance,
) -> Result<Take, Refused> {
    if fleet.live.iter().any(|live| live.name == server.name && live.holder != server.holder) {
        return Err(Refused::Held);
    }
    check_clock(fleet, server, now, tolerance.clock)?;
    let is_late = |pair: &Pair| pair.time - now > tolerance.clock;
    let own = fleet.own.and_then(|node| fleet.pairs.iter().find(|pair| pair.node == node));
    let own = own.filter(|pair| pair.name == server.name && !pair.released);
    if let Some(pair) = own.filter(|pair| server.may_have(pair.node)) {
        if is_late(pair) {
            return Err(Refused::ClockBehind { node: pair.node, recorded: pair.time });
        }
        // The holder's own marks stand above what it has issued; another one's don't.
        let same = pair.holder == server.holder;
        let floor = if same { pair.floor.max(pair.time) } else { pair.bound };
        return Ok(Take { node: pair.node, floor, from: None, gives_up: None });
    }
    let gives_up = own.map(|pair| pair.node);
    let recorded = |node| fleet.pairs.iter().find(|pair| pair.node == node);
    if let Some((node, floor)) = server.has.filter(|&(node, _)| recorded(node).is_none())
        && server.may_have(node)
    {
        return Ok(Take { node, floor, from: None, gives_up });
    }
    if let Some(node) = server.choices().find(|&node| recorded(node).is_none()) {
        return Ok(Take { node, floor: 0, from: None, gives_up });
    }
    let free: Vec<&Pair> = server
        .choices()
        .filter_map(recorded)
        .filter(|pair| pair.released || is_abandoned(fleet, pair, now, tolerance.grace))
        .collect();
    let Some(first) = free.first() else {
        return Err(Refused::Exhausted { pairs: server.choices().count() });
    };
    // Released ones first, then the one that was abandoned longest ago.
    let usable = free.iter().filter(|pair| !is_late(pair));
    match usable.min_by_key(|pair| if pair.released { UnixMs::MIN } else { pair.bound }) {
        Some(pair) => {
            let from = (!pair.released).then(|| pair.name.clone());
            Ok(Take { node: pair.node, floor: pair.bound, from, gives_up })
        }
        None => Err(Refused::ClockBehind { node: first.node, recorded: first.time }),
    }
}

/// Whether the pair's holder is gone for long.
fn is_abandoned(fleet: &Fleet, pair: &Pair, now: UnixMs, grace: i64) -> bool {
    let is_live = fleet.live.iter().any(|live| live.name == pair.name && live.node == pair.node);
    !is_live && now - pair.bound >= grace
}

/// Holds the clock against the median of the other live servers', so that one wrong clock among them
/// refuses nobody. What they reported is up to two intervals old.
fn check_clock(fleet: &Fleet, server: &Server, now: UnixMs, tolerance: i64) -> Result<(), Refused> {
    let others = fleet.live.iter().filter(|live| live.name != server.name);
    let mut times: Vec<UnixMs> = others.map(|live| live.time).collect();
    times.sort_unstable();
    // Of an even number the two in the middle: either may be right.
    let (Some(&lower), Some(&upper)) =
        (times.get(times.len().saturating_sub(1) / 2), times.get(times.len() / 2))
    else {
        return Ok(());
    };
    let median = if lower - now > tolerance {
        lower
    } else if now - upper > tolerance + 2 * REPORT_MAX {
        upper
    } else {
        return Ok(());
    };
    Err(Refused::ClockDiffers { median, servers: times.len() })
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
