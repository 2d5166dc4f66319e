//! What the fuzz targets share with the tests of the engine.

#[path = "../../crates/annals/tests/support/damage.rs"]
pub mod damage;
