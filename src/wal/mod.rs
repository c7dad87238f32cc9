//! What is written so that it outlives a crash.

pub mod durable;
pub mod page;
