//! `annals rm`: delete what is at a path of a tree.

use clap::Args;
use serde_json::json;

use super::tree_path::ChangeArguments;
use crate::context::Context;
use crate::stop::Outcome;

/// Delete an item of a tree with all that is below it, the items of a list, or a property
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals rm \"/interfaces/interface[name='eth0']\"
  annals rm /interfaces/interface --force     all items of the list, if there are any
What is deleted stays in the history: read it with --at, bring an item back with `annals restore`.")]
pub struct Rm {
    /// Path of what goes
    path: String,
    /// Say nothing if it is missing
    #[arg(long = "force", short = 'f')]
    is_forced: bool,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Rm {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let action = if self.is_forced { "remove-tree" } else { "delete-tree" };
        self.of.commit(context, action, json!({ "path": self.path }))
    }
}
