//! `annals rm`: deletes the item or the property at a path of a tree.

use annals::{Error, ErrorKind};
use clap::Args;
use serde_json::json;

use super::content::is_id;
use super::tree_path::ChangeArguments;
use crate::context::{Access, Context};
use crate::stop::Outcome;

/// Delete an item of a tree with its subtree, the items of a list, or a property
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals rm \"/interfaces/interface[name='eth0']\"
  annals rm /interfaces/interface --force     all items of the list, if there are any
The history keeps deleted items: read them with --at, restore them with `annals restore`.")]
pub struct Rm {
    /// Path of the item, the list or the property
    path: String,
    /// Do not fail if it is missing
    #[arg(long = "force", short = 'f')]
    is_forced: bool,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Rm {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        if is_id(&self.path) {
            let id = &self.path;
            let text =
                format!("rm {id}: expected a path, which begins with /; for an id: annals delete {id}");
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        let action = if self.is_forced { "remove-tree" } else { "delete-tree" };
        self.of.commit(context, Access::Write, action, json!({ "path": self.path }))
    }
}
