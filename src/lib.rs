//! pg_snowid: unique, time-ordered, shard-carrying 64-bit ids from inside PostgreSQL.
//!
//! What lives where, top to bottom; imports run downwards only:
//!
//! - `exports`: the C symbols that the SQL definitions (`sql/*.sql`) refer to
//! - `functions`: their bodies, thin: generate, tickets, compose, decode, text, layouts, expression,
//!   admin
//! - `planner`: conditions on `id_timestamp(id)` use the index on id
//! - `fleet`: the background worker that leases a (datacenter, worker) pair from etcd
//! - `generator`: draws from a shard's cell, and the waiting
//! - `high_water`: the bound on disk that lets no id repeat after a crash
//! - `sequence`: draws from native sequences whose values don't repeat after a crash either
//! - `durable`: whether WAL is safe, and waiting for it
//! - `arguments`: the checks of what SQL hands in
//! - `shared`: what lives in shared memory
//! - `settings`, `interrupts`, `roles`, `clock`, `abi`: PostgreSQL's settings, interrupts and roles, the
//!   system's clocks, the C calling convention
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
mod relation_name;
mod roles;
mod sequence;
mod settings;
mod shared;
mod sql;
#[cfg(feature = "pg_test")]
mod tests;

::pgrx::pg_module_magic!(name, version);

#[pgrx::pg_guard]
extern "C-unwind" fn _PG_init() {
    settings::define();
    shared::request();
    planner::install();
    fleet::register();
}

/// What `cargo pgrx test` asks for.
#[cfg(test)]
pub mod pg_test {
    pub fn setup(_options: Vec<&str>) {}

    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec!["shared_preload_libraries = 'pg_snowid'"]
    }
}
