//! The pure core of pg_snowid: how an id is laid out, how instants map to milliseconds, and how the
//! next id follows from the last one. It knows nothing of PostgreSQL, reads no clock and takes no
//! lock; the time is always an argument, so that every clock story is a plain test.
//!
//! Imports run one way: `cell` uses `step`; `step`, `wait`, `mark`, `range`, `fields` and `lease` use
//! `instant`, `range`, `lease` and `shards` use `layout`; `block` and `text` stand alone.

pub mod block;
pub mod cell;
pub mod fields;
pub mod instant;
pub mod layout;
pub mod lease;
pub mod mark;
pub mod range;
pub mod shards;
pub mod step;
pub mod text;
pub mod wait;
