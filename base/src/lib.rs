//! What the libraries of pg_snowid share: the extension's own (`src/`) and the lease worker's (`etcd/`).
//!
//! - `memory`: what lies in shared memory, who may touch it, and its layout's version
//! - `server`: what this server calls itself
//! - `report`: what errors and log lines are made of
//! - `clock`: the system's clocks
//! - `guard`: the boundary to C, where errors become PostgreSQL's
#![deny(unsafe_code)]

pub mod clock;
pub mod guard;
pub mod memory;
pub mod report;
pub mod server;
