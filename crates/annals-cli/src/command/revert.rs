//! `annals revert`: sets an item or a property at a path of a tree back to an earlier time.

use clap::Args;
use serde_json::json;

use super::tree_path::ChangeArguments;
use super::tree_times::{ToArguments, as_of_to_json};
use crate::context::{Access, Context};
use crate::stop::Outcome;

/// Set an item of a tree with its subtree, or a property, back to an earlier time
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals revert /interfaces --to yesterday
  annals revert /interfaces --to-position 41 -m 'the new links do not come up'
Items deleted since are restored, items created since are deleted, items moved since return. All of this makes new
versions, so the history keeps the time between. `annals diff PATH --from TIME` shows the changes in advance.")]
pub struct Revert {
    /// Path of the item or the property
    path: String,
    #[command(flatten)]
    to: ToArguments,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Revert {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let as_of = self.to.past()?;
        let mut members = json!({ "path": self.path });
        members.as_object_mut().expect("it is one").extend(as_of_to_json(&as_of));
        self.of.commit(context, Access::Write, "revert-tree", members)
    }
}
