//! Random records, applied with deletions, restorations and purges together and one by one: both graphs must be equal after each record.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::ONE_BY_ONE;
use crate::graph::Graph;
use crate::graph::compare::{differences, inconsistencies};
use crate::graph::index::event::Told;
use crate::graph::indexed::Indexed;
use crate::graph::purges::PurgedInstance;
use crate::log::ReadLimit;
use crate::model::{
    AttributeDefinition, ClassificationContent, Id, InstanceId, NewEntity, NewRelationship, Patch,
    TypeDefinition, ValueType,
};
use crate::record::decode_record;
use crate::write::Transaction;
use crate::{Position, Repository, Result};

/// Entities and relationships have the ids 0 to this.
const IDS: u8 = 40;

#[derive(Clone, Debug)]
enum Step {
    Entity {
        id: u8,
        is_keyed: bool,
        code: u8,
    },
    Contain {
        id: u8,
        parent: u8,
        child: u8,
        is_ordered: bool,
    },
    Link {
        id: u8,
        from: u8,
        to: u8,
    },
    Update {
        id: u8,
        value: u8,
    },
    Classify {
        id: u8,
    },
    Declassify {
        id: u8,
    },
    Retype {
        id: u8,
    },
    /// Entities from an id on, in one record; with a relationship among them.
    Delete {
        id: u8,
        count: u8,
        relationship: Option<u8>,
    },
    Restore {
        id: u8,
        with_relationships: bool,
    },
    /// Declares what every entity has: the types differ from those at its deletion.
    Declare,
    Purge {
        id: u8,
        is_relationship: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..IDS;
    let ids = (0..IDS, 0..IDS, 0..IDS);
    prop_oneof![
        8 => (id.clone(), any::<bool>(), 0u8..60)
            .prop_map(|(id, is_keyed, code)| Step::Entity { id, is_keyed, code }),
        10 => (ids.clone(), any::<bool>())
            .prop_map(|((id, parent, child), is_ordered)| Step::Contain { id, parent: parent % 6, child, is_ordered }),
        4 => ids.prop_map(|(id, from, to)| Step::Link { id, from, to }),
        2 => (id.clone(), any::<u8>()).prop_map(|(id, value)| Step::Update { id, value }),
        1 => id.clone().prop_map(|id| Step::Classify { id }),
        1 => id.clone().prop_map(|id| Step::Declassify { id }),
        1 => id.clone().prop_map(|id| Step::Retype { id }),
        4 => (id.clone(), 1u8..12, proptest::option::of(0..IDS))
            .prop_map(|(id, count, relationship)| Step::Delete { id, count, relationship }),
        5 => (id.clone(), any::<bool>())
            .prop_map(|(id, with_relationships)| Step::Restore { id, with_relationships }),
        1 => Just(Step::Declare),
        2 => (id, any::<bool>()).prop_map(|(id, is_relationship)| Step::Purge { id, is_relationship }),
    ]
}

fn id(number: u8) -> Id {
    Id::new(&format!("i{number}")).expect("a short text")
}

fn entity(number: u8) -> InstanceId {
    InstanceId::Entity(id(number))
}

fn relationship(number: u8) -> InstanceId {
    InstanceId::Relationship(id(number))
}

fn code_attribute() -> AttributeDefinition {
    AttributeDefinition::new("code", ValueType::Integer).unique()
}

fn declare(t: &mut Transaction) -> Result<()> {
    let key = AttributeDefinition::new("key", ValueType::Integer).key();
    let hidden = AttributeDefinition::new("hidden", ValueType::Integer).unindexed();
    t.define_type(TypeDefinition::entity("plain").attribute(code_attribute()))?;
    t.define_type(TypeDefinition::entity("keyed").attribute(key).attribute(hidden))?;
    t.define_type(TypeDefinition::relationship("holds").containing())?;
    t.define_type(TypeDefinition::relationship("lists").containing_in_order())
}

fn apply(t: &mut Transaction, step: &Step) -> Result<()> {
    match *step {
        Step::Entity { id: number, is_keyed, code } => {
            let new =
                NewEntity { id: id(number), ..NewEntity::new(if is_keyed { "keyed" } else { "plain" }) };
            let new = new.property(if is_keyed { "key" } else { "code" }, i64::from(code));
            t.create_entity(new.property("text", "a text").property("hidden", i64::from(code))).map(drop)
        }
        Step::Contain { id: number, parent, child, is_ordered } => {
            let name = if is_ordered { "lists" } else { "holds" };
            let new = NewRelationship { id: id(number), ..NewRelationship::new(name, id(parent), id(child)) };
            let order = vec![number + 1, 1, 1, 1];
            let new = new.property("name", format!("child {number}").as_str());
            let new = if is_ordered { new.property("order", crate::Value::Bytes(order.into())) } else { new };
            t.create_relationship(new).map(drop)
        }
        Step::Link { id: number, from, to } => t
            .create_relationship(NewRelationship {
                id: id(number),
                ..NewRelationship::new("link", id(from), id(to))
            })
            .map(drop),
        Step::Update { id, value } => t.update(&entity(id), Patch::new().set("text", i64::from(value))),
        Step::Classify { id: number } => t.classify(&id(number), ClassificationContent::new("marked")),
        Step::Declassify { id: number } => t.declassify(&id(number), "marked"),
        Step::Retype { id } => t.retype(&entity(id), "plain"),
        Step::Delete { id, count, relationship: named } => {
            (id..IDS.min(id + count)).try_for_each(|id| t.delete(&entity(id)))?;
            named.map_or(Ok(()), |named| t.delete(&relationship(named)))
        }
        Step::Restore { id, with_relationships: true } => t.restore(&entity(id)),
        Step::Restore { id: number, with_relationships: false } => t.restore_alone(&id(number)),
        Step::Declare => {
            let text = AttributeDefinition::new("text", ValueType::String);
            t.define_type(TypeDefinition::entity("plain").attribute(code_attribute()).attribute(text))
        }
        Step::Purge { id, is_relationship: true } => t.purge(&relationship(id)),
        Step::Purge { id, is_relationship: false } => t.purge(&entity(id)),
    }
}

/// Commits the steps, each in a record of its own if it is allowed, or some together.
fn history(steps: &[(Step, u8)]) -> Result<Repository> {
    let repository = Repository::in_memory();
    repository.transact(declare)?;
    // Names that are missing fail a whole record: only those that are possible are in it.
    for together in steps.chunk_by(|(_, rank), _| *rank > 2) {
        let possible: Vec<&Step> = together.iter().map(|(step, _)| step).collect();
        let all = repository.transact(|t| possible.iter().try_for_each(|step| apply(t, step)));
        if all.is_err() {
            for step in possible {
                delete_what_is_there(&repository, step);
            }
        }
    }
    Ok(repository)
}

/// Applies a step alone; of a deletion of many only those that are live.
fn delete_what_is_there(repository: &Repository, step: &Step) {
    let outcome = repository.transact(|t| apply(t, step));
    let Step::Delete { id: first, count, .. } = *step else { return };
    if outcome.is_ok() {
        return;
    }
    let snapshot = repository.snapshot();
    let live: Vec<u8> = (first..IDS.min(first + count))
        .filter(|number| snapshot.entity(&id(*number)).is_ok_and(|entity| entity.is_some()))
        .collect();
    // A container takes its children along; then these cannot be named, too.
    let _ = repository.transact(|t| live.iter().try_for_each(|number| t.delete(&entity(*number))));
}

/// A container with 19 children, and then these steps.
fn of_container(then: &[Step]) -> Result<Repository> {
    let contain =
        |child: u8| Step::Contain { id: child, parent: 0, child, is_ordered: child.is_multiple_of(2) };
    let mut steps = vec![Step::Entity { id: 0, is_keyed: false, code: 0 }];
    for child in 1..20 {
        steps.extend([
            Step::Entity { id: child, is_keyed: child.is_multiple_of(3), code: child },
            contain(child),
        ]);
    }
    steps.extend_from_slice(then);
    let steps: Vec<(Step, u8)> = steps.into_iter().map(|step| (step, 0)).collect();
    history(&steps)
}

const DELETE: Step = Step::Delete { id: 0, count: 1, relationship: None };

#[test]
fn deletions_of_a_container_are_together() -> Result<()> {
    let snapshot = of_container(&[DELETE])?.snapshot();
    let graph = snapshot.graph();
    let slots = |table: &crate::graph::table::Table| table.deletions.runs().map(|run| run.len).sum::<u32>();
    assert_eq!([slots(&graph.entities), slots(&graph.relationships)], [20, 19]);
    Ok(())
}

#[test]
fn a_container_is_restored_together_unless_a_type_changed_since() -> Result<()> {
    let restore = Step::Restore { id: 0, with_relationships: true };
    for (then, expected) in [
        (vec![DELETE, restore.clone()], [20, 19]),
        (vec![DELETE, Step::Declare, restore.clone()], [0, 0]),
        (vec![Step::Declare, DELETE, restore.clone(), DELETE, restore.clone()], [40, 38]),
    ] {
        let repository = of_container(&then)?;
        let records = repository.snapshot().source().log().read(Position(1), ReadLimit::default())?;
        let mut graph = Graph::with_spill(None);
        for (position, bytes) in (1..).map(Position).zip(records) {
            graph.apply(position, &decode_record(position, &bytes)?)?;
        }
        let restored = [&graph.entities, &graph.relationships].map(|table| {
            let slots =
                |told: &Told| if let Told::Restored(together) = told { together.slots.len() } else { 0 };
            table.events.iter().map(slots).sum::<usize>()
        });
        assert_eq!(restored, expected);
        assert_eq!(graph.entities.live_slots().len(), 20);
    }
    Ok(())
}

/// The last purges that a graph knows.
fn purges(graph: &Graph) -> (Position, Position, Position, BTreeSet<String>) {
    let shown = |purged: &PurgedInstance| {
        let PurgedInstance { position, kind, slot, ids, types, starts } = purged;
        let [types, starts] = [
            types.iter().map(|name| name.0).collect::<BTreeSet<_>>(),
            starts.iter().copied().collect::<BTreeSet<_>>(),
        ];
        format!("{position} {kind:?} {slot} {ids:?} {types:?} {starts:?}")
    };
    let known = graph.purges.known(0..=u64::MAX).map(shown).collect();
    (graph.purges.last, graph.purges.forgotten, graph.purged_relationship_at, known)
}

#[test]
fn a_container_is_purged_together_live_or_deleted() -> Result<()> {
    let purge = Step::Purge { id: 0, is_relationship: false };
    for (then, expected) in [
        (vec![purge.clone()], [20, 19]),
        (vec![DELETE, purge.clone()], [20, 19]),
        (vec![Step::Classify { id: 7 }, purge.clone()], [19, 19]),
    ] {
        let repository = of_container(&then)?;
        let records = repository.snapshot().source().log().read(Position(1), ReadLimit::default())?;
        let mut graph = Graph::with_spill(None);
        for (position, bytes) in (1..).map(Position).zip(records) {
            graph.apply(position, &decode_record(position, &bytes)?)?;
        }
        let purged = [&graph.entities, &graph.relationships].map(|table| {
            let slots =
                |told: &Told| if let Told::Purged(together) = told { together.slots.len() } else { 0 };
            table.events.iter().map(slots).sum::<usize>()
        });
        assert_eq!(purged, expected);
        assert_eq!(graph.entities.live_slots().len(), 0);
    }
    Ok(())
}

proptest! {
    #[test]
    fn deletions_restorations_and_purges_together_make_the_graph_that_single_ones_make(
        steps in proptest::collection::vec((step(), 0u8..8), 1..120),
        is_indexed_late in any::<bool>(),
    ) {
        let repository = history(&steps)?;
        let snapshot = repository.snapshot();
        let records = snapshot.source().log().read(Position(1), ReadLimit::default())?;
        let empty = || Indexed::new(Graph::with_spill(None), Arc::default());
        let (mut together, mut single) = (empty(), empty());
        for (position, bytes) in (1..).map(Position).zip(records) {
            let record = decode_record(position, &bytes)?;
            together.graph.apply(position, &record)?;
            ONE_BY_ONE.set(true);
            let applied = single.graph.apply(position, &record);
            ONE_BY_ONE.set(false);
            applied?;
            single.pass_events(0);
            together.pass_events(if is_indexed_late { usize::MAX } else { 0 });
            prop_assert_eq!(purges(&together.graph), purges(&single.graph));
            let settled = together.settled().unwrap();
            prop_assert_eq!(differences(&single, &settled), Vec::<String>::new());
            prop_assert_eq!(inconsistencies(&settled, &|| false), Vec::<String>::new());
        }
        prop_assert_eq!(differences(&single, &snapshot.indexed().settled().unwrap()), Vec::<String>::new());
    }
}
