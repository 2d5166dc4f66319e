//! Replaces the provenance of an instance, except its home.

use std::sync::Arc;

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::lifecycle::check_not_before;
use crate::graph::instance::headers::{HeaderNumber, RowHeader};
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Provenance};
use crate::{Error, ErrorKind, Result};

/// Replaces the provenance of an instance, except its home.
#[derive(Clone, Debug, PartialEq)]
pub struct SetProvenance {
    /// The instance.
    pub instance: InstanceId,
    /// Its new provenance.
    pub provenance: Box<Provenance>,
}

impl Act for SetProvenance {
    const NAME: &'static str = "set-provenance";
    const CODES: Codes = Codes::Both(19, 20);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::required(Key::Provenance, "provenance")];
    const TOUCHES: Touches = Touches::Instance;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { provenance: Some(&self.provenance), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(SetProvenance { instance: bag.instance()?, provenance: Box::new(bag.provenance?) })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        graph.leaves_provenance(&self.instance, Some(&self.provenance))
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let is_same =
            (&step.before.provenance, step.before.is_proxy) == (&step.now.provenance, step.now.is_proxy);
        let provenance = || step.before.provenance.as_deref().cloned().unwrap_or_default();
        (!is_same)
            .then(|| SetProvenance { instance: step.instance.clone(), provenance: Box::new(provenance()) })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let SetProvenance { instance, provenance: given } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.own_live(context, instance)?;
        let known = RowHeader::clone(graph.headers.get(before.header));
        if graph.is_given_back(&known, given) {
            return graph.give_back(context, instance, slot, &before, given);
        }
        let provenance = graph.provenance_after(&known, given)?;
        let header = graph.enter_header(RowHeader { provenance, ..known });
        let after = Instance { header, ..before.next_version(context) };
        graph.put(kind, slot, &before, after, Vec::new())?;
        Ok(())
    }
}

impl Graph {
    /// True if `given` names a home that differs from the home in this header.
    pub(super) fn is_given_back(&self, known: &RowHeader, given: &Provenance) -> bool {
        given.home.is_some() && given.home.as_ref() != known.home() && given.home != self.collection
    }

    /// The provenance of an instance with this header after `given` is set.
    pub(super) fn provenance_after(
        &self,
        known: &RowHeader,
        given: &Provenance,
    ) -> Result<Option<Arc<Provenance>>> {
        let given = Arc::new(Provenance { home: known.home().cloned(), ..given.clone() });
        given.check_of_instance()?;
        if known.home().is_some() { Ok(Some(given)) } else { self.own_provenance(&given) }
    }

    /// The header of the next version of `before`, whose change states `given` beside its content.
    ///
    /// Errors: `InvalidArgument` for another home, and for a correction of the past, which changes only content.
    pub(super) fn header_with(
        &mut self,
        context: Context,
        instance: &InstanceId,
        before: &Instance,
        given: Option<&Provenance>,
    ) -> Result<HeaderNumber> {
        let Some(given) = given else { return Ok(before.header) };
        let known = RowHeader::clone(self.headers.get(before.header));
        if self.is_given_back(&known, given) {
            let home = given.home.as_deref().unwrap_or_default();
            let text =
                format!("{instance}: expected the home that it has, or none, found {home}; re-home it");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let provenance = self.provenance_after(&known, given)?;
        if provenance == known.provenance {
            return Ok(before.header);
        }
        check_not_before(context, before)?;
        Ok(self.enter_header(RowHeader { provenance, ..known }))
    }

    /// True if the instance has this provenance already, or none is given.
    pub(super) fn leaves_provenance(
        &self,
        instance: &InstanceId,
        given: Option<&Provenance>,
    ) -> Result<bool> {
        let Some(given) = given else { return Ok(true) };
        let header = self.headers.get(self.own(instance)?.header);
        Ok(!self.is_given_back(header, given) && self.provenance_after(header, given)? == header.provenance)
    }

    /// Undoes the re-homing of an instance: it gets its former home back.
    fn give_back(
        &mut self,
        context: Context,
        instance: &InstanceId,
        slot: u32,
        before: &Arc<Instance>,
        given: &Provenance,
    ) -> Result<()> {
        let kind = kind_of(instance);
        let base = before.version_numbered(before.base);
        let theirs = base.filter(|base| self.headers.get(base.header).provenance.as_deref() == Some(given));
        let Some(theirs) = theirs else {
            let text = format!(
                "{instance}: expected no home, or what its provenance was before it was re-homed, found the home {}; \
                 another home is only given by re-homing",
                given.home.as_deref().unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        };
        let next = before.next_version(context);
        let after = Instance { header: self.header_here(theirs, next.version), ..next };
        self.put(kind, slot, before, after, Vec::new())?;
        Ok(())
    }
}
