//! Changes of the header of an instance: status, provenance, home, id, type, ends.
//!
//! Each makes a version. None changes the past: headers at earlier times stay.

use crate::graph::integrity::status::ACTIVE;
use std::sync::Arc;

use super::context::Context;
use super::lifecycle::check_not_before;
use crate::graph::Graph;
use crate::graph::instance::headers::{HeaderNumber, Identity, PLAIN, RowHeader, Shape};
use crate::graph::instance::unpacked::Instance;
use crate::graph::integrity::status::check_status_name;
use crate::graph::structures::symbols::Symbol;
use crate::model::{InstanceId, Provenance, ProvenanceKind, TypeKind};
use crate::{Error, ErrorKind, Result};

impl Graph {
    /// The header of a new instance.
    pub(crate) fn new_header(
        &mut self,
        kind: TypeKind,
        type_name: Symbol,
        status: Option<&Arc<str>>,
        provenance: Option<&Arc<Provenance>>,
    ) -> Result<HeaderNumber> {
        if status.is_none() && provenance.is_none() && self.types.is_empty() {
            return Ok(PLAIN);
        }
        let status = self.new_status(kind, type_name, status)?;
        provenance.map_or(Ok(()), |given| given.check_of_instance())?;
        let provenance = provenance.map(|given| self.own_provenance(given)).transpose()?.flatten();
        let header = RowHeader { status, provenance, ..RowHeader::default() };
        Ok(self.enter_header(header))
    }

    /// Interns a header, with the name of its home.
    pub(crate) fn enter_header(&mut self, header: RowHeader) -> HeaderNumber {
        if let Some(home) = header.home() {
            self.names.intern(home);
        }
        self.headers.intern(header)
    }

    /// The status of an instance of this type after `status` is set; `None` for active.
    pub(crate) fn new_status(
        &self,
        kind: TypeKind,
        type_name: Symbol,
        status: Option<&Arc<str>>,
    ) -> Result<Option<Arc<str>>> {
        let declared = self.types.get(kind, type_name);
        let Some(status) = status.or_else(|| declared?.initial_status.as_ref()) else { return Ok(None) };
        check_status_name(status)?;
        if let Some(declared) = declared.filter(|known| !known.statuses.is_empty())
            && !declared.definition.is_advisory
            && !declared.statuses.contains(status)
        {
            let known = declared.statuses.join(", ");
            let text =
                format!("type {}: expected a status of {known}, found {status}", self.names.name(type_name));
            return Err(Error::new(ErrorKind::StatusNotAllowed, text));
        }
        Ok((**status != *ACTIVE).then(|| Arc::clone(status)))
    }

    /// The stored part of the provenance of a new instance; `None` if it is empty.
    pub(crate) fn own_provenance(&self, given: &Arc<Provenance>) -> Result<Option<Arc<Provenance>>> {
        given.check()?;
        let is_own = given.home.is_none() || given.home == self.collection;
        let mut provenance = Arc::clone(given);
        if given.kind == ProvenanceKind::ExternalSource {
            if given.replicated_by.is_none() {
                Arc::make_mut(&mut provenance).replicated_by.clone_from(&self.collection);
            }
            if provenance.replicated_by.is_none() || provenance.replicated_by != self.collection {
                let text =
                    "external source: expected this repository as its replicator; name the collection first";
                return Err(Error::new(ErrorKind::NotHome, text));
            }
        } else if !is_own {
            let text = format!(
                "home {}: a new instance belongs to this repository; save a copy of an instance of another home",
                given.home.as_deref().unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::NotHome, text));
        }
        if is_own && provenance.home.is_some() {
            Arc::make_mut(&mut provenance).home = None;
        }
        Ok((*provenance != Provenance::default()).then_some(provenance))
    }

    /// True if this repository may write an instance with this header.
    pub(crate) fn is_own(&self, header: HeaderNumber) -> bool {
        self.check_own("", header).is_ok()
    }

    /// Refuses to write an instance that only its home may write.
    pub(crate) fn check_own(&self, what: impl std::fmt::Display, header: HeaderNumber) -> Result<()> {
        if header == PLAIN {
            return Ok(());
        }
        let Some(provenance) = &self.headers.get(header).provenance else { return Ok(()) };
        let is_own = match provenance.kind {
            ProvenanceKind::Local | ProvenanceKind::Unknown => provenance.home.is_none(),
            ProvenanceKind::ExternalSource => {
                provenance.replicated_by.is_some() && provenance.replicated_by == self.collection
            }
            _ => false,
        };
        if is_own {
            return Ok(());
        }
        let text = match &provenance.home {
            Some(home) => format!("{what} belongs to {home}; write it there, or re-home it"),
            None => format!("{what} comes from a {} and is not changed here", provenance.kind.name()),
        };
        Err(Error::new(ErrorKind::NotHome, text))
    }

    /// The slot and the live instance, if this repository may write it and the change does not correct the past.
    pub(super) fn own_live(&self, context: Context, instance: &InstanceId) -> Result<(u32, Arc<Instance>)> {
        let (slot, found) = self.live(instance)?;
        self.check_own(instance, found.header)?;
        check_not_before(context, &found)?;
        Ok((slot, found))
    }

    /// Refuses a home that differs from the home of the instance.
    pub(crate) fn check_home(
        &self,
        what: impl std::fmt::Display,
        found: Option<&Arc<str>>,
        expected: &Arc<str>,
    ) -> Result<()> {
        let text = match found {
            Some(found) if found == expected => return Ok(()),
            Some(found) => format!("{what}: expected it to belong to {expected}, found {found}"),
            None => format!("{what}: expected it to belong to {expected}, found it to be of this repository"),
        };
        Err(Error::new(ErrorKind::HomeConflict, text))
    }

    /// The header of `after`, which has another shape than `before`.
    pub(crate) fn reshaped(
        &mut self,
        before: &Instance,
        after: &Instance,
        header: RowHeader,
    ) -> HeaderNumber {
        let shape = |of: &Instance| Shape { id: of.id.clone(), type_name: of.type_name, ends: of.ends };
        let known = header.identity.as_ref();
        let original = known.map_or_else(|| shape(before), |identity| identity.original.clone());
        let identity = Some(Arc::new(Identity { own: shape(after), original }));
        self.enter_header(RowHeader { identity, ..header })
    }

    /// Moves the links of a relationship to its new ends; reads of the past still find the old ones.
    pub(crate) fn move_link(&mut self, slot: u32, before: &Instance, after: &Instance) -> Result<()> {
        self.leave_links(slot, before);
        self.check_ends(after.type_name, after.ends)?;
        self.check_contained(after, Some(slot))?;
        self.enter_links(slot, after);
        Ok(())
    }
}

pub(crate) fn proxy_only(instance: &InstanceId) -> Error {
    Error::new(
        ErrorKind::ProxyOnly,
        format!("{instance}: only a proxy of it is here; save a copy of the whole first"),
    )
}
