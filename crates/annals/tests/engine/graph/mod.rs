//! The rules of the graph: types, containers, lifecycles, bounds.

mod types;
mod type_model;
mod constraints;
mod lifecycle;
mod lifecycle_races;
mod containment;
mod containment_model;
mod many;
mod limits;
mod iris;
