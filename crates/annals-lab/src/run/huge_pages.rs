//! Memory stands on huge pages where reads are measured, as it does in a server some minutes after it was loaded.

use std::io::{ErrorKind, Result};

use crate::outcome::Outcome;

/// Moves all memory of the process onto huge pages, that of the limits, too: at once, where a server takes its time.
pub fn move_onto_huge_pages() -> Outcome<()> {
    tell(annals_huge_pages::collapse_now().map(|collapsed| {
        // A tenth is enough to show in what is measured.
        if collapsed.refused_bytes > collapsed.huge_bytes / 10 {
            eprintln!("annals-lab: distrust what reads: huge pages were refused: {collapsed:?}");
        }
    }))
}

/// Does it behind what is measured, as a server does.
pub fn move_onto_huge_pages_behind() -> Outcome<()> {
    tell(annals_huge_pages::collapse_behind())
}

/// A system without them is measured as it is, and that is told.
fn tell(outcome: Result<()>) -> Outcome<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            eprintln!("annals-lab: {error}");
            Ok(())
        }
        other => Ok(other?),
    }
}
