//! Operations of random histories, small enough to collide, odd enough to break things.

use annals::action;
use std::sync::Arc;

use annals::*;
use rust_decimal::Decimal;

use super::random::Random;

/// One operation of a transaction. `Undo` is worked out from the state it meets; all others are what they say.
#[derive(Clone, Debug)]
pub enum Operation {
    Act(Action),
    Undo(InstanceId),
}

/// An operation and the valid time it claims.
pub type Timed = (Option<Instant>, Operation);

/// The shape of a history: each makes another part of the instances large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Small,
    /// One entity with hundreds of relationships.
    WideHub,
    /// One entity with hundreds of properties.
    ManyProperties,
    /// Multi-valued properties of many values.
    LargeSets,
}

pub const SHAPES: [Shape; 4] = [Shape::Small, Shape::WideHub, Shape::ManyProperties, Shape::LargeSets];
pub const ENTITY_TYPES: [&str; 3] = ["t0", "t1", "t2"];
pub const RELATIONSHIP_TYPES: [&str; 3] = ["k0", "k1", "k2"];
pub const CLASSIFICATIONS: [&str; 3] = ["c0", "c1", "c2"];
pub const HOMES: [&str; 4] = ["there", "there", "elsewhere", "here"];
pub const PROPERTIES: [&str; 5] = ["p0", "p1", "p2", "p3", "plain"];

pub fn entity_id(number: usize) -> Id {
    // The kind of id that is made by default, then texts.
    match number % 3 {
        0 => Id::new(&format!("0190b2f0-{number:04x}-7000-8000-000000000000")).unwrap(),
        _ => Id::new(&format!("e{number}")).unwrap(),
    }
}

pub fn relationship_id(number: usize) -> Id {
    // Entities and relationships have separate id spaces, so they may share ids.
    Id::new(&format!("e{number}")).unwrap()
}

pub struct Generator {
    pub random: Random,
    pub shape: Shape,
    /// Instants that records were committed at, for claims about the past.
    pub instants: Vec<i64>,
    /// False for a history in which nothing is copied, comes from anywhere or gets another id.
    pub has_homes: bool,
}

impl Generator {
    pub fn entities_count(&self) -> usize {
        if self.shape == Shape::WideHub { 24 } else { 8 }
    }

    pub fn relationships_count(&self) -> usize {
        if self.shape == Shape::WideHub { 160 } else { 12 }
    }

    pub fn entity(&mut self) -> Id {
        let count = self.entities_count();
        // The first ones are hubs.
        let number = if self.random.one_in(2) { self.random.below(2) } else { self.random.below(count) };
        entity_id(number)
    }

    pub fn instance(&mut self) -> InstanceId {
        if self.random.one_in(3) {
            let count = self.relationships_count();
            InstanceId::Relationship(relationship_id(self.random.below(count)))
        } else {
            InstanceId::Entity(self.entity())
        }
    }

    pub fn scalar(&mut self) -> Value {
        let small = self.random.below(6) as i64 - 2;
        match self.random.below(32) {
            0..=5 => Value::Integer(small),
            6 => Value::Float(small as f64),
            7 => Value::Decimal(Decimal::new(small, 0)),
            8 => Value::Decimal(Decimal::new(small * 10, 1)),
            9 => Value::Float(small as f64 + 0.5),
            10 => Value::Decimal(Decimal::new(small * 10 + 5, 1)),
            11 => Value::Float(f64::NAN),
            12 => {
                Value::Float(*self.random.choose(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN]))
            }
            13 => Value::Integer(*self.random.choose(&[i64::MIN, i64::MAX, 1 << 40])),
            14 => Value::from(""),
            15 => Value::from(*self.random.choose(&["\0", "a\0", "a\0b"])),
            16..=19 => Value::from(*self.random.choose(&["a", "ab", "abc", "b", "ä"])),
            20 | 21 => {
                let ending = *self.random.choose(&["", "a", "b", "ab", "\0"]);
                Value::from(format!("{}{ending}", "x".repeat(119 + self.random.below(3))))
            }
            22 => Value::Iri(self.random.choose(&["a:", "a:b", "http://x"]).to_string().into()),
            23 => Value::Bytes(vec![0u8, 255][..self.random.below(3)].into()),
            24 => Value::Boolean(self.random.one_in(2)),
            25 => Value::Date(Date::from_days(small as i32 * 1_000).unwrap()),
            26 => Value::Timestamp(Instant::from_micros(small * 1_000_001).unwrap()),
            27 => Value::Duration(Duration::from_micros(small * 1_500_000)),
            29 => {
                let (text, language) =
                    *self.random.choose(&[("", "en"), ("a", "en"), ("a", "fr"), ("a\0", "en")]);
                Value::from(Literal::in_language(text, language).unwrap())
            }
            30 => {
                let datatype = *self.random.choose(&["x:a", "x:b"]);
                let text = "z".repeat(self.random.below(2) * 118);
                Value::from(Literal::with_datatype(&text, datatype).unwrap())
            }
            28 => Value::Uuid([small.unsigned_abs() as u8; 16]),
            _ => Value::from(format!("{}{}", "y".repeat(300), self.random.below(4))),
        }
    }

    pub fn value(&mut self) -> Value {
        match self.random.below(24) {
            0 => Value::List((0..self.random.below(3)).map(|_| self.scalar()).collect::<Vec<_>>().into()),
            1 => Value::Map(Arc::new([("k".into(), self.scalar())].into())),
            2 | 3 => {
                let count = if self.shape == Shape::LargeSets { self.random.below(60) } else { 4 };
                Value::set((0..count).map(|_| self.member()).collect::<Vec<_>>()).unwrap()
            }
            _ => self.scalar(),
        }
    }

    /// A member of a set: of many kinds, or one of many numbers.
    fn member(&mut self) -> Value {
        if self.shape == Shape::LargeSets && !self.random.one_in(4) {
            return Value::Integer(self.random.below(40) as i64);
        }
        self.scalar()
    }

    pub fn property(&mut self) -> String {
        if self.shape == Shape::ManyProperties && !self.random.one_in(4) {
            return format!("q{}", self.random.below(150));
        }
        self.random.choose(&PROPERTIES).to_string()
    }

    pub fn properties(&mut self) -> Vec<(Arc<str>, Value)> {
        let many = self.shape == Shape::ManyProperties && self.random.one_in(4);
        let count = if many { self.random.below(100) } else { self.random.below(4) };
        (0..count).map(|_| self.entry()).collect()
    }

    fn entry(&mut self) -> (Arc<str>, Value) {
        let name = self.property();
        // `plain` is declared single-valued by some types.
        let value = if *name == *"plain" { self.scalar() } else { self.value() };
        (name.into(), value)
    }

    pub fn patch(&mut self) -> Patch {
        let many = self.shape != Shape::Small && self.random.one_in(3);
        let steps = if many { self.random.below(40) } else { 1 + self.random.below(3) };
        (0..steps).fold(Patch::new(), |patch, _| {
            let (name, value) = self.entry();
            match self.random.below(if self.shape == Shape::Small { 12 } else { 30 }) {
                0 => patch.unset(&name),
                1 => patch.clear(),
                2..=4 if *name != *"plain" => patch.remove(&name, self.member()),
                5 | 6 => patch.set(&name, value),
                _ if *name != *"plain" => patch.add(&name, self.member()),
                _ => patch.set(&name, value),
            }
        })
    }

    pub fn classification(&mut self) -> ClassificationContent {
        let name = (*self.random.choose(&CLASSIFICATIONS)).into();
        let provenance = (self.has_homes && self.random.one_in(6)).then(|| Arc::new(self.provenance()));
        ClassificationContent { name, properties: self.properties(), provenance }
    }

    fn home(&mut self) -> Arc<str> {
        (*self.random.choose(&HOMES)).into()
    }

    fn provenance(&mut self) -> Provenance {
        let license = self.random.one_in(2).then(|| (*self.random.choose(&["a", "ab", "b"])).into());
        let given = Provenance { license, ..Provenance::default() };
        match self.random.below(8) {
            0 | 1 => Provenance {
                home: self.random.one_in(2).then(|| self.home()),
                kind: ProvenanceKind::ExternalSource,
                replicated_by: self.random.one_in(2).then(|| self.home()),
                ..given
            },
            2 => Provenance { kind: ProvenanceKind::ContentPack, ..given },
            3 => Provenance { home: Some(self.home()), ..given },
            _ => given,
        }
    }

    /// The provenance that a change of content states.
    fn stated_provenance(&mut self) -> Option<Arc<Provenance>> {
        (self.has_homes && self.random.one_in(6)).then(|| Arc::new(self.provenance()))
    }

    fn stamp(&mut self) -> Stamp {
        // Times of elsewhere lie before, among and after those of here.
        let known = if self.instants.is_empty() { 0 } else { *self.random.choose(&self.instants) };
        let micros = known + *self.random.choose(&[-1_000_000, -1, 0, 1, 1_000_000]);
        Stamp {
            instant: Instant::from_micros(micros).unwrap(),
            author: (*self.random.choose(&["", "ada", "there"])).into(),
        }
    }

    fn copy_header(&mut self) -> CopyHeader {
        let license = self.random.one_in(4).then(|| "a".into());
        let home = if self.random.one_in(40) { None } else { Some(self.home()) };
        CopyHeader {
            provenance: Provenance { home, license, ..Provenance::default() },
            version: 1 + self.random.below(9) as u32,
            status: self.random.one_in(3).then(|| "draft".into()),
            created: self.stamp(),
            updated: self.stamp(),
        }
    }

    fn classification_copy(&mut self) -> ClassificationCopy {
        let home = if self.random.one_in(4) { None } else { Some(self.home()) };
        ClassificationCopy {
            name: (*self.random.choose(&CLASSIFICATIONS)).into(),
            properties: self.properties(),
            provenance: Provenance { home, ..Provenance::default() },
            version: 1 + self.random.below(9) as u32,
            created: self.stamp(),
            updated: self.stamp(),
        }
    }

    /// Changes of homes and ids, and copies.
    fn of_homes(&mut self) -> Action {
        let (entities, relationships) = (self.entities_count(), self.relationships_count());
        match self.random.below(34) {
            0..=4 => match self.instance() {
                InstanceId::Entity(id) => Action::Reidentify(action::Reidentify {
                    instance: InstanceId::Entity(id),
                    id: entity_id(self.random.below(entities)),
                }),
                InstanceId::Relationship(id) => {
                    let to = relationship_id(self.random.below(relationships));
                    Action::Reidentify(action::Reidentify { instance: InstanceId::Relationship(id), id: to })
                }
            },
            5..=8 => Action::Rehome(action::Rehome { instance: self.instance(), home: self.home() }),
            9..=15 => {
                let count = if self.random.one_in(3) { 1 + self.random.below(2) } else { 0 };
                Action::SaveEntity(Box::new(EntityCopy {
                    id: self.entity(),
                    type_name: (*self.random.choose(&ENTITY_TYPES)).into(),
                    properties: self.properties(),
                    classifications: (0..count).map(|_| self.classification_copy()).collect(),
                    header: self.copy_header(),
                }))
            }
            16 | 17 => Action::SaveProxy(Box::new(EntityProxy {
                id: self.entity(),
                type_name: (*self.random.choose(&ENTITY_TYPES)).into(),
                properties: self.properties(),
                classifications: Vec::from_iter(self.random.one_in(3).then(|| self.classification_copy())),
                provenance: self.copy_header().provenance,
                status: self.random.one_in(4).then(|| "draft".into()),
                origin: self.random.one_in(2).then(|| {
                    let header = self.copy_header();
                    (header.version, header.created, header.updated)
                }),
            })),
            18..=22 => Action::SaveRelationship(Box::new(RelationshipCopy {
                id: relationship_id(self.random.below(relationships)),
                type_name: (*self.random.choose(&RELATIONSHIP_TYPES)).into(),
                from: self.entity(),
                to: self.entity(),
                properties: self.properties(),
                header: self.copy_header(),
            })),
            23..=26 => Action::SaveClassification(action::SaveClassification {
                entity: self.entity(),
                copy: Box::new(self.classification_copy()),
            }),
            27 | 28 => {
                let name = (*self.random.choose(&CLASSIFICATIONS)).into();
                Action::PurgeClassificationCopy(action::PurgeClassificationCopy {
                    entity: self.entity(),
                    name,
                    home: self.home(),
                })
            }
            29 => Action::PurgeCopy(action::PurgeCopy { instance: self.instance(), home: self.home() }),
            30..=32 => Action::SetProvenance(action::SetProvenance {
                instance: self.instance(),
                provenance: Box::new(self.provenance()),
            }),
            _ => Action::Rehome(action::Rehome { instance: self.instance(), home: "there".into() }),
        }
    }

    fn valid_from(&mut self) -> Option<Instant> {
        if self.instants.is_empty() || !self.random.one_in(4) {
            return None;
        }
        let micros = *self.random.choose(&self.instants) + self.random.below(3) as i64 - 1;
        Some(Instant::from_micros(micros).unwrap())
    }

    pub fn operation(&mut self) -> Timed {
        let operation = self.untimed();
        (self.valid_from(), operation)
    }

    fn untimed(&mut self) -> Operation {
        if self.has_homes && self.random.one_in(4) {
            return Operation::Act(self.of_homes());
        }
        let creates = if self.shape == Shape::WideHub { 60 } else { 0 };
        Operation::Act(match self.random.below(106 + creates) {
            0..=11 => {
                let mut new = NewEntity::new(ENTITY_TYPES[self.random.below(ENTITY_TYPES.len())]);
                new.id = self.entity();
                new.properties = self.properties();
                if self.random.one_in(3) {
                    new.classifications.push(self.classification());
                }
                if self.has_homes && self.random.one_in(4) {
                    new.provenance = Some(Arc::new(self.provenance()));
                    new.status = self.random.one_in(2).then(|| "draft".into());
                }
                Action::CreateEntity(new)
            }
            100..=101 => {
                let status = *self.random.choose(&["active", "draft", "approved"]);
                Action::SetStatus(action::SetStatus { instance: self.instance(), status: status.into() })
            }
            102..=103 => {
                let instance = self.instance();
                let names = match instance {
                    InstanceId::Entity(_) => ENTITY_TYPES,
                    InstanceId::Relationship(_) => RELATIONSHIP_TYPES,
                };
                Action::Retype(action::Retype { instance, type_name: (*self.random.choose(&names)).into() })
            }
            104..=105 => {
                let count = self.relationships_count();
                let id = relationship_id(self.random.below(count));
                let (from, to) = (self.entity(), self.entity());
                match self.random.below(4) {
                    0 => Action::Relink(action::Relink { id, from: Some(from), to: Some(to) }),
                    1 => Action::Relink(action::Relink { id, from: Some(from), to: None }),
                    2 => Action::Relink(action::Relink { id, from: None, to: Some(to) }),
                    _ => Action::Relink(action::Relink { id, from: None, to: None }),
                }
            }
            12..=26 | 106.. => {
                let (from, to) = (self.entity(), self.entity());
                let type_name = RELATIONSHIP_TYPES[self.random.below(RELATIONSHIP_TYPES.len())];
                let mut new = NewRelationship::new(type_name, from, to);
                let count = self.relationships_count();
                new.id = relationship_id(self.random.below(count));
                new.properties = if self.random.one_in(2) { self.properties() } else { Vec::new() };
                if self.has_homes && self.random.one_in(6) {
                    new.provenance = Some(Arc::new(self.provenance()));
                }
                Action::CreateRelationship(new)
            }
            27..=52 => Action::Update(action::Update {
                instance: self.instance(),
                patch: self.patch(),
                provenance: self.stated_provenance(),
            }),
            53..=58 => {
                let instance = self.instance();
                let classifications = matches!(instance, InstanceId::Entity(_)) && self.random.one_in(3);
                let contents = classifications.then(|| vec![self.classification()]);
                Action::Replace(action::Replace {
                    instance,
                    properties: self.properties(),
                    classifications: contents,
                    provenance: self.stated_provenance(),
                })
            }
            59..=63 => Action::Delete(action::Delete { instance: self.instance() }),
            64..=72 => {
                let instance = self.instance();
                let with_relationships =
                    matches!(instance, InstanceId::Relationship(_)) || !self.random.one_in(3);
                Action::Restore(action::Restore { instance, with_relationships })
            }
            73 => Action::Purge(action::Purge { instance: self.instance() }),
            74..=81 => return Operation::Undo(self.instance()),
            82..=88 => {
                Action::Classify(action::Classify { entity: self.entity(), content: self.classification() })
            }
            89..=93 => Action::Reclassify(action::Reclassify {
                entity: self.entity(),
                name: (*self.random.choose(&CLASSIFICATIONS)).into(),
                patch: self.patch(),
                provenance: self.stated_provenance(),
            }),
            94..=97 => Action::Declassify(action::Declassify {
                entity: self.entity(),
                name: (*self.random.choose(&CLASSIFICATIONS)).into(),
            }),
            _ => Action::DefineType(Box::new(self.definition())),
        })
    }

    /// Types that add hierarchy and an unindexed property, and never refuse anything.
    fn definition(&mut self) -> TypeDefinition {
        match self.random.below(5) {
            0 => TypeDefinition::entity("t1").supertype("t0"),
            1 => TypeDefinition::relationship("k1").supertype("k0"),
            2 => TypeDefinition::classification("c1").supertype("c0"),
            3 => TypeDefinition::entity("t2")
                .attribute(AttributeDefinition::new("plain", ValueType::Any).unindexed()),
            _ => TypeDefinition::entity("t0").attribute(AttributeDefinition::new("plain", ValueType::Any)),
        }
    }

    pub fn transaction(&mut self) -> Vec<Timed> {
        let count = match self.random.below(10) {
            0..=5 => 1,
            6..=8 => 2 + self.random.below(3),
            _ if self.shape == Shape::WideHub => 1 + self.random.below(30),
            _ => 1 + self.random.below(8),
        };
        let mut operations: Vec<Timed> = (0..count).map(|_| self.operation()).collect();
        if self.random.one_in(3) {
            self.change_again(&mut operations);
        }
        operations
    }

    /// Adds several changes of the content of one instance: they may become one version.
    fn change_again(&mut self, operations: &mut Vec<Timed>) {
        let named = operations.iter().rev().find_map(|(_, operation)| match operation {
            Operation::Act(action) => action.instance(),
            Operation::Undo(instance) => Some(instance.clone()),
        });
        let instance = named.filter(|_| self.random.one_in(2)).unwrap_or_else(|| self.instance());
        for _ in 0..1 + self.random.below(4) {
            let action = match (self.random.below(8), &instance) {
                (0, _) => {
                    let (instance, properties) = (instance.clone(), self.properties());
                    Action::Replace(action::Replace {
                        instance,
                        properties,
                        classifications: None,
                        provenance: None,
                    })
                }
                (1, InstanceId::Entity(entity)) => {
                    let (entity, content) = (entity.clone(), self.classification());
                    Action::Classify(action::Classify { entity, content })
                }
                _ => Action::Update(action::Update {
                    instance: instance.clone(),
                    patch: self.patch(),
                    provenance: None,
                }),
            };
            operations.push((None, Operation::Act(action)));
        }
    }
}

/// Every name once, in a fixed order, so that names sort as the engine numbers them.
pub fn first_definitions() -> Vec<TypeDefinition> {
    let entities = ENTITY_TYPES.iter().map(|name| TypeDefinition::entity(name));
    let relationships = RELATIONSHIP_TYPES.iter().map(|name| TypeDefinition::relationship(name));
    let classifications = CLASSIFICATIONS.iter().map(|name| TypeDefinition::classification(name));
    entities.chain(relationships).chain(classifications).collect()
}

/// Puts an operation into a transaction of the engine.
pub fn push(transaction: &mut Transaction, (valid_from, operation): &Timed) -> Result<()> {
    transaction.valid_from(*valid_from);
    match operation {
        // It keeps what was classified here.
        Operation::Act(Action::SaveEntity(copy)) => transaction.save_entity_copy(EntityCopy::clone(copy)),
        Operation::Act(action) => transaction.push_action(action.clone()),
        Operation::Undo(instance) => transaction.undo(instance),
    }
}
