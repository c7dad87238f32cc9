//! Which library has laid out the memory, and how. It lies apart from the memory, under a name and of
//! a size that never change; it is written once, by the library that makes the memory, before anyone
//! else sees it.
#![allow(unsafe_code)]

use super::{Database, Lease, Memory, Notice};
use crate::report::report;
use pgrx::PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_core::cell::Cell;
use snowid_core::step::Word;
use std::ffi::CStr;
use std::fmt;
use std::mem::size_of;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    magic: [u8; 16],
    layout: u64,
    /// The memory's; in [`Header::OURS`] without room for databases.
    size: u64,
    /// The library's version, for errors.
    library: [u8; 32],
}

const _: () = assert!(size_of::<Header>() == 64, "the same in all versions of the library");

static OURS: Header = Header {
    magic: *b"pg_snowid memory",
    layout: LAYOUT,
    size: size_of::<Memory>() as u64,
    library: padded(env!("CARGO_PKG_VERSION").as_bytes()),
};

/// To be counted up when a part of the memory keeps its place and gets another meaning.
const MEANING: usize = 1;

/// What two libraries must have in common to share memory: its meaning, and the place of each part.
const LAYOUT: u64 = digest(&[
    &[MEANING],
    &Word::PLACES,
    &Cell::PLACES,
    &Memory::PLACES,
    &Database::PLACES,
    &Lease::PLACES,
    &Notice::PLACES,
]);

/// FNV-1a.
const fn digest(parts: &[&[usize]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut part = 0;
    while part < parts.len() {
        let mut n = 0;
        while n < parts[part].len() {
            hash = (hash ^ parts[part][n] as u64).wrapping_mul(0x0100_0000_01b3);
            n += 1;
        }
        part += 1;
    }
    hash
}

const fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut n = 0;
    while n < text.len() {
        bytes[n] = text[n];
        n += 1;
    }
    bytes
}

impl Header {
    /// The names under which the two are found.
    pub const NAME: &CStr = c"pg_snowid";
    pub const MEMORY: &CStr = c"pg_snowid data";

    /// This library's own: of a library, it is known by its address.
    pub const OURS: &'static Self = &OURS;

    /// As it stands in the library's file: a test makes another library of a copy by changing it there.
    pub fn ours() -> Self {
        // SAFETY: a static; volatile, since the compiler knows what it holds.
        unsafe { (&raw const OURS).read_volatile() }
    }

    /// This library's own, of memory with room for so many databases.
    pub fn with_room_for(databases: usize) -> Self {
        let ours = Self::ours();
        Self { size: ours.size + (databases * size_of::<Database>()) as u64, ..ours }
    }

    /// Bytes of the memory.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// How many databases the memory has room for.
    pub fn databases(&self) -> usize {
        (self.size() - size_of::<Memory>()) / size_of::<Database>()
    }

    /// Refuses memory that isn't laid out as this library takes it to be.
    pub fn check(&'static self) -> Result<(), OtherLayout> {
        let ours = Self::ours();
        let fits = (self.magic, self.layout) == (ours.magic, ours.layout);
        if fits { Ok(()) } else { Err(OtherLayout { made_by: self }) }
    }
}

/// What errors call the library.
impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.magic != Self::ours().magic {
            return f.write_str("another library");
        }
        let length = self.library.iter().position(|&byte| byte == 0).unwrap_or(self.library.len());
        let version = String::from_utf8_lossy(&self.library[..length]);
        write!(f, "pg_snowid {version} (layout {:016x})", self.layout)
    }
}

/// The memory was laid out by a library that has another layout of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherLayout {
    pub made_by: &'static Header,
}

impl OtherLayout {
    pub fn report(self) -> ErrorReport {
        let (made_by, ours) = (self.made_by, Header::ours());
        report(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "pg_snowid's shared memory is of another version",
            format!("It was laid out by {made_by}, this session has loaded {ours}."),
            OTHER_VERSION,
        )
    }
}

pub const OTHER_VERSION: &str = "Connect again. Where a new session fails likewise, restart the server: \
    then it and all sessions load what is installed.";
