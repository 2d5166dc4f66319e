//! `annals restore`: makes a repository from a backup, or restores a deleted instance, or item of a tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::{Error, ErrorKind, Id, Options, Position};
use clap::Args;
use serde_json::json;

use super::tree_path::ChangeArguments;
use super::tree_times::as_of_to_json;
use crate::context::{Access, AsOfArguments, Context};
use crate::progress::{FOLDERS_DEEP, Progress, folder_bytes};
use crate::stop::{Outcome, Stop};

/// Restore a deleted instance, or item of a tree; or make a repository from a backup, and verify it
#[derive(Args, Debug)]
#[command(
    override_usage = "annals restore <ID>\n       annals restore <PATH> --at <INSTANT>\n       annals restore <BACKUP> <FOLDER>",
    after_help = "\
Examples:
  annals restore orders -m 'deleted by mistake'
  annals restore reads-1 --relationship
  annals restore \"/interfaces/interface[name='eth0']\" --at yesterday
  annals restore \"/interfaces/interface[name='eth0']\" --at-position 41
  annals restore /backup/monday annals-data
An instance is restored in the state in which it was deleted, with what was deleted with it: its relationships, and everything
that it contains. With a time the name is the path of an item, with a second folder that of a backup, and else an id.
The command reads back and replays every record of a backup before it reports success.
An item is restored with the subtree that was deleted with it; give a time at which it was at this path."
)]
pub struct Arguments {
    /// Id of the instance; with a time the path of an item, with a new folder the folder of a backup
    #[arg(value_name = "ID|PATH|BACKUP")]
    what: String,
    /// New folder, or an empty one
    folder: Option<PathBuf>,
    /// It is the id of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
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
        (Some(_), false) if is_of_tree || arguments.is_relationship => {
            let text = "expected --root, --message, --valid-from, --relationship and --candidate with an instance or an item only; \
                        a backup takes none";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (Some(folder), false) => backup(context, Path::new(&arguments.what), folder),
        (None, true) if arguments.is_relationship => {
            let text =
                "expected --relationship without a time; with a time the command restores the item at a path";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        (None, true) => item(context, arguments),
        (None, false) => instance(context, arguments),
        (Some(_), true) => {
            let text = "expected the folder of a backup and a new folder, or the path of an item and one of --at, --at-position and \
                        --valid-at";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
    }
}

/// Restores an instance by its id.
fn instance(context: &mut Context, arguments: &Arguments) -> Outcome {
    let what = &arguments.what;
    let kind = if arguments.is_relationship { "relationship" } else { "entity" };
    let operation = json!({ "action": "restore", "kind": kind, "id": Id::new(what)?.to_string() });
    let restored = arguments.of.commit_operations(context, Access::Write, &[operation]);
    restored.map_err(|stop| match (stop.kind(), stop.without("operation")) {
        // The other forms of the command have the same first argument.
        (Some(ErrorKind::NotFound), Stop::Told(told)) => {
            let (kind, text) = match (what.starts_with('/'), Path::new(what).is_dir()) {
                (_, true) => (
                    ErrorKind::NotFound,
                    format!("{}; to restore the backup {what}, give a new folder, too", told.text),
                ),
                (true, _) => (
                    ErrorKind::InvalidArgument,
                    format!(
                        "{}; expected the id of a deleted instance, or the path of an item and one of --at, --at-position and \
                         --valid-at",
                        told.text
                    ),
                ),
                _ => return Stop::Told(told),
            };
            Error::new(kind, text).into()
        }
        (_, stop) => stop,
    })
}

/// Copies, verifies, and prints the size of the copy.
fn backup(context: &mut Context, backup: &Path, folder: &Path) -> Outcome {
    let copying = Progress::watch_folder("restore", folder, folder_bytes(backup, FOLDERS_DEEP));
    let verifying = Progress::new("verify", "records");
    let shown = (copying.clone(), verifying.clone());
    let on_replay = move |at: Position, tail: Position| {
        shown.0.finish();
        shown.1.set(at.0, Some(tail.0));
    };
    let options = Options {
        memory_bytes_max: context.memory_bytes_max,
        on_replay: Some(Arc::new(on_replay)),
        ..Options::default()
    };
    let report = annals::restore_with(backup, folder, &options);
    copying.finish();
    verifying.finish();
    let report = report?;
    super::backup::print(context, "restored", &annals_json::backup_to_json(&report), folder)
}

fn item(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut members = json!({ "path": arguments.what });
    members.as_object_mut().expect("it is one").extend(as_of_to_json(&arguments.as_of.as_of()));
    arguments.of.commit(context, Access::Write, "restore-tree", members)
}
