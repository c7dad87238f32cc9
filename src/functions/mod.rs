//! The bodies of the SQL functions, by topic.

pub mod admin;
pub mod backfill;
pub mod compose;
pub mod decode;
pub mod generate;
pub mod layouts;
pub mod text;
pub mod tickets;
