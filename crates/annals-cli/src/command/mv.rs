//! `annals mv` and `annals cp`: move and copy items of a tree.

use clap::Args;
use serde_json::json;

use super::apply::commit;
use super::tree_path::{PlaceArguments, RootArgument};
use crate::context::{Context, SignatureArguments};
use crate::stop::Outcome;

/// Move an item of a tree with all that is below it, or rename it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals mv /config/clock /system/clock
  annals mv '/filter/rule[id=9]' '/filter/rule[id=9]' --first
The parent at the new path must be there. The history of the item goes on.")]
pub struct Mv {
    /// Path of the item
    from: String,
    /// Its new path
    to: String,
    #[command(flatten)]
    place: PlaceArguments,
    #[command(flatten)]
    root: RootArgument,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Copy an item of a tree with all that is below it
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
    root: RootArgument,
    #[command(flatten)]
    signature: SignatureArguments,
}

impl Mv {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let mut members = json!({ "from": self.from, "to": self.to });
        members.as_object_mut().expect("it is one").extend(self.place.members());
        let operation = self.root.operation("move-tree", members);
        let repository = context.open_to_write()?;
        commit(context, repository, &[operation], &self.signature)
    }
}

impl Cp {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let operation = self.root.operation("copy-tree", json!({ "from": self.from, "to": self.to }));
        let repository = context.open_to_write()?;
        commit(context, repository, &[operation], &self.signature)
    }
}
