//! The parts of Annals that read what strangers wrote, as they are in the sources, within reach of the fuzz targets.
//!
//! The command line is a program and no library, so its modules are a part of this crate by their paths.
#![allow(dead_code, unused_imports)]

#[path = "../../crates/annals/tests/support/damage.rs"]
pub mod damage;
#[path = "../../crates/annals-cli/src/import/mod.rs"]
pub mod import;
#[path = "../../crates/annals-cli/src/wire/mod.rs"]
mod wire;
#[path = "../../crates/annals-cli/src/output.rs"]
mod output;
#[path = "../../crates/annals-cli/src/exchange.rs"]
mod exchange;
#[path = "../../crates/annals-cli/src/export/mod.rs"]
mod export;
#[path = "../../crates/annals-cli/src/stop.rs"]
mod stop;
