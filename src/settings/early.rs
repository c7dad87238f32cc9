//! What a session has set before the library is loaded, where it isn't preloaded. Then PostgreSQL holds
//! our settings as placeholders that anyone may set: by the client's options, or by SET. Once the library
//! defines them it refuses such a value, but not always with the effect that what the server and the
//! database say comes back: a client's option has taken its place, and a parallel worker that loads the
//! library for itself never had it. So the library isn't loaded there. A preloaded one refuses such a
//! client, or such a SET, itself.
#![allow(unsafe_code)]

use pgrx::pg_sys;
use std::ffi::{CStr, c_int};

const PREFIX: &[u8] = b"pg_snowid.";

/// A setting of ours that the session has set, if there is one.
pub fn set_by_session() -> Option<&'static str> {
    let mut count = 0;
    // SAFETY: called by a backend that loads the library, under a guard. The array has `count`
    // settings, whose names live as long as they, which is until the library defines them.
    unsafe {
        let settings = all(&mut count);
        let settings = std::slice::from_raw_parts(settings, count as usize);
        settings.iter().find_map(|setting| {
            let setting = &**setting;
            let name = CStr::from_ptr(setting.name);
            let ours = name
                .to_bytes()
                .get(..PREFIX.len())
                .is_some_and(|prefix| prefix.eq_ignore_ascii_case(PREFIX));
            let by_session = setting.source >= pg_sys::GucSource::PGC_S_CLIENT;
            (ours && by_session).then(|| name.to_str().unwrap_or("pg_snowid"))
        })
    }
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
