//! The bodies of the SQL functions, by topic.

pub mod admin;
pub mod compose;
pub mod decode;
pub mod expression;
pub mod generate;
pub mod layouts;
pub mod text;
pub mod tickets;
