//! `pg_snowid.shards`: the shards that this database on this server may draw from. A superuser sets it,
//! for the server or with ALTER DATABASE; an ordinary user cannot change it.
#![allow(unsafe_code)]

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use snowid_core::shards::{Shards, WORDS, place};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static SETTING: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));

/// The setting as the draws read it; whether it lists shards, else all are meant.
static LISTED: AtomicBool = AtomicBool::new(false);
static ALLOWED: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

pub fn define() {
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

/// The setting's text.
pub fn list() -> String {
    SETTING.get().unwrap_or_default().to_string_lossy().into_owned()
}

/// None where the list is empty, which means all.
///
/// # Safety
/// `list` is null or a C string.
unsafe fn parse(list: *const c_char) -> Option<Result<Shards, String>> {
    if list.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let list = unsafe { CStr::from_ptr(list) }.to_string_lossy();
    let list = list.trim();
    (!list.is_empty())
        .then(|| Shards::parse(list).map_err(|item| item.escape_default().to_string()))
}

#[pg_guard]
unsafe extern "C-unwind" fn check(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes the new value, and takes the detail as a palloc'd string.
    unsafe {
        let Some(Err(item)) = parse(*value) else { return true };
        let detail = format!("\"{item}\" is not a shard or a range of shards from 0 to 8191.");
        let detail = CString::new(detail).unwrap_or_default();
        pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr());
        false
    }
}

unsafe extern "C-unwind" fn assign(value: *const c_char, _extra: *mut c_void) {
    // SAFETY: PostgreSQL passes a value that was checked.
    let listed = unsafe { parse(value) }.and_then(Result::ok);
    if let Some(shards) = &listed {
        for (allowed, word) in ALLOWED.iter().zip(shards.words()) {
            allowed.store(*word, Ordering::Relaxed);
        }
    }
    LISTED.store(listed.is_some(), Ordering::Relaxed);
}
