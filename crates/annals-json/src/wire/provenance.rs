//! Provenance of instances, copies of instances of other collections, and changes of headers.

use annals_json_form::form;
use serde_json::{Map, Value as Json, json};

use super::{ByName, Instant, Properties};

named_forms![
    StatusChange,
    TypeChange,
    IdChange,
    HomeChange,
    EndsChange,
    CollectionName,
    Provenance,
    EntityCopy,
    RelationshipCopy,
    ClassificationCopy,
];

// The kind of a provenance.
#[form(inline)]
#[schemars(extend("enum" = annals::ProvenanceKind::ALL.map(annals::ProvenanceKind::name)))]
pub struct ProvenanceKindName(pub String);

/// The source of an instance.
#[form]
#[schemars(example = json!({ "license": "CC0-1.0", "maintainedBy": ["ada"] }))]
pub struct Provenance {
    /// Name of its collection; this one if left out.
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// The members of a provenance, except the home.
#[form(part)]
pub struct ProvenanceMembers {
    /// `local` if left out.
    pub provenance: Option<ProvenanceKindName>,
    pub replicated_by: Option<String>,
    pub license: Option<String>,
    pub maintained_by: Option<Vec<String>>,
    /// Names that other systems give it.
    pub mappings: Option<ByName<String>>,
    pub effective_from: Option<Instant>,
    pub effective_to: Option<Instant>,
    /// A classification: the entity from which it was propagated; somebody assigned it if left out.
    pub propagated_from: Option<String>,
}

// The stamp of a write at the home of a copy.
#[form(inline)]
pub struct OriginStamp {
    pub instant: Instant,
    pub author: Option<String>,
}

// The header of a copy at its home; the creation is required.
#[form(part)]
pub struct CopyOrigin {
    /// Number of its version at its home; 1 if left out.
    pub version: Option<u64>,
    /// Stamp of its creation at its home.
    pub created: OriginStamp,
    /// Stamp of its latest version at its home; that of the creation, if left out.
    pub updated: Option<OriginStamp>,
}

// The same members, for instances that may be no copies.
#[form(part)]
pub struct OriginMembers {
    /// For a copy: the version number at its home.
    pub version: Option<u64>,
    /// For a copy: stamp of its creation at its home.
    pub created: Option<OriginStamp>,
    /// For a copy: stamp of its latest version at its home.
    pub updated: Option<OriginStamp>,
}

/// A new status.
#[form]
#[schemars(example = json!({ "status": "approved" }))]
pub struct StatusChange {
    pub status: String,
}

/// A new type.
#[form]
#[schemars(example = json!({ "type": "table" }))]
pub struct TypeChange {
    pub r#type: String,
}

/// A new id.
#[form]
#[schemars(example = json!({ "newId": "9548390c" }))]
pub struct IdChange {
    pub new_id: String,
}

/// The expected present home.
#[form]
#[schemars(example = json!({ "home": "there" }))]
pub struct HomeChange {
    pub home: String,
}

/// New ends of a relationship; an end that is left out stays.
#[form]
#[schemars(example = json!({ "to": "libc6" }))]
pub struct EndsChange {
    pub from: Option<String>,
    pub to: Option<String>,
}

/// The name of this collection.
#[form]
#[schemars(example = json!({ "collection": "here" }))]
pub struct CollectionName {
    pub collection: String,
}

/// An entity with its state at its home.
#[form]
#[schemars(example = copy_example(json!({ "type": "table", "properties": { "name": "sales" } })))]
pub struct EntityCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub r#type: String,
    pub status: Option<String>,
    pub properties: Option<Properties>,
    pub classifications: Option<Vec<Map<String, Json>>>,
}

/// A relationship with its state at its home.
#[form]
#[schemars(example = copy_example(json!({
    "type": "holds", "from": "bash", "to": "libc6", "proxies": [{ "id": "libc6", "type": "package", "home": "there" }],
})))]
pub struct RelationshipCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub r#type: String,
    pub status: Option<String>,
    pub properties: Option<Properties>,
    pub from: Option<String>,
    pub to: Option<String>,
    /// Proxies of ends that may not be here.
    pub proxies: Option<Vec<Proxy>>,
}

// The known fields of an entity of another collection.
#[form(inline)]
pub struct Proxy {
    pub id: String,
    pub r#type: String,
    pub properties: Option<Properties>,
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: OriginMembers,
    pub status: Option<String>,
    pub classifications: Option<Vec<Map<String, Json>>>,
}

/// A classification with its state at its home.
#[form]
#[schemars(example = copy_example(json!({})))]
pub struct ClassificationCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub properties: Option<Properties>,
}

fn copy_example(own: Json) -> Json {
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    let copied = json!({ "home": "there", "version": 7, "created": stamp, "updated": stamp });
    joined(copied, own)
}

/// The members of both objects.
pub(super) fn joined(mut json: Json, more: Json) -> Json {
    if let (Json::Object(known), Json::Object(more)) = (&mut json, more) {
        known.extend(more);
    }
    json
}
