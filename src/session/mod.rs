//! What this session is to PostgreSQL: what its user may, and what it waits for.

pub mod privileges;
pub mod wait;
