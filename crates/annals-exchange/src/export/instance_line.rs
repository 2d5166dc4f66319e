//! The line of an entity or relationship in an export; an import makes an equal instance of it.

use annals::{
    ClassificationRef, Entity, Provenance, ProvenanceKind, Relationship, Snapshot, StampRef, Value,
};
use annals_json::{Object, add_provenance, value_to_json};
use serde_json::{Value as Json, json};

use super::valid_from;

/// The state that holds for all lines of one export.
pub struct InstanceLines<'s> {
    snapshot: &'s Snapshot,
    // Without initial statuses, the lines leave `active` out.
    tells_status: bool,
}

impl<'s> InstanceLines<'s> {
    /// Lines of the content of this snapshot.
    pub fn new(snapshot: &'s Snapshot) -> InstanceLines<'s> {
        let tells_status = snapshot.types().iter().any(|known| known.initial_status.is_some());
        InstanceLines { snapshot, tells_status }
    }

    /// The line of an entity.
    pub fn entity(&self, entity: &Entity) -> Json {
        let mut json = json!({
            "id": entity.id().to_string(),
            "type": entity.type_name(),
            "properties": properties(entity.properties()),
            "validFrom": entity.valid_from().to_string(),
        });
        if entity.is_proxy() {
            json["isProxy"] = true.into();
        }
        // Also if there are none: a merge of a line without this member leaves the classifications that it finds.
        json["classifications"] = entity.classifications().map(|known| self.carried(&known)).collect();
        self.add_status(&mut json, entity.status_name());
        if let Some(provenance) = entity.provenance() {
            add_provenance(&mut json, provenance);
        }
        if self.is_foreign(entity.provenance()) {
            add_origin(&mut json, entity.home_version(), entity.created(), entity.updated());
        } else if let Some(before) = entity.reidentified_from() {
            json["reidentifiedFrom"] = before.to_string().into();
        }
        json
    }

    /// The line of a relationship. Errors: those of reading its ends.
    pub fn relationship(&self, relationship: &Relationship) -> annals::Result<Json> {
        let mut json = json!({
            "id": relationship.id().to_string(),
            "type": relationship.type_name(),
            "from": relationship.from().to_string(),
            "to": relationship.to().to_string(),
            "properties": properties(relationship.properties()),
            "validFrom": valid_from(self.snapshot, relationship)?.to_string(),
        });
        self.add_status(&mut json, relationship.status_name());
        if let Some(provenance) = relationship.provenance() {
            add_provenance(&mut json, provenance);
        }
        if self.is_foreign(relationship.provenance()) {
            let version = relationship.home_version();
            add_origin(&mut json, version, relationship.created(), relationship.updated());
        } else if let Some(before) = relationship.reidentified_from() {
            json["reidentifiedFrom"] = before.to_string().into();
        }
        Ok(json)
    }

    fn carried(&self, known: &ClassificationRef) -> Json {
        let mut json = json!({ "name": known.name(), "properties": properties(known.properties()) });
        if let Some(provenance) = known.provenance() {
            add_provenance(&mut json, provenance);
        }
        if self.is_foreign(known.provenance()) {
            add_origin(&mut json, known.version().into(), known.created(), known.updated());
        }
        json
    }

    fn add_status(&self, json: &mut Json, status: &str) {
        if self.tells_status || status != "active" {
            json["status"] = status.into();
        }
    }

    // An instance that another collection writes is imported as a copy; one that this collection replicates is created.
    fn is_foreign(&self, provenance: Option<&Provenance>) -> bool {
        provenance.is_some_and(|known| {
            let is_replicated = known.kind == ProvenanceKind::ExternalSource
                && known.replicated_by.as_deref() == self.snapshot.collection();
            known.home.is_some() && !is_replicated
        })
    }
}

fn add_origin(json: &mut Json, version: u64, created: StampRef, updated: StampRef) {
    let stamp = |stamp: StampRef| json!({ "instant": stamp.instant.to_string(), "author": stamp.author });
    json["version"] = version.into();
    json["created"] = stamp(created);
    json["updated"] = stamp(updated);
}

fn properties<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Json {
    properties.map(|(name, value)| (name.to_owned(), value_to_json(&value))).collect::<Object>().into()
}
