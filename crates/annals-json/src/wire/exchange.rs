//! The lines of imports and exports, and the report of an import.

use annals_json_form::form;
use serde_json::{Map, Value as Json, json};

use super::{Instant, OriginMembers, Properties, ProvenanceMembers, Type};

named_forms![
    ExchangeType,
    ExchangeEntity,
    ExchangeRelationship,
    ExchangeCollection,
    ExchangeRecord,
    ImportLine,
    ExportLine,
    ImportReport,
];

/// A line with a type.
#[form]
#[schemars(example = json!({ "type": { "kind": "entity", "name": "package" } }))]
pub struct ExchangeType {
    pub r#type: Type,
}

/// A line with an entity.
#[form]
#[schemars(example = entity_line_example())]
pub struct ExchangeEntity {
    pub entity: LineEntity,
}

/// A line with a relationship.
#[form]
#[schemars(example = json!({ "relationship": { "type": "depends", "from": "bash", "to": "libc6" } }))]
pub struct ExchangeRelationship {
    pub relationship: LineRelationship,
}

/// A line with the name of the collection.
#[form]
#[schemars(example = json!({ "collection": "library" }))]
pub struct ExchangeCollection {
    pub collection: String,
}

/// A line with a record.
#[form]
#[schemars(example = json!({
    "record": { "position": 1, "instant": "2026-01-31T12:00:00.000000Z", "changes": [] },
}))]
pub struct ExchangeRecord {
    pub record: LineRecord,
}

// The members of lines of both kinds of instances.
#[form(part)]
pub struct LineInstance {
    /// A new UUID if left out.
    pub id: Option<String>,
    pub r#type: String,
    pub properties: Option<Properties>,
    pub valid_from: Option<Instant>,
    pub status: Option<String>,
    /// Its former id, which no other instance may have.
    pub reidentified_from: Option<String>,
    /// Name of its collection; this one if left out.
    pub home: Option<String>,
}

// An entity in a line. One with `created` is a copy.
#[form(inline)]
pub struct LineEntity {
    #[serde(flatten)]
    pub instance: LineInstance,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
    pub classifications: Option<Vec<LineClassification>>,
    /// True if it is a proxy: only its id, its type and its unique properties are known.
    pub is_proxy: Option<bool>,
}

// A relationship in a line. One with `created` is a copy.
#[form(inline)]
pub struct LineRelationship {
    #[serde(flatten)]
    pub instance: LineInstance,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
    pub from: String,
    pub to: String,
}

// A classification in a line. One with `created` is a copy.
#[form(inline)]
pub struct LineClassification {
    pub name: String,
    pub properties: Option<Properties>,
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
}

// A record in a line.
#[form(inline)]
pub struct LineRecord {
    pub position: u64,
    pub instant: Instant,
    pub author: Option<String>,
    pub message: Option<String>,
    /// The operations of the record.
    pub changes: Vec<Map<String, Json>>,
}

/// One of these per line.
#[form]
#[schemars(example = entity_line_example(), transform = super::one_of)]
pub enum ImportLine {
    Type(Box<ExchangeType>),
    Entity(Box<ExchangeEntity>),
    Relationship(Box<ExchangeRelationship>),
    Collection(ExchangeCollection),
}

/// One of these per line; records with `history` only.
#[form]
#[schemars(example = entity_line_example(), transform = super::one_of)]
pub enum ExportLine {
    Type(Box<ExchangeType>),
    Entity(Box<ExchangeEntity>),
    Relationship(Box<ExchangeRelationship>),
    Collection(ExchangeCollection),
    Record(ExchangeRecord),
}

/// The report of an import.
#[form]
#[schemars(example = json!({
    "position": 43, "throughLine": 1_000, "records": 1, "changes": 999, "skipped": 0, "created": 997, "updated": 2, "unchanged": 0, "deleted": 0,
    "takenAlong": 0, "kept": 0, "keptEntities": [], "refused": 1,
    "refusedLines": [{
        "line": 7, "kind": "missing-end",
        "reason": "an end does not exist: entity dash; put entities before the relationships between them",
    }],
    "remarks": [],
}))]
pub struct ImportReport {
    pub position: u64,
    /// Number of the last line that is committed.
    pub through_line: u64,
    /// Number of records written.
    pub records: u64,
    /// Number of changes in them.
    pub changes: u64,
    /// Number of lines that were there already: equal to their instance, or committed by the import that is resumed.
    pub skipped: u64,
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    pub deleted: u64,
    /// Number of instances deleted with these: relationships of entities, and contents of containers.
    pub taken_along: u64,
    /// Number of entities that no line names and that stay, because their deletion would delete an instance that a line
    /// names, or that was written after the import began.
    pub kept: u64,
    /// The first of these.
    pub kept_entities: Vec<EntityKept>,
    pub refused: u64,
    /// The first refused lines, at most three with one reason.
    pub refused_lines: Vec<LineRefused>,
    /// Remarks that refuse nothing, for people.
    pub remarks: Vec<String>,
}

// An entity that stays.
#[form(inline)]
pub struct EntityKept {
    pub id: String,
    pub reason: String,
}

// A refused line.
#[form(inline)]
pub struct LineRefused {
    /// Its number, from 1.
    pub line: u64,
    /// The kind of an error (docs/errors.md).
    pub kind: String,
    pub reason: String,
    /// Number of further lines that were refused for this reason.
    pub more: Option<u64>,
}

fn entity_line_example() -> Json {
    json!({ "entity": { "id": "bash", "type": "package", "properties": { "size": 7 } } })
}
