//! Provenance, and copies of instances of other collections, as JSON.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use annals::{
    ClassificationCopy, CopyHeader, EntityCopy, EntityProxy, Id, Instant, Provenance, ProvenanceKind,
    RelationshipCopy, Result, Stamp, Value,
};
use serde_json::{Value as Json, json};

use super::form::{Form, JsonText, Members, tree};
use super::{Object, array, invalid, kind, number, object, only, optional_text, properties_from_json, text};

/// The members of a provenance.
pub const PROVENANCE_FIELDS: &[&str] = &[
    "home",
    "provenance",
    "replicatedBy",
    "license",
    "maintainedBy",
    "mappings",
    "effectiveFrom",
    "effectiveTo",
    "propagatedFrom",
];

/// Writes the members of a provenance; missing ones are left out.
pub fn write_provenance(members: &mut Members, provenance: &Provenance) {
    if let Some(home) = &provenance.home {
        members.add("home", &**home);
    }
    if let Some(replicated_by) = &provenance.replicated_by {
        members.add("replicatedBy", &**replicated_by);
    }
    if let Some(license) = &provenance.license {
        members.add("license", &**license);
    }
    if provenance.kind != ProvenanceKind::Local {
        members.add("provenance", provenance.kind.name());
    }
    if !provenance.maintained_by.is_empty() {
        members.add("maintainedBy", provenance.maintained_by.iter().map(|name| &**name).collect::<Vec<_>>());
    }
    if !provenance.mappings.is_empty() {
        members.add("mappings", MappingsForm(provenance));
    }
    for (name, instant) in
        [("effectiveFrom", provenance.effective_from), ("effectiveTo", provenance.effective_to)]
    {
        if let Some(instant) = instant {
            members.add(name, instant);
        }
    }
    if let Some(id) = &provenance.propagated_from {
        members.add("propagatedFrom", id);
    }
}

struct MappingsForm<'p>(&'p Provenance);

impl Form for MappingsForm<'_> {
    fn write(&self, to: &mut JsonText) {
        let mappings: BTreeMap<&str, &str> =
            self.0.mappings.iter().map(|(key, text)| (&**key, &**text)).collect();
        to.object(|members| mappings.iter().for_each(|(key, text)| members.entry(key, *text)));
    }
}

struct ProvenanceForm<'p>(&'p Provenance);

impl Form for ProvenanceForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| write_provenance(members, self.0));
    }
}

/// Adds the members of a provenance to a tree.
pub fn add_provenance(json: &mut Json, provenance: &Provenance) {
    if let (Json::Object(fields), Json::Object(members)) = (json, tree(&ProvenanceForm(provenance))) {
        fields.extend(members);
    }
}

/// The members that differ between two provenances, before and after; null for a missing one.
pub fn provenance_differences(before: &Provenance, after: &Provenance) -> Vec<(&'static str, Json, Json)> {
    let side = |provenance: &Provenance| {
        let mut json = json!({ "provenance": provenance.kind.name() });
        add_provenance(&mut json, provenance);
        json
    };
    let (before, after) = (side(before), side(after));
    let member = |json: &Json, name: &str| json.get(name).cloned().unwrap_or_default();
    PROVENANCE_FIELDS
        .iter()
        .map(|name| (*name, member(&before, name), member(&after, name)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

/// The provenance in the members of an object.
pub fn provenance_from_json(fields: &Object, what: &str) -> Result<Provenance> {
    let name = |key: &str| Ok::<_, annals::Error>(optional_text(fields, what, key)?.map(Into::into));
    let instant = |key: &str| optional_text(fields, what, key)?.map(str::parse::<Instant>).transpose();
    let kind_name = optional_text(fields, what, "provenance")?.unwrap_or(ProvenanceKind::Local.name());
    let known = ProvenanceKind::ALL.into_iter().find(|known| known.name() == kind_name);
    let mut provenance = Provenance {
        home: name("home")?,
        kind: known.ok_or_else(|| {
            let names = ProvenanceKind::ALL.map(ProvenanceKind::name).join(", ");
            invalid(format!("{what}: expected as provenance one of {names}, found {kind_name:?}"))
        })?,
        replicated_by: name("replicatedBy")?,
        license: name("license")?,
        effective_from: instant("effectiveFrom")?,
        effective_to: instant("effectiveTo")?,
        propagated_from: optional_text(fields, what, "propagatedFrom")?.map(Id::new).transpose()?,
        ..Provenance::default()
    };
    for maintainer in array(fields, what, "maintainedBy")? {
        provenance.maintained_by.push(string(maintainer, what, "maintainedBy")?);
    }
    if let Some(mappings) = fields.get("mappings") {
        for (key, text) in object(mappings, "mappings")? {
            provenance.mappings.insert(key.as_str().into(), string(text, what, "mappings")?);
        }
    }
    Ok(provenance)
}

/// The same; `None` if there are no such members.
pub fn optional_provenance(fields: &Object, what: &str) -> Result<Option<Arc<Provenance>>> {
    // Most objects have none, and checking this is cheaper than looking each one up.
    if !states_provenance(fields) {
        return Ok(None);
    }
    let provenance = provenance_from_json(fields, what)?;
    Ok((provenance != Provenance::default()).then(|| Arc::new(provenance)))
}

/// True if an object has a member of a provenance.
pub fn states_provenance(fields: &Object) -> bool {
    fields.keys().any(|name| PROVENANCE_FIELDS.contains(&&**name))
}

fn string(json: &Json, what: &str, key: &str) -> Result<Arc<str>> {
    json.as_str()
        .map(Into::into)
        .ok_or_else(|| invalid(format!("{what}: expected strings in {key:?}, found {}", kind(json))))
}

fn stamp_to_json(stamp: &Stamp) -> Json {
    json!({ "instant": stamp.instant.to_string(), "author": &*stamp.author })
}

fn stamp_from_json(fields: &Object, what: &str, key: &str) -> Result<Option<Stamp>> {
    let Some(json) = fields.get(key) else { return Ok(None) };
    let fields = object(json, what)?;
    only(fields, key, &["instant", "author"])?;
    let author = optional_text(fields, key, "author")?.unwrap_or_default().into();
    Ok(Some(Stamp { instant: text(fields, key, "instant")?.parse()?, author }))
}

/// Members of a copy's header at its home, in addition to its provenance.
pub const ORIGIN_FIELDS: &[&str] = &["version", "created", "updated"];

pub(super) fn add_origin(json: &mut Json, version: u32, created: &Stamp, updated: &Stamp) {
    json["version"] = version.into();
    json["created"] = stamp_to_json(created);
    json["updated"] = stamp_to_json(updated);
}

// A copy that was not changed since its creation has equal stamps.
pub(super) fn origin(fields: &Object, what: &str) -> Result<(u32, Stamp, Stamp)> {
    let version = number(fields, what, "version")?.unwrap_or(1);
    let created = stamp_from_json(fields, what, "created")?
        .ok_or_else(|| invalid(format!("{what}: expected \"created\", with an instant, found nothing")))?;
    let updated = stamp_from_json(fields, what, "updated")?.unwrap_or_else(|| created.clone());
    Ok((version, created, updated))
}

/// The same; `None` if there are no such members.
pub(super) fn optional_origin(fields: &Object, what: &str) -> Result<Option<(u32, Stamp, Stamp)>> {
    let is_told = ORIGIN_FIELDS.iter().any(|name| fields.contains_key(*name));
    is_told.then(|| origin(fields, what)).transpose()
}

fn header(fields: &Object, what: &str) -> Result<CopyHeader> {
    let (version, created, updated) = origin(fields, what)?;
    let status = optional_text(fields, what, "status")?.map(Into::into);
    Ok(CopyHeader { provenance: provenance_from_json(fields, what)?, version, status, created, updated })
}

fn properties_to_json(properties: &[(Arc<str>, Value)]) -> Json {
    let fields = properties.iter().map(|(name, value)| (name.to_string(), super::value_to_json(value)));
    fields.collect::<Object>().into()
}

/// A copied classification, with its name.
pub(super) fn classification_copy_to_json(copy: &ClassificationCopy) -> Json {
    let mut json = json!({ "name": &*copy.name });
    add_classification_copy(&mut json, copy);
    json
}

/// The copied classifications of an entity.
pub(super) fn classification_copies(fields: &Object, what: &str) -> Result<Vec<ClassificationCopy>> {
    let copies = array(fields, what, "classifications")?.iter().map(|json| {
        let (what, fields) = ("classification", object(json, "classification")?);
        only(fields, what, &[&["name", "properties"], PROVENANCE_FIELDS, ORIGIN_FIELDS].concat())?;
        classification_copy(fields, what, text(fields, what, "name")?)
    });
    copies.collect()
}

/// A copied entity from its members.
pub fn entity_copy(fields: &Object, what: &str) -> Result<EntityCopy> {
    Ok(EntityCopy {
        id: Id::new(text(fields, what, "id")?)?,
        type_name: text(fields, what, "type")?.into(),
        properties: properties_from_json(fields.get("properties"), "properties")?,
        classifications: classification_copies(fields, what)?,
        header: header(fields, what)?,
    })
}

/// A copied relationship from its members.
pub fn relationship_copy(fields: &Object, what: &str) -> Result<RelationshipCopy> {
    Ok(RelationshipCopy {
        id: Id::new(text(fields, what, "id")?)?,
        type_name: text(fields, what, "type")?.into(),
        from: Id::new(text(fields, what, "from")?)?,
        to: Id::new(text(fields, what, "to")?)?,
        properties: properties_from_json(fields.get("properties"), "properties")?,
        header: header(fields, what)?,
    })
}

/// Adds the members of a copied classification, without its name.
pub fn add_classification_copy(json: &mut Json, copy: &ClassificationCopy) {
    json["properties"] = properties_to_json(&copy.properties);
    add_provenance(json, &copy.provenance);
    add_origin(json, copy.version, &copy.created, &copy.updated);
}

/// A copied classification from its members.
pub fn classification_copy(fields: &Object, what: &str, name: &str) -> Result<ClassificationCopy> {
    let (version, created, updated) = origin(fields, what)?;
    Ok(ClassificationCopy {
        name: name.into(),
        properties: properties_from_json(fields.get("properties"), "classification properties")?,
        provenance: provenance_from_json(fields, what)?,
        version,
        created,
        updated,
    })
}

/// The members of a proxy.
pub static PROXY_FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    [&["id", "type", "properties", "classifications", "status"], PROVENANCE_FIELDS, ORIGIN_FIELDS].concat()
});

/// A proxy from its members.
pub fn proxy_from_json(fields: &Object, what: &str) -> Result<EntityProxy> {
    text(fields, what, "home")?;
    Ok(EntityProxy {
        id: Id::new(text(fields, what, "id")?)?,
        type_name: text(fields, what, "type")?.into(),
        properties: properties_from_json(fields.get("properties"), "properties")?,
        classifications: classification_copies(fields, what)?,
        provenance: provenance_from_json(fields, what)?,
        status: optional_text(fields, what, "status")?.map(Into::into),
        origin: optional_origin(fields, what)?,
    })
}
