//! `pg_snowid.shards`: the shards that this database on this server may draw from. A superuser sets it,
//! for the server or with ALTER DATABASE; an ordinary user cannot change it.
//!
//! A text that lists no shards is refused where someone sets it. Where it was stored before the library
//! could see it PostgreSQL would drop it with a warning, and all shards would be allowed: there it is
//! taken, and means none.
#![allow(unsafe_code)]

use super::refuse;
use crate::error::BadShards;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PgLogLevel, pg_sys};
use snowid_base::guard::guarded;
use snowid_core::shards::{Shards, WORDS, place};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static SETTING: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// The setting as the draws read it; whether it lists shards, else all are meant.
static LISTED: AtomicBool = AtomicBool::new(false);
static ALLOWED: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// Whether the setting is being defined: then its value was stored earlier.
static DEFINING: AtomicBool = AtomicBool::new(false);

pub fn define() {
    DEFINING.store(true, Ordering::Relaxed);
    // SAFETY: the hooks don't panic: one is guarded, the other's text was checked.
    unsafe {
        GucRegistry::define_string_guc_with_hooks(
            c"pg_snowid.shards",
            c"Shards that this database may draw IDs from, as in 0-99, 200.",
            c"Empty means all. ALTER DATABASE ... SET gives each database its own.",
            &SETTING,
            GucContext::Suset,
            GucFlags::default(),
            Some(check),
            Some(assign),
            None,
        );
    }
    DEFINING.store(false, Ordering::Relaxed);
}

/// Whether ids may be drawn from a shard.
#[inline(always)]
pub fn has(shard: u32) -> bool {
    let (word, bit) = place(shard);
    !are_listed() || ALLOWED[word].load(Ordering::Relaxed) & bit != 0
}

/// Whether the setting lists shards, so that they are this database's own.
#[inline(always)]
pub fn are_listed() -> bool {
    LISTED.load(Ordering::Relaxed)
}

/// What the setting allows, as a sentence.
pub fn allowed() -> String {
    let list = SETTING.get().unwrap_or_default();
    // SAFETY: a C string.
    match unsafe { parse(list.as_ptr()) } {
        Some(Err(bad)) => bad.none_allowed(),
        _ => format!("It may draw from the shards {} only.", list.to_string_lossy()),
    }
}

/// None where the list is empty, which means all.
///
/// # Safety
/// `list` is null or a C string.
unsafe fn parse(list: *const c_char) -> Option<Result<Shards, BadShards>> {
    if list.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let list = unsafe { CStr::from_ptr(list) }.to_string_lossy();
    let list = list.trim();
    let bad = |item: &str| BadShards { list: list.into(), item: item.escape_default().to_string() };
    (!list.is_empty()).then(|| Shards::parse(list).map_err(bad))
}

unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes the new value; a flag of this process.
    guarded(|| unsafe {
        match parse(*value) {
            // A parallel worker takes over what its leader has.
            Some(Err(bad)) if !pg_sys::InitializingParallelWorker => {
                if is_stored(source) {
                    bad.warning().report(PgLogLevel::WARNING);
                    return true;
                }
                refuse(&bad.report())
            }
            _ => true,
        }
    })
}

/// Whether a value was stored earlier, perhaps by someone without the library.
fn is_stored(source: pg_sys::GucSource::Type) -> bool {
    use pg_sys::GucSource::{PGC_S_DATABASE_USER, PGC_S_GLOBAL};
    (PGC_S_GLOBAL..=PGC_S_DATABASE_USER).contains(&source) || DEFINING.load(Ordering::Relaxed)
}

unsafe extern "C-unwind" fn assign(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: PostgreSQL passes a C string.
    let listed = unsafe { parse(value) };
    if let Some(shards) = &listed {
        let words = shards.as_ref().map_or([0; WORDS], |shards| *shards.words());
        for (allowed, word) in ALLOWED.iter().zip(words) {
            allowed.store(word, Ordering::Relaxed);
        }
    }
    LISTED.store(listed.is_some(), Ordering::Relaxed);
}
