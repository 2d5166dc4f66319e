//! Compares two graphs, and the indexes of a graph with its instances.

use super::Graph;
use super::index::TableIndexes;
use super::index::key::{append_value_key, for_each_indexed};
use super::index::late_indexes::LateIndexes;
use super::indexed::Indexed;
use super::instance::row::Row;
use super::instance::unpacked::Instance;
use super::report::{Differences, UNASKED};
use super::structures::link::Link;
use super::structures::symbols::Symbols;
use super::table::Table;
use crate::model::{Direction, TypeKind};
use crate::structures::key_set::KeySet;

/// The differences of `found` from `expected`, which was rebuilt from the same records.
pub(crate) fn differences(expected: &Indexed, found: &Indexed) -> Vec<String> {
    let indexes = [&expected.indexes, &found.indexes];
    let (expected, found) = (&expected.graph, &found.graph);
    let mut report = Differences::default();
    if expected.position != found.position {
        report.add(|| format!("position: expected {}, found {}", expected.position, found.position));
    }
    if !expected.instants.iter().eq(found.instants.iter()) {
        report.add(|| "commit instants differ".into());
    }
    compare_symbols(&mut report, "names", &expected.names, &found.names);
    compare_symbols(&mut report, "authors", &expected.authors, &found.authors);
    if !expected.type_changes.iter().eq(found.type_changes.iter())
        || expected.types.unindexed != found.types.unindexed
    {
        report.add(|| "declared types differ".into());
    }
    if !expected.headers.iter().eq(found.headers.iter()) || expected.collection != found.collection {
        report.add(|| "headers of instances, or the name of the collection, differ".into());
    }
    if !expected.repeats.iter().eq(found.repeats.iter()) {
        report.add(|| "idempotency keys differ".into());
    }
    compare_tables(&mut report, "entity", &expected.entities, &found.entities);
    compare_tables(&mut report, "relationship", &expected.relationships, &found.relationships);
    report.about("entity ");
    expected.entities.lists.compare(&found.entities.lists, &mut report);
    compare_indexes(&mut report, indexes.map(|indexes| &indexes.entities));
    report.about("relationship ");
    expected.relationships.lists.compare(&found.relationships.lists, &mut report);
    compare_indexes(&mut report, indexes.map(|indexes| &indexes.relationships));
    report.about("");
    let entities_len = |graph: &Graph| graph.adjacency(Direction::Out).len();
    for slot in 0..u32::try_from(entities_len(expected).min(entities_len(found))).unwrap_or(u32::MAX) {
        for direction in [Direction::Out, Direction::In] {
            let links =
                |graph: &Graph| -> Vec<Link> { graph.neighbors(slot, direction).iter(None).collect() };
            let degrees =
                |graph: &Graph, link: &Link| graph.neighbors(slot, direction).degree(Some(link.type_name));
            let expected_links = links(expected);
            let is_same = expected_links == links(found)
                && expected_links.iter().all(|link| degrees(expected, link) == degrees(found, link));
            if !is_same {
                report.add(|| format!("entity slot {slot}: its {direction:?} relationships differ"));
            }
        }
    }
    report.compare_keys("past relationships", &expected.past_links, &found.past_links);
    report.into_lines()
}

fn compare_symbols(report: &mut Differences, what: &str, expected: &Symbols, found: &Symbols) {
    if !expected.iter().eq(found.iter()) {
        report.add(|| format!("{what}: expected {} of them, found {}", expected.len(), found.len()));
    }
}

fn compare_tables(report: &mut Differences, what: &str, expected: &Table, found: &Table) {
    let counts = (expected.slots_count(), found.slots_count());
    if counts.0 != counts.1 {
        report.add(|| format!("{what} slots: expected {}, found {}", counts.0, counts.1));
    }
    for slot in 0..u32::try_from(counts.0.min(counts.1)).unwrap_or(u32::MAX) {
        let (expected, instance) = match (expected.get(slot), found.get(slot)) {
            (Ok(expected), Ok(found)) => (expected, found),
            (Err(error), _) | (_, Err(error)) => {
                report.add(|| format!("{what} slot {slot} cannot be read: {error}"));
                continue;
            }
        };
        let is_same = match (&expected, &instance) {
            (Some(expected), Some(found)) => expected.is_same(found),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            let name = |instance: &Option<std::sync::Arc<Instance>>| {
                instance
                    .as_ref()
                    .map_or("nothing".to_owned(), |found| format!("{} v{}", found.id, found.version))
            };
            report.add(|| {
                format!("{what} slot {slot}: expected {}, found {}", name(&expected), name(&instance))
            });
        }
        if let Some(instance) = instance
            && found.slot(&instance.id) != Some(slot)
        {
            report.add(|| format!("{what} {}: its id leads elsewhere", instance.id));
        }
    }
}

fn compare_indexes(report: &mut Differences, [expected, found]: [&LateIndexes; 2]) {
    match (expected.get(), found.get()) {
        (Ok(expected), Ok(found)) => expected.compare(found, report),
        (Err(error), _) | (_, Err(error)) => report.add(|| format!("indexes: {error}")),
    }
}

/// The entries that a graph's indexes lack, or have in excess, compared with its live instances. It ends early, with some
/// of them, once `is_over`.
pub(crate) fn inconsistencies(indexed: &Indexed, is_over: &dyn Fn() -> bool) -> Vec<String> {
    let graph = &indexed.graph;
    let mut report = Differences::default();
    for kind in [TypeKind::Entity, TypeKind::Relationship] {
        match indexed.indexes(kind) {
            Ok(indexes) => check_table(&mut report, graph, kind, indexes, is_over),
            Err(error) => report.add(|| format!("indexes of the {} table: {error}", kind.name())),
        }
    }
    let mut links_count = [0, 0];
    for (slot, id, relationship) in graph.relationships.live() {
        if slot.is_multiple_of(UNASKED) && is_over() {
            return report.into_lines();
        }
        for (side, direction) in [Direction::Out, Direction::In].into_iter().enumerate() {
            links_count[side] += 1;
            let (own, other) = (relationship.ends()[side], relationship.ends()[1 - side]);
            let link = Link { type_name: relationship.type_name(), relationship: slot, other };
            let is_live = graph.entities.row(own).is_some_and(Row::is_live);
            if !is_live {
                report.add(|| format!("relationship {id}: its end in slot {own} is not live"));
            } else if !graph.neighbors(own, direction).iter(Some(link.type_name)).any(|known| known == link) {
                report.add(|| format!("relationship {id}: missing among the neighbours of an end"));
            }
        }
    }
    for (side, neighbors) in graph.links.both().iter().enumerate() {
        let slots = 0..u32::try_from(neighbors.len()).unwrap_or(u32::MAX);
        let found: usize = slots.map(|slot| neighbors.get(slot).degree(None)).sum();
        if found != links_count[side] {
            report.add(|| format!("neighbours: expected {} links, found {found}", links_count[side]));
        }
    }
    report.into_lines()
}

fn check_table(
    report: &mut Differences,
    graph: &Graph,
    kind: TypeKind,
    indexes: &TableIndexes,
    is_over: &dyn Fn() -> bool,
) {
    let table = graph.table(kind);
    let (mut live, mut classified) = (0, 0);
    let mut values_counts: Vec<usize> = vec![0; graph.names.len()];
    for (slot, id, _) in table.live() {
        if slot.is_multiple_of(UNASKED) && is_over() {
            return;
        }
        live += 1;
        if table.is_later(id) {
            report.add(|| format!("{id} is later than all known ids"));
        }
        let instance = match table.known(slot) {
            Ok(instance) => instance,
            Err(error) => {
                report.add(|| format!("{id} cannot be read: {error}"));
                continue;
            }
        };
        if !table.lists.by_type.extents.contains(instance.type_name, slot) {
            report.add(|| format!("{id}: missing in the extent of its type"));
        }
        for known in instance.classifications() {
            classified += 1;
            if !table.lists.classified.present.contains(known.name, slot) {
                report.add(|| format!("{id}: missing in the extent of a classification"));
            }
        }
        for (name, value) in instance.properties.iter() {
            if table.read_value(slot, name).ok().flatten().as_ref() != Some(value) {
                report.add(|| format!("{id}: another value in the column of {}", graph.names.name(name)));
            }
            if !graph.types.is_indexed(kind, instance.type_name, name) {
                continue;
            }
            let mut keys = Vec::new();
            for_each_indexed(value, |scalar| {
                let mut key = Vec::new();
                append_value_key(scalar, slot, &mut key);
                keys.push(key);
            });
            // Long members of one set may have the same beginning, and so the same key.
            keys.sort_unstable();
            keys.dedup();
            values_counts[name.index()] += keys.len();
            let has_all =
                indexes.values.get(name).is_some_and(|values| keys.iter().all(|key| values.contains(key)));
            if !has_all && !keys.is_empty() {
                report.add(|| format!("{id}: missing in the index of {}", graph.names.name(name)));
            }
        }
    }
    if (live, classified) != (table.lists.by_type.extents.len(), table.lists.classified.present.len()) {
        report.add(|| format!("{} extents: they list what is not live", kind.name()));
    }
    for (name, expected) in values_counts.into_iter().enumerate() {
        let found = indexes.values.sets().get(name).map_or(0, KeySet::len);
        if found != expected {
            report.add(|| {
                format!("{} index of property {name}: expected {expected} keys, found {found}", kind.name())
            });
        }
    }
}
