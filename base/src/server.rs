//! What this server calls itself.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use std::ffi::CStr;

/// Its name in its fleet: the configured one, else its cluster's, else one from what it is.
pub fn node_name(configured: String) -> String {
    if !configured.is_empty() {
        return configured;
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
