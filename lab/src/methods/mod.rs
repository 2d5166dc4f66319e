//! The suite `methods`: every row of the published tables of a metadata repository, with the same calls and data.

// In the order a newcomer should read them.
mod volume;
mod row;
mod archive;
mod values;
mod book;
mod call;
mod record;
mod run;
mod phases;
mod engine;
mod operation;
mod http;
mod datalog;
mod documents;
mod worst;
mod egeria;
mod suite;

use std::path::Path;

use annals::Repository;

use crate::outcome::Outcome;
use crate::run::Server;
use archive::Archive;
use engine::Engine;
use http::Http;
use record::Record;
use run::Run;
pub use suite::SUITE;
use volume::Volume;
pub use worst::worst_of_smallest;

/// Pages of the HTTP door, unless the volume has more instances per type.
const PAGE_MAX: usize = 1_000;

/// A run with the engine in this process.
fn in_process(archive: &Archive, volume: Volume, folder: &Path) -> Outcome<Record> {
    let repository = Repository::open(folder.join("repository"))?;
    repository.transact(|transaction| transaction.define_types(archive.definitions.clone()))?;
    measured(&mut Engine { repository }, archive, volume, folder)
}

/// A run through the HTTP door of another process.
fn over_http(archive: &Archive, volume: Volume, folder: &Path) -> Outcome<Record> {
    let page_max = volume.instances.max(PAGE_MAX).to_string();
    let server = Server::annals_with(&folder.join("repository"), &["--page-max", &page_max])?;
    let mut door = Http::new(server.address);
    door.define_types(archive::ARCHIVE)?;
    measured(&mut door, archive, volume, folder)
}

/// Runs all phases.
fn measured(
    target: &mut dyn call::Target,
    archive: &Archive,
    volume: Volume,
    folder: &Path,
) -> Outcome<Record> {
    let mut run = Run::new(target, archive, volume, folder)?;
    phases::all(&mut run)?;
    Ok(run.record)
}
