//! Settings (GUCs). All are the administrator's: none can be changed by an ordinary user.

pub mod early;
mod etcd;
pub mod shards;

pub use etcd::{node_name, uses_etcd};

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use snowid_core::layout::TWITTER_PART_MAX;
use std::ffi::CString;
use std::ptr;

const UNSET: i32 = -1;

static DATACENTER_ID: GucSetting<i32> = GucSetting::<i32>::new(UNSET);
static WORKER_ID: GucSetting<i32> = GucSetting::<i32>::new(UNSET);
static MAX_CLOCK_REGRESSION: GucSetting<i32> = GucSetting::<i32>::new(60_000);
static MAX_CLOCK_JUMP: GucSetting<i32> = GucSetting::<i32>::new(86_400);
static MAX_DOWNTIME: GucSetting<i32> = GucSetting::<i32>::new(366 * 86_400);
/// Why 63: ids made at a low rate are even over any `id % 2^k` up to 64 buckets, as many as shard
/// by hash in practice; the price is at most 63, on average 31.5, of the 1024 ids of the first
/// millisecond of a burst, and none at full rate.
static SEQUENCE_SPREAD: GucSetting<i32> = GucSetting::<i32>::new(63);

/// Why 4096: with them all shared memory is below 1 MB.
static MAX_DATABASES: GucSetting<i32> = GucSetting::<i32>::new(4096);

pub fn define() {
    GucRegistry::define_int_guc(
        c"pg_snowid.datacenter_id",
        c"Datacenter of this server in snowflake IDs, 0 to 31.",
        c"-1 means unset: then snowflake_id() without arguments fails.",
        &DATACENTER_ID,
        UNSET,
        TWITTER_PART_MAX as i32,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.worker_id",
        c"Worker number of this server in snowflake IDs, 0 to 31.",
        c"-1 means unset: then snowflake_id() without arguments fails.",
        &WORKER_ID,
        UNSET,
        TWITTER_PART_MAX as i32,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.max_clock_regression",
        c"How far the clock may stand behind the last ID before generating fails.",
        c"Within it IDs go on from the last one at the pace of real time.",
        &MAX_CLOCK_REGRESSION,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.max_clock_jump",
        c"How far the clock may jump forward, beyond the time that passed, before generating fails.",
        c"SELECT snowid.accept_clock() says that the clock is right after all.",
        &MAX_CLOCK_JUMP,
        1,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.max_downtime",
        c"How far past the high-water mark the clock may be after a start before generating fails.",
        c"SELECT snowid.accept_clock() says that the clock is right after all.",
        &MAX_DOWNTIME,
        1,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.sequence_spread",
        c"A new millisecond starts at a sequence of 0 to this, mixed from the time.",
        c"So that IDs made at a low rate are even under id % n. 0 starts each at 0.",
        &SEQUENCE_SPREAD,
        0,
        1023,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.max_databases",
        c"How many databases of this server can make IDs.",
        c"Each takes 64 bytes of shared memory. Without shared_preload_libraries the default holds.",
        &MAX_DATABASES,
        1,
        1 << 18,
        fixed(),
        GucFlags::default(),
    );
    shards::define();
    etcd::define();
    reserve_prefix();
}

/// The context of what a start fixes. PostgreSQL lets only libraries that are being preloaded define
/// such; elsewhere these have no effect.
fn fixed() -> GucContext {
    if is_preloading() { GucContext::Postmaster } else { GucContext::Sighup }
}

/// Whether this is the postmaster, loading what shared_preload_libraries names.
#[allow(unsafe_code)]
pub fn is_preloading() -> bool {
    // SAFETY: a flag of this process.
    unsafe { pg_sys::process_shared_preload_libraries_in_progress }
}

/// Has a check hook refuse a value. A report without a message leaves PostgreSQL's, which has the value.
#[allow(unsafe_code)]
fn refuse(report: &ErrorReport) -> bool {
    let copy = |text: Option<&str>| {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return ptr::null_mut() };
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: under a guard; the text is copied to where PostgreSQL's own macros put theirs.
        unsafe { pg_sys::MemoryContextStrdup(pg_sys::ErrorContext, text.as_ptr()) }
    };
    // SAFETY: PostgreSQL has set these to null before it called the hook, and reads them after it.
    unsafe {
        pg_sys::GUC_check_errmsg_string = copy(Some(report.message()));
        pg_sys::GUC_check_errdetail_string = copy(report.detail());
        pg_sys::GUC_check_errhint_string = copy(report.hint());
    }
    false
}

#[allow(unsafe_code)]
fn reserve_prefix() {
    // SAFETY: the name is a C string that lives forever.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pg_snowid".as_ptr()) }
}

/// None where unset.
pub fn datacenter_id() -> Option<u32> {
    get(&DATACENTER_ID).try_into().ok()
}

/// None where unset.
pub fn worker_id() -> Option<u32> {
    get(&WORKER_ID).try_into().ok()
}

/// Milliseconds.
pub fn max_clock_regression() -> i64 {
    i64::from(get(&MAX_CLOCK_REGRESSION))
}

/// Milliseconds.
pub fn max_clock_jump() -> i64 {
    i64::from(get(&MAX_CLOCK_JUMP)) * 1000
}

/// Milliseconds.
pub fn max_downtime() -> i64 {
    i64::from(get(&MAX_DOWNTIME)) * 1000
}

pub fn sequence_spread() -> u32 {
    get(&SEQUENCE_SPREAD) as u32
}

/// Of effect where the library is preloaded.
pub fn max_databases() -> usize {
    get(&MAX_DATABASES) as usize
}

/// `GucSetting::get` without its check of the thread, for the hot path.
#[allow(unsafe_code)]
#[inline]
fn get(setting: &GucSetting<i32>) -> i32 {
    // SAFETY: SQL functions run on the backend's only thread, which is also the only writer.
    unsafe { *setting.as_ptr() }
}
