//! The background worker that leases this server's (datacenter, worker) pair from etcd;
//! `snowid_core::lease` has the idea and the rules, docs/worker_ids.md the story.
//!
//! Protocol: a bound is recorded in etcd first, then in the file, then in shared memory, from where
//! backends take it; so none of them ever draws an id past what etcd knows. When a pair is released,
//! its bound is lowered to what was issued: for that it is taken out of shared memory, and its cell is
//! moved to the old bound, which ends the draws that had begun; only then is etcd told. Should this
//! server claim it again, the cell is moved back, after etcd knows of that old bound again. Being asked
//! for something, and every few seconds, the worker takes a turn; a turn that fails changes nothing of
//! what is in force, and is taken again.
//!
//! A library of its own, which the worker's process alone loads: no session has its network code. With
//! the rest it shares memory, which it finds by name and checks by its header, and settings, which it
//! reads by name; it defines none.
//!
//! - `keeper`: what is done in a turn
//! - `problem`: what can be wrong, in words
//! - `file`: what is stored in the data directory
//! - `records`: what is recorded in etcd
//! - `identity`: who this server is to its fleet
//! - `client`, `access`: etcd's API, and how it is reached
//! - `memory`, `settings`: what the rest of pg_snowid has here
#![deny(unsafe_code)]

mod access;
mod client;
mod file;
mod identity;
mod keeper;
mod memory;
mod problem;
mod records;
mod settings;

use keeper::Keeper;
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::pg_sys;
use snowid_base::guard::{self, guarded, throw};
use std::time::{Duration, Instant};

::pgrx::pg_module_magic!(name, version);

/// After this a failed turn is taken again; and a turn that is asked for comes no earlier.
const PAUSE: Duration = Duration::from_secs(1);

#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C-unwind" fn snowid_lease_main(_argument: pg_sys::Datum) {
    guard::install();
    guarded(|| {
        let wakes = SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM;
        BackgroundWorker::attach_signal_handlers(wakes);
        let memory = memory::find().unwrap_or_else(|error| throw(error.report()));
        match Keeper::new(memory) {
            Ok(keeper) => run(keeper),
            Err(problem) => problem.log(),
        }
    });
    // SAFETY: ends the process. PostgreSQL starts a worker anew that doesn't end with 0, unless it
    // shuts down.
    unsafe { pg_sys::proc_exit(1) }
}

fn run(mut keeper: Keeper) {
    let mut turn = Instant::now();
    let mut pause = keeper.turn();
    loop {
        let rest = (turn + pause).saturating_duration_since(Instant::now());
        // It waits whole milliseconds.
        if !BackgroundWorker::wait_latch(Some(rest + Duration::from_millis(1))) {
            break;
        }
        let is_reloaded = BackgroundWorker::sighup_received();
        if is_reloaded {
            reload();
            keeper.reload();
        }
        if !keeper.has_request() && !is_reloaded && Instant::now() < turn + pause {
            // Woken by a backend whose ids have come to the bound.
            pause = pause.min(PAUSE);
            continue;
        }
        turn = Instant::now();
        pause = keeper.turn();
    }
    keeper.stop();
}

#[allow(unsafe_code)]
fn reload() {
    // SAFETY: what every process of a server does when told to.
    unsafe {
        (&raw mut pg_sys::ConfigReloadPending).write_volatile(0);
        pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
    }
}

/// Whether the server is being stopped.
#[allow(unsafe_code)]
fn is_stopping() -> bool {
    // SAFETY: a flag that the signal handler sets.
    unsafe { (&raw const pg_sys::ShutdownRequestPending).read_volatile() != 0 }
}
