//! Makes versions: the first version of an instance, the next one, and versions in the past.

use std::sync::Arc;

use super::context::Context;
use crate::graph::Graph;
use crate::graph::instance::headers::{HeaderNumber, PLAIN, RowHeader};
use crate::graph::instance::past::{Past, PastVersion, View};
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Instance, NO_ENDS};
use crate::graph::structures::symbols::Symbol;
use crate::model::time::display_micros;
use crate::model::{Id, InstanceId, Status};
use crate::{Error, ErrorKind, Result};

pub(crate) fn first_version(context: Context, id: Id, type_name: Symbol, properties: Properties) -> Instance {
    Instance {
        id,
        type_name,
        status: Status::Active,
        header: PLAIN,
        version: 1,
        versions: 1,
        created: context.stamp,
        updated: context.stamp,
        valid_from: context.valid_from,
        live_from: context.valid_from,
        base: 0,
        place: context.place,
        since_anchor: 0,
        changed: context.place.position,
        ends: NO_ENDS,
        properties,
        classifications: None,
        past: None,
    }
}

/// The part of an instance that a version changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Content,
    Classifications,
}

impl Instance {
    /// The next version, with the present content; when amending, the same version.
    pub(crate) fn next_version(&self, context: Context) -> Instance {
        if context.is_amending {
            return self.clone();
        }
        Instance {
            version: self.versions + 1,
            versions: self.versions + 1,
            updated: context.stamp,
            valid_from: context.valid_from,
            base: self.version,
            place: context.place,
            since_anchor: if context.is_anchored { 0 } else { self.since_anchor + 1 },
            changed: context.place.position,
            past: Some(Past::push(self.past.clone(), self.in_force())),
            ..self.clone()
        }
    }
}

impl Graph {
    /// The next version of an instance that may belong to another collection, with the present content.
    pub(crate) fn next_version_here(&mut self, before: &Instance, context: Context) -> Instance {
        let after = before.next_version(context);
        Instance { header: self.header_here(before.in_force(), after.version), ..after }
    }

    /// The next version of an entity of which only classifications change; when amending, the same version.
    pub(crate) fn next_classified_version(&mut self, before: &Instance, context: Context) -> Instance {
        let after = self.next_version_here(before, context);
        if context.is_amending {
            return after;
        }
        Instance { header: self.header_classified(after.header), ..after }
    }

    /// The header of a version that changed only classifications.
    fn header_classified(&mut self, header: HeaderNumber) -> HeaderNumber {
        let header = RowHeader::clone(self.headers.get(header));
        self.enter_header(RowHeader { content_offset: header.content_offset.saturating_add(1), ..header })
    }

    /// The instance with one more version in its past: a correction that leaves the version in force unchanged.
    ///
    /// Errors: `Deleted` if the instance was not live at that valid time.
    pub(crate) fn corrected(
        &mut self,
        instance: &InstanceId,
        known: &Instance,
        context: Context,
        part: Part,
    ) -> Result<Instance> {
        let now = View { position: u64::MAX, valid: context.valid_from };
        let base = known.version_in(now).filter(|base| base.status != Status::Deleted).ok_or_else(|| {
            let then = display_micros(context.valid_from);
            let text = format!("{instance} did not exist at {then}; correct a time at which it did");
            Error::new(ErrorKind::Deleted, text)
        })?;
        let version = known.versions + 1;
        let header = self.header_here(base, version);
        let correction = PastVersion {
            version,
            base: base.version,
            status: base.status,
            header: if part == Part::Classifications { self.header_classified(header) } else { header },
            place: context.place,
            valid_from: context.valid_from,
        };
        Ok(Instance {
            versions: version,
            changed: context.place.position,
            past: Some(Past::push(known.past.clone(), correction)),
            ..known.clone()
        })
    }

    /// The header of a version made here from `base`. An instance of another collection keeps the version number of its
    /// home.
    pub(crate) fn header_here(&mut self, base: PastVersion, version: u32) -> HeaderNumber {
        if base.header == PLAIN || self.is_own(base.header) {
            return base.header;
        }
        let header = Arc::clone(self.headers.get(base.header));
        if header.home().is_none() {
            return base.header;
        }
        let version_offset = header.version_offset + i64::from(base.version) - i64::from(version);
        self.enter_header(RowHeader { version_offset, ..RowHeader::clone(&header) })
    }
}
