//! The graph that is measured, and the same packed into vectors.

mod random;
mod standard;
mod load;
mod packed;

pub use load::{InFlight, load, prepare, settle};
pub use packed::{FastMap, Packed, Plain, Uuid, edge_ids, map_of_numbers, uuid};
pub use random::Random;
pub use standard::{
    Standard, edge_id, is_even, name, power_law_edges, random_edges, size, vertex_id, weight,
};
