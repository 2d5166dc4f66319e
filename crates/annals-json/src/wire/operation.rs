//! Operations, transactions and receipts.

use annals_json_form::form;
use serde_json::{Map, Value as Json, json};

use super::{
    Entity, InsertPlace, InstanceKind, Instant, KeepChoice, OriginMembers, Patch, Properties,
    ProvenanceMembers, Relationship, Stays, TreeItem, True, Type, TypePatch, Value,
};

named_forms![
    Receipt,
    UndoneEntity,
    UndoneRelationship,
    Operation,
    Transaction,
    TransactionReceipt,
    CommitReceipt,
    DryRunReceipt,
];

/// The version that an instance must have: its number, or the text of its entity tag.
#[form(inline)]
pub enum IfVersion {
    /// Its latest version; 0 if there must be no instance.
    Number(u64),
    /// Its birth and its latest version, such as `17.1@3f2a9c01`.
    Revision(String),
}

/// One change of a transaction. docs/json.md lists the members of each action.
#[form]
#[schemars(example = json!({ "action": "create", "kind": "entity", "id": "bash", "type": "package" }))]
pub struct Operation {
    pub action: ActionName,
    pub kind: Option<InstanceKind>,
    pub id: Option<String>,
    /// Its new id.
    pub new_id: Option<String>,
    pub r#type: Option<TypeOfOperation>,
    /// For a relationship: its start. For a tree: the path of an item.
    pub from: Option<String>,
    /// For a relationship: its end. For a tree: the new path of an item.
    pub to: Option<String>,
    pub status: Option<String>,
    pub properties: Option<Properties>,
    pub patch: Option<Patch>,
    /// In a list, or by name.
    pub classifications: Option<AnyClassifications>,
    /// The name of a classification.
    pub classification: Option<String>,
    /// For a restoration: by default true.
    pub with_relationships: Option<bool>,
    /// The name of this collection.
    pub collection: Option<String>,
    /// Valid time of the change; now if left out.
    pub valid_from: Option<Instant>,
    /// Run it only if this is the latest version before the transaction; 0: only if the instance does not exist. A
    /// text names the version as entity tags do, with the birth of the instance: `17.1@3f2a9c01`.
    pub if_version: Option<IfVersion>,
    /// Make a version even if nothing changes.
    pub always: Option<bool>,
    /// For a purge: only if the instance is deleted.
    pub deleted_only: Option<bool>,
    /// For a copied relationship: proxies of ends that may not be here.
    pub proxies: Option<Vec<Map<String, Json>>>,
    /// Name of a collection.
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
    /// For a tree: the path of an item or of a property.
    pub path: Option<String>,
    /// For a tree: id of the entity that paths start from; the default root if left out.
    pub root: Option<String>,
    pub item: Option<TreeItem>,
    /// For a tree: the value of a property.
    pub value: Option<Value>,
    pub insert: Option<InsertPlace>,
    /// The item to put it before or after: the last step of that item's path.
    pub sibling: Option<String>,
    /// To undo: the last version, whatever it changed (the default), or the last change of properties.
    pub of: Option<UndonePart>,
    /// To take back: the position of a record, or of the first of several.
    pub position: Option<u64>,
    /// To take back: the position of the last record, if there are several.
    pub to_position: Option<u64>,
    /// To take back: the side that stays, if later commits built on the records.
    pub keep: Option<KeepChoice>,
    pub at_position: Option<u64>,
    pub at: Option<Instant>,
    pub valid_at: Option<Instant>,
}

// The part of an instance whose last change an undo takes back.
#[form(inline)]
pub enum UndonePart {
    Version,
    Content,
}

// The verbs of operations.
#[form(inline)]
#[schemars(extend("enum" = crate::actions()))]
pub struct ActionName(pub String);

// The name of a type; for a declaration, the whole type; for a patch of a type, the patch. A patch is also parsed as a
// type.
#[form(inline)]
pub enum TypeOfOperation {
    Name(String),
    Declaration(Box<Type>),
    Patch(Box<TypePatch>),
}

// The classifications of any action.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum AnyClassifications {
    List(Vec<Map<String, Json>>),
    ByName(Map<String, Json>),
}

/// Operations that run all or none.
#[form]
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
    pub author: Option<String>,
    pub message: Option<String>,
    /// Valid time of all operations without their own.
    pub valid_from: Option<Instant>,
    /// Make versions even if nothing changes.
    pub always: Option<bool>,
    /// Commit only if no instance that it read has changed meanwhile.
    pub serializable: Option<bool>,
    /// Only check whether it is possible.
    pub dry_run: Option<bool>,
    pub operations: Vec<Operation>,
}

/// The position and the instant of a write.
#[form]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }))]
pub struct Receipt {
    pub position: u64,
    pub instant: Instant,
}

/// The result of an undo: the present entity, or a receipt if it does not exist now.
#[form]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }), transform = super::one_of)]
pub enum UndoneEntity {
    Entity(Box<Entity>),
    Receipt(Receipt),
}

/// The result of an undo: the present relationship, or a receipt if it does not exist now.
#[form]
#[schemars(example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" }), transform = super::one_of)]
pub enum UndoneRelationship {
    Relationship(Box<Relationship>),
    Receipt(Receipt),
}

/// The result of a transaction.
#[form]
#[schemars(example = commit_example(), transform = super::one_of)]
pub enum TransactionReceipt {
    Committed(CommitReceipt),
    Possible(DryRunReceipt),
}

/// The transaction is committed.
#[form]
#[schemars(example = commit_example())]
pub struct CommitReceipt {
    pub position: u64,
    pub instant: Instant,
    /// Number of changes; an operation that changes nothing has none.
    pub changes: u64,
    /// Ids of the created instances, in the order of the operations.
    pub ids: Vec<String>,
    /// If an operation takes records back: the first 1,000 instances that stay, or of which a part stays, because later
    /// commits built on them.
    pub stays: Option<Vec<Stays>>,
    /// The count of all of these.
    pub stays_count: Option<u64>,
    /// If an operation takes records back: the first 1,000 instances whose later changes are undone, too.
    pub undone: Option<Vec<Stays>>,
    /// The count of all of these.
    pub undone_count: Option<u64>,
}

/// The transaction is possible.
#[form]
#[schemars(example = json!({ "dryRun": true, "changes": 1, "ids": ["bash"], "entities": 1, "relationships": 0 }))]
pub struct DryRunReceipt {
    pub dry_run: True,
    /// Number of changes it would make.
    pub changes: u64,
    /// Ids of the instances it would create, in the order of the operations.
    pub ids: Vec<String>,
    /// Number of entities after it.
    pub entities: u64,
    /// Number of relationships after it.
    pub relationships: u64,
    /// If an operation takes records back: the first 1,000 instances that stay, or of which a part stays, because later
    /// commits built on them.
    pub stays: Option<Vec<Stays>>,
    /// The count of all of these.
    pub stays_count: Option<u64>,
    /// If an operation takes records back: the first 1,000 instances whose later changes are undone, too.
    pub undone: Option<Vec<Stays>>,
    /// The count of all of these.
    pub undone_count: Option<u64>,
}

fn commit_example() -> Json {
    let ids = ["bash", "libc6", "01890a5d-ac96-774b-bcce-b302099a8057"];
    json!({ "position": 42, "instant": "2025-08-09T10:00:00Z", "changes": 3, "ids": ids })
}
