//! Random records, applied with creations together and one by one: both give equal graphs, or the same error.

use std::sync::Arc;

use proptest::prelude::*;

use super::ONE_BY_ONE;
use crate::graph::Graph;
use crate::graph::actions as action;
use crate::graph::compare::{differences, inconsistencies};
use crate::graph::containment::DEPTH_MAX;
use crate::graph::indexed::Indexed;
use crate::model::{
    Action, AttributeDefinition, Change, ClassificationContent, EndDefinition, Id, InstanceId, Instant,
    NewEntity, NewRelationship, Patch, Record, TypeDefinition, Value, ValueSet, ValueType,
};
use crate::{Position, Result};

/// Most steps are allowed after any others, so that most records are.
#[derive(Clone, Debug)]
enum Step {
    Entity(NewOne),
    Link { kind: u8, from: u8, to: u8 },
    Update { number: u8 },
    Delete { number: u8 },
    Restore { number: u8 },
    Purge { number: u8 },
    Reidentify { number: u8 },
    Retype { number: u8 },
    Rule { is_strict: bool },
}

/// An entity, and what contains it.
#[derive(Clone, Debug)]
struct NewOne {
    kind: u8,
    extra: Extra,
    /// An id from before.
    id: Option<u8>,
    /// How far before its own number another one is, for its values.
    value: Option<u8>,
    place: Option<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    /// Counted from the first entity, or from the last.
    parent: u8,
    is_late: bool,
    is_ordered: bool,
    odd: Odd,
}

/// Something that a few entities have.
#[derive(Clone, Copy, Debug)]
enum Extra {
    Nothing,
    LongText,
    Set,
    LargeSet,
    SamePropertyTwice,
    Classification,
    Status,
    Earlier,
    NoRequired,
    BadName,
    DeepList,
}

/// Something that a few places have.
#[derive(Clone, Copy, Debug)]
enum Odd {
    Nothing,
    SameName(u8),
    LongName,
    BadOrder,
    SameId(u8),
    OtherChild(u8),
    Twice,
}

fn extra() -> impl Strategy<Value = Extra> {
    prop_oneof![
        600 => Just(Extra::Nothing),
        20 => Just(Extra::LongText),
        20 => Just(Extra::Set),
        10 => Just(Extra::LargeSet),
        20 => Just(Extra::SamePropertyTwice),
        10 => Just(Extra::Classification),
        10 => Just(Extra::Status),
        10 => Just(Extra::Earlier),
        2 => Just(Extra::NoRequired),
        2 => Just(Extra::BadName),
        2 => Just(Extra::DeepList),
    ]
}

fn odd() -> impl Strategy<Value = Odd> {
    prop_oneof![
        300 => Just(Odd::Nothing),
        20 => any::<u8>().prop_map(Odd::SameName),
        1 => Just(Odd::LongName),
        1 => Just(Odd::BadOrder),
        1 => any::<u8>().prop_map(Odd::SameId),
        1 => any::<u8>().prop_map(Odd::OtherChild),
        1 => Just(Odd::Twice),
    ]
}

fn rarely(weight: f64) -> impl Strategy<Value = Option<u8>> {
    proptest::option::weighted(weight, any::<u8>())
}

fn step() -> impl Strategy<Value = Step> {
    let byte = any::<u8>;
    let place = (byte(), any::<bool>(), any::<bool>(), odd())
        .prop_map(|(parent, is_late, is_ordered, odd)| Place { parent, is_late, is_ordered, odd });
    let place = proptest::option::weighted(0.7, place);
    let entity = (0u8..5, extra(), rarely(0.005), rarely(0.02), place)
        .prop_map(|(kind, extra, id, value, place)| Step::Entity(NewOne { kind, extra, id, value, place }));
    prop_oneof![
        250 => entity,
        60 => (0u8..4, byte(), byte()).prop_map(|(kind, from, to)| Step::Link { kind, from, to }),
        2 => byte().prop_map(|number| Step::Update { number }),
        1 => byte().prop_map(|number| Step::Delete { number }),
        1 => byte().prop_map(|number| Step::Restore { number }),
        1 => byte().prop_map(|number| Step::Purge { number }),
        1 => byte().prop_map(|number| Step::Reidentify { number }),
        1 => byte().prop_map(|number| Step::Retype { number }),
        6 => any::<bool>().prop_map(|is_strict| Step::Rule { is_strict }),
    ]
}

/// The types of entities; the last one is not declared.
const KINDS: [&str; 5] = ["plain", "keyed", "special", "drafted", "other"];

/// The ids so far: of all entities, and of those of each kind.
#[derive(Clone, Default)]
struct Ids {
    entities: Vec<Id>,
    of_kinds: [Vec<Id>; KINDS.len()],
    relationships: Vec<Id>,
    count: usize,
}

/// The id with this number, counted from the last one.
fn from_last(ids: &[Id], number: u8) -> Id {
    let at = ids.len().checked_sub(1 + usize::from(number) % ids.len().max(1));
    at.map_or_else(Id::root, |at| ids[at].clone())
}

impl Ids {
    fn fresh(&mut self) -> Id {
        self.count += 1;
        // All forms of ids. Most fresh ones ascend.
        let (form, number) = (self.count % 8, self.count as u128);
        let number = if form == 7 { 1_000_000 - number } else { number };
        match form {
            0 => Id::new(&format!("i{number}")).expect("a short text"),
            1 => Id::from_uuid_bytes(number.to_be_bytes()),
            _ => Id::from_uuid_bytes((number << 80 | 7 << 76).to_be_bytes()),
        }
    }

    fn entity(&self, number: u8) -> Id {
        let count = self.entities.len();
        if count == 0 { Id::root() } else { self.entities[usize::from(number) % count].clone() }
    }

    fn add(&mut self, step: &Step, instant: Instant, changes: &mut Vec<Change>) {
        let entity = |ids: &Ids, number: u8| InstanceId::Entity(ids.entity(number));
        let action: Action = match step {
            Step::Entity(one) => return self.add_entity(one, instant, changes),
            Step::Link { .. } if self.of_kinds[..2].iter().any(Vec::is_empty) => return,
            Step::Link { kind, from, to } => {
                let [plain, keyed, ..] = &self.of_kinds;
                let (type_name, from, to) = match kind {
                    0 => ("part", self.entity(*from), from_last(plain, *to)),
                    1 if *from < 24 => ("owner", from_last(plain, *from % 40), from_last(keyed, *to % 3)),
                    2 if *from < 24 => ("soleOwner", from_last(plain, *from % 40), from_last(keyed, *to % 3)),
                    _ if *from == 0 => ("part", self.entity(*from), self.entity(*to)),
                    _ => ("link", self.entity(*from), self.entity(*to)),
                };
                let id = self.fresh();
                let new = NewRelationship { id, ..NewRelationship::new(type_name, from, to) };
                new.property("weight", i64::from(*kind)).into()
            }
            Step::Update { number } => {
                let patch = Patch::new().set("text", i64::from(*number));
                action::Update { instance: entity(self, *number), patch, provenance: None }.into()
            }
            Step::Delete { number } => action::Delete { instance: entity(self, *number) }.into(),
            Step::Restore { number } => {
                action::Restore { instance: entity(self, *number), with_relationships: true }.into()
            }
            Step::Purge { number } => action::Purge { instance: entity(self, *number) }.into(),
            Step::Reidentify { number } => {
                let instance = entity(self, *number);
                let id = self.fresh();
                self.entities.push(id.clone());
                action::Reidentify { instance, id }.into()
            }
            Step::Retype { number } => {
                action::Retype { instance: entity(self, *number), type_name: "plain".into() }.into()
            }
            Step::Rule { is_strict } => Box::new(keyed(*is_strict)).into(),
        };
        changes.push(Change::from(action));
    }

    fn add_entity(&mut self, one: &NewOne, instant: Instant, changes: &mut Vec<Change>) {
        let before = self.entities.clone();
        let fresh = self.fresh();
        let id = one.id.map_or(fresh, |number| self.entity(number));
        let value = one.value.map_or(self.count, |value| self.count.saturating_sub(usize::from(value % 16)));
        let new = new_entity(id.clone(), one, i64::try_from(value).expect("few ids"));
        self.entities.push(id.clone());
        self.of_kinds[usize::from(one.kind)].push(id.clone());
        let earlier = Instant::from_checked_micros(instant.micros() - 3);
        let valid_from = matches!(one.extra, Extra::Earlier).then_some(earlier);
        changes.push(Change { valid_from, ..Change::from(new) });
        let Some(place) = one.place.as_ref().filter(|_| !before.is_empty()) else { return };
        let parent = if place.is_late {
            from_last(&before, place.parent % 4)
        } else {
            before[usize::from(place.parent % 4) % before.len()].clone()
        };
        self.add_place(place, parent, &id, changes);
    }

    fn add_place(&mut self, place: &Place, parent: Id, child: &Id, changes: &mut Vec<Change>) {
        let fresh = self.fresh();
        let (id, child) = match place.odd {
            Odd::SameId(number) => (from_last(&self.relationships, number), child.clone()),
            Odd::OtherChild(number) => (fresh, self.entity(number)),
            _ => (fresh, child.clone()),
        };
        self.relationships.push(id.clone());
        let name = match place.odd {
            // Of a child just before, or one of an earlier record.
            Odd::SameName(number) => {
                let back = if number < 128 { number % 16 } else { number };
                format!("child {}", self.count.saturating_sub(usize::from(back)))
            }
            Odd::LongName => "long".repeat(200),
            _ => format!("child {}", self.count),
        };
        let digit = if matches!(place.odd, Odd::BadOrder) { 0 } else { 1 };
        let order = Value::Bytes(self.count.to_be_bytes().map(|byte| byte | digit).to_vec().into());
        let type_name = if place.is_ordered { "lists" } else { "holds" };
        let new = NewRelationship { id, ..NewRelationship::new(type_name, parent, child) };
        let new = new.property("name", name.as_str()).property("order", order);
        changes.push(Change::from(new.clone()));
        if matches!(place.odd, Odd::Twice) {
            changes.push(Change::from(NewRelationship { id: self.fresh(), ..new }));
        }
    }
}

fn new_entity(id: Id, one: &NewOne, value: i64) -> NewEntity {
    let type_name = KINDS[usize::from(one.kind)];
    let new = NewEntity { id, ..NewEntity::new(type_name) };
    let new = match type_name {
        "keyed" => {
            let new = new.property("key", value).property("hidden", value);
            // Some have the side of one just before.
            new.property("side", value / 3).property("turn", 0)
        }
        "special" if matches!(one.extra, Extra::NoRequired) => new,
        "special" => new.property("must", 0.5).property("code", value),
        "plain" => new.property("code", value),
        _ => new.property("flag", value > 100).property(&format!("name {}", value % 20), "a value"),
    };
    let set = |members: std::ops::Range<i64>| {
        let mut set = ValueSet::new();
        members.for_each(|one| drop(set.insert(&Value::Integer(one))));
        Value::Set(set)
    };
    match one.extra {
        Extra::LongText => new.property("text", "long ".repeat(900).as_str()),
        Extra::Set => new.property("members", set(0..3)),
        Extra::LargeSet => new.property("members", set(0..500)),
        Extra::SamePropertyTwice => new.property("text", "first").property("text", "second"),
        Extra::Classification => {
            NewEntity { classifications: vec![ClassificationContent::new("marked")], ..new }
        }
        Extra::Status => new.status("sleeping"),
        Extra::BadName => new.property("", 1),
        Extra::DeepList => {
            new.property("deep", (0..200).fold(Value::from(1), |value, _| Value::List(vec![value].into())))
        }
        Extra::Nothing | Extra::Earlier | Extra::NoRequired => new.property("text", "a text"),
    }
}

fn keyed(is_strict: bool) -> TypeDefinition {
    let integer = |name| AttributeDefinition::new(name, ValueType::Integer);
    let lax = TypeDefinition::entity("keyed").attribute(integer("key").key());
    let lax = lax.attribute(integer("hidden").unindexed());
    let lax = lax.attribute(integer("side")).attribute(integer("turn"));
    if is_strict { lax.unique_together(&["side", "turn"]) } else { lax }
}

fn declare(graph: &mut Graph) -> Result<()> {
    let code = || AttributeDefinition::new("code", ValueType::Integer).unique();
    let must = AttributeDefinition::new("must", ValueType::Float).required();
    let drafted = TypeDefinition {
        statuses: vec!["draft".into(), "active".into()],
        initial_status: Some("draft".into()),
        ..TypeDefinition::entity("drafted")
    };
    let types = [
        TypeDefinition::entity("plain").attribute(code()),
        keyed(false),
        TypeDefinition::entity("special").supertype("plain").attribute(must),
        drafted,
        TypeDefinition::relationship("holds").containing(),
        TypeDefinition::relationship("lists").containing_in_order(),
        TypeDefinition::relationship("part").between(EndDefinition::ANY, EndDefinition::many("plain")),
        TypeDefinition::relationship("owner")
            .between(EndDefinition::many("plain"), EndDefinition::one("keyed")),
        TypeDefinition::relationship("soleOwner").supertype("owner"),
    ];
    let changes = types.into_iter().map(|definition| Change::from(Box::new(definition))).collect();
    graph.apply(Position(1), &record(1, changes))
}

fn record(position: u64, changes: Vec<Change>) -> Record {
    let instant = Instant::from_checked_micros(1_000_000 * i64::try_from(position).expect("few records"));
    Record { instant, author: "a".into(), changes, ..Record::default() }
}

/// Applies a record as a commit does.
fn apply(graph: &Graph, position: Position, record: &Record, is_single: bool) -> Result<Graph> {
    let mut graph = graph.clone();
    let start = graph.record_start();
    ONE_BY_ONE.set(is_single);
    let applied = graph.apply_new(position, record);
    ONE_BY_ONE.set(false);
    applied?;
    graph.check_record(&start, false)?;
    Ok(graph)
}

#[test]
fn containers_in_each_other_are_bounded_in_a_run_too() -> Result<()> {
    let mut graph = Graph::with_spill(None);
    declare(&mut graph)?;
    let mut changes = Vec::new();
    let mut ids = Ids::default();
    let place = Place { parent: 0, is_late: true, is_ordered: false, odd: Odd::Nothing };
    let one = NewOne { kind: 0, extra: Extra::Nothing, id: None, value: None, place: Some(place) };
    let instant = record(2, Vec::new()).instant;
    for levels in 1..=DEPTH_MAX + 2 {
        ids.add(&Step::Entity(one.clone()), instant, &mut changes);
        let record = record(2, changes.clone());
        let [together, single] =
            [false, true].map(|is_single| apply(&graph, Position(2), &record, is_single));
        assert_eq!(
            together.err().map(|error| error.to_string()),
            single.as_ref().err().map(ToString::to_string)
        );
        assert_eq!(single.is_err(), levels > DEPTH_MAX + 1, "{levels}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn creations_together_make_the_graph_that_single_ones_make(
        records in proptest::collection::vec((proptest::collection::vec(step(), 1..60), 0u8..8), 1..10),
        is_indexed_late in any::<bool>(),
        is_typed in proptest::bool::weighted(0.9),
    ) {
        let empty = || Indexed::new(Graph::with_spill(None), Arc::default());
        let (mut together, mut single) = (empty(), empty());
        let types = record(1, Vec::new());
        for indexed in [&mut together, &mut single] {
            if is_typed { declare(&mut indexed.graph)? } else { indexed.graph.apply(Position(1), &types)? }
        }
        let mut ids = Ids::default();
        for (mut steps, rule) in records {
            // Records that take the rule away for a while, and records that keep it.
            if rule < 3 {
                steps.insert(0, Step::Rule { is_strict: rule > 0 });
                steps.push(Step::Rule { is_strict: true });
            }
            let position = together.graph.position.next();
            let instant = record(position.0, Vec::new()).instant;
            let before = ids.clone();
            let mut changes = Vec::new();
            steps.iter().for_each(|step| ids.add(step, instant, &mut changes));
            let record = record(position.0, changes);
            let found = apply(&together.graph, position, &record, false);
            match (found, apply(&single.graph, position, &record, true)) {
                (Ok(found), Ok(expected)) => (together.graph, single.graph) = (found, expected),
                (Err(found), Err(expected)) => {
                    prop_assert_eq!((found.kind(), found.to_string()), (expected.kind(), expected.to_string()));
                    ids = Ids { count: ids.count, ..before };
                    continue;
                }
                (found, expected) => prop_assert!(false, "expected {:?}, found {:?}", expected.err(), found.err()),
            }
            single.pass_events(0);
            together.pass_events(if is_indexed_late { usize::MAX } else { 0 });
            let settled = together.settled().unwrap();
            prop_assert_eq!(differences(&single, &settled), Vec::<String>::new());
            prop_assert_eq!(inconsistencies(&settled, &|| false), Vec::<String>::new());
        }
    }
}
