//! The contents that a change names.

use super::decode::decode_record;
use crate::model::{Change, Content, PatchStep, TypeDefinition, Value};
use crate::{Position, Result};

/// Type of the entities that hold candidates.
pub(crate) const CANDIDATE: &str = "annals-candidate";
/// The beginning of the names of properties that hold records as bytes: edits of candidates.
pub(crate) const RECORDS_PROPERTY: &str = "edits-";

/// Calls `take` for each content that the change names, also in records that it holds as bytes.
///
/// Errors: those of `take`.
pub(crate) fn each_named_content(
    change: &Change,
    take: &mut dyn FnMut(&Content) -> Result<()>,
) -> Result<()> {
    let bag = change.action.bag();
    for (name, value) in bag.properties.into_iter().flatten() {
        in_property(name, value, take)?;
    }
    for step in bag.patch.iter().flat_map(|patch| &patch.steps) {
        match step {
            PatchStep::Set(name, value) | PatchStep::Add(name, value) => in_property(name, value, take)?,
            PatchStep::Unset(_) | PatchStep::Remove(..) | PatchStep::Clear => {}
        }
    }
    let classified = bag.classifications.into_iter().flatten().flat_map(|known| &known.properties);
    let copied = bag.copied.into_iter().flatten().flat_map(|copy| &copy.properties);
    for (name, value) in classified.chain(copied) {
        in_property(name, value, take)?;
    }
    if let Some(anchor) = &change.anchor {
        let classified = anchor.classifications.iter().flat_map(|known| &known.content.properties);
        for (name, value) in anchor.properties.iter().chain(classified) {
            in_property(name, value, take)?;
        }
    }
    bag.definition.map_or(Ok(()), |definition| in_defaults(definition, take))
}

fn in_defaults(definition: &TypeDefinition, take: &mut dyn FnMut(&Content) -> Result<()>) -> Result<()> {
    for attribute in &definition.attributes {
        if let Some(value) = &attribute.default {
            each_content_in(value, take)?;
        }
    }
    Ok(())
}

fn in_property(name: &str, value: &Value, take: &mut dyn FnMut(&Content) -> Result<()>) -> Result<()> {
    let Value::Bytes(bytes) = value else { return each_content_in(value, take) };
    if !name.starts_with(RECORDS_PROPERTY) {
        return Ok(());
    }
    // Bytes that are no record name no content.
    let Ok(record) = decode_record(Position::ZERO, bytes) else { return Ok(()) };
    record.changes.iter().try_for_each(|change| each_named_content(change, take))
}

/// Calls `take` for each content in a value.
///
/// Errors: those of `take`.
pub(crate) fn each_content_in(value: &Value, take: &mut dyn FnMut(&Content) -> Result<()>) -> Result<()> {
    match value {
        Value::Content(content) => take(content),
        Value::List(values) => values.iter().try_for_each(|value| each_content_in(value, take)),
        Value::Map(values) => values.values().try_for_each(|value| each_content_in(value, take)),
        _ => Ok(()),
    }
}
