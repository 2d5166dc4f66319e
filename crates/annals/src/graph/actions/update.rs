//! Changes some properties.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::content::check_steps;
use super::context::Context;
use super::draft::Draft;
use super::version::Part;
use crate::Result;
use crate::graph::instance::patch::apply_patch;
use crate::graph::instance::unpacked::Instance;
use crate::graph::put::Corrected;
use crate::graph::{Graph, kind_of};
use crate::model::{InstanceId, Patch, PatchStep, Provenance, Value};

/// Changes some properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The instance.
    pub instance: InstanceId,
    /// The change.
    pub patch: Patch,
    /// Its new provenance, without the home; `None` leaves it unchanged.
    pub provenance: Option<Arc<Provenance>>,
}

impl Act for Update {
    const NAME: &'static str = "update";
    const CODES: Codes = Codes::Both(3, 4);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Patch, "patch"),
        Field::optional(Key::Provenance, "provenance"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            patch: Some(&self.patch),
            provenance: self.provenance.as_deref(),
            ..BagRef::of(&self.instance)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Update {
            instance: bag.instance()?,
            patch: bag.patch?,
            provenance: bag.provenance.map(Arc::new),
        })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        Ok(graph.leaves_instance(&self.instance, &self.patch)?
            && graph.leaves_provenance(&self.instance, self.provenance.as_deref())?)
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.patch(&self.patch)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Update { instance, patch, provenance } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.live(instance)?;
        graph.check_own(instance, before.header)?;
        check_steps(patch)?;
        let header = graph.header_with(context, instance, &before, provenance.as_deref())?;
        if context.valid_from < before.valid_from {
            return graph.correct_values(context, instance, slot, &before, patch);
        }
        let mut after = Instance { header, ..before.next_version(context) };
        let changes = apply_patch(&mut after.properties, patch, |name| graph.symbol("property", name))?;
        graph.check_growth(instance, &before.properties, &after.properties)?;
        graph.check_changes(kind, slot, &after, &changes)?;
        graph.put(kind, slot, &before, after, changes)?;
        Ok(())
    }
}

impl Graph {
    /// Writes a version into the past: the present stays, but as-of searches must find the values of the correction.
    fn correct_values(
        &mut self,
        context: Context,
        instance: &InstanceId,
        slot: u32,
        before: &Instance,
        patch: &Patch,
    ) -> Result<()> {
        let kind = kind_of(instance);
        let after = self.corrected(instance, before, context, Part::Content)?;
        let mut values = Vec::new();
        for step in &patch.steps {
            let (name, value) = match step {
                PatchStep::Set(name, value) | PatchStep::Add(name, value) => (name, Some(value)),
                PatchStep::Unset(name) | PatchStep::Remove(name, _) => (name, None),
                PatchStep::Clear => continue,
            };
            let name = self.symbol("property", name)?;
            let Some(value) = value else { continue };
            values.push(match step {
                PatchStep::Add(..) => (name, Value::set([value.clone()])?),
                _ => (name, value.clone()),
            });
        }
        let written = context.stamp.micros;
        self.correct(kind, slot, &after, Corrected { written, values, classified: Vec::new() });
        Ok(())
    }
}
