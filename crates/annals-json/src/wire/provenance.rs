//! Provenance of instances, copies of instances of other collections, and changes of headers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{ByName, Instant, NamedForm, Properties};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
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
    ]
}

// The kind of a provenance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("enum" = annals::ProvenanceKind::ALL.map(annals::ProvenanceKind::name)))]
pub struct ProvenanceKindName(pub String);

/// The source of an instance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "license": "CC0-1.0", "maintainedBy": ["ada"] }))]
pub struct Provenance {
    /// Name of its collection; this one if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
}

// The members of a provenance, except the home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ProvenanceMembers {
    /// `local` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<ProvenanceKindName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicated_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintained_by: Option<Vec<String>>,
    /// Names that other systems give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mappings: Option<ByName<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_to: Option<Instant>,
}

// The stamp of a write at the home of a copy.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OriginStamp {
    pub instant: Instant,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

// The header of a copy at its home; the creation is required.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CopyOrigin {
    /// Number of its version at its home; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Stamp of its creation at its home.
    pub created: OriginStamp,
    /// Stamp of its latest version at its home; that of the creation, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<OriginStamp>,
}

// The same members, for instances that may be no copies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct OriginMembers {
    /// For a copy: the version number at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// For a copy: stamp of its creation at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<OriginStamp>,
    /// For a copy: stamp of its latest version at its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<OriginStamp>,
}

/// A new status.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "status": "approved" }))]
pub struct StatusChange {
    pub status: String,
}

/// A new type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "type": "table" }))]
pub struct TypeChange {
    pub r#type: String,
}

/// A new id.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({ "newId": "9548390c" }))]
pub struct IdChange {
    pub new_id: String,
}

/// The expected present home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "home": "there" }))]
pub struct HomeChange {
    pub home: String,
}

/// New ends of a relationship; an end that is left out stays.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "to": "libc6" }))]
pub struct EndsChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The name of this collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "collection": "here" }))]
pub struct CollectionName {
    pub collection: String,
}

/// An entity with its state at its home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = copy_example(json!({ "type": "table", "properties": { "name": "sales" } })))]
pub struct EntityCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifications: Option<Vec<Map<String, Json>>>,
}

/// A relationship with its state at its home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Proxies of ends that may not be here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<Vec<Proxy>>,
}

// The known fields of an entity of another collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Proxy {
    pub id: String,
    pub r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    pub home: String,
}

/// A classification with its state at its home.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = copy_example(json!({})))]
pub struct ClassificationCopy {
    pub home: String,
    #[serde(flatten)]
    pub provenance: ProvenanceMembers,
    #[serde(flatten)]
    pub origin: CopyOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
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
