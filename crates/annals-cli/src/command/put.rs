//! `annals put` and `annals insert`: write items and properties of a tree by their paths, and files.

use std::path::{Path, PathBuf};

use annals::{Error, ErrorKind, Result};
use annals_json::{is_tree_item, json_from_str};
use clap::Args;
use serde_json::{Value as Json, json};

use super::content::{self, FileArguments, is_id};
use super::tree_path::{ChangeArguments, PlaceArguments, read_json};
use crate::context::{Access, Context};
use crate::stop::Outcome;

/// Put an item of a tree in place, from JSON, set a property, or store a file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  echo '{\"interface\": [{\"name\": \"eth0\", \"mtu\": 1500}]}' | annals put /interfaces
  annals put \"/interfaces/interface[name='eth0']/mtu\" --value 9000 -m 'jumbo frames'
  annals put /interfaces interfaces.json --merge      what is there beside stays
  annals put page-1 scan.tif --type page              store a file with the entity page-1
  annals put /library/page-1/scan scan.tif --content  the same by a path
The item becomes equal to the JSON; only differences are written. Missing items on the path are created.
A --value is JSON if it reads as JSON, otherwise the text itself. docs/trees.md describes the JSON.")]
pub struct Put {
    /// Path of the item or the property; or the id of an entity, to store a file
    path: String,
    /// File with the item, or the value, in JSON; or the file to store; - for standard input
    file: Option<PathBuf>,
    /// Value of the property, instead of a file
    #[arg(long, value_name = "VALUE", conflicts_with = "file")]
    value: Option<String>,
    /// Keep properties and children that the file does not name
    #[arg(long = "merge", group = "how")]
    is_merge: bool,
    /// Refuse if the item exists already
    #[arg(long = "create", group = "how")]
    is_create: bool,
    /// Refuse if the item is missing
    #[arg(long = "replace", group = "how")]
    is_replace: bool,
    /// Store the file as it is, as a content, instead of reading JSON
    #[arg(long = "content", conflicts_with_all = ["value", "how"])]
    is_content: bool,
    #[command(flatten)]
    file_is: FileArguments,
    #[command(flatten)]
    of: ChangeArguments,
}

/// Put an item into a place of a list that users order
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals insert '/filter/rule[id=9]' --before 'rule[id=7]'
  annals insert '/filter/rule[id=9]' rule.json --first
An existing item is moved to the place, and merged with the file.")]
pub struct Insert {
    /// Path of the item
    path: String,
    /// File with content of the item, in JSON; - for standard input
    file: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceArguments,
    #[command(flatten)]
    of: ChangeArguments,
}

impl Put {
    /// True if it stores a file.
    pub fn is_of_file(&self) -> bool {
        self.is_content || is_id(&self.path)
    }

    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        if is_id(&self.path) {
            self.check_is_file()?;
            return content::put(context, &self.path, file, &self.file_is, &self.of);
        }
        if self.is_content {
            return content::put_at_path(context, &self.path, file, &self.file_is, &self.of);
        }
        let action = match (self.is_merge, self.is_create, self.is_replace) {
            (true, ..) => "merge-tree",
            (_, true, _) => "create-tree",
            (.., true) => "replace-tree",
            _ => "put-tree",
        };
        let content = match &self.value {
            Some(text) => json_from_str(text).unwrap_or_else(|_| Json::from(text.as_str())),
            None => read_json(file)?,
        };
        let member = if is_tree_item(&content) { "item" } else { "value" };
        self.of.commit(context, Access::Create, action, json!({ "path": self.path, member: content }))
    }
}

impl Put {
    /// With an id it stores a file: refuses everything that looks like a change of properties.
    ///
    /// Errors: `InvalidArgument`.
    fn check_is_file(&self) -> Result<()> {
        let is_change = self.value.is_some() || self.is_merge || self.is_create || self.is_replace;
        if !is_change && (self.file.is_some() || self.is_content) {
            return Ok(());
        }
        let id = &self.path;
        let text = format!(
            "put {id}: expected a path, which begins with /, or a file to store with the entity; to change its properties: \
             annals set {id} NAME=VALUE"
        );
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }
}

impl Insert {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let item: Result<Json> = self.file.as_deref().map_or_else(|| Ok(json!({})), read_json);
        let mut members = json!({ "path": self.path, "item": item? });
        members.as_object_mut().expect("it is one").extend(self.place.members());
        self.of.commit(context, Access::Write, "insert-tree", members)
    }
}
