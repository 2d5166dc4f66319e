//! Moves an instance of the named home to this repository.

use std::sync::Arc;

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::headers::proxy_only;
use super::lifecycle::check_not_before;
use crate::Result;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Provenance, ProvenanceKind};

/// Moves an instance of the named home to this repository.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehome {
    /// The instance.
    pub instance: InstanceId,
    /// Its home before.
    pub home: Arc<str>,
}

impl Act for Rehome {
    const NAME: &'static str = "rehome";
    const CODES: Codes = Codes::Both(21, 22);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id"), Field::required(Key::Text, "home")];
    const TOUCHES: Touches = Touches::Shape;
    const IS_ANCHORED: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { text: Some(&self.home), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Rehome { instance: bag.instance()?, home: bag.text? })
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let home = step.now.home().filter(|_| step.before.home().is_none())?;
        Some(Rehome { instance: step.instance.clone(), home: Arc::clone(home) })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Rehome { instance, home } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.live(instance)?;
        check_not_before(context, &before)?;
        let known = RowHeader::clone(graph.headers.get(before.header));
        graph.check_home(instance, known.home(), home)?;
        if known.is_proxy {
            return Err(proxy_only(instance));
        }
        let provenance = known.provenance.as_ref().map(|provenance| Provenance {
            home: None,
            kind: ProvenanceKind::Local,
            replicated_by: None,
            ..Provenance::clone(provenance)
        });
        let provenance = provenance.filter(|rest| *rest != Provenance::default()).map(Arc::new);
        let next = before.next_version(context);
        // The version numbers of its home continue here, whatever versions of it were made here before.
        let version_offset = known.version_offset + i64::from(before.version) + 1 - i64::from(next.version);
        let header = graph.enter_header(RowHeader { provenance, version_offset, ..known });
        let after = Instance { header, ..next };
        // From now on the rules for own instances hold for it.
        graph.check_instance(kind, &after, Some(slot))?;
        graph.put(kind, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
