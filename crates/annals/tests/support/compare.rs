//! Compares a snapshot with the plain model in everything that can be asked of it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use annals::*;

use super::operations::{CLASSIFICATIONS, ENTITY_TYPES, Generator, PROPERTIES, RELATIONSHIP_TYPES};
use super::reference::{Classified, Image, Known, PRESENT, Properties, Reference, Shape, Version, View};

/// Compares everything that is found by id: contents, neighbours, versions, counts.
pub fn compare_all(snapshot: &Snapshot, model: &Reference, view: View) {
    for (id, known) in &model.entities {
        let found = snapshot.entity(id).expect("read an entity");
        let expected = known.live(view);
        assert_eq!(found.is_some(), expected.is_some(), "entity {id} in {view:?}: {found:?}");
        if let (Some(found), Some(expected)) = (&found, expected) {
            compare_entity(found, known, expected);
        }
        compare_neighbors(snapshot, model, id, view);
        compare_versions(snapshot, model, &InstanceId::Entity(id.clone()), view);
    }
    for (id, known) in &model.relationships {
        let found = snapshot.relationship(id).expect("read a relationship");
        let expected = known.live(view);
        assert_eq!(found.is_some(), expected.is_some(), "relationship {id} in {view:?}: {found:?}");
        if let (Some(found), Some(expected)) = (&found, expected) {
            compare_relationship(found, known, expected);
        }
        compare_versions(snapshot, model, &InstanceId::Relationship(id.clone()), view);
    }
    compare_counts(snapshot, model, view);
}

fn compare_entity(found: &Entity<'_>, known: &Known, expected: &Version) {
    assert_eq!(found.status_name(), expected.shape.status_name, "status of {}", found.id());
    let header = (found.type_name(), found.version(), found.position().0, found.valid_from().micros());
    let wanted = (&*expected.shape.type_name, expected.number, expected.position, expected.valid_from);
    assert_eq!(header, wanted, "header of {}", found.id());
    assert_eq!(pair(&found.created()), known.created, "created {}", found.id());
    assert_eq!(pair(&found.updated()), expected.updated, "updated {}", found.id());
    let classifications = found.classifications().map(|known| {
        let classified = Classified {
            version: known.version(),
            created: pair(&known.created()),
            updated: pair(&known.updated()),
            properties: properties_of(known.properties()),
        };
        (known.name().to_string(), classified)
    });
    let image =
        Image { properties: properties_of(found.properties()), classifications: classifications.collect() };
    assert_eq!(image, expected.image, "content of {} v{}", found.id(), found.version());
    for (name, value) in &expected.image.properties {
        assert_eq!(found.property(name).as_ref(), Some(value), "property {name} of {}", found.id());
    }
}

fn compare_relationship(found: &Relationship<'_>, known: &Known, expected: &Version) {
    assert_eq!(found.status_name(), expected.shape.status_name, "status of {}", found.id());
    let header = (found.type_name(), found.version(), found.position().0, found.valid_from().micros());
    let wanted = (&*expected.shape.type_name, expected.number, expected.position, expected.valid_from);
    assert_eq!(header, wanted, "header of {}", found.id());
    assert_eq!(pair(&found.created()), known.created, "created {}", found.id());
    assert_eq!(pair(&found.updated()), expected.updated, "updated {}", found.id());
    let (from, to) = expected.shape.ends.as_ref().expect("a relationship has ends");
    assert_eq!((found.from(), found.to()), (from, to), "ends of {}", found.id());
    assert_eq!(properties_of(found.properties()), expected.image.properties, "content of {}", found.id());
}

fn pair(stamp: &Stamp) -> (i64, String) {
    (stamp.instant.micros(), stamp.author.to_string())
}

fn properties_of<'e>(properties: impl Iterator<Item = (&'e str, Value)>) -> Properties {
    properties.map(|(name, value)| (name.to_string(), value)).collect()
}

/// Relationships of an entity that a view sees, in the order of the engine, with the entity at the other end.
fn neighbors_of<'m>(
    model: &'m Reference,
    id: &Id,
    direction: Direction,
    types: Option<&BTreeSet<String>>,
    view: View,
) -> Vec<(&'m Id, &'m Id)> {
    let mut found: Vec<(&str, u64, &Id, &Id)> = Vec::new();
    for (relationship, known) in &model.relationships {
        let Some(version) = known.live(view) else { continue };
        let (from, to) = version.shape.ends.as_ref().expect("a relationship has ends");
        let (own, other) = if direction == Direction::Out { (from, to) } else { (to, from) };
        let is_wanted = types.is_none_or(|types| types.contains(&version.shape.type_name));
        if own == id && is_wanted {
            found.push((&version.shape.type_name, known.age, relationship, other));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, _, relationship, other)| (relationship, other)).collect()
}

fn compare_neighbors(snapshot: &Snapshot, model: &Reference, id: &Id, view: View) {
    let is_live = model.entities[id].live(view).is_some();
    for direction in [Direction::Out, Direction::In] {
        for type_name in [None, Some("k0"), Some("k1"), Some("nothing")] {
            let neighbors = snapshot.neighbors(id, direction, type_name);
            if !is_live {
                assert_eq!(neighbors.err().map(|error| error.kind()), Some(ErrorKind::NotFound), "{id}");
                continue;
            }
            let types =
                type_name.map(|name| model.with_subtypes(TypeKind::Relationship, name, view.position));
            let expected = neighbors_of(model, id, direction, types.as_ref(), view);
            let found: Vec<Neighbor<'_>> =
                neighbors.expect("neighbors").collect::<Result<_>>().expect("a neighbor");
            let ids: Vec<(&Id, &Id)> =
                found.iter().map(|neighbor| (neighbor.relationship.id(), neighbor.entity.id())).collect();
            assert_eq!(ids, expected, "{direction:?} {type_name:?} neighbors of {id} in {view:?}");
            let degree = snapshot.degree(id, direction, type_name).expect("degree");
            assert_eq!(degree, expected.len(), "{direction:?} {type_name:?} degree of {id} in {view:?}");
            if let Some((middle, _)) = expected.get(expected.len() / 2) {
                let rest: Vec<Neighbor<'_>> = snapshot
                    .neighbors_after(id, direction, type_name, Some(middle))
                    .and_then(Iterator::collect)
                    .expect("neighbors after one");
                let rest: Vec<&Id> = rest.iter().map(|neighbor| neighbor.relationship.id()).collect();
                let wanted: Vec<&Id> = expected[expected.len() / 2 + 1..].iter().map(|(id, _)| *id).collect();
                assert_eq!(rest, wanted, "{direction:?} {type_name:?} neighbors of {id} after {middle}");
            }
        }
    }
}

fn compare_versions(snapshot: &Snapshot, model: &Reference, id: &InstanceId, view: View) {
    let known = model.known(id).expect("listed");
    let in_force = known.seen(view).map(|version| version.number);
    let found = snapshot.versions(id, 0, usize::MAX).expect("versions");
    let expected: Vec<VersionInfo> = known
        .versions
        .iter()
        .rev()
        .filter(|version| version.position <= view.position)
        .map(|version| VersionInfo {
            version: version.number,
            base: version.base,
            position: Position(version.position),
            instant: Instant::from_micros(version.updated.0).unwrap(),
            author: version.updated.1.as_str().into(),
            message: model.messages[version.position as usize - 1].as_str().into(),
            valid_from: Instant::from_micros(version.valid_from).unwrap(),
            status: version.status,
            status_name: match version.status {
                Status::Deleted => "deleted".into(),
                _ => version.shape.status_name.as_str().into(),
            },
            home: None,
            former_id: None,
            is_proxy: false,
            verb: version.verb,
            is_in_force: in_force == Some(version.number),
        })
        .collect();
    // A cascade is told by the verb of what was asked for, which is the same.
    assert_eq!(found, expected, "versions of {id} in {view:?}");
}

fn compare_counts(snapshot: &Snapshot, model: &Reference, view: View) {
    let live = |table: &BTreeMap<Id, Known>| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for version in table.values().filter_map(|known| known.live(view)) {
            *counts.entry(version.shape.type_name.clone()).or_default() += 1;
        }
        counts
    };
    let mut classified: BTreeMap<String, u64> = BTreeMap::new();
    for known in model.entities.values() {
        let image = known.live(view).map(|version| &version.image);
        for name in image.iter().flat_map(|image| image.classifications.keys()) {
            *classified.entry(name.clone()).or_default() += 1;
        }
    }
    let (entities, relationships) = (live(&model.entities), live(&model.relationships));
    assert_eq!(snapshot.entities_count(), entities.values().sum::<u64>(), "entities in {view:?}");
    assert_eq!(snapshot.relationships_count(), relationships.values().sum::<u64>(), "in {view:?}");
    for (kind, expected) in [
        (TypeKind::Entity, entities),
        (TypeKind::Relationship, relationships),
        (TypeKind::Classification, classified),
    ] {
        let found: BTreeMap<String, u64> = snapshot
            .counts(kind)
            .expect("counts")
            .into_iter()
            .map(|(name, count)| (name.to_string(), count))
            .collect();
        assert_eq!(found, expected, "counts of {kind:?} in {view:?}");
    }
}

/// Compares the difference of two positions with the images on both sides.
pub fn compare_difference(snapshot: &Snapshot, model: &Reference, from: u64, to: u64) {
    let before = View { position: from, valid: i64::MAX };
    let after = View { position: to, valid: i64::MAX };
    let mut expected: BTreeMap<InstanceId, &str> = BTreeMap::new();
    let ids = model
        .entities
        .keys()
        .map(|id| InstanceId::Entity(id.clone()))
        .chain(model.relationships.keys().map(|id| InstanceId::Relationship(id.clone())));
    for id in ids {
        let known = model.known(&id).expect("listed");
        let what = match (known.live(before), known.live(after)) {
            (None, Some(_)) => "appeared",
            (Some(_), None) => "disappeared",
            (Some(old), Some(new)) if plain(&old.image) != plain(&new.image) || named(old) != named(new) => {
                "changed"
            }
            _ => continue,
        };
        expected.insert(id, what);
    }
    let changes = snapshot.changes_between(Position(from), Position(to)).expect("difference of positions");
    let count = changes.len();
    let found: BTreeMap<InstanceId, &str> = changes
        .into_iter()
        .map(|change| match change {
            InstanceChange::Appeared(id) => (id, "appeared"),
            InstanceChange::Disappeared(id) => (id, "disappeared"),
            InstanceChange::Changed(id, difference) => {
                let known = model.known(&id).expect("known to the model");
                let images = (known.live(before), known.live(after));
                let (Some(old), Some(new)) = images else { panic!("{id} did not only change") };
                compare_images(&difference, &old.image, &new.image);
                compare_shapes(&difference, &old.shape, &new.shape);
                (id, "changed")
            }
        })
        .collect();
    assert_eq!(found, expected, "difference of {from} and {to}");
    assert_eq!(found.len(), count, "something is listed twice");
}

fn plain(image: &Image) -> (Properties, BTreeMap<&str, &Properties>) {
    let classifications =
        image.classifications.iter().map(|(name, known)| (&**name, &known.properties)).collect();
    (image.properties.clone(), classifications)
}

/// What a version is, as a difference tells it.
fn named(version: &Version) -> (&str, &str, &Option<(Id, Id)>) {
    let shape = &version.shape;
    (&shape.type_name, &shape.status_name, &shape.ends)
}

fn compare_shapes(difference: &Difference, old: &Shape, new: &Shape) {
    let texts = |old: &String, new: &String| (old != new).then(|| (old.as_str().into(), new.as_str().into()));
    assert_eq!(difference.type_name, texts(&old.type_name, &new.type_name));
    assert_eq!(difference.status, texts(&old.status_name, &new.status_name));
    let ends = old.ends.as_ref().zip(new.ends.as_ref());
    let from = ends.map(|(old, new)| (old.0.clone(), new.0.clone()));
    let to = ends.map(|(old, new)| (old.1.clone(), new.1.clone()));
    let moved = |pair: Option<(Id, Id)>| pair.filter(|(old, new)| old != new);
    assert_eq!((&difference.from, &difference.to), (&moved(from), &moved(to)));
    assert_eq!((&difference.id, difference.is_proxy, &difference.provenance), (&None, None, &None));
}

fn compare_images(difference: &Difference, old: &Image, new: &Image) {
    let mut patched = old.properties.clone();
    for property in &difference.properties {
        let name = property.name.to_string();
        assert_eq!(patched.get(&name), property.before.as_ref(), "{name} before");
        assert_ne!(property.before, property.after, "{name} does not differ");
        match &property.after {
            Some(value) => patched.insert(name, value.clone()),
            None => patched.remove(&name),
        };
    }
    assert_eq!(patched, new.properties, "a difference leads from old to new");
    for classification in &difference.classifications {
        let sides = (classification.was_there, classification.is_there);
        let name = &*classification.name;
        let expected = (old.classifications.contains_key(name), new.classifications.contains_key(name));
        assert_eq!(sides, expected, "classification {name}");
    }
}

/// Compares distances from one entity with a breadth-first walk over the model.
pub fn compare_reach(snapshot: &Snapshot, model: &Reference, view: View, start: &Id) {
    let reach = Reach::both();
    if model.entities.get(start).is_none_or(|known| known.live(view).is_none()) {
        let kind = snapshot.reachable(start, &reach).err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::NotFound), "reach of {start}");
        return;
    }
    let mut distances: BTreeMap<&Id, usize> = BTreeMap::from([(start, 0)]);
    let mut frontier = vec![start];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for at in frontier {
            for direction in [Direction::Out, Direction::In] {
                for (_, other) in neighbors_of(model, at, direction, None, view) {
                    if !distances.contains_key(other) {
                        distances.insert(other, distances[at] + 1);
                        next.push(other);
                    }
                }
            }
        }
        frontier = next;
    }
    for (id, distance) in &distances {
        let path = snapshot.shortest_path(start, id, &reach).expect("path").expect("it is within reach");
        assert_eq!(path.steps.len(), *distance, "path from {start} to {id}");
    }
    distances.remove(start);
    let found = snapshot.reachable(start, &reach).expect("reach");
    let found: BTreeMap<&Id, usize> = found.iter().map(|reached| (reached.id(), reached.distance)).collect();
    assert_eq!(found, distances, "reach of {start} in {view:?}");
}
