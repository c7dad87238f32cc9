//! What was said of our settings before the library is loaded, where it isn't preloaded. Then PostgreSQL
//! holds them as placeholders that anyone may set, by the client's options or by SET. Once the library
//! defines them it refuses such a value, but what the server and the database say doesn't always come
//! back: a client's option has taken its place. And in a parallel operation it refuses all values, the
//! administrator's too. Where the built-in ones would be left the library isn't loaded. A preloaded one
//! refuses such a client, or such a SET, itself.
#![allow(unsafe_code)]

use crate::error::MemoryError;
use pg_sys::GucSource::{PGC_S_CLIENT, PGC_S_DEFAULT};
use pgrx::pg_sys;
use std::ffi::{CStr, c_int};

const PREFIX: &[u8] = b"pg_snowid.";

/// Refuses to load the library where a setting of ours would be lost by it.
pub fn check() -> Result<(), MemoryError> {
    if let Some((name, _)) = ours().find(|(_, source)| *source >= PGC_S_CLIENT) {
        return Err(MemoryError::SetBeforeLoad { name });
    }
    // SAFETY: a flag of this backend.
    let in_parallel = unsafe { pg_sys::IsInParallelMode() };
    match ours().find(|(_, source)| in_parallel && *source > PGC_S_DEFAULT) {
        Some((name, _)) => Err(MemoryError::LoadedInParallel { name }),
        None => Ok(()),
    }
}

/// The placeholders of ours, and who has set each.
fn ours() -> impl Iterator<Item = (&'static str, pg_sys::GucSource::Type)> {
    let mut count = 0;
    // SAFETY: called by a backend that loads the library, under a guard. The array has `count`
    // settings, whose names live as long as they, which is until the library defines them.
    let settings = unsafe { std::slice::from_raw_parts(all(&mut count), count as usize) };
    settings.iter().filter_map(|setting| {
        // SAFETY: as above.
        let (name, source) = unsafe { (CStr::from_ptr((**setting).name), (**setting).source) };
        let prefix = name.to_bytes().get(..PREFIX.len())?;
        let ours = prefix.eq_ignore_ascii_case(PREFIX);
        ours.then(|| (name.to_str().unwrap_or("pg_snowid"), source))
    })
}

/// # Safety
/// To be called in a backend, under a guard.
unsafe fn all(count: &mut c_int) -> *mut *mut pg_sys::config_generic {
    // SAFETY: as the caller says.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            *count = pg_sys::GetNumConfigOptions();
            pg_sys::get_guc_variables()
        }
        #[cfg(not(feature = "pg15"))]
        pg_sys::get_guc_variables(count)
    }
}
