//! Who this server is to its fleet: a name, which its successors inherit, and an instance, which
//! tells one data directory from its copies.
#![allow(unsafe_code)]

use crate::settings;
use pgrx::pg_sys;
use std::ffi::CStr;
use std::{fs, io};

#[derive(Clone)]
pub struct Identity {
    /// What the keys of its fleet begin with.
    pub prefix: String,
    pub name: String,
    pub instance: String,
    /// The kernel's id of this boot, empty if it can't be told.
    pub boot: String,
    pub host: String,
    pub port: i32,
    pub data_directory: String,
    pub system_identifier: u64,
    /// The machine's id where it has one, else that of its boot.
    pub machine: String,
}

impl Identity {
    /// This server, as a new instance.
    pub fn new() -> io::Result<Self> {
        let boot = line("/proc/sys/kernel/random/boot_id");
        // SAFETY: settings and the control file's contents, which stand before any worker starts.
        let (directory, port, system_identifier) = unsafe {
            let directory = CStr::from_ptr(pg_sys::DataDir).to_string_lossy();
            (directory, pg_sys::PostPortNumber, pg_sys::GetSystemIdentifier())
        };
        Ok(Self {
            prefix: settings::etcd().prefix,
            name: settings::node_name(),
            instance: random_token()?,
            host: host_name(),
            port,
            data_directory: directory.into_owned(),
            system_identifier,
            machine: Some(line("/etc/machine-id"))
                .filter(|id| !id.is_empty())
                .unwrap_or(boot.clone()),
            boot,
        })
    }

    /// Makes this another instance.
    pub fn renew(&mut self) -> io::Result<()> {
        self.instance = random_token()?;
        Ok(())
    }

    pub fn holder(&self) -> String {
        holder(&self.instance, &self.boot)
    }
}

/// An instance in one life of its machine: only there does a lock on the data directory exclude that
/// two servers are one instance (copies of a virtual machine or of a volume).
pub fn holder(instance: &str, boot: &str) -> String {
    format!("{instance} {boot}")
}

/// What the machine calls itself.
fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is ours, and its last byte, which is not handed out, stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// 128 random bits.
fn random_token() -> io::Result<String> {
    let mut bits = [0u8; 16];
    io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut bits)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

/// The first line of one of the system's files, empty if there is none.
fn line(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().next().unwrap_or("").trim().into()
}
