//! Writes JSON Lines, the native form; `annals import` reads them back.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use annals::{Action, Change, Position, Repository, Snapshot, TypeDefinition, TypeKind, action};
use annals_json::{record_to_json, type_to_json};
use serde_json::{Value as Json, json};

use super::instance_line::InstanceLines;
use super::{Selection, each_entity, each_relationship, instances_count};
use crate::{Outcome, Progress};

/// Writes the name of the collection, if it has one, and types, then entities with proxies, then relationships: so no
/// line needs a later one.
pub fn export_jsonl(
    snapshot: &Snapshot,
    selection: &Selection,
    writer: &mut dyn Write,
    progress: &dyn Progress,
) -> Outcome {
    let total = instances_count(snapshot);
    let mut done = 0;
    let mut write = |writer: &mut dyn Write, json: &Json| -> Outcome {
        done += 1;
        progress.set(done, Some(total));
        write_line(writer, json)
    };
    let lines = InstanceLines::new(snapshot);
    if selection.is_everything() {
        if let Some(name) = snapshot.collection() {
            write_line(writer, &json!({ "collection": name }))?;
        }
        for definition in in_order(snapshot.types()) {
            write_line(writer, &json!({ "type": type_to_json(&definition) }))?;
        }
    }
    each_entity(snapshot, selection.find().with_proxies(), |entity| {
        write(writer, &json!({ "entity": lines.entity(entity) }))
    })?;
    each_relationship(snapshot, selection.find(), |relationship| {
        write(writer, &json!({ "relationship": lines.relationship(relationship)? }))
    })?;
    Ok(())
}

/// Writes every record up to `last` as it was committed, without the changes of purged instances, in place of which are
/// voids: the history that a compaction would leave.
pub fn export_history(
    repository: &Repository,
    last: Position,
    writer: &mut dyn Write,
    progress: &dyn Progress,
) -> Outcome {
    let mut follow = repository.follow(Position(0));
    while follow.position() <= last
        && let Some((position, mut record)) = follow.poll()?
    {
        for change in &mut record.changes {
            // The history has nothing that it could purge.
            if matches!(change.action, Action::Purge(_) | Action::PurgeCopy(_)) {
                *change = Change::from(action::Void);
            }
        }
        progress.set(position.0, Some(last.0));
        write_line(writer, &json!({ "record": record_to_json(position, &record) }))?;
    }
    Ok(())
}

fn write_line(writer: &mut dyn Write, json: &Json) -> Outcome {
    serde_json::to_writer(&mut *writer, json).map_err(std::io::Error::from)?;
    Ok(writer.write_all(b"\n")?)
}

/// Enums first, because attributes name them, then entity types, because ends name them; supertypes before their
/// subtypes.
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
    ordered.sort_by_key(|definition| (definition.kind != TypeKind::Enum, definition.kind));
    ordered
}
