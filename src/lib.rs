//! pg_snowid: unique, time-ordered, shard-carrying 64-bit ids from inside PostgreSQL.
//!
//! The rooms, from low to high; each knows only those above it in this list (`scripts/lint` checks it), and
//! the libraries `snowid_base` (folder `base/`) and `snowid_core` (folder `core/`), which know none.
//! ARCHITECTURE.md shows the way of a call through them.
#![deny(unsafe_code)]

// Every error there is: SQLSTATE, message, detail and hint.
mod error;
// PostgreSQL's settings.
mod settings;
// What this session's user may, and what interrupts it.
mod session;
// What lies in shared memory: where, and which part is this database's.
mod shared;
// Pages that outlive a crash, and whether their WAL is safe.
mod wal;
// Drawing ids: the generator, the high-water mark, this server's own worker.
mod draw;
// Drawing tickets from native sequences.
mod tickets;
// Conditions on an id's time use the index on the id.
mod planner;
// The background worker that leases a (datacenter, worker) pair, which is a library of its own.
mod fleet;
// The SQL surface.
mod call;

use snowid_base::guard::{self, guarded, throw};

::pgrx::pg_module_magic!(name, version);

/// Called by PostgreSQL when it has loaded the library.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
extern "C-unwind" fn _PG_init() {
    guard::install();
    guarded(|| {
        let refuse = |error: error::MemoryError| throw(error::Error::from(error));
        shared::place::claim_process().unwrap_or_else(refuse);
        settings::early::check().unwrap_or_else(refuse);
        settings::define();
        shared::place::request();
        planner::install();
        fleet::register();
    });
}
