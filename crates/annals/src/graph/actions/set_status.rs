//! Changes the status of an instance.

use std::sync::Arc;

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::Result;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Status};

/// Changes the status of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct SetStatus {
    /// The instance.
    pub instance: InstanceId,
    /// The new status.
    pub status: Arc<str>,
}

impl Act for SetStatus {
    const NAME: &'static str = "set-status";
    const CODES: Codes = Codes::Both(17, 18);
    const FIELDS: &'static [Field] =
        &[Field::required(Key::Id, "id"), Field::required(Key::Status, "status")];
    const TOUCHES: Touches = Touches::Instance;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { status: Some(&self.status), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(SetStatus { instance: bag.instance()?, status: bag.status? })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let known = graph.own(&self.instance)?;
        let status = graph.new_status(kind_of(&self.instance), known.type_name, Some(&self.status))?;
        Ok(status == graph.headers.get(known.header).status)
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let status = || step.before.status.clone().unwrap_or_else(|| Status::Active.name().into());
        (step.before.status != step.now.status)
            .then(|| SetStatus { instance: step.instance.clone(), status: status() })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let SetStatus { instance, status } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.own_live(context, instance)?;
        let status = graph.new_status(kind, before.type_name, Some(status))?;
        let header = RowHeader { status, ..RowHeader::clone(graph.headers.get(before.header)) };
        let after = Instance { header: graph.enter_header(header), ..before.next_version(context) };
        graph.put(kind, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
