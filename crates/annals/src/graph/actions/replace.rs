//! Replaces the whole content.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use super::draft::Draft;
use super::version::Part;
use crate::Result;
use crate::graph::instance::patch::differences;
use crate::graph::instance::unpacked::Instance;
use crate::graph::put::Corrected;
use crate::graph::{Graph, kind_of};
use crate::model::{ClassificationContent, InstanceId, Provenance, Value};

/// Replaces the whole content.
#[derive(Clone, Debug, PartialEq)]
pub struct Replace {
    /// The instance.
    pub instance: InstanceId,
    /// All its properties.
    pub properties: Vec<(Arc<str>, Value)>,
    /// All its classifications, for an entity; `None` leaves them unchanged.
    pub classifications: Option<Vec<ClassificationContent>>,
    /// Its new provenance, without the home; `None` leaves it unchanged.
    pub provenance: Option<Arc<Provenance>>,
}

impl Act for Replace {
    const NAME: &'static str = "replace";
    const CODES: Codes = Codes::Both(5, 6);
    const FIELDS: &'static [Field] = &[
        Field::required(Key::Id, "id"),
        Field::required(Key::Properties, "properties"),
        Field::optional(Key::Classifications, "classifications"),
        Field::optional(Key::Provenance, "provenance"),
    ];
    const TOUCHES: Touches = Touches::Instance;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef {
            properties: Some(&self.properties),
            classifications: self.classifications.as_deref(),
            provenance: self.provenance.as_deref(),
            ..BagRef::of(&self.instance)
        }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Replace {
            instance: bag.instance()?,
            properties: bag.properties?,
            classifications: bag.classifications,
            provenance: bag.provenance.map(Arc::new),
        })
    }

    fn given_classifications(&self) -> &[ClassificationContent] {
        self.classifications.as_deref().unwrap_or_default()
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let known = graph.own(&self.instance)?;
        if !graph.are_equal(&known.properties, &self.properties)
            || !graph.leaves_provenance(&self.instance, self.provenance.as_deref())?
        {
            return Ok(false);
        }
        self.classifications.as_ref().map_or(Ok(true), |contents| graph.carries_just(&known, contents))
    }

    fn content(&self, draft: &mut dyn Draft) -> Result<()> {
        draft.replace(&self.properties, self.classifications.as_deref())
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Replace { instance, properties, provenance, .. } = self;
        let classifications = self.classifications.as_deref();
        let kind = kind_of(instance);
        let (slot, before) = graph.live(instance)?;
        graph.check_own(instance, before.header)?;
        let properties = graph.properties(properties)?;
        let header = graph.header_with(context, instance, &before, provenance.as_deref())?;
        if context.valid_from < before.valid_from {
            let after = graph.corrected(instance, &before, context, Part::Content)?;
            let classified = match classifications {
                Some(contents) => graph.new_classifications(context, &before, contents)?,
                None => Vec::new(),
            };
            let classified = classified.into_iter().map(|known| known.name).collect();
            let values = properties.iter().map(|(name, value)| (name, value.clone())).collect();
            let written = context.stamp.micros;
            graph.correct(kind, slot, &after, Corrected { written, values, classified });
            return Ok(());
        }
        let mut after = Instance { header, ..before.next_version(context) };
        let changes = differences(&before.properties, &properties);
        after.properties = properties;
        graph.check_growth(instance, &before.properties, &after.properties)?;
        graph.check_changes(kind, slot, &after, &changes)?;
        if let Some(classifications) = classifications {
            after.set_classifications(graph.new_classifications(context, &before, classifications)?);
        }
        graph.put(kind, slot, &before, after, changes)?;
        Ok(())
    }
}
