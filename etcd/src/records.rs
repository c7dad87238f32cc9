//! What the fleet records in etcd, as JSON under the prefix; docs/worker_ids.md describes it.

use super::client::Entry;
use super::identity::{Identity, holder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use snowid_core::instant::UnixMs;
use snowid_core::layout::{TWITTER_PART_MAX, twitter_node, twitter_parts};
use snowid_core::lease::{self, Fleet};
use std::collections::BTreeMap;

/// Recorded times are below this (the year 6429), so that adding to one overflows nothing.
const TIME_END: UnixMs = 1 << 47;

/// `name/<name>`: the pair that a name has.
#[derive(Serialize, Deserialize)]
pub struct NameRecord {
    datacenter: u32,
    worker: u32,
}

/// `pair/<datacenter>/<worker>`: what stays known of a pair.
#[derive(Clone, Serialize, Deserialize)]
pub struct PairRecord {
    pub name: String,
    pub instance: String,
    pub boot: String,
    pub time_ms: UnixMs,
    pub bound_ms: UnixMs,
    pub floor_ms: UnixMs,
    pub released: bool,
}

/// `live/<name>`: a server that holds a lease; gone when it runs out.
#[derive(Clone, Serialize, Deserialize)]
pub struct LiveRecord {
    pub instance: String,
    pub boot: String,
    pub host: String,
    pub port: i32,
    pub data_directory: String,
    datacenter: u32,
    worker: u32,
    time_ms: UnixMs,
}

/// The keys of a fleet.
#[derive(Clone)]
pub struct Keys(pub String);

impl Keys {
    pub fn name(&self, name: &str) -> String {
        format!("{}name/{name}", self.0)
    }

    pub fn live(&self, name: &str) -> String {
        format!("{}live/{name}", self.0)
    }

    pub fn pair(&self, node: u32) -> String {
        let (datacenter, worker) = twitter_parts(node);
        format!("{}pair/{datacenter:02}/{worker:02}", self.0)
    }
}

/// What was read of a fleet in one go.
pub struct Snapshot {
    /// Of each key the revision at which it was last changed, and its lease.
    keys: BTreeMap<String, (i64, i64)>,
    pub pairs: BTreeMap<u32, PairRecord>,
    pub names: BTreeMap<String, u32>,
    pub live: BTreeMap<String, LiveRecord>,
}

/// A key whose value is no record of its kind.
#[derive(Debug)]
pub struct BadRecord(pub String);

impl Snapshot {
    pub fn new(entries: Vec<Entry>, keys: &Keys) -> Result<Self, BadRecord> {
        let mut snapshot = Self {
            keys: BTreeMap::new(),
            pairs: BTreeMap::new(),
            names: BTreeMap::new(),
            live: BTreeMap::new(),
        };
        for entry in entries {
            snapshot.add(&entry, keys).ok_or_else(|| BadRecord(entry.key.clone()))?;
            snapshot.keys.insert(entry.key, (entry.revision, entry.lease));
        }
        Ok(snapshot)
    }

    /// Keys of other kinds are none of ours.
    fn add(&mut self, entry: &Entry, keys: &Keys) -> Option<()> {
        let key = entry.key.strip_prefix(&keys.0)?;
        if let Some(name) = key.strip_prefix("name/") {
            let pair: NameRecord = parse(&entry.value)?;
            self.names.insert(name.into(), whole(pair.datacenter, pair.worker)?);
        } else if let Some(pair) = key.strip_prefix("pair/") {
            let (datacenter, worker) = pair.split_once('/')?;
            let node = whole(datacenter.parse().ok()?, worker.parse().ok()?)?;
            let pair: PairRecord = parse(&entry.value)?;
            are_times(&[pair.time_ms, pair.bound_ms, pair.floor_ms]).then_some(())?;
            self.pairs.insert(node, pair);
        } else if let Some(name) = key.strip_prefix("live/") {
            let live: LiveRecord = parse(&entry.value)?;
            whole(live.datacenter, live.worker)?;
            are_times(&[live.time_ms]).then_some(())?;
            self.live.insert(name.into(), live);
        }
        Some(())
    }

    /// When the key was last changed; 0 if it is absent.
    pub fn revision(&self, key: &str) -> i64 {
        self.keys.get(key).map_or(0, |&(revision, _)| revision)
    }

    /// The lease that the key is attached to, None if it is absent.
    pub fn lease(&self, key: &str) -> Option<i64> {
        self.keys.get(key).map(|&(_, lease)| lease)
    }

    /// What the decision is made from.
    pub fn fleet(&self, name: &str) -> Fleet {
        let pairs = self.pairs.iter().map(|(&node, pair)| lease::Pair {
            node,
            name: pair.name.clone(),
            holder: holder(&pair.instance, &pair.boot),
            time: pair.time_ms,
            bound: pair.bound_ms,
            floor: pair.floor_ms,
            released: pair.released,
        });
        let live = self.live.iter().map(|(name, live)| lease::Live {
            name: name.clone(),
            holder: holder(&live.instance, &live.boot),
            node: twitter_node(live.datacenter, live.worker),
            time: live.time_ms,
        });
        Fleet { pairs: pairs.collect(), live: live.collect(), own: self.names.get(name).copied() }
    }
}

impl NameRecord {
    pub fn new(node: u32) -> Self {
        let (datacenter, worker) = twitter_parts(node);
        Self { datacenter, worker }
    }
}

impl LiveRecord {
    pub fn new(identity: &Identity, node: u32, time_ms: UnixMs) -> Self {
        let (datacenter, worker) = twitter_parts(node);
        Self {
            instance: identity.instance.clone(),
            boot: identity.boot.clone(),
            host: identity.host.clone(),
            port: identity.port,
            data_directory: identity.data_directory.clone(),
            datacenter,
            worker,
            time_ms,
        }
    }
}

pub fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("records have text keys and plain values")
}

fn parse<T: DeserializeOwned>(value: &str) -> Option<T> {
    serde_json::from_str(value).ok()
}

pub fn are_times(times: &[UnixMs]) -> bool {
    times.iter().all(|time| (0..TIME_END).contains(time))
}

/// The node of a pair, if it is one.
pub fn whole(datacenter: u32, worker: u32) -> Option<u32> {
    let fits = datacenter <= TWITTER_PART_MAX && worker <= TWITTER_PART_MAX;
    fits.then(|| twitter_node(datacenter, worker))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = r#"{"name":"a","instance":"i","boot":"b","time_ms":5,"bound_ms":9,"floor_ms":0,"released":false,"later":1}"#;

    fn snapshot(key: &str, value: &str) -> Result<Snapshot, BadRecord> {
        let entry = Entry { key: key.into(), value: value.into(), revision: 7, lease: 3 };
        Snapshot::new(vec![entry], &Keys("p/".into()))
    }

    #[test]
    fn keys_of_pairs_have_two_digits_each() {
        let keys = Keys("p/".into());
        assert_eq!(keys.pair(0), "p/pair/00/00");
        assert_eq!(keys.pair(1023), "p/pair/31/31");
        assert_eq!(keys.live("15/main"), "p/live/15/main");
    }

    #[test]
    fn a_record_is_read_with_what_a_later_version_adds() {
        let snapshot = snapshot("p/pair/01/02", PAIR).unwrap();
        let fleet = snapshot.fleet("a");
        let [pair] = &fleet.pairs[..] else { panic!("{fleet:?}") };
        assert_eq!((pair.node, pair.time, pair.bound, pair.floor), (34, 5, 9, 0));
        assert_eq!(pair.holder, holder("i", "b"));
        assert_eq!(snapshot.revision("p/pair/01/02"), 7);
        assert_eq!(snapshot.lease("p/pair/01/02"), Some(3));
        assert_eq!((snapshot.revision("p/x"), snapshot.lease("p/x")), (0, None));
    }

    #[test]
    fn what_would_make_wrong_ids_is_no_record() {
        let end = TIME_END.to_string();
        for (key, value) in [
            ("p/pair/01/02", ""),
            ("p/pair/01/02", "{}"),
            ("p/pair/32/00", PAIR),
            ("p/pair/x/00", PAIR),
            ("p/pair/01/02", &PAIR.replace('9', "-1")),
            ("p/pair/01/02", &PAIR.replace('9', &end)),
            ("p/pair/01/02", &PAIR.replace('9', "1e300")),
            ("p/name/a", r#"{"datacenter":0,"worker":32}"#),
            ("p/live/a", "null"),
        ] {
            assert_eq!(
                snapshot(key, value).err().map(|bad| bad.0).as_deref(),
                Some(key),
                "{value}"
            );
        }
        let last = PAIR.replace('9', &(TIME_END - 1).to_string());
        assert!(snapshot("p/pair/01/02", &last).is_ok());
    }

    #[test]
    fn keys_of_others_below_the_prefix_are_left_alone() {
        assert!(snapshot("p/backup", "whatever").is_ok());
    }
}
