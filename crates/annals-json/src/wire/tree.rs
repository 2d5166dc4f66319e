//! Trees of containers.

use annals_json_form::form;
use serde_json::{Map, Value as Json, json};

use super::page::counted_example;
use super::{CountablePage, CountedPage, Difference, InsertPlace, Instant, Sides};

named_forms![
    TreeItem,
    TreeContent,
    TreeEntry,
    TreePage,
    TreeMatches,
    TreePlan,
    TreeReceipt,
    TreeMove,
    TreeCopy,
    TreePast,
    TreeChange,
    TreeChangePage,
];

/// An item with its subtree. Members that are objects are children, arrays of objects are lists, and all others are
/// properties; an array of scalars is a multi-valued property. `@id`, `@type`, `@properties`, `@children` and `@lists`
/// have special meanings (docs/trees.md).
#[form]
#[schemars(example = item_example())]
pub struct TreeItem(pub Map<String, Json>);

/// A TreeItem, or the value of a property: a Value, or an array of scalars for many values.
#[form]
#[schemars(example = item_example())]
pub struct TreeContent(pub Json);

/// An item or a property of a tree, without the subtree.
#[form]
#[schemars(example = tree_entry_example())]
pub struct TreeEntry {
    /// Id of the item.
    pub id: String,
    pub path: String,
    /// Name of the property, if it is one.
    pub property: Option<String>,
    pub r#type: String,
    /// For an item its properties; for a property its value.
    pub value: TreeContent,
}

/// A page of children of an item.
#[form]
#[schemars(example = json!({ "items": [tree_entry_example()], "next": null, "count": 1 }))]
pub struct TreePage(pub CountablePage<TreeEntry>);

/// The matches of a path.
#[form]
#[schemars(example = json!({ "items": [tree_entry_example()], "hasMore": false }))]
pub struct TreeMatches {
    pub items: Vec<TreeEntry>,
    pub has_more: bool,
}

/// The plan for a path.
#[form]
#[schemars(example = json!({ "isLookUp": true, "steps": ["/interfaces: looks a child up by its name"] }))]
pub struct TreePlan {
    /// True if no step reads all children.
    pub is_look_up: bool,
    pub steps: Vec<String>,
}

/// The position and the instant of a change of a tree.
#[form]
#[schemars(example = json!({
    "position": 42, "instant": "2025-08-09T10:00:00Z", "id": "01890a5d-ac96-774b-bcce-b302099a8057",
}))]
pub struct TreeReceipt {
    pub position: u64,
    pub instant: Instant,
    /// Id of the item, or of the item with the property.
    pub id: Option<String>,
}

/// A move of an item to another place.
#[form]
#[schemars(example = json!({ "from": "/system/clock", "to": "/spare/clock" }))]
pub struct TreeMove {
    pub from: String,
    pub to: String,
    /// Id of the entity that paths start from; the default root if left out.
    pub root: Option<String>,
    /// Its place in a list that users order.
    pub insert: Option<InsertPlace>,
    /// The item to put it before or after: the last step of that item's path.
    pub sibling: Option<String>,
}

/// A copy of an item with its subtree.
#[form]
#[schemars(example = json!({ "from": "/system/clock", "to": "/spare/clock" }))]
pub struct TreeCopy {
    pub from: String,
    pub to: String,
    /// Id of the entity that paths start from; the default root if left out.
    pub root: Option<String>,
}

/// A path of a tree, and the time to go back to.
#[form]
#[schemars(example = json!({ "path": "/interfaces", "atPosition": 41 }))]
pub struct TreePast {
    pub path: String,
    /// Id of the entity that paths start from; the default root if left out.
    pub root: Option<String>,
    pub at_position: Option<u64>,
    pub at: Option<Instant>,
    pub valid_at: Option<Instant>,
}

/// The change of an item between two times. An item that was moved and modified has two changes.
#[form]
#[schemars(example = tree_change_example())]
pub struct TreeChange {
    /// Its path at the later time; for a deleted item, its former path.
    pub path: String,
    pub id: String,
    pub change: TreeChangeKind,
    /// For a moved item: its former path.
    pub from: Option<String>,
    /// For a moved item: the item before it in a list that users order; null if it was or is the first.
    pub previous: Option<Sides<Option<String>>>,
    /// For a modified item.
    pub difference: Option<Difference>,
}

// The kind of change.
#[form(inline)]
pub enum TreeChangeKind {
    Created,
    Deleted,
    Moved,
    Modified,
}

/// A page of changes of a tree between two times, in its order.
#[form]
#[schemars(example = counted_example(tree_change_example()))]
pub struct TreeChangePage(pub CountedPage<TreeChange>);

// Without a list, because its type would have to be declared first.
fn item_example() -> Json {
    json!({ "hostname": "r1", "tags": ["core", "lab"], "clock": { "zone": "UTC" } })
}

/// An item.
pub fn tree_entry_example() -> Json {
    let path = "/interfaces/interface[name = 'eth0']";
    json!({ "id": "eth0", "path": path, "type": "interface", "value": { "name": "eth0", "mtu": 1500 } })
}

/// A modified item.
pub fn tree_change_example() -> Json {
    let path = "/interfaces/interface[name = 'eth0']";
    let properties = json!({ "mtu": { "before": 1500, "after": 9000 } });
    let difference = json!({ "status": null, "properties": properties, "classifications": [] });
    json!({ "path": path, "id": "eth0", "change": "modified", "difference": difference })
}
