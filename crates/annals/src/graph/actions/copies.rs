//! Copies of instances of other collections: stored with their state there, and changed only by their home.

use std::sync::Arc;

use super::context::Context;
use super::lifecycle::check_not_before;
use super::version::first_version;
use crate::graph::instance::headers::{HeaderNumber, RowHeader};
use crate::graph::instance::past::{Past, PastVersion};
use crate::graph::instance::unpacked::{Classification, Instance, RowStamp};
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, kind_of};
use crate::model::{ClassificationCopy, CopyHeader, Id, InstanceId, Provenance, Status, TypeKind};
use crate::{Error, ErrorKind, Result};

impl Graph {
    /// The stored instance that a copy of this provenance may replace; `None` if there is none.
    pub(super) fn known_copy(
        &self,
        context: Context,
        instance: &InstanceId,
        provenance: &Provenance,
    ) -> Result<Option<(u32, Arc<Instance>)>> {
        let home = self.foreign_home(instance, provenance)?;
        let table = self.table(kind_of(instance));
        if table.former_ids.slot(instance.id()).is_some() {
            return self.known(instance).map(Some);
        }
        let Some((slot, found)) = table.find(instance.id())? else { return Ok(None) };
        let header = self.headers.get(found.header);
        // A proxy has only the fields that relationships or their copies gave.
        if !header.is_proxy {
            self.check_home(instance, header.home(), &home)?;
        }
        check_not_before(context, &found)?;
        Ok(Some((slot, found)))
    }

    /// The home of a copy, which must be another collection.
    pub(super) fn foreign_home(
        &self,
        what: impl std::fmt::Display,
        provenance: &Provenance,
    ) -> Result<Arc<str>> {
        provenance.check_of_instance()?;
        match &provenance.home {
            None => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("copy of {what}: expected the home that it belongs to, found none"),
            )),
            Some(home) if Some(home) == self.collection.as_ref() => Err(Error::new(
                ErrorKind::HomeConflict,
                format!("copy of {what}: {home} is this repository; write it instead"),
            )),
            Some(home) => Ok(Arc::clone(home)),
        }
    }

    /// The next version of a copy, without its content.
    pub(super) fn copied(
        &mut self,
        context: Context,
        known: Option<&(u32, Arc<Instance>)>,
        id: &Id,
        type_name: Symbol,
        ends: [u32; 2],
        given: &CopyHeader,
    ) -> Result<Instance> {
        let kind = if ends == [u32::MAX; 2] { TypeKind::Entity } else { TypeKind::Relationship };
        check_version(id, given.version)?;
        let (created, updated) = (self.stamp_from(&given.created), self.stamp_from(&given.updated));
        let mut header = RowHeader {
            status: self.new_status(
                kind,
                type_name,
                given.status.as_ref().or(Some(&crate::graph::integrity::status::ACTIVE.into())),
            )?,
            provenance: Some(Arc::new(given.provenance.clone())),
            ..RowHeader::default()
        };
        let Some((_, before)) = known else {
            let first = first_version(
                context,
                id.clone(),
                type_name,
                crate::graph::instance::properties::Properties::new(),
            );
            header.version_offset = i64::from(given.version) - 1;
            let header = self.enter_header(header);
            return Ok(Instance { created, updated, ends, header, ..first });
        };
        let known = RowHeader::clone(self.headers.get(before.header));
        let before = if before.created == created {
            Arc::clone(before)
        } else {
            Arc::new(self.with_creation_told(before))
        };
        let live_from = if before.is_live() { before.live_from } else { context.valid_from };
        let mut after = Instance {
            type_name,
            ends,
            created,
            updated,
            live_from,
            status: Status::Active,
            since_anchor: 0,
            ..before.next_version(context)
        };
        header.version_offset = i64::from(given.version) - i64::from(after.version);
        header.reidentified_from.clone_from(&known.reidentified_from);
        header.identity.clone_from(&known.identity);
        let is_reshaped = (before.type_name, before.ends) != (type_name, ends);
        after.header = if is_reshaped || header.identity.is_some() {
            self.reshaped(&before, &after, header)
        } else {
            self.enter_header(header)
        };
        Ok(after)
    }

    /// The same instance, with the known creation stored in the headers of its versions.
    fn with_creation_told(&mut self, instance: &Instance) -> Instance {
        let said = Some((instance.created.micros, instance.created.author));
        let mut told = |number: HeaderNumber| {
            let header = Arc::clone(self.headers.get(number));
            let created = header.created.or(said);
            self.enter_header(RowHeader { created, ..RowHeader::clone(&header) })
        };
        let mut versions: Vec<PastVersion> =
            instance.past.iter().flat_map(|past| past.iter().copied()).collect();
        versions.reverse();
        let past = versions.into_iter().fold(None, |past, version| {
            Some(Past::push(past, PastVersion { header: told(version.header), ..version }))
        });
        Instance { header: told(instance.header), past, ..instance.clone() }
    }

    pub(super) fn stamp_from(&mut self, given: &crate::model::Stamp) -> RowStamp {
        RowStamp { micros: given.instant.micros(), author: self.authors.intern(&given.author) }
    }

    /// The copied classifications of an entity, each name once.
    pub(super) fn copied_classifications(
        &mut self,
        entity: &Id,
        copies: &[ClassificationCopy],
    ) -> Result<Vec<Classification>> {
        let mut classifications: Vec<Classification> = Vec::with_capacity(copies.len());
        for copy in copies {
            let copied = self.copied_classification(copy)?;
            if classifications.iter().any(|other| other.name == copied.name) {
                let text =
                    format!("entity {entity}: classification {} is given twice; give it once", copy.name);
                return Err(Error::new(ErrorKind::AlreadyExists, text));
            }
            classifications.push(copied);
        }
        Ok(classifications)
    }

    pub(super) fn copied_classification(&mut self, copy: &ClassificationCopy) -> Result<Classification> {
        let name = self.symbol("classification", &copy.name)?;
        check_version(&copy.name, copy.version)?;
        copy.provenance.check()?;
        let mut provenance = copy.provenance.clone();
        if provenance.home == self.collection {
            provenance.home = None;
        }
        let properties = self.properties(&copy.properties)?;
        let touched = properties.iter().map(|(name, _)| name);
        self.check_properties(TypeKind::Classification, name, &properties, touched)?;
        Ok(Classification {
            name,
            version: copy.version,
            header: self
                .provenance_header((provenance != Provenance::default()).then(|| Arc::new(provenance))),
            created: self.stamp_from(&copy.created),
            updated: self.stamp_from(&copy.updated),
            properties,
        })
    }

    /// The header of a classification.
    pub(crate) fn provenance_header(&mut self, provenance: Option<Arc<Provenance>>) -> HeaderNumber {
        self.enter_header(RowHeader { provenance, ..RowHeader::default() })
    }
}

pub(super) fn check_version(what: impl std::fmt::Display, version: u32) -> Result<()> {
    if (1..1 << 31).contains(&version) {
        return Ok(());
    }
    let text = format!("copy of {what}: expected a version from 1 to 2,147,483,647, found {version}");
    Err(Error::new(ErrorKind::InvalidArgument, text))
}
