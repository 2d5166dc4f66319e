//! Damages bytes for the fuzz targets, as for the tests of the engine.

#[path = "../../crates/annals/tests/support/damage.rs"]
pub mod damage;
