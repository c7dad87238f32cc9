//! pg_snowid: unique, time-ordered, shard-carrying 64-bit ids from inside PostgreSQL.
//!
//! What lives where, top to bottom; imports run downwards only:
//!
//! - `exports`: the C symbols that the SQL definitions (`sql/*.sql`) refer to
//! - `functions`: their bodies, thin: generate, tickets, compose, decode, text, layouts, backfill,
//!   admin
//! - `planner`: conditions on `id_timestamp(id)` use the index on id
//! - `fleet`: the background worker that leases a (datacenter, worker) pair from etcd
//! - `generator`: draws from a shard's cell, and the waiting
//! - `high_water`: the bound on disk that lets no id repeat after a crash
//! - `sequence`: draws from native sequences whose values don't repeat after a crash either
//! - `durable`: whether WAL is safe, and waiting for it
//! - `arguments`: the checks of what SQL hands in
//! - `shared`: what lives in shared memory
//! - `settings`, `privileges`, `interrupts`, `clock`, `abi`: PostgreSQL's settings, roles and
//!   interrupts, the system's clocks, the C calling convention
//! - `error`: every error there is; `relation_name`: a relation in their texts
//! - `snowid_core` (folder `core/`): layouts, instants, text forms and the generator's step, without
//!   PostgreSQL
#![deny(unsafe_code)]

mod abi;
mod arguments;
mod clock;
mod durable;
mod error;
mod exports;
mod fleet;
mod functions;
mod generator;
mod high_water;
mod interrupts;
mod planner;
mod privileges;
mod relation_name;
mod sequence;
mod settings;
mod shared;

::pgrx::pg_module_magic!(name, version);

#[pgrx::pg_guard]
extern "C-unwind" fn _PG_init() {
    shared::place::claim_process().unwrap_or_else(|error| abi::report(error));
    settings::early::check().unwrap_or_else(|error| abi::report(error));
    settings::define();
    shared::place::request();
    planner::install();
    fleet::register();
}
