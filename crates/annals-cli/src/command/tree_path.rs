//! The arguments that commands on trees share: the path, the root entity, the time, the author, a place in an ordered
//! list, and an input in JSON.

use std::io::Read;
use std::path::Path;

use annals::{Error, ErrorKind, Id, Result, Snapshot, Tree, TreePath};
use annals_exchange::import::Source;
use annals_json::{Object, json_from_slice, tree_of};
use clap::Args;
use serde_json::{Value as Json, json};

use super::apply::commit;
use crate::context::{Access, AsOfArguments, Context, SignatureArguments};
use crate::request::Request;
use crate::stop::{Outcome, Stop};

/// Longest input. Units: bytes of JSON.
const INPUT_BYTES_MAX: u64 = 256 << 20;

/// The entity that paths start from.
#[derive(Args, Clone, Debug)]
pub struct RootArgument {
    /// Id of the entity that paths start from
    #[arg(long, value_name = "ID", default_value = annals::ROOT_ID)]
    pub root: Id,
}

impl RootArgument {
    /// A request about a path.
    pub fn request(&self, at: &str, path: &TreePath) -> Request {
        Request::get(at).with("path", path).with("root", &self.root)
    }

    /// The tree below that entity.
    pub fn tree<'s>(&self, snapshot: &'s Snapshot) -> Tree<'s> {
        tree_of(snapshot, Some(&self.root))
    }
}

/// Arguments of commands that read a tree: root and time.
#[derive(Args, Clone, Debug)]
pub struct ReadArguments {
    #[command(flatten)]
    pub root: RootArgument,
    #[command(flatten)]
    pub as_of: AsOfArguments,
}

/// Arguments of commands that change a tree: root, author, message.
#[derive(Args, Clone, Debug)]
pub struct ChangeArguments {
    #[command(flatten)]
    root: RootArgument,
    #[command(flatten)]
    signature: SignatureArguments,
}

impl ChangeArguments {
    /// True if an argument is given that only changes of trees have.
    pub fn is_given(&self) -> bool {
        self.root.root.to_string() != annals::ROOT_ID
            || !self.signature.message.is_empty()
            || self.signature.valid_from.is_some()
    }

    /// Author, message and valid time.
    pub fn signature(&self) -> &SignatureArguments {
        &self.signature
    }

    /// Commits an operation on the tree and prints the receipt. Shape: `members` as in `docs/json.md`.
    pub fn commit(
        &self,
        context: &mut Context,
        access: Access,
        action: &str,
        members: impl Into<Json>,
    ) -> Outcome {
        let mut operation = json!({ "action": action, "root": self.root.root.to_string() });
        if let (Json::Object(operation), Json::Object(members)) = (&mut operation, members.into()) {
            operation.extend(members);
        }
        self.commit_operations(context, access, &[operation])
    }

    /// Commits operations of any kind and prints the receipt.
    pub fn commit_operations(&self, context: &mut Context, access: Access, operations: &[Json]) -> Outcome {
        commit(context, access, operations, &self.signature)
    }
}

/// A place in a list that users order.
#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
pub struct PlaceArguments {
    /// Put it before all others of its list
    #[arg(long = "first")]
    is_first: bool,
    /// Put it after all others
    #[arg(long = "last")]
    is_last: bool,
    /// Put it right before the item with this step, as in rule[id=7]
    #[arg(long, value_name = "STEP")]
    before: Option<String>,
    /// Put it right after the item with this step
    #[arg(long, value_name = "STEP")]
    after: Option<String>,
}

impl PlaceArguments {
    /// The place as members of an operation; none if none is given.
    pub fn members(&self) -> Object {
        let (place, sibling) = match (&self.before, &self.after) {
            (Some(step), _) => ("before", Some(step)),
            (_, Some(step)) => ("after", Some(step)),
            _ if self.is_first => ("first", None),
            _ if self.is_last => ("last", None),
            _ => return Object::new(),
        };
        let sibling = sibling.map(|step| ("sibling".to_owned(), Json::from(step.as_str())));
        [("insert".to_owned(), place.into())].into_iter().chain(sibling).collect()
    }
}

/// A path from its text.
pub fn path(text: &str) -> Result<TreePath> {
    TreePath::parse(text)
}

/// The error of a path that leads to nothing.
pub fn nothing(path: &TreePath) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("path {path}: not found; list the items there are with `annals ls`"),
    )
}

/// The same, where the door says that there is nothing at the path.
pub fn or_nothing(stop: Stop, path: &TreePath) -> Stop {
    match &stop {
        Stop::Told(told) if told.text.ends_with(": there is nothing at this time") => nothing(path).into(),
        _ => stop,
    }
}

/// The JSON in a file, or in standard input for `-`.
///
/// Errors: `TooLarge`, `InvalidArgument`, and those of opening it.
pub fn read_json(file: &Path) -> Result<Json> {
    let source = Source::open(file)?;
    let name = source.name().to_owned();
    let mut text = Vec::new();
    source
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(|error| Error::io("read input", error).with("path", &name))?;
    if text.len() as u64 > INPUT_BYTES_MAX {
        let text = format!("{name}: expected at most {INPUT_BYTES_MAX} bytes; use `annals import`");
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    json_from_slice(&text)
        .map_err(|error| Error::new(ErrorKind::InvalidArgument, format!("{name}: expected JSON: {error}")))
}
