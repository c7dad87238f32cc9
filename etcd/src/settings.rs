//! The settings, which pg_snowid defines, read by their names.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use snowid_base::server;
use std::ffi::{CStr, CString};

/// What etcd is, and how this server deals with it.
#[derive(Clone, PartialEq, Eq)]
pub struct Etcd {
    pub endpoints: String,
    pub prefix: String,
    pub user: String,
    pub password_file: String,
    pub ca_file: String,
    pub cert_file: String,
    pub key_file: String,
    /// Seconds.
    pub lease: i64,
    /// Seconds.
    pub grace: i64,
    /// Milliseconds.
    pub clock_difference: i64,
}

pub fn etcd() -> Etcd {
    Etcd {
        endpoints: text("etcd_endpoints"),
        prefix: text("etcd_prefix"),
        user: text("etcd_user"),
        password_file: text("etcd_password_file"),
        ca_file: text("etcd_ca_file"),
        cert_file: text("etcd_cert_file"),
        key_file: text("etcd_key_file"),
        lease: number("etcd_lease"),
        grace: number("etcd_grace"),
        clock_difference: number("max_clock_difference"),
    }
}

/// What this server calls itself in its fleet.
pub fn node_name() -> String {
    server::node_name(text("node_name"))
}

/// None where unset.
pub fn datacenter_id() -> Option<u32> {
    number("datacenter_id").try_into().ok()
}

/// None where unset.
pub fn worker_id() -> Option<u32> {
    number("worker_id").try_into().ok()
}

/// Milliseconds.
pub fn max_clock_regression() -> i64 {
    number("max_clock_regression")
}

/// A number in the setting's own unit.
fn number(name: &str) -> i64 {
    text(name).parse().expect("a setting of a number is one")
}

/// A setting of pg_snowid; empty where it is null. Raises PostgreSQL's error where it is unknown.
fn text(name: &str) -> String {
    let name = CString::new(format!("pg_snowid.{name}")).expect("a name has no zero byte");
    // SAFETY: called under a guard; the value is null or a C string, and is copied before anything is set.
    unsafe {
        let value = pg_sys::GetConfigOption(name.as_ptr(), false, false);
        if value.is_null() {
            return String::new();
        }
        CStr::from_ptr(value).to_string_lossy().into_owned()
    }
}
