//! `annals restore`: makes a repository from a backup.

use std::path::PathBuf;

use annals::Options;
use clap::Args;

use crate::context::Context;
use crate::stop::Outcome;

/// Make a repository from a backup, and verify it
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  annals restore /backup/monday annals-data
Every record is read back and replayed before the command says that it is done.")]
pub struct Arguments {
    /// Folder of the backup
    backup: PathBuf,
    /// New folder, or an empty one
    folder: PathBuf,
}

/// Copies, verifies and tells what was copied.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let options = Options { memory_bytes_max: context.memory_bytes_max, ..Options::default() };
    let report = annals::restore_with(&arguments.backup, &arguments.folder, &options)?;
    super::backup::print(context, "restored", &report, &arguments.folder)
}
