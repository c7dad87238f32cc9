//! Who this server is to its fleet: a name, which its successors inherit, and an instance, which
//! tells one data directory from its copies.
#![allow(unsafe_code)]

use super::file::{Damaged, File, Held};
use super::problem::Problem;
use super::records::holder;
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
    /// This server, and what its file says if that is its own and not copied from another one.
    /// A server without such a file is a new instance.
    pub fn read() -> io::Result<(Self, Option<Held>)> {
        let boot = line("/proc/sys/kernel/random/boot_id");
        // SAFETY: settings and the control file's contents, which stand before any worker starts.
        let (directory, port, system_identifier) = unsafe {
            let directory = CStr::from_ptr(pg_sys::DataDir).to_string_lossy();
            (directory, pg_sys::PostPortNumber, pg_sys::GetSystemIdentifier())
        };
        let mut identity = Self {
            prefix: settings::etcd().prefix,
            name: node_name(),
            instance: random_token()?,
            host: host_name(),
            port,
            data_directory: directory.into_owned(),
            system_identifier,
            machine: Some(line("/etc/machine-id"))
                .filter(|id| !id.is_empty())
                .unwrap_or(boot.clone()),
            boot,
        };
        let file = File::read().unwrap_or_else(|Damaged| {
            Problem::FileDamaged.log();
            None
        });
        let held = match file {
            Some(file) if file.is_of(&identity) => {
                identity.instance = file.instance;
                file.held
            }
            _ => None,
        };
        Ok((identity, held))
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

/// The configured name of this server, else its cluster's, else one from what it is.
pub fn node_name() -> String {
    let name = settings::node_name();
    if !name.is_empty() {
        return name;
    }
    // SAFETY: a setting's value is null or a C string; the control file stands.
    unsafe {
        if !pg_sys::cluster_name.is_null() && *pg_sys::cluster_name != 0 {
            return CStr::from_ptr(pg_sys::cluster_name).to_string_lossy().into_owned();
        }
        let port = pg_sys::PostPortNumber;
        format!("{}-{port}", pg_sys::GetSystemIdentifier())
    }
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
