//! Operations, transactions and what tells that they are done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{
    Entity, InsertPlace, InstanceKind, Instant, NamedForm, OriginMembers, Patch, Properties,
    ProvenanceMembers, Relationship, TreeItem, True, Type, TypePatch, Value,
};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![
        Receipt,
        UndoneEntity,
        UndoneRelationship,
        Operation,
        Transaction,
        TransactionReceipt,
        CommitReceipt,
        DryRunReceipt,
    ]
}

/// One change of a transaction. docs/json.md tells which members each action has.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "action": "create", "kind": "entity", "id": "bash", "type": "package" }))]
pub struct Operation {
    pub action: ActionName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InstanceKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The id that it is to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<TypeOfOperation>,
    /// Of a relationship: its start. Of a tree: where an item is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of a relationship: its end. Of a tree: where an item goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
    /// In a list, or by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifications: Option<AnyClassifications>,
    /// The name of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<String>,
    /// Of a restoration: true unless told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_relationships: Option<bool>,
    /// The name of this collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// From when it is true; now if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Instant>,
    /// Do it only if this is the latest version before the transaction; 0: only if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Make a version even if nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
    /// Of a purge: only if it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_only: Option<bool>,
    /// Of a copied relationship: proxies of ends that may not be here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<Vec<Map<String, Json>>>,
    /// Name of a collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
    /// Of a tree: the place of an item or of a property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Of a tree: id of the entity that paths start from; the usual one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<TreeItem>,
    /// Of a tree: the value of a property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<InsertPlace>,
    /// Before or behind which item: the last step of its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sibling: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_at: Option<Instant>,
}

// The verbs of operations.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("enum" = crate::actions()))]
pub struct ActionName(pub String);

// The name of a type; of a declaration, the whole type; of a patch of a type, the patch. A patch is a type, too.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum TypeOfOperation {
    Name(String),
    Declaration(Box<Type>),
    Patch(Box<TypePatch>),
}

// Classifications of whatever an action takes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum AnyClassifications {
    List(Vec<Map<String, Json>>),
    ByName(Map<String, Json>),
}

/// Operations that are done together or not at all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({
    "author": "ada",
    "message": "two packages",
    "operations": [
        { "action": "create", "kind": "entity", "id": "bash", "type": "package" },
        { "action": "create", "kind": "entity", "id": "libc6", "type": "package" },
        { "action": "create", "kind": "relationship", "type": "depends", "from": "bash", "to": "libc6" },
    ],
}))]
pub struct Transaction {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// From when all operations are true that tell no other time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Instant>,
    /// Make versions even if nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
    /// Do it only if nothing that it read was changed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serializable: Option<bool>,
    /// Only tell whether it is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    pub operations: Vec<Operation>,
}

/// Where and when something was written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }))]
pub struct Receipt {
    pub position: u64,
    pub instant: Instant,
}

/// What is undone: the entity as it is now, or a receipt if there is none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }), transform = super::one_of)]
pub enum UndoneEntity {
    Entity(Box<Entity>),
    Receipt(Receipt),
}

/// What is undone: the relationship as it is now, or a receipt if there is none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }), transform = super::one_of)]
pub enum UndoneRelationship {
    Relationship(Box<Relationship>),
    Receipt(Receipt),
}

/// What a transaction comes to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(example = commit_example(), transform = super::one_of)]
pub enum TransactionReceipt {
    Committed(CommitReceipt),
    Possible(DryRunReceipt),
}

/// A transaction is committed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = commit_example())]
pub struct CommitReceipt {
    pub position: u64,
    pub instant: Instant,
    /// Ids of what was created, in the order of the operations.
    pub ids: Vec<String>,
}

/// A transaction is possible.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "dryRun": true, "ids": ["bash"], "entities": 1, "relationships": 0 }))]
pub struct DryRunReceipt {
    pub dry_run: True,
    /// Ids of what would be created, in the order of the operations.
    pub ids: Vec<String>,
    /// How many entities there would be.
    pub entities: u64,
    /// How many relationships there would be.
    pub relationships: u64,
}

fn commit_example() -> Json {
    let ids = ["bash", "libc6", "01890a5d-ac96-774b-bcce-b302099a8057"];
    json!({ "position": 42, "instant": "2025-08-09T10:00:00Z", "ids": ids })
}
