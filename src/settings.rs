//! Settings (GUCs). All are the administrator's: none can be changed by an ordinary user.

pub mod early;
pub mod shards;

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use snowid_core::layout::TWITTER_PART_MAX;
use std::ffi::CString;

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

static ETCD_ENDPOINTS: Text = Text::new(Some(c""));
static ETCD_PREFIX: Text = Text::new(Some(c"pg_snowid/"));
static NODE_NAME: Text = Text::new(Some(c""));
static ETCD_USER: Text = Text::new(Some(c""));
static ETCD_PASSWORD: Text = Text::new(Some(c""));
static ETCD_CA_FILE: Text = Text::new(Some(c""));
static ETCD_CERT_FILE: Text = Text::new(Some(c""));
static ETCD_KEY_FILE: Text = Text::new(Some(c""));
/// Why 30 s: a failover waits so long, and a restart of etcd or an election takes less.
static ETCD_LEASE: GucSetting<i32> = GucSetting::<i32>::new(30);
static ETCD_GRACE: GucSetting<i32> = GucSetting::<i32>::new(7 * 86_400);
static MAX_CLOCK_DIFFERENCE: GucSetting<i32> = GucSetting::<i32>::new(10_000);

type Text = GucSetting<Option<CString>>;

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
    define_etcd();
    reserve_prefix();
}

/// The context of what a start fixes. PostgreSQL lets only libraries that are being preloaded define
/// such; elsewhere these have no effect.
fn fixed() -> GucContext {
    if is_preloading() { GucContext::Postmaster } else { GucContext::Sighup }
}

fn define_etcd() {
    let texts = [
        (
            c"pg_snowid.etcd_endpoints",
            c"URLs of the etcd that gives this server its worker ID, separated by commas.",
            c"Empty means that pg_snowid.datacenter_id and pg_snowid.worker_id say it.",
            &ETCD_ENDPOINTS,
            fixed(),
            GucFlags::default(),
        ),
        (
            c"pg_snowid.etcd_prefix",
            c"What all keys in etcd begin with.",
            c"Servers with the same prefix are one fleet.",
            &ETCD_PREFIX,
            fixed(),
            GucFlags::default(),
        ),
        (
            c"pg_snowid.node_name",
            c"Name under which this server and its successors hold a worker ID.",
            c"Empty means cluster_name or, without that, the system identifier and the port.",
            &NODE_NAME,
            fixed(),
            GucFlags::default(),
        ),
        (
            c"pg_snowid.etcd_user",
            c"User name for etcd.",
            c"Empty means no authentication by password.",
            &ETCD_USER,
            GucContext::Sighup,
            GucFlags::default(),
        ),
        (
            c"pg_snowid.etcd_password",
            c"Password for etcd.",
            c"Used with pg_snowid.etcd_user.",
            &ETCD_PASSWORD,
            GucContext::Sighup,
            GucFlags::SUPERUSER_ONLY,
        ),
        (
            c"pg_snowid.etcd_ca_file",
            c"File with the certificates that etcd's is trusted by (PEM).",
            c"Empty means the well-known authorities that are built in.",
            &ETCD_CA_FILE,
            GucContext::Sighup,
            GucFlags::default(),
        ),
        (
            c"pg_snowid.etcd_cert_file",
            c"File with this server's certificate for etcd (PEM).",
            c"Empty means none.",
            &ETCD_CERT_FILE,
            GucContext::Sighup,
            GucFlags::default(),
        ),
        (
            c"pg_snowid.etcd_key_file",
            c"File with the key of this server's certificate for etcd (PEM).",
            c"Empty means that it is in pg_snowid.etcd_cert_file.",
            &ETCD_KEY_FILE,
            GucContext::Sighup,
            GucFlags::default(),
        ),
    ];
    for (name, short, long, setting, context, flags) in texts {
        GucRegistry::define_string_guc(name, short, long, setting, context, flags);
    }
    GucRegistry::define_int_guc(
        c"pg_snowid.etcd_lease",
        c"How long this server makes snowflake IDs without an answer from etcd.",
        c"A server that takes over from one that fails waits so long.",
        &ETCD_LEASE,
        5,
        86_400,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.etcd_grace",
        c"How long the worker ID of a server that is gone is kept for it.",
        c"Then another server may get it.",
        &ETCD_GRACE,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_snowid.max_clock_difference",
        c"How far the clock may differ from the other servers' for a worker ID to be claimed.",
        c"It is also how far it may be behind the last time recorded for the ID.",
        &MAX_CLOCK_DIFFERENCE,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
}

/// Whether this is the postmaster, loading what shared_preload_libraries names.
#[allow(unsafe_code)]
pub fn is_preloading() -> bool {
    // SAFETY: a flag of this process.
    unsafe { pg_sys::process_shared_preload_libraries_in_progress }
}

#[allow(unsafe_code)]
fn reserve_prefix() {
    // SAFETY: the name is a C string that lives forever.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pg_snowid".as_ptr()) }
}

/// None where unset.
pub fn datacenter_id() -> Option<i32> {
    Some(get(&DATACENTER_ID)).filter(|&id| id != UNSET)
}

/// None where unset.
pub fn worker_id() -> Option<i32> {
    Some(get(&WORKER_ID)).filter(|&id| id != UNSET)
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

/// Whether the worker ID is leased from etcd. Cheaper than copying the setting.
#[allow(unsafe_code)]
#[inline]
pub fn uses_etcd() -> bool {
    // SAFETY: as in `get`; a text setting is null or a C string.
    unsafe {
        let text: *const std::ffi::c_char = *ETCD_ENDPOINTS.as_ptr();
        !text.is_null() && *text != 0
    }
}

/// What the background worker needs to know of etcd.
#[derive(Clone, PartialEq, Eq)]
pub struct Etcd {
    pub endpoints: String,
    pub prefix: String,
    pub user: String,
    pub password: String,
    pub ca_file: String,
    pub cert_file: String,
    pub key_file: String,
    /// Seconds.
    pub lease: i64,
    pub grace: i64,
    /// Milliseconds.
    pub clock_difference: i64,
}

pub fn etcd() -> Etcd {
    Etcd {
        endpoints: text(&ETCD_ENDPOINTS),
        prefix: text(&ETCD_PREFIX),
        user: text(&ETCD_USER),
        password: text(&ETCD_PASSWORD),
        ca_file: text(&ETCD_CA_FILE),
        cert_file: text(&ETCD_CERT_FILE),
        key_file: text(&ETCD_KEY_FILE),
        lease: i64::from(get(&ETCD_LEASE)),
        grace: i64::from(get(&ETCD_GRACE)),
        clock_difference: i64::from(get(&MAX_CLOCK_DIFFERENCE)),
    }
}

/// Empty where unset.
pub fn node_name() -> String {
    text(&NODE_NAME)
}

fn text(setting: &Text) -> String {
    setting.get().unwrap_or_default().to_string_lossy().into_owned()
}

/// `GucSetting::get` without its check of the thread, for the hot path.
#[allow(unsafe_code)]
#[inline]
fn get(setting: &GucSetting<i32>) -> i32 {
    // SAFETY: SQL functions run on the backend's only thread, which is also the only writer.
    unsafe { *setting.as_ptr() }
}
