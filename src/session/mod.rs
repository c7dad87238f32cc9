//! What this session is to PostgreSQL: what its user may, and what interrupts it.

pub mod interrupts;
pub mod privileges;
