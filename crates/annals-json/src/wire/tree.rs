//! Trees of containers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::page::counted_example;
use super::{CountablePage, CountedPage, Difference, InsertPlace, Instant, NamedForm, Sides};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
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
    ]
}

/// An item with what is below it. Members that are objects are children, arrays of objects are lists, and all others are properties;
/// an array of scalars is a property of many values. `@id`, `@type`, `@properties`, `@children` and `@lists` have meanings of their
/// own (docs/trees.md).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = item_example())]
pub struct TreeItem(pub Map<String, Json>);

/// A TreeItem, or the value of a property: a Value, or an array of scalars for many values.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = item_example())]
pub struct TreeContent(pub Json);

/// An item or a property of a tree, without what is below it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = tree_entry_example())]
pub struct TreeEntry {
    /// Id of the item.
    pub id: String,
    pub path: String,
    /// Name of the property, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    pub r#type: String,
    /// Of an item its properties; of a property its value.
    pub value: TreeContent,
}

/// A page of what is below an item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({ "items": [tree_entry_example()], "next": null, "count": 1 }))]
pub struct TreePage(pub CountablePage<TreeEntry>);

/// What a path leads to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "items": [tree_entry_example()], "hasMore": false }))]
pub struct TreeMatches {
    pub items: Vec<TreeEntry>,
    pub has_more: bool,
}

/// How a path is followed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "isLookUp": true, "steps": ["/interfaces: looks a child up by its name"] }))]
pub struct TreePlan {
    /// True if no step looks at all children.
    pub is_look_up: bool,
    pub steps: Vec<String>,
}

/// Where and when a change of a tree was written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "position": 42, "instant": "2025-08-09T10:00:00Z", "id": "01890a5d-ac96-774b-bcce-b302099a8057",
}))]
pub struct TreeReceipt {
    pub position: u64,
    pub instant: Instant,
    /// Id of the item that was put there, or has the property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An item that goes to another place.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "from": "/system/clock", "to": "/spare/clock" }))]
pub struct TreeMove {
    pub from: String,
    pub to: String,
    /// Id of the entity that paths start from; the usual one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its place in a list that users order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<InsertPlace>,
    /// Before or behind which item: the last step of its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sibling: Option<String>,
}

/// An item that is copied with what is below it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "from": "/system/clock", "to": "/spare/clock" }))]
pub struct TreeCopy {
    pub from: String,
    pub to: String,
    /// Id of the entity that paths start from; the usual one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// A place of a tree and the time that it had what it is to have again.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "path": "/interfaces", "atPosition": 41 }))]
pub struct TreePast {
    pub path: String,
    /// Id of the entity that paths start from; the usual one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<Instant>,
}

/// What became of an item between two times. One that was moved and modified comes twice.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = tree_change_example())]
pub struct TreeChange {
    /// Where it is at the later time; of what is deleted, where it was.
    pub path: String,
    pub id: String,
    pub change: TreeChangeKind,
    /// Of what was moved: where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of what was moved: the item before it in a list that users order; null if it was or is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Sides<Option<String>>>,
    /// Of what was modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

// What became of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TreeChangeKind {
    Created,
    Deleted,
    Moved,
    Modified,
}

/// A page of what became of a tree between two times, in its order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = counted_example(tree_change_example()))]
pub struct TreeChangePage(pub CountedPage<TreeChange>);

// Without a list: the type of one is declared before.
fn item_example() -> Json {
    json!({ "hostname": "r1", "tags": ["core", "lab"], "clock": { "zone": "UTC" } })
}

/// An item.
pub fn tree_entry_example() -> Json {
    let path = "/interfaces/interface[name = 'eth0']";
    json!({ "id": "eth0", "path": path, "type": "interface", "value": { "name": "eth0", "mtu": 1500 } })
}

/// An item that was modified.
pub fn tree_change_example() -> Json {
    let path = "/interfaces/interface[name = 'eth0']";
    let properties = json!({ "mtu": { "before": 1500, "after": 9000 } });
    let difference = json!({ "status": null, "properties": properties, "classifications": [] });
    json!({ "path": path, "id": "eth0", "change": "modified", "difference": difference })
}
