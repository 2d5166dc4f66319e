//! `annals mv` and `annals cp`: move and copy items of a tree.

use clap::Args;
use serde_json::json;

use super::tree_path::{ChangeArguments, PlaceArguments};
use crate::context::{Access, Context};
use crate::stop::Outcome;

/// Move an item of a tree with its subtree, or rename it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals mv /config/clock /system/clock
  annals mv '/filter/rule[id=9]' '/filter/rule[id=9]' --first
The parent at the new path must exist. The history of the item continues.")]
pub struct Mv {
    /// Path of the item
    from: String,
    /// Its new path
    to: String,
    #[command(flatten)]
    place: PlaceArguments,
    #[command(flatten)]
    of: ChangeArguments,
}

/// Copy an item of a tree with its subtree
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  annals cp \"/interfaces/interface[name='eth0']\" \"/interfaces/interface[name='eth1']\"")]
pub struct Cp {
    /// Path of the item
    from: String,
    /// Path of the copy
    to: String,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Mv {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let mut members = json!({ "from": self.from, "to": self.to });
        members.as_object_mut().expect("it is one").extend(self.place.members());
        self.of.commit(context, Access::Write, "move-tree", members)
    }
}

impl Cp {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        self.of.commit(context, Access::Write, "copy-tree", json!({ "from": self.from, "to": self.to }))
    }
}
