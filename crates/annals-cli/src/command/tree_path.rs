//! What the commands on trees share: the path, the entity that it starts from, a place in an ordered list, and an input in JSON.

use std::io::Read;
use std::path::Path;

use annals::{Error, ErrorKind, Id, Result, Snapshot, Tree, TreePath};
use annals_exchange::import::Source;
use annals_json::{Object, json_from_slice, tree_of};
use clap::Args;
use serde_json::Value as Json;

/// Longest input. Units: bytes of JSON.
const INPUT_BYTES_MAX: u64 = 256 << 20;

/// Where paths start.
#[derive(Args, Clone, Debug)]
pub struct RootArgument {
    /// Id of the entity that paths start from
    #[arg(long, value_name = "ID", default_value = annals::ROOT_ID)]
    pub root: Id,
}

impl RootArgument {
    /// The tree below it.
    pub fn tree<'s>(&self, snapshot: &'s Snapshot) -> Tree<'s> {
        tree_of(snapshot, Some(&self.root))
    }

    /// An operation on it. Shape: as `docs/json.md` has it.
    pub fn operation(&self, action: &str, members: Json) -> Json {
        let mut operation = Object::from_iter([
            ("action".to_owned(), action.into()),
            ("root".to_owned(), self.root.to_string().into()),
        ]);
        operation.extend(members.as_object().cloned().unwrap_or_default());
        Json::Object(operation)
    }
}

/// A place in a list that users order.
#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
pub struct PlaceArguments {
    /// Before all others of its list
    #[arg(long = "first")]
    is_first: bool,
    /// Behind all others
    #[arg(long = "last")]
    is_last: bool,
    /// Right before the item with this step, as in rule[id=7]
    #[arg(long, value_name = "STEP")]
    before: Option<String>,
    /// Right behind the item with this step
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

/// Why a command finds nothing.
pub fn nothing(path: &TreePath) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("path {path}: there is nothing; list what there is with `annals ls`"),
    )
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
