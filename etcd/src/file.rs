//! `pg_snowid.lease` in the data directory: which instance this is, and the pair that it holds. With it
//! a server that restarts while etcd is down goes on within its bound.
//!
//! It names where it was written, so that a copy of the data directory doesn't pass for the original, and
//! ends with a checksum: what was torn or edited could make ids repeat, and isn't used.

use super::identity::Identity;
use super::records::{PairRecord, are_times, json, whole};
use serde::{Deserialize, Serialize};
use snowid_core::instant::UnixMs;
use snowid_core::layout::{twitter_node, twitter_parts};
use std::fs;
use std::io::{self, Read, Write};
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
    place: Place,
    data_directory: String,
    machine_id: String,
    system_identifier: u64,
    pub held: Option<Held>,
}

/// Where the file lies: inodes are used again, and a copy may come to lie on that of the original, but
/// none has its time of birth too (0 where the file system has none).
#[derive(PartialEq, Serialize, Deserialize)]
struct Place {
    device: u64,
    inode: u64,
    born_us: u64,
}

impl Place {
    fn of(file: &fs::File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let born = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            born_us: born.map_or(0, |since| since.as_micros() as u64),
        })
    }
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
    pub fn new(node: u32, pair: &PairRecord) -> Self {
        let (datacenter, worker) = twitter_parts(node);
        let PairRecord { time_ms, bound_ms, floor_ms, .. } = *pair;
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

/// It isn't what was written.
pub struct Damaged;

impl File {
    /// What the file says, if it is readable and was written in its place.
    pub fn read() -> Result<Option<Self>, Damaged> {
        let Ok(mut file) = fs::File::open(NAME) else { return Ok(None) };
        let Ok(place) = Place::of(&file) else { return Ok(None) };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|_| Damaged)?;
        let content: Self =
            serde_json::from_str(checked(&text).ok_or(Damaged)?).map_err(|_| Damaged)?;
        if content.held.is_some_and(|held| !held.is_sound()) {
            return Err(Damaged);
        }
        Ok((content.place == place).then_some(content))
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
        let content = Self {
            prefix: identity.prefix.clone(),
            name: identity.name.clone(),
            instance: identity.instance.clone(),
            place: Place::of(&file)?,
            data_directory: identity.data_directory.clone(),
            machine_id: identity.machine.clone(),
            system_identifier: identity.system_identifier,
            held,
        };
        file.write_all(with_checksum(&json(&content)).as_bytes())?;
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

fn remove_if_there(name: &str) -> io::Result<()> {
    match fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync_directory() -> io::Result<()> {
    fs::File::open(".")?.sync_all()
}

/// A line of text, and below it its checksum.
fn with_checksum(text: &str) -> String {
    format!("{text}\n{:08x}\n", crc32c(text.as_bytes()))
}

/// The text again, if that is its checksum.
fn checked(text: &str) -> Option<&str> {
    let (content, _) = text.split_once('\n')?;
    (with_checksum(content) == text).then_some(content)
}

/// The checksum of PostgreSQL's own files (Castagnoli's polynomial).
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let shift = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_edited_or_torn_fails_the_check() {
        assert_eq!(
            crc32c(b"123456789"),
            0xe306_9283,
            "the check value that catalogues of CRCs give"
        );
        let text = with_checksum("{\"bound_ms\":5}");
        assert_eq!(checked(&text), Some("{\"bound_ms\":5}"));
        assert_eq!(checked(&text.replace('5', "6")), None);
        assert_eq!(checked(&format!("{text}\n")), None);
        for end in 0..text.len() {
            assert_eq!(checked(&text[..end]), None, "torn at {end}");
        }
    }
}
