//! Changes of trees as operations of a transaction: `{"action": "put-tree", "path": …, "item": …}`.

use annals::{AsOf, Id, Insert, Item, Result, Transaction, TreeEdit, TreePath};
use serde_json::Value as Json;

use super::tree::{TreeContent, insert_from_json};
use super::{
    AS_OF, Object, invalid, item_from_json, object, only, optional_text, past_from_json, text,
    tree_content_from_json,
};

/// A change of the tree below an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeOperation {
    /// The entity that paths start from; the default root if `None`.
    pub root: Option<Id>,
    /// The change.
    pub change: TreeChange,
}

/// A change of a tree, as in [`annals::TreeEdit`].
#[derive(Clone, Debug, PartialEq)]
pub enum TreeChange {
    /// Create an item, or a property.
    Create(TreePath, TreeContent),
    /// Merge an item, or set a property.
    Merge(TreePath, TreeContent),
    /// Put an item in place, or set a property.
    Put(TreePath, TreeContent),
    /// The same for an existing item or property.
    Replace(TreePath, TreeContent),
    /// Put an item into a place of an ordered list.
    Insert(TreePath, Item, Insert),
    /// Delete an existing target.
    Delete(TreePath),
    /// Delete the target if it exists.
    Remove(TreePath),
    /// Move an item.
    Move {
        /// Its path.
        from: TreePath,
        /// Its new path.
        to: TreePath,
        /// Its place in an ordered list.
        insert: Option<Insert>,
    },
    /// Copy an item.
    Copy {
        /// Its path.
        from: TreePath,
        /// The path of the copy.
        to: TreePath,
    },
    /// Set an item, or a property, back to an earlier time.
    Revert(TreePath, AsOf),
    /// Restore the item that was at the path.
    Restore(TreePath, AsOf),
}

/// Operations with more items are long work. Units: items.
const SMALL_ITEMS_MAX: usize = 64;

/// The actions of operations that change trees.
pub(crate) const ACTIONS: [&str; 11] = [
    "create-tree",
    "merge-tree",
    "put-tree",
    "replace-tree",
    "insert-tree",
    "delete-tree",
    "remove-tree",
    "move-tree",
    "copy-tree",
    "revert-tree",
    "restore-tree",
];

/// The change of an operation with this action; `None` for other actions.
pub(crate) fn tree_operation_from_json(action: &str, fields: &Object) -> Result<Option<TreeOperation>> {
    operation_of(action, fields, &["action", "root", "validFrom"])
}

/// The same with other members that all these operations may have.
fn operation_of(action: &str, fields: &Object, shared: &[&str]) -> Result<Option<TreeOperation>> {
    if !ACTIONS.contains(&action) {
        return Ok(None);
    }
    let path = |name| TreePath::parse(text(fields, action, name)?);
    let known = |names: &[&str]| only(fields, action, &[shared, names].concat());
    let change = match action {
        "insert-tree" => {
            known(&["path", "item", "insert", "sibling"])?;
            let insert = insert_from_json(fields, action)?;
            let insert =
                insert.ok_or_else(|| invalid(format!("{action}: expected \"insert\", found none")))?;
            let item = fields.get("item").map_or_else(|| Ok(Item::new()), item_from_json)?;
            TreeChange::Insert(path("path")?, item, insert)
        }
        "delete-tree" | "remove-tree" => {
            known(&["path"])?;
            let path = path("path")?;
            if action == "delete-tree" { TreeChange::Delete(path) } else { TreeChange::Remove(path) }
        }
        "move-tree" => {
            known(&["from", "to", "insert", "sibling"])?;
            TreeChange::Move {
                from: path("from")?,
                to: path("to")?,
                insert: insert_from_json(fields, action)?,
            }
        }
        "copy-tree" => {
            known(&["from", "to"])?;
            TreeChange::Copy { from: path("from")?, to: path("to")? }
        }
        "revert-tree" | "restore-tree" => {
            known(&[&["path"], &AS_OF[..]].concat())?;
            let (path, as_of) = (path("path")?, past_from_json(fields, action)?);
            let change = if action == "revert-tree" { TreeChange::Revert } else { TreeChange::Restore };
            change(path, as_of)
        }
        _ => {
            known(&["path", "item", "value"])?;
            let (path, content) = (path("path")?, content(fields, action)?);
            match action {
                "create-tree" => TreeChange::Create(path, content),
                "merge-tree" => TreeChange::Merge(path, content),
                "put-tree" => TreeChange::Put(path, content),
                _ => TreeChange::Replace(path, content),
            }
        }
    };
    let root = optional_text(fields, action, "root")?.map(Id::new).transpose()?;
    Ok(Some(TreeOperation { root, change }))
}

fn content(fields: &Object, action: &str) -> Result<TreeContent> {
    match (fields.get("item"), fields.get("value")) {
        (Some(item), None) => item_from_json(item).map(TreeContent::Item),
        (None, Some(value)) => match tree_content_from_json(value)? {
            TreeContent::Item(_) => Err(invalid(format!(
                "{action}: expected the value of a property, found an item; give it as \"item\""
            ))),
            value => Ok(value),
        },
        _ => Err(invalid(format!("{action}: expected either \"item\" or \"value\""))),
    }
}

impl TreeChange {
    /// An insertion at a place: `Insert` if a place is given, `Create` otherwise.
    ///
    /// Errors: `InvalidArgument` for a property with a place.
    pub fn creation(path: TreePath, content: TreeContent, place: Option<Insert>) -> Result<TreeChange> {
        match (content, place) {
            (content, None) => Ok(TreeChange::Create(path, content)),
            (TreeContent::Item(item), Some(place)) => Ok(TreeChange::Insert(path, item, place)),
            (TreeContent::Value(_), Some(_)) => {
                Err(invalid(format!("path {path}: a property has no place; expected an item, or no place")))
            }
        }
    }

    /// True if it takes only a few look-ups and changes, for any content of the repository.
    pub fn is_short(&self) -> bool {
        match self {
            TreeChange::Create(_, TreeContent::Item(item))
            | TreeChange::Merge(_, TreeContent::Item(item))
            | TreeChange::Insert(_, item, _) => item.items_count() <= SMALL_ITEMS_MAX,
            // A deleted, copied or restored subtree may be large.
            TreeChange::Put(_, TreeContent::Item(_))
            | TreeChange::Replace(_, TreeContent::Item(_))
            | TreeChange::Copy { .. }
            | TreeChange::Revert(..)
            | TreeChange::Restore(..) => false,
            // The items of a list are deleted one by one; an item with keys is deleted with its subtree in one change.
            TreeChange::Delete(path) | TreeChange::Remove(path) => {
                path.steps.last().is_some_and(|step| !step.filters.is_empty())
            }
            _ => true,
        }
    }

    /// Its path; after a move the new one.
    pub fn path(&self) -> &TreePath {
        match self {
            TreeChange::Create(path, _)
            | TreeChange::Merge(path, _)
            | TreeChange::Put(path, _)
            | TreeChange::Replace(path, _)
            | TreeChange::Insert(path, ..)
            | TreeChange::Delete(path)
            | TreeChange::Remove(path)
            | TreeChange::Move { to: path, .. }
            | TreeChange::Copy { to: path, .. }
            | TreeChange::Revert(path, _)
            | TreeChange::Restore(path, _) => path,
        }
    }
}

impl TreeOperation {
    /// The operation of a body without an action, because its address names the action.
    ///
    /// Errors: `InvalidArgument`.
    pub fn from_body(action: &str, json: &Json) -> Result<TreeOperation> {
        let operation = operation_of(action, object(json, action)?, &["root"])?;
        Ok(operation.expect("the address names a change of a tree"))
    }

    /// Adds it to a transaction.
    ///
    /// Shape: the id of the item that it creates, changes or restores; `None` if it changes a property, moves, reverts
    /// or deletes.
    /// Errors: those of [`annals::TreeEdit`].
    pub fn add_to(&self, transaction: &mut Transaction) -> Result<Option<Id>> {
        let mut tree = match &self.root {
            Some(root) => transaction.tree_below(root.clone()),
            None => transaction.tree(),
        };
        self.change.add_to(&mut tree)
    }
}

impl TreeChange {
    /// A change of the tree of a lease, from its JSON form as an operation. It has no root and no valid time, and
    /// cannot revert or restore, because such a tree has no shared history.
    ///
    /// Errors: `InvalidArgument`.
    pub fn pushed_from_json(json: &Json) -> Result<TreeChange> {
        let fields = object(json, "operation")?;
        let action = text(fields, "operation", "action")?;
        if let Some(name) = ["root", "validFrom"].into_iter().find(|name| fields.contains_key(*name)) {
            let text =
                format!("{action}: expected no {name:?}, as the change is one under a lease; leave it out");
            return Err(invalid(text));
        }
        match tree_operation_from_json(action, fields)? {
            None | Some(TreeOperation { change: TreeChange::Revert(..) | TreeChange::Restore(..), .. }) => {
                let known = ACTIONS.iter().filter(|known| !["revert-tree", "restore-tree"].contains(known));
                let known: Vec<&str> = known.copied().collect();
                Err(invalid(format!("operation: expected one of {}, found {action:?}", known.join(", "))))
            }
            Some(operation) => Ok(operation.change),
        }
    }

    /// True if [`TreeChange::add_to`] returns an id.
    pub fn has_id(&self) -> bool {
        match self {
            TreeChange::Create(_, content)
            | TreeChange::Merge(_, content)
            | TreeChange::Put(_, content)
            | TreeChange::Replace(_, content) => matches!(content, TreeContent::Item(_)),
            TreeChange::Insert(..) | TreeChange::Copy { .. } | TreeChange::Restore(..) => true,
            TreeChange::Delete(_)
            | TreeChange::Remove(_)
            | TreeChange::Move { .. }
            | TreeChange::Revert(..) => false,
        }
    }

    /// Adds it to the changes of a tree.
    ///
    /// Shape and errors: as [`TreeOperation::add_to`].
    pub fn add_to(&self, tree: &mut TreeEdit<'_>) -> Result<Option<Id>> {
        match self {
            TreeChange::Create(path, TreeContent::Item(item)) => tree.create(path, item).map(Some),
            TreeChange::Create(path, TreeContent::Value(value)) => {
                tree.create_property(path, value.clone()).map(|()| None)
            }
            TreeChange::Merge(path, TreeContent::Item(item)) => tree.merge(path, item).map(Some),
            TreeChange::Put(path, TreeContent::Item(item)) => tree.put(path, item).map(Some),
            TreeChange::Replace(path, TreeContent::Item(item)) => tree.replace(path, item).map(Some),
            TreeChange::Merge(path, TreeContent::Value(value))
            | TreeChange::Put(path, TreeContent::Value(value)) => {
                tree.set(path, value.clone()).map(|()| None)
            }
            TreeChange::Replace(path, TreeContent::Value(value)) => {
                tree.replace_property(path, value.clone()).map(|()| None)
            }
            TreeChange::Insert(path, item, place) => tree.insert(path, item, place).map(Some),
            TreeChange::Delete(path) => tree.delete(path).map(|()| None),
            TreeChange::Remove(path) => tree.remove(path).map(|_| None),
            TreeChange::Move { from, to, insert } => tree.move_to(from, to, insert.as_ref()).map(|()| None),
            TreeChange::Copy { from, to } => tree.copy(from, to).map(Some),
            TreeChange::Revert(path, as_of) => tree.revert(path, *as_of).map(|()| None),
            TreeChange::Restore(path, as_of) => tree.restore(path, *as_of).map(Some),
        }
    }
}
