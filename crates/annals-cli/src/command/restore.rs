//! `annals restore`: makes a repository from a backup, or restores a deleted item of a tree.

use std::path::{Path, PathBuf};

use annals::{Error, ErrorKind, Options};
use clap::Args;
use serde_json::json;

use super::tree_path::ChangeArguments;
use super::tree_times::as_of_to_json;
use crate::context::{Access, AsOfArguments, Context};
use crate::stop::Outcome;

/// Make a repository from a backup, and verify it; or restore a deleted item of a tree
#[derive(Args, Debug)]
#[command(
    override_usage = "annals restore <BACKUP> <FOLDER>\n       annals restore <PATH> --at <INSTANT>",
    after_help = "\
Examples:
  annals restore /backup/monday annals-data
  annals restore \"/interfaces/interface[name='eth0']\" --at yesterday
  annals restore \"/interfaces/interface[name='eth0']\" --at-position 41
The command reads back and replays every record of a backup before it reports success.
An item is restored with the subtree that was deleted with it; give a time at which it was at this path."
)]
pub struct Arguments {
    /// Folder of the backup; with a time, the path of the item
    #[arg(value_name = "BACKUP|PATH")]
    what: String,
    /// New folder, or an empty one
    folder: Option<PathBuf>,
    #[command(flatten)]
    as_of: AsOfArguments,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Arguments {
    /// True if it makes a repository from a backup.
    pub fn is_of_backup(&self) -> bool {
        self.folder.is_some()
    }
}

/// Restores, and prints a summary.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let is_of_tree = arguments.of.is_given() || context.candidate.is_some();
    match (&arguments.folder, arguments.as_of.is_given()) {
        (Some(_), false) if is_of_tree => {
            let text = "expected --root, --message, --valid-from and --candidate with the path of an item only; a backup takes none";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (Some(folder), false) => backup(context, Path::new(&arguments.what), folder),
        (None, true) => item(context, arguments),
        _ => {
            let text = "expected the folder of a backup and a new folder, or the path of an item and one of --at, --at-position and \
                        --valid-at";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
    }
}

/// Copies, verifies, and prints the size of the copy.
fn backup(context: &mut Context, backup: &Path, folder: &Path) -> Outcome {
    let options = Options { memory_bytes_max: context.memory_bytes_max, ..Options::default() };
    let report = annals::restore_with(backup, folder, &options)?;
    super::backup::print(context, "restored", &annals_json::backup_to_json(&report), folder)
}

fn item(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut members = json!({ "path": arguments.what });
    members.as_object_mut().expect("it is one").extend(as_of_to_json(&arguments.as_of.as_of()));
    arguments.of.commit(context, Access::Write, "restore-tree", members)
}
