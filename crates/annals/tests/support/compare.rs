//! Compares a snapshot with the plain model in everything that can be asked of it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use annals::*;

use super::operations::{CLASSIFICATIONS, ENTITY_TYPES, Generator, PROPERTIES, RELATIONSHIP_TYPES};
use super::reference::{Classified, Image, Known, PRESENT, Properties, Reference, Shape, Version, View};

/// Compares everything that is found by id: contents, neighbours, versions, counts.
pub fn compare_all(snapshot: &Snapshot, model: &Reference, view: View) {
    compare_all_but(snapshot, model, view, &|_, _| false);
}

/// The same for a snapshot that has outlived a compaction: the past of what was purged since can no longer be read, and
/// is never that of another instance.
pub fn compare_all_but(
    snapshot: &Snapshot,
    model: &Reference,
    view: View,
    is_gone: &dyn Fn(TypeKind, u64) -> bool,
) {
    let compare_versions = |known: &Known, id: &InstanceId| match is_gone(kind_of(id), known.age) {
        false => compare_versions(snapshot, model, known, id, view),
        true => {
            let kind = snapshot.versions(id, 0, usize::MAX).err().map(|error| error.kind());
            assert!(matches!(kind, None | Some(ErrorKind::NotFound)), "versions of {id}: {kind:?}");
        }
    };
    for known in model.entities.values() {
        for id in known.ids() {
            let expected = known.live(view).filter(|version| version.shape.id == *id);
            let summary = snapshot.entity_summary(id).expect("read what is known of an entity");
            assert_eq!(summary.is_some(), expected.is_some(), "entity {id} in {view:?}: {summary:?}");
            if let (Some(found), Some(expected)) = (&summary, expected) {
                compare_entity(found, expected);
                let whole = snapshot.entity(id);
                match expected.shape.is_proxy {
                    true => assert_eq!(whole.unwrap_err().kind(), ErrorKind::ProxyOnly, "{id} in {view:?}"),
                    false => assert!(whole.expect("read an entity").is_some(), "{id} in {view:?}"),
                }
            }
            compare_neighbors(snapshot, model, known, id, view);
            compare_versions(known, &InstanceId::Entity(id.clone()));
        }
    }
    for known in model.relationships.values() {
        for id in known.ids() {
            let expected = known.live(view).filter(|version| version.shape.id == *id);
            let found = snapshot.relationship(id).expect("read a relationship");
            assert_eq!(found.is_some(), expected.is_some(), "relationship {id} in {view:?}: {found:?}");
            if let (Some(found), Some(expected)) = (&found, expected) {
                compare_relationship(found, model, expected, view);
            }
            compare_versions(known, &InstanceId::Relationship(id.clone()));
        }
    }
    compare_counts(snapshot, model, view);
}

/// Compares what both kinds of instances tell of a version beside its content.
macro_rules! compare_header {
    ($found:expr, $expected:expr) => {{
        let (found, expected, shape) = ($found, $expected, &$expected.shape);
        let id = found.id();
        assert_eq!((id, found.status_name()), (&shape.id, &*shape.status_name), "id and status");
        let header = (found.type_name(), found.version(), found.position().0, found.valid_from().micros());
        let wanted = (&*shape.type_name, expected.number, expected.position, expected.valid_from);
        assert_eq!(header, wanted, "header of {id}");
        assert_eq!(found.home_version(), shape.home_version, "version of {id} v{} at home", found.version());
        assert_eq!(found.provenance(), shape.provenance.as_ref(), "provenance of {id}");
        assert_eq!(found.reidentified_from(), shape.reidentified_from.as_ref(), "former id of {id}");
        assert_eq!(pair(found.created()), expected.created, "created {id} v{}", found.version());
        assert_eq!(pair(found.updated()), expected.updated, "updated {id} v{}", found.version());
    }};
}

fn compare_entity(found: &Entity<'_>, expected: &Version) {
    compare_header!(found, expected);
    assert_eq!(found.is_proxy(), expected.shape.is_proxy, "whether {} is a proxy", found.id());
    let classifications = found.classifications().map(|known| {
        let classified = Classified {
            version: known.version(),
            created: pair(known.created()),
            updated: pair(known.updated()),
            properties: properties_of(known.properties()),
            provenance: known.provenance().cloned(),
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

fn compare_relationship(found: &Relationship<'_>, model: &Reference, expected: &Version, view: View) {
    compare_header!(found, expected);
    let (from, to) = expected.shape.ends.expect("a relationship has ends");
    let ends = (model.entity_id(from, view), model.entity_id(to, view));
    assert_eq!((found.from(), found.to()), ends, "ends of {}", found.id());
    assert_eq!(properties_of(found.properties()), expected.image.properties, "content of {}", found.id());
}

fn kind_of(id: &InstanceId) -> TypeKind {
    match id {
        InstanceId::Entity(_) => TypeKind::Entity,
        InstanceId::Relationship(_) => TypeKind::Relationship,
    }
}

fn pair(stamp: StampRef) -> (i64, String) {
    (stamp.instant.micros(), stamp.author.to_string())
}

fn properties_of<'e>(properties: impl Iterator<Item = (&'e str, Value)>) -> Properties {
    properties.map(|(name, value)| (name.to_string(), value)).collect()
}

/// Relationships of an entity that a view sees, in the order of the engine, with the entity at the other end.
fn neighbors_of(
    model: &Reference,
    age: u64,
    direction: Direction,
    types: Option<&BTreeSet<String>>,
    view: View,
) -> Vec<(Id, u64)> {
    let mut found: Vec<(&str, u64, &Id, u64)> = Vec::new();
    for known in model.relationships.values() {
        let Some(version) = known.live(view) else { continue };
        let (from, to) = version.shape.ends.expect("a relationship has ends");
        let (own, other) = if direction == Direction::Out { (from, to) } else { (to, from) };
        let is_wanted = types.is_none_or(|types| types.contains(&version.shape.type_name));
        if own == age && is_wanted {
            found.push((&version.shape.type_name, known.age, &version.shape.id, other));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, _, relationship, other)| (relationship.clone(), other)).collect()
}

/// True if the type was declared, or something was of it, up to the time of the view.
fn knows_relationship_type(model: &Reference, name: &str, view: View) -> bool {
    let is_of = |version: &Version| version.position <= view.position && *version.shape.type_name == *name;
    model.definition(TypeKind::Relationship, name, view.position).is_some()
        || model.relationships.values().any(|known| known.versions.iter().any(is_of))
}

fn compare_neighbors(snapshot: &Snapshot, model: &Reference, known: &Known, id: &Id, view: View) {
    let is_live = known.live(view).is_some_and(|version| version.shape.id == *id);
    for direction in [Direction::Out, Direction::In] {
        for type_name in [None, Some("k0"), Some("k1"), Some("nothing")] {
            let neighbors = snapshot.neighbors(id, direction, type_name);
            if !is_live {
                assert_eq!(neighbors.err().map(|error| error.kind()), Some(ErrorKind::NotFound), "{id}");
                continue;
            }
            if let Some(error) = neighbors.as_ref().err() {
                let name = type_name.expect("without a type nothing is unknown");
                assert_eq!(error.kind(), ErrorKind::NotFound, "{name}");
                assert!(!knows_relationship_type(model, name, view), "{name} in {view:?}");
                let degree = snapshot.degree(id, direction, type_name).err().map(|error| error.kind());
                assert_eq!(degree, Some(ErrorKind::NotFound), "{name}");
                continue;
            }
            assert_ne!(type_name, Some("nothing"), "no history has it");
            let types =
                type_name.map(|name| model.with_subtypes(TypeKind::Relationship, name, view.position));
            let expected: Vec<(Id, Id)> = neighbors_of(model, known.age, direction, types.as_ref(), view)
                .into_iter()
                .map(|(relationship, other)| (relationship, model.entity_id(other, view).clone()))
                .collect();
            let found: Vec<Neighbor<'_>> =
                neighbors.expect("neighbors").collect::<Result<_>>().expect("a neighbor");
            let ids: Vec<(Id, Id)> = found
                .iter()
                .map(|neighbor| (neighbor.relationship.id().clone(), neighbor.entity.id().clone()))
                .collect();
            assert_eq!(ids, expected, "{direction:?} {type_name:?} neighbors of {id} in {view:?}");
            let degree = snapshot.degree(id, direction, type_name).expect("degree");
            assert_eq!(degree, expected.len(), "{direction:?} {type_name:?} degree of {id} in {view:?}");
            if let Some((middle, _)) = expected.get(expected.len() / 2) {
                let rest: Vec<Neighbor<'_>> = snapshot
                    .neighbors_after(id, direction, type_name, Some(middle))
                    .and_then(Iterator::collect)
                    .expect("neighbors after one");
                let rest: Vec<&Id> = rest.iter().map(|neighbor| neighbor.relationship.id()).collect();
                let wanted: Vec<&Id> = expected[expected.len() / 2 + 1..].iter().map(|(id, _)| id).collect();
                assert_eq!(rest, wanted, "{direction:?} {type_name:?} neighbors of {id} after {middle}");
            }
        }
    }
}

/// The number of a version without those below it that changed only classifications.
fn content_version(known: &Known, number: u32) -> u32 {
    let (mut next, mut offset) = (number, 0);
    while let Some(version) = known.versions.iter().find(|version| version.number == next) {
        match version.verb {
            "classify"
            | "reclassify"
            | "declassify"
            | "save-classification-copy"
            | "purge-classification-copy" => {
                offset += 1;
            }
            // The home counts its own versions.
            "save-copy" | "save-proxy" => break,
            _ => {}
        }
        next = version.base;
    }
    number - offset
}

fn compare_versions(snapshot: &Snapshot, model: &Reference, known: &Known, id: &InstanceId, view: View) {
    let in_force = known.seen(view).map(|version| version.number);
    let found = snapshot.versions(id, 0, usize::MAX).expect("versions");
    let now = known.id();
    let expected: Vec<VersionInfo> = known
        .versions
        .iter()
        .rev()
        .filter(|version| version.position <= view.position)
        .map(|version| VersionInfo {
            version: version.number,
            content_version: content_version(known, version.number),
            base: version.base,
            position: Position(version.position),
            instant: Instant::from_micros(version.written.0).unwrap(),
            author: version.written.1.as_str().into(),
            message: model.messages[version.position as usize - 1].as_str().into(),
            valid_from: Instant::from_micros(version.valid_from).unwrap(),
            status: version.status,
            status_name: match version.status {
                Status::Deleted => "deleted".into(),
                _ => version.shape.status_name.as_str().into(),
            },
            home: version.shape.home().cloned(),
            former_id: (version.shape.id != *now).then(|| version.shape.id.clone()),
            is_proxy: version.shape.is_proxy,
            verb: version.verb,
            is_in_force: in_force == Some(version.number),
        })
        .collect();
    // A cascade is told by the verb of what was asked for, which is the same.
    assert_eq!(found, expected, "versions of {id} in {view:?}");
}

fn compare_counts(snapshot: &Snapshot, model: &Reference, view: View) {
    let live = |table: &BTreeMap<u64, Known>| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for version in table.values().filter_map(|known| known.whole(view)) {
            *counts.entry(version.shape.type_name.clone()).or_default() += 1;
        }
        counts
    };
    let mut classified: BTreeMap<String, u64> = BTreeMap::new();
    for known in model.entities.values() {
        let image = known.whole(view).map(|version| &version.image);
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
    let mut expected: BTreeMap<InstanceId, (&str, TypeKind, u64)> = BTreeMap::new();
    for kind in [TypeKind::Entity, TypeKind::Relationship] {
        for known in model.table(kind).values() {
            let (what, version) = match (known.live(before), known.live(after)) {
                (None, Some(new)) => ("appeared", new),
                (Some(old), None) => ("disappeared", old),
                (Some(old), Some(new))
                    if plain(&old.image) != plain(&new.image) || named(old) != named(new) =>
                {
                    ("changed", new)
                }
                _ => continue,
            };
            let id = version.shape.id.clone();
            let is_entity = kind == TypeKind::Entity;
            let id = if is_entity { InstanceId::Entity(id) } else { InstanceId::Relationship(id) };
            let other = expected.insert(id.clone(), (what, kind, known.age));
            assert_eq!(other, None, "two are called {id}");
        }
    }
    let changes = snapshot.changes_between(Position(from), Position(to)).expect("difference of positions");
    let count = changes.len();
    let found: BTreeMap<InstanceId, &str> = changes
        .into_iter()
        .map(|change| match change {
            InstanceChange::Appeared(id) => (id, "appeared"),
            InstanceChange::Disappeared(id) => (id, "disappeared"),
            InstanceChange::Changed(id, difference) => {
                let Some((_, kind, age)) = expected.get(&id) else { panic!("{id} did not change") };
                let known = &model.table(*kind)[age];
                let images = (known.live(before), known.live(after));
                let (Some(old), Some(new)) = images else { panic!("{id} did not only change") };
                compare_images(&difference, &old.image, &new.image);
                compare_shapes(&difference, model, (&old.shape, before), (&new.shape, after));
                (id, "changed")
            }
        })
        .collect();
    let expected: BTreeMap<InstanceId, &str> =
        expected.into_iter().map(|(id, (what, _, _))| (id, what)).collect();
    assert_eq!(found, expected, "difference of {from} and {to}");
    assert_eq!(found.len(), count, "something is listed twice");
}

/// Properties, and those of each classification with where it comes from.
type Plain<'i> = (Properties, BTreeMap<&'i str, (&'i Properties, &'i Option<Provenance>)>);

fn plain(image: &Image) -> Plain<'_> {
    let classifications = image.classifications.iter();
    let classifications =
        classifications.map(|(name, known)| (&**name, (&known.properties, &known.provenance)));
    (image.properties.clone(), classifications.collect())
}

/// The id, type, status, ends and provenance of a version, as a difference shows them.
fn named(version: &Version) -> impl PartialEq {
    let shape = &version.shape;
    let names = (shape.id.clone(), shape.type_name.clone(), shape.status_name.clone());
    (names, shape.ends, shape.provenance.clone(), shape.is_proxy)
}

fn compare_shapes(
    difference: &Difference,
    model: &Reference,
    (old, before): (&Shape, View),
    (new, after): (&Shape, View),
) {
    let texts = |old: &String, new: &String| (old != new).then(|| (old.as_str().into(), new.as_str().into()));
    assert_eq!(difference.type_name, texts(&old.type_name, &new.type_name));
    assert_eq!(difference.status, texts(&old.status_name, &new.status_name));
    let ids = (old.id != new.id).then(|| (old.id.clone(), new.id.clone()));
    assert_eq!(difference.id, ids);
    let end = |old: u64, new: u64| {
        let named = || (model.entity_id(old, before).clone(), model.entity_id(new, after).clone());
        (old != new).then(named)
    };
    let ends = old.ends.zip(new.ends);
    let from = ends.and_then(|(old, new)| end(old.0, new.0));
    let to = ends.and_then(|(old, new)| end(old.1, new.1));
    assert_eq!((&difference.from, &difference.to), (&from, &to));
    assert_eq!(difference.is_proxy, (old.is_proxy != new.is_proxy).then_some((old.is_proxy, new.is_proxy)));
    let said = |shape: &Shape| Arc::new(shape.provenance.clone().unwrap_or_default());
    let provenance = (old.provenance != new.provenance).then(|| (said(old), said(new)));
    assert_eq!(difference.provenance, provenance);
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

/// Compares distances from one entity with a breadth-first walk over the model. Proxies are walked through, not listed.
pub fn compare_reach(snapshot: &Snapshot, model: &Reference, view: View, start: &Id) {
    let reach = Reach::both();
    let is_start = |known: &&Known| known.live(view).is_some_and(|version| version.shape.id == *start);
    let Some(first) = model.entities.values().find(is_start) else {
        let kind = snapshot.reachable(start, &reach).err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::NotFound), "reach of {start}");
        return;
    };
    let mut distances: BTreeMap<u64, usize> = BTreeMap::from([(first.age, 0)]);
    let mut frontier = vec![first.age];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for at in frontier {
            for direction in [Direction::Out, Direction::In] {
                for (_, other) in neighbors_of(model, at, direction, None, view) {
                    if !distances.contains_key(&other) {
                        distances.insert(other, distances[&at] + 1);
                        next.push(other);
                    }
                }
            }
        }
        frontier = next;
    }
    for (age, distance) in &distances {
        let id = model.entity_id(*age, view);
        let path = snapshot.shortest_path(start, id, &reach).expect("path").expect("it is within reach");
        assert_eq!(path.steps.len(), *distance, "path from {start} to {id}");
    }
    distances.remove(&first.age);
    distances.retain(|age, _| model.entities[age].whole(view).is_some());
    let found = snapshot.reachable(start, &reach).expect("reach");
    let found: BTreeMap<&Id, usize> = found.iter().map(|reached| (reached.id(), reached.distance)).collect();
    let distances: BTreeMap<&Id, usize> =
        distances.iter().map(|(age, distance)| (model.entity_id(*age, view), *distance)).collect();
    assert_eq!(found, distances, "reach of {start} in {view:?}");
}
