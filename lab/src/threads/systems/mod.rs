//! The systems of this program that the suite measures, and how any system is started.

mod request;
mod closed_and_open;
mod annals;
mod chain;
mod disk;
mod null;

use std::time::Duration;

use serde_json::json;

pub use closed_and_open::repeat;
pub use request::Loop;

use super::answer::Opened;
use crate::harness::{Cell, System};
use crate::outcome::Outcome;

/// Longest time to start a system and to open an empty graph: some start a virtual machine.
const OPEN_MAX: Duration = Duration::from_secs(120);

/// The system of the cell's target.
pub fn start(cell: &Cell) -> Outcome<Box<dyn System>> {
    match cell.target.name {
        "annals" => Ok(Box::new(annals::Annals::on_files())),
        "annals-memory" => Ok(Box::new(annals::Annals::in_memory())),
        "disk" => Ok(Box::new(disk::Disk::default())),
        "null" => Ok(Box::new(null::Null)),
        _ => cell.adapter(),
    }
}

/// Opens the system on a new folder of this name, and tells what it says of itself: figures of systems whose durability is
/// unknown would be compared with each other.
pub fn open(system: &mut dyn System, cell: &mut Cell, name: &str) -> Outcome<Opened> {
    let folder = cell.arguments.folder.join(name);
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = std::path::absolute(folder)?;
    let opened: Opened = system.must(&json!({ "do": "open", "folder": folder }), OPEN_MAX)?;
    cell.introduce(opened.record(None))?;
    Ok(opened)
}
