//! What a draw goes through: the generator of a shard or worker, and the bound on disk that lets no id
//! repeat after a crash.

pub mod generator;
pub mod high_water;
mod mark_page;
mod own;
mod series;

pub use own::OwnWorker;
pub use series::Series;
