//! Writes JSON Lines, the native form; `annals import` reads them back.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use annals::{Entity, Position, Relationship, Repository, Snapshot, TypeDefinition, Value};
use serde_json::{Value as Json, json};

use super::{Selection, each_entity, each_relationship, instances_count, valid_from};
use crate::progress::Progress;
use crate::stop::Outcome;
use crate::wire::{Object, record_to_json, type_to_json, value_to_json};

/// Writes types, then entities, then relationships: no line needs a later one.
pub fn export_jsonl(
    snapshot: &Snapshot,
    selection: &Selection,
    writer: &mut dyn Write,
    progress: &Progress,
) -> Outcome {
    let total = instances_count(snapshot);
    let mut done = 0;
    let mut write = |writer: &mut dyn Write, json: &Json| -> Outcome {
        done += 1;
        progress.set(done, Some(total));
        write_line(writer, json)
    };
    if selection.is_everything() {
        for definition in in_order(snapshot.types()) {
            write_line(writer, &json!({ "type": type_to_json(&definition) }))?;
        }
    }
    // Types may overlap, as a type and its subtype do.
    let mut seen = HashSet::new();
    let several = selection.types.len() > 1;
    for find in selection.finds() {
        each_entity(snapshot, find, |entity| {
            if several && !seen.insert(entity.id().clone()) {
                return Ok(());
            }
            write(writer, &json!({ "entity": entity_line(entity) }))
        })?;
    }
    seen.clear();
    for find in selection.finds() {
        each_relationship(snapshot, find, |relationship| {
            if several && !seen.insert(relationship.id().clone()) {
                return Ok(());
            }
            write(writer, &json!({ "relationship": relationship_line(snapshot, relationship)? }))
        })?;
    }
    Ok(())
}

/// Writes every record up to `last` as it was committed.
pub fn export_history(
    repository: &Repository,
    last: Position,
    writer: &mut dyn Write,
    progress: &Progress,
) -> Outcome {
    let mut follow = repository.follow(Position(0));
    while follow.position() <= last
        && let Some((position, record)) = follow.poll()?
    {
        progress.set(position.0, Some(last.0));
        write_line(writer, &json!({ "record": record_to_json(position, &record) }))?;
    }
    Ok(())
}

fn write_line(writer: &mut dyn Write, json: &Json) -> Outcome {
    serde_json::to_writer(&mut *writer, json).map_err(std::io::Error::from)?;
    Ok(writer.write_all(b"\n")?)
}

/// Entity types first, because ends name them; supertypes before what inherits from them.
fn in_order(types: Vec<Arc<TypeDefinition>>) -> Vec<Arc<TypeDefinition>> {
    let mut waiting = types;
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let names: HashSet<_> = waiting.iter().map(|known| (known.kind, Arc::clone(&known.name))).collect();
        let is_ready = |known: &Arc<TypeDefinition>| {
            !known.supertypes.iter().any(|name| names.contains(&(known.kind, Arc::clone(name))))
        };
        let (ready, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_ready);
        assert!(!ready.is_empty(), "the engine refuses a type that is its own supertype");
        ordered.extend(ready);
        waiting = rest;
    }
    ordered.sort_by_key(|definition| definition.kind);
    ordered
}

fn entity_line(entity: &Entity) -> Json {
    let classifications: Vec<Json> = entity
        .classifications()
        .map(|known| json!({ "name": known.name(), "properties": properties(known.properties()) }))
        .collect();
    let mut json = json!({
        "id": entity.id().to_string(),
        "type": entity.type_name(),
        "properties": properties(entity.properties()),
        "validFrom": entity.valid_from().to_string(),
    });
    if !classifications.is_empty() {
        json["classifications"] = classifications.into();
    }
    json
}

fn relationship_line(snapshot: &Snapshot, relationship: &Relationship) -> annals::Result<Json> {
    Ok(json!({
        "id": relationship.id().to_string(),
        "type": relationship.type_name(),
        "from": relationship.from().to_string(),
        "to": relationship.to().to_string(),
        "properties": properties(relationship.properties()),
        "validFrom": valid_from(snapshot, relationship)?.to_string(),
    }))
}

fn properties<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Json {
    properties.map(|(name, value)| (name.to_owned(), value_to_json(&value))).collect::<Object>().into()
}
