//! The settings about etcd, which the lease worker reads by their names. What they say tells of the server's inside, so its texts are shown to superusers
//! and members of `pg_read_all_settings` alone. None of them is a secret: the password is in a file.

use super::{fixed, is_preloading, refuse};
use crate::error::{Error, LeaseError};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use snowid_base::guard::{guarded, throw};
use snowid_base::server;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

static ETCD_ENDPOINTS: TextSetting = TextSetting::new(Some(c""));
static ETCD_PREFIX: TextSetting = TextSetting::new(Some(c"pg_snowid/"));
static NODE_NAME: TextSetting = TextSetting::new(Some(c""));
static ETCD_USER: TextSetting = TextSetting::new(Some(c""));
static ETCD_PASSWORD_FILE: TextSetting = TextSetting::new(Some(c""));
static ETCD_CA_FILE: TextSetting = TextSetting::new(Some(c""));
static ETCD_CERT_FILE: TextSetting = TextSetting::new(Some(c""));
static ETCD_KEY_FILE: TextSetting = TextSetting::new(Some(c""));
/// Why 30 s: a failover waits so long, and a restart of etcd or an election takes less.
static ETCD_LEASE: GucSetting<i32> = GucSetting::<i32>::new(30);
static ETCD_GRACE: GucSetting<i32> = GucSetting::<i32>::new(7 * 86_400);
static MAX_CLOCK_DIFFERENCE: GucSetting<i32> = GucSetting::<i32>::new(10_000);

type TextSetting = GucSetting<Option<CString>>;

/// A start has taken the endpoints: from then on others that are refused leave these in force.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Raises an error where a start has endpoints that are refused.
pub fn define() {
    define_texts();
    define_numbers();
    if is_preloading() {
        if has_user(&text(&ETCD_ENDPOINTS)) {
            throw(Error::from(LeaseError::UserInEndpoints));
        }
        STARTED.store(true, Ordering::Relaxed);
    }
}

#[allow(unsafe_code)]
fn define_texts() {
    let texts = [
        (
            c"pg_snowid.etcd_endpoints",
            c"URLs of the etcd that gives this server its worker ID, separated by commas.",
            c"Empty means that pg_snowid.datacenter_id and pg_snowid.worker_id say it.",
            &ETCD_ENDPOINTS,
            fixed(),
        ),
        (
            c"pg_snowid.etcd_prefix",
            c"What all keys in etcd begin with.",
            c"Servers with the same prefix are one fleet.",
            &ETCD_PREFIX,
            fixed(),
        ),
        (
            c"pg_snowid.node_name",
            c"Name under which this server and its successors hold a worker ID.",
            c"Empty means cluster_name or, without that, the system identifier and the port.",
            &NODE_NAME,
            fixed(),
        ),
        (
            c"pg_snowid.etcd_user",
            c"User name for etcd.",
            c"Empty means no authentication by password.",
            &ETCD_USER,
            GucContext::Sighup,
        ),
        (
            c"pg_snowid.etcd_password_file",
            c"File with the password of pg_snowid.etcd_user.",
            c"Others than the server's user may not be able to read it.",
            &ETCD_PASSWORD_FILE,
            GucContext::Sighup,
        ),
        (
            c"pg_snowid.etcd_ca_file",
            c"File with the certificates that etcd's is trusted by (PEM).",
            c"Empty means the well-known authorities that are built in.",
            &ETCD_CA_FILE,
            GucContext::Sighup,
        ),
        (
            c"pg_snowid.etcd_cert_file",
            c"File with this server's certificate for etcd (PEM).",
            c"Empty means none.",
            &ETCD_CERT_FILE,
            GucContext::Sighup,
        ),
        (
            c"pg_snowid.etcd_key_file",
            c"File with the key of this server's certificate for etcd (PEM).",
            c"Empty means that it is in pg_snowid.etcd_cert_file.",
            &ETCD_KEY_FILE,
            GucContext::Sighup,
        ),
    ];
    for (name, short, long, setting, context) in texts {
        let flags = GucFlags::SUPERUSER_ONLY;
        let check = std::ptr::eq(setting, &ETCD_ENDPOINTS).then_some(check_endpoints as CheckHook);
        // SAFETY: the hook is guarded.
        unsafe {
            GucRegistry::define_string_guc_with_hooks(
                name, short, long, setting, context, flags, check, None, None,
            );
        }
    }
}

fn define_numbers() {
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

type CheckHook = unsafe extern "C-unwind" fn(
    *mut *mut c_char,
    *mut *mut c_void,
    pg_sys::GucSource::Type,
) -> bool;

/// Refuses endpoints with a user or password. Not at a start: PostgreSQL would go on with none, and the
/// static settings would step in; `define` ends the start instead. Nor where the library isn't preloaded,
/// for the same reason: there nothing is sent.
#[allow(unsafe_code)]
unsafe extern "C-unwind" fn check_endpoints(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a text.
    guarded(|| unsafe {
        let refused =
            STARTED.load(Ordering::Relaxed) && has_user(&CStr::from_ptr(*value).to_string_lossy());
        !refused || refuse(&LeaseError::UserInEndpoints.report())
    })
}

fn has_user(endpoints: &str) -> bool {
    endpoints.contains('@')
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

/// What this server calls itself in its fleet.
pub fn node_name() -> String {
    server::node_name(text(&NODE_NAME))
}

fn text(setting: &TextSetting) -> String {
    setting.get().unwrap_or_default().to_string_lossy().into_owned()
}
