//! Changes some properties of a classification.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::content::{check_steps, not_classified, successor};
use super::context::Context;
use super::draft::Draft;
use super::lifecycle::check_not_before;
use super::version::Part;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::patch::{ValueChange, apply_patch};
use crate::graph::instance::unpacked::Classification;
use crate::graph::put::Corrected;
use crate::model::{Id, InstanceId, Patch, PatchStep, Provenance, TypeKind};

/// Changes some properties of a classification.
#[derive(Clone, Debug, PartialEq)]
pub struct Reclassify {
    /// The entity.
    pub entity: Id,
    /// The name of the classification.
    pub name: Arc<str>,
    /// The change.
    pub patch: Patch,
    /// The new provenance of the classification; `None` leaves it unchanged.
    pub provenance: Option<Arc<Provenance>>,
}

impl Act for Reclassify {
    const NAME: &'static str = "reclassify";
    const CODES: Codes = Codes::Entity(14);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Name, "classification"),
        Field::required(Key::Patch, "patch"),
        Field::optional(Key::Provenance, "provenance"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            name: Some(&self.name),
            patch: Some(&self.patch),
            provenance: self.provenance.as_deref(),
            ..BagRef::of_entity(&self.entity)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Reclassify {
            entity: bag.id?,
            name: bag.name?,
            patch: bag.patch?,
            provenance: bag.provenance.map(Arc::new),
        })
    }

    fn classification(&self) -> Option<&Arc<str>> {
        Some(&self.name)
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let (_, known) = graph.live(&InstanceId::Entity(self.entity.clone()))?;
        let Some(known) = graph.names.find(&self.name).and_then(|name| known.classification(name)) else {
            return Ok(false);
        };
        if !graph.is_own(known.header) || !graph.leaves(&known.properties, &self.patch)? {
            return Ok(false);
        }
        let given = self.provenance.as_ref().map(|given| graph.own_provenance(given)).transpose()?;
        Ok(given.is_none_or(|given| given == graph.headers.get(known.header).provenance))
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.reclassify(&self.name, &self.patch, self.provenance.as_ref())
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Reclassify { entity, name, patch, provenance } = self;
        let instance = InstanceId::Entity(entity.clone());
        let (slot, before) = graph.live(&instance)?;
        check_steps(patch)?;
        let symbol = graph.symbol("classification", name)?;
        let header = match provenance {
            Some(given) => {
                check_not_before(context, &before)?;
                let stored = graph.own_provenance(given)?;
                Some(graph.provenance_header(stored))
            }
            None => None,
        };
        if context.valid_from < before.valid_from {
            let after = graph.corrected(&instance, &before, context, Part::Classifications)?;
            // Reading history needs every name of the record.
            for name in patch.steps.iter().filter_map(PatchStep::name) {
                graph.symbol("property", name)?;
            }
            let (written, classified) = (context.stamp.micros, vec![symbol]);
            graph.correct(
                TypeKind::Entity,
                slot,
                &after,
                Corrected { written, values: Vec::new(), classified },
            );
            return Ok(());
        }
        let known = before.classification(symbol).ok_or_else(|| not_classified(&instance, name))?;
        graph.check_own(format_args!("classification {name} of {instance}"), known.header)?;
        let mut properties = known.properties.clone();
        let changes = apply_patch(&mut properties, patch, |name| graph.symbol("property", name))?;
        graph.check_growth(
            format_args!("classification {name} of {instance}"),
            &known.properties,
            &properties,
        )?;
        let touched = changes.iter().map(ValueChange::name);
        graph.check_properties(TypeKind::Classification, symbol, &properties, touched)?;
        let header = header.unwrap_or(known.header);
        let changed = Classification { header, ..successor(Some(known), symbol, context, properties) };
        let mut after = graph.next_classified_version(&before, context);
        let others = before.classifications().iter().filter(|other| other.name != symbol).cloned();
        after.set_classifications(others.chain([changed]).collect());
        graph.put(TypeKind::Entity, slot, &before, after, Vec::new())?;
        Ok(())
    }
}
