//! One entity or relationship, decoded: the version in force, and a pointer to the past.

use std::sync::Arc;

use super::headers::HeaderNumber;
use super::past::{ChangePlace, Past, PastVersion, View};
use super::properties::Properties;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Status};

/// The ends of an entity: none.
pub(crate) const NO_ENDS: [u32; 2] = [u32::MAX; 2];

/// An instant and an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowStamp {
    /// Units: microseconds since 1970.
    pub(crate) micros: i64,
    pub(crate) author: Symbol,
}

/// An instance in one version, decoded to be changed. The graph stores its row.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) properties: Properties,
    pub(crate) type_name: Symbol,
    /// Number of the version in force.
    pub(crate) version: u32,
    /// Number of the latest version; higher than `version` after a correction of the past.
    pub(crate) versions: u32,
    pub(crate) status: Status,
    pub(crate) header: HeaderNumber,
    pub(crate) id: Id,
    /// Slots of the entities at both ends of a relationship.
    pub(crate) ends: [u32; 2],
    /// The valid time of the version in force. Units: microseconds since 1970.
    pub(crate) valid_from: i64,
    pub(crate) place: ChangePlace,
    /// The versions that are not in force.
    pub(crate) past: Option<Arc<Past>>,
    /// Ordered by name.
    pub(crate) classifications: Option<Arc<[Classification]>>,
    pub(crate) created: RowStamp,
    pub(crate) updated: RowStamp,
    /// Since when the instance has existed without a break.
    pub(crate) live_from: i64,
    /// Position of the record that wrote the latest version; conflicts depend on it.
    pub(crate) changed: u64,
    /// The version on which the version in force is based; 0 for the first.
    pub(crate) base: u32,
    /// Number of versions written since the log last had the whole content.
    pub(crate) since_anchor: u32,
}

/// A classification attached to an entity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Classification {
    pub(crate) name: Symbol,
    pub(crate) version: u32,
    /// Only its provenance counts.
    pub(crate) header: HeaderNumber,
    pub(crate) created: RowStamp,
    pub(crate) updated: RowStamp,
    pub(crate) properties: Properties,
}

impl Instance {
    pub(crate) fn is_live(&self) -> bool {
        self.status != Status::Deleted
    }

    /// The version in force, described as a past one.
    pub(crate) fn in_force(&self) -> PastVersion {
        PastVersion {
            version: self.version,
            base: self.base,
            status: self.status,
            header: self.header,
            place: self.place,
            valid_from: self.valid_from,
        }
    }

    /// The version that `view` sees; `None` if there is none.
    pub(crate) fn version_in(&self, view: View) -> Option<PastVersion> {
        // Invariant: no version has a later valid time than the one in force.
        if view.covers(self.place, self.valid_from) {
            return Some(self.in_force());
        }
        self.past.as_ref()?.find(view).copied()
    }

    /// The version with this number.
    pub(crate) fn version_numbered(&self, number: u32) -> Option<PastVersion> {
        if number == self.version {
            return Some(self.in_force());
        }
        self.past.as_ref()?.version(number).copied()
    }

    /// The version that was written at this place.
    pub(crate) fn written_at(&self, place: ChangePlace) -> Option<PastVersion> {
        if place == self.place {
            return Some(self.in_force());
        }
        self.past.as_ref()?.written_at(place).copied()
    }

    /// All versions, in the order they were written.
    pub(crate) fn all_versions(&self) -> Vec<PastVersion> {
        let mut versions: Vec<PastVersion> = vec![self.in_force()];
        versions.extend(self.past.iter().flat_map(|past| past.iter().copied()));
        versions.sort_by_key(|version| version.version);
        versions
    }

    pub(crate) fn classifications(&self) -> &[Classification] {
        self.classifications.as_deref().unwrap_or_default()
    }

    pub(crate) fn classification(&self, name: Symbol) -> Option<&Classification> {
        self.classifications().iter().find(|classification| classification.name == name)
    }

    pub(crate) fn set_classifications(&mut self, mut classifications: Vec<Classification>) {
        classifications.sort_by_key(|classification| classification.name);
        self.classifications = if classifications.is_empty() { None } else { Some(classifications.into()) };
    }

    /// The first part in which another instance differs; `None` if both are equal, except for the shape of the chain of past
    /// versions.
    pub(crate) fn different_part(&self, other: &Instance) -> Option<&'static str> {
        fn past(instance: &Instance) -> impl Iterator<Item = &PastVersion> {
            instance.past.iter().flat_map(|past| past.iter())
        }
        let parts = [
            ("id", self.id == other.id),
            ("type", self.type_name == other.type_name),
            ("status", self.status == other.status),
            (
                "version",
                (self.version, self.versions, self.base) == (other.version, other.versions, other.base),
            ),
            ("creation", self.created == other.created),
            ("last update", self.updated == other.updated),
            ("validity", (self.valid_from, self.live_from) == (other.valid_from, other.live_from)),
            ("place in the log", self.place == other.place),
            (
                "distance to an anchor",
                (self.since_anchor, self.changed) == (other.since_anchor, other.changed),
            ),
            ("ends", self.ends == other.ends),
            ("header", self.header == other.header),
            ("properties", self.properties == other.properties),
            ("classifications", self.classifications() == other.classifications()),
            ("past", past(self).eq(past(other))),
        ];
        parts.into_iter().find(|(_, is_same)| !is_same).map(|(part, _)| part)
    }

    /// True if both are equal, except for the shape of the chain of past versions.
    pub(crate) fn is_same(&self, other: &Instance) -> bool {
        self.different_part(other).is_none()
    }
}
