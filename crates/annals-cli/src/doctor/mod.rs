//! Looks at a repository and at the machine of its server, and says what is wrong there, and what to do.
//!
//! Nothing here writes into the repository. [`disk`] writes one probe file beside it, and removes it.

// In the order in which a server meets them.
mod finding;
mod patient;
mod unit;
mod fences;
mod rights;
mod formats;
mod doors;
mod disk;
mod limits;
mod clock;

pub use finding::{Findings, Level};
pub use patient::{Patient, ServerOptions};
pub use unit::UnitFile;

/// Looks at everything.
pub fn examine(patient: &Patient, findings: &mut Findings) {
    if let Some(unit) = &patient.unit {
        fences::examine(unit, patient, findings);
    }
    let user = patient.unit.as_ref().and_then(UnitFile::account);
    let is_there = |folder: &&std::path::Path| rights::examine(folder, user, findings);
    let folder = patient.folder.as_deref().filter(is_there);
    if let Some(folder) = folder {
        formats::examine(folder, findings);
    }
    let server = doors::examine(folder, patient, findings);
    if let Some(folder) = folder {
        disk::examine(folder, patient, findings);
    }
    limits::examine(patient, server, findings);
    clock::examine(folder, findings);
}
