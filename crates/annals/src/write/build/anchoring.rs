//! Decides when a change also carries the whole content, so that reading history never goes far back.

use crate::graph::actions as action;
use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::actions::draft::Draft;
use crate::graph::instance::headers::PLAIN;
use crate::graph::instance::patch::apply_patch;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::{Classification, Instance};
use crate::graph::kind_of;
use crate::graph::structures::symbols::Symbol;
use crate::model::{
    Action, Anchor, AnchoredClassification, Change, ClassificationContent, ClassificationCopy, InstanceId,
    Patch, Provenance, Stamp, Value, ValueRef,
};
use crate::read::Snapshot;
use crate::structures::number::narrow;
use crate::{Error, ErrorKind, Result};

/// Average log bytes that anchors may add to a change. Units: bytes.
const ANCHOR_BYTES_PER_CHANGE: usize = 64;

/// The size of a larger set is estimated from its number of members.
const SET_MEMBERS_WEIGHED: usize = 64;

/// Adds the whole content to the last change of each instance for which it is due.
pub(super) fn attach(base: &Snapshot, changes: &mut [Change], stamp: impl FnOnce() -> Stamp) {
    // An instance gets an anchor only if all its changes can have one.
    if !changes.iter().any(|change| change.action.is_anchored()) {
        return;
    }
    let mut changes_of: HashMap<InstanceId, Vec<usize>> = HashMap::new();
    for (index, change) in changes.iter().enumerate().filter(|(_, change)| !change.action.is_create()) {
        if let Some(instance) = change.action.instance() {
            changes_of.entry(instance).or_default().push(index);
        }
    }
    if changes_of.is_empty() {
        return;
    }
    // An instance created here is another one than an instance of the base with the same id, which was purged before.
    for change in changes.iter().filter(|change| change.action.is_create()) {
        if let Some(instance) = change.action.instance() {
            changes_of.remove(&instance);
        }
    }
    let stamp = stamp();
    for (instance, indexes) in changes_of {
        let table = base.graph().table(kind_of(&instance));
        let Some(slot) = table.slot(instance.id()) else { continue };
        let Some(row) = table.row(slot).filter(|row| row.is_live()) else { continue };
        let bytes_max = (row.since_anchor() as usize + indexes.len()) * ANCHOR_BYTES_PER_CHANGE;
        if !fits(row, bytes_max) {
            continue;
        }
        // If the base cannot be read now, applying the change reports it.
        let Ok(Some(before)) = table.get(slot) else { continue };
        let own: Vec<&Change> = indexes.iter().map(|&index| &changes[index]).collect();
        if is_possible(base.graph(), &before, &own) {
            let anchor = after(base, &before, &own, &stamp).filter(|anchor| is_affordable(anchor, bytes_max));
            if let Some(last) = indexes.last() {
                changes[*last].anchor = anchor;
            }
        }
    }
}

/// True if `own`, the changes of one instance, only change its content, in the order of valid time.
fn is_possible(graph: &Graph, before: &Instance, own: &[&Change]) -> bool {
    let are_contents = own.iter().all(|change| change.action.is_anchored());
    // Reading corrects the stamps of properties that the anchored change itself has written, but not of others.
    let are_stamps_known = own[..own.len() - 1].iter().all(|change| {
        !matches!(
            change.action,
            Action::Replace(action::Replace { classifications: Some(_), .. })
                | Action::Classify(..)
                | Action::Reclassify(..)
        )
    });
    let valid_from = own[0].valid_from;
    let is_correction = valid_from.is_some_and(|from| from.micros() < before.valid_from);
    // A replacement keeps classifications that other collections attached.
    let is_plain = before.classifications().iter().all(|known| known.header == PLAIN)
        || !own.iter().any(|change| {
            matches!(change.action, Action::Replace(action::Replace { classifications: Some(_), .. }))
        });
    // An anchor holds only the stored fields of a provenance.
    let is_kept = |given: &Arc<Provenance>| {
        graph.own_provenance(given).is_ok_and(|kept| kept.unwrap_or_default() == *given)
    };
    let says_other = own.iter().any(|change| {
        let contents = change.action.given_classifications().iter();
        let mut given =
            contents.filter_map(|content| content.provenance.as_ref()).chain(match &change.action {
                Action::Reclassify(action) => action.provenance.as_ref(),
                _ => None,
            });
        !given.all(is_kept)
    });
    are_contents
        && is_plain
        && !says_other
        && are_stamps_known
        && !is_correction
        && own.iter().all(|change| change.valid_from == valid_from)
}

/// True if the content of an instance takes roughly at most `bytes_max` in the log.
fn fits(row: Row, bytes_max: usize) -> bool {
    let bytes = row.each_value_here().map(|value| match value {
        Ok(ValueRef::String(text)) => text.len() + 4,
        Ok(ValueRef::Other(value)) => value_bytes(&value),
        Err(place) => place.length as usize,
    });
    sum_fits(bytes, bytes_max)
}

/// True if writing `anchor` takes roughly at most `bytes_max`.
fn is_affordable(anchor: &Anchor, bytes_max: usize) -> bool {
    let classifications = anchor.classifications.iter().flat_map(|known| &known.content.properties);
    let values = anchor.properties.iter().chain(classifications);
    sum_fits(values.map(|(_, value)| value_bytes(value)), bytes_max)
}

fn sum_fits(mut bytes: impl Iterator<Item = usize>, bytes_max: usize) -> bool {
    // Stops at the bound, so that an instance with thousands of values costs as much as one with ten.
    bytes.try_fold(0usize, |sum, bytes| Some(sum + bytes).filter(|sum| *sum <= bytes_max)).is_some()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Iri(text) => text.len() + 4,
        Value::Bytes(bytes) => bytes.len() + 4,
        Value::Literal(literal) => literal.bytes() + 8,
        Value::Content(content) => content.bytes(),
        // Reads the members only of a set that may be small enough.
        Value::Set(values) if values.len() <= SET_MEMBERS_WEIGHED => {
            values.iter().map(|value| value_bytes(&value)).sum()
        }
        Value::Set(values) => 16 * values.len(),
        Value::List(values) => values.iter().map(value_bytes).sum(),
        Value::Map(values) => values.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
        _ => 10,
    }
}

/// The whole content of `before` after its changes; `None` if they cannot be applied to it.
fn after(snapshot: &Snapshot, before: &Instance, own: &[&Change], stamp: &Stamp) -> Option<Anchor> {
    let mut coming = Coming {
        names: Names { snapshot, new: Vec::new() },
        stamp,
        properties: before.properties.clone(),
        classifications: before.classifications().iter().map(|known| anchored(snapshot, known)).collect(),
    };
    for change in own {
        change.action.content(&mut coming).ok()?;
    }
    let Coming { names, properties, classifications, .. } = coming;
    Some(Anchor { properties: names.named(&properties), classifications })
}

/// The later content of an anchor.
struct Coming<'s> {
    names: Names<'s>,
    stamp: &'s Stamp,
    properties: Properties,
    classifications: Vec<AnchoredClassification>,
}

impl Draft for Coming<'_> {
    fn patch(&mut self, patch: &Patch) -> Result<()> {
        apply_patch(&mut self.properties, patch, |name| Ok(self.names.symbol(name))).map(drop)
    }

    fn replace(
        &mut self,
        properties: &[(Arc<str>, Value)],
        classifications: Option<&[ClassificationContent]>,
    ) -> Result<()> {
        self.properties = self.names.properties(properties);
        if let Some(contents) = classifications {
            let known = std::mem::take(&mut self.classifications);
            let successors = contents.iter().map(|content| successor(&known, content, self.stamp));
            self.classifications = successors.collect();
        }
        Ok(())
    }

    fn classify(&mut self, content: &ClassificationContent) -> Result<()> {
        self.classifications.push(successor(&[], content, self.stamp));
        Ok(())
    }

    fn reclassify(
        &mut self,
        name: &Arc<str>,
        patch: &Patch,
        provenance: Option<&Arc<Provenance>>,
    ) -> Result<()> {
        let known = self.classifications.iter_mut().find(|known| known.content.name == *name);
        let known = known.ok_or_else(|| not_anchored(name))?;
        let mut patched = self.names.properties(&known.content.properties);
        apply_patch(&mut patched, patch, |name| Ok(self.names.symbol(name)))?;
        known.content.properties = self.names.named(&patched);
        if let Some(given) = provenance {
            known.content.provenance = Some(given).filter(|given| ***given != Provenance::default()).cloned();
        }
        known.version += 1;
        known.updated = self.stamp.clone();
        Ok(())
    }

    fn declassify(&mut self, name: &Arc<str>) -> Result<()> {
        self.classifications.retain(|known| known.content.name != *name);
        Ok(())
    }

    fn save(&mut self, copy: &ClassificationCopy) -> Result<()> {
        Err(not_anchored(&copy.name))
    }
}

/// Why there is no anchor; no caller reports it.
fn not_anchored(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("classification {name}: expected one that an anchor holds"))
}

fn successor(
    known: &[AnchoredClassification],
    content: &ClassificationContent,
    stamp: &Stamp,
) -> AnchoredClassification {
    let before = known.iter().find(|known| known.content.name == content.name);
    AnchoredClassification {
        content: content.clone(),
        version: before.map_or(1, |before| before.version + 1),
        created: before.map_or_else(|| stamp.clone(), |before| before.created.clone()),
        updated: stamp.clone(),
    }
}

/// Names of the snapshot, and new names of this change.
struct Names<'s> {
    snapshot: &'s Snapshot,
    new: Vec<Arc<str>>,
}

impl Names<'_> {
    fn symbol(&mut self, name: &Arc<str>) -> Symbol {
        let known = &self.snapshot.graph().names;
        if let Some(symbol) = known.find(name) {
            return symbol;
        }
        let at = self.new.iter().position(|new| new == name).unwrap_or_else(|| {
            self.new.push(Arc::clone(name));
            self.new.len() - 1
        });
        Symbol(narrow(known.len() + at))
    }

    fn properties(&mut self, entries: &[(Arc<str>, Value)]) -> Properties {
        let entries = entries.iter().map(|(name, value)| (self.symbol(name), value.clone()));
        Properties::from_entries(entries.collect())
    }

    fn named(&self, properties: &Properties) -> Vec<(Arc<str>, Value)> {
        let known = &self.snapshot.graph().names;
        let name = |symbol: Symbol| match symbol.index().checked_sub(known.len()) {
            Some(at) => Arc::clone(&self.new[at]),
            None => Arc::clone(known.name(symbol)),
        };
        properties.iter().map(|(symbol, value)| (name(symbol), value.clone())).collect()
    }
}

fn anchored(snapshot: &Snapshot, known: &Classification) -> AnchoredClassification {
    AnchoredClassification {
        content: snapshot.classification_content(known),
        version: known.version,
        created: snapshot.stamp(known.created).to_stamp(),
        updated: snapshot.stamp(known.updated).to_stamp(),
    }
}
