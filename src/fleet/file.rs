//! `pg_snowid.lease` in the data directory: which instance this is, and the pair that it holds. With it
//! a server that restarts while etcd is down goes on within its bound.
//!
//! It names where it was written, so that a copy of the data directory doesn't pass for the original.

use super::identity::Identity;
use super::records::{Pair, are_times, json, whole};
use serde::{Deserialize, Serialize};
use snowid_core::instant::UnixMs;
use snowid_core::layout::{twitter_node, twitter_parts};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::time::UNIX_EPOCH;

/// In the data directory, which is a server's working directory.
const NAME: &str = "pg_snowid.lease";
const TEMPORARY: &str = "pg_snowid.lease.tmp";

#[derive(Serialize, Deserialize)]
pub struct File {
    /// The fleet that it is about, and the server's name there.
    prefix: String,
    name: String,
    pub instance: String,
    /// The file's own device and inode; and when it was made, as inodes are used again.
    device: u64,
    inode: u64,
    born_ns: u64,
    data_directory: String,
    machine_id: String,
    system_identifier: u64,
    pub held: Option<Held>,
}

/// A pair, as recorded in etcd before it was written here.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Held {
    datacenter: u32,
    worker: u32,
    pub time_ms: UnixMs,
    pub bound_ms: UnixMs,
    pub floor_ms: UnixMs,
}

impl Held {
    pub fn new(node: u32, pair: &Pair) -> Self {
        let (datacenter, worker) = twitter_parts(node);
        let Pair { time_ms, bound_ms, floor_ms, .. } = *pair;
        Self { datacenter, worker, time_ms, bound_ms, floor_ms }
    }

    pub fn node(&self) -> u32 {
        twitter_node(self.datacenter, self.worker)
    }

    fn is_sound(&self) -> bool {
        whole(self.datacenter, self.worker).is_some()
            && are_times(&[self.time_ms, self.bound_ms, self.floor_ms])
    }
}

impl File {
    /// What the file says, if it is readable and was written in its place.
    pub fn read() -> Option<Self> {
        let file = fs::File::open(NAME).ok()?;
        let place = file.metadata().ok()?;
        let content: Self = serde_json::from_reader(file).ok()?;
        let in_place = (content.device, content.inode, content.born_ns)
            == (place.dev(), place.ino(), born_ns(&place));
        (in_place && content.held.is_none_or(|held| held.is_sound())).then_some(content)
    }

    /// Whether this server wrote it.
    pub fn is_of(&self, identity: &Identity) -> bool {
        self.prefix == identity.prefix
            && self.name == identity.name
            && self.data_directory == identity.data_directory
            && self.machine_id == identity.machine
            && self.system_identifier == identity.system_identifier
    }

    /// Puts it in place, durably.
    pub fn write(identity: &Identity, held: Option<Held>) -> io::Result<()> {
        remove_if_there(TEMPORARY)?;
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(TEMPORARY)?;
        let place = file.metadata()?;
        let content = Self {
            prefix: identity.prefix.clone(),
            name: identity.name.clone(),
            instance: identity.instance.clone(),
            device: place.dev(),
            inode: place.ino(),
            born_ns: born_ns(&place),
            data_directory: identity.data_directory.clone(),
            machine_id: identity.machine.clone(),
            system_identifier: identity.system_identifier,
            held,
        };
        file.write_all(json(&content).as_bytes())?;
        file.sync_all()?;
        fs::rename(TEMPORARY, NAME)?;
        sync_directory()
    }

    /// Removes it, durably.
    pub fn remove() -> io::Result<()> {
        remove_if_there(NAME)?;
        sync_directory()
    }
}

/// When a file was made, in ns since 1970; 0 where the file system doesn't know.
fn born_ns(place: &fs::Metadata) -> u64 {
    let born = place.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    born.map_or(0, |since| since.as_nanos() as u64)
}

fn remove_if_there(name: &str) -> io::Result<()> {
    match fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync_directory() -> io::Result<()> {
    fs::File::open(".")?.sync_all()
}
