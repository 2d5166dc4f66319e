//! Decides when a change also carries the whole content, so that reading history never walks far.

use std::sync::Arc;

use crate::graph::instance::{Classification, Instance};
use crate::graph::patch::apply_patch;
use crate::graph::properties::Properties;
use crate::graph::symbols::Symbol;
use crate::model::{Action, Anchor, AnchoredClassification, Change, Stamp, Value};
use crate::read::Snapshot;

/// Log bytes that anchors may add to a change on average. Units: bytes.
const ANCHOR_BYTES_PER_CHANGE: usize = 64;

/// True if the version after `change` should be anchored, given the instance before it.
pub(super) fn is_due(before: &Instance, change: &Change) -> bool {
    let changes_content = matches!(
        change.action,
        Action::Update(..) | Action::Classify(..) | Action::Reclassify(..) | Action::Declassify(..)
    );
    changes_content && (before.since_anchor as usize + 1) * ANCHOR_BYTES_PER_CHANGE >= content_bytes(before)
}

/// Roughly what the content of an instance takes in the log. Units: bytes.
fn content_bytes(instance: &Instance) -> usize {
    let classifications = instance.classifications().iter().flat_map(|known| known.properties.iter());
    instance.properties.iter().chain(classifications).map(|(_, value)| value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Iri(text) => text.len() + 4,
        Value::Bytes(bytes) => bytes.len() + 4,
        // Sets can be large: estimated by their number of members.
        Value::Set(values) => 16 * values.len(),
        Value::List(values) => values.iter().map(value_bytes).sum(),
        Value::Map(values) => values.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
        _ => 10,
    }
}

/// The whole content of `before` after `change`; `None` if the change cannot be applied to it.
pub(super) fn after(
    snapshot: &Snapshot,
    before: &Instance,
    change: &Change,
    stamp: &Stamp,
) -> Option<Anchor> {
    let mut names = Names { snapshot, new: Vec::new() };
    let mut properties = before.properties.clone();
    let mut classifications: Vec<AnchoredClassification> =
        before.classifications().iter().map(|known| anchored(snapshot, known)).collect();
    match &change.action {
        Action::Update(_, patch) => {
            apply_patch(&mut properties, patch, |name| Ok(names.symbol(name))).ok()?;
        }
        Action::Classify(_, content) => classifications.push(AnchoredClassification {
            content: content.clone(),
            version: 1,
            created: stamp.clone(),
            updated: stamp.clone(),
        }),
        Action::Reclassify(_, name, patch) => {
            let known = before
                .classifications()
                .iter()
                .find(|known| *snapshot.graph().names.name(known.name) == *name)?;
            let mut patched = known.properties.clone();
            apply_patch(&mut patched, patch, |name| Ok(names.symbol(name))).ok()?;
            let anchored = classifications.iter_mut().find(|anchored| anchored.content.name == *name)?;
            anchored.content.properties = names.named(&patched);
            anchored.version += 1;
            anchored.updated = stamp.clone();
        }
        Action::Declassify(_, name) => classifications.retain(|anchored| anchored.content.name != *name),
        _ => return None,
    }
    Some(Anchor { properties: names.named(&properties), classifications })
}

/// Names of the snapshot, and names that only this change brings.
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
        Symbol(u32::try_from(known.len() + at).expect("fewer than 2^32 names"))
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
        created: snapshot.stamp(known.created),
        updated: snapshot.stamp(known.updated),
    }
}
