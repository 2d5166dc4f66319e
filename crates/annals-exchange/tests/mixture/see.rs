//! The state of a repository, and of the model, in one form.

use std::collections::BTreeMap;

use annals::{Entity, Id, Provenance, Relationship, Repository, Snapshot, Value};

use crate::model::{Age, Content, Fields, Known, Model};

/// An instance by kind, birth and id.
pub type Name = (bool, u64, String);

/// A live instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub type_name: String,
    pub fields: Fields,
    /// The name of the child of a relationship that contains.
    pub name: Option<String>,
    /// The license of its provenance.
    pub license: Option<u8>,
    /// True if it belongs to the other collection.
    pub is_copy: bool,
    /// Birth and id of each end.
    pub ends: Option<[(u64, String); 2]>,
}

fn number(value: Option<Value>) -> Option<i64> {
    match value {
        Some(Value::Integer(number)) => Some(number),
        _ => None,
    }
}

fn license(provenance: Option<&Provenance>) -> Option<u8> {
    provenance?.license.as_ref().map(|license| license.parse().expect("a number"))
}

fn entity(repository: &Repository, entity: &Entity<'_>) -> Seen {
    let stored = match entity.property("content") {
        Some(Value::Content(content)) => {
            let mut bytes = Vec::new();
            let contents = repository.contents().expect("it has contents");
            let mut reader = contents.open(&content).expect("a content that a version names is there");
            std::io::Read::read_to_end(&mut reader, &mut bytes).expect("it can be read");
            bytes.first().copied()
        }
        _ => None,
    };
    Seen {
        type_name: entity.type_name().to_owned(),
        fields: Fields { n: number(entity.property("n")), code: number(entity.property("code")), stored },
        name: None,
        license: license(entity.provenance()),
        is_copy: entity.home().is_some(),
        ends: None,
    }
}

fn relationship(relationship: &Relationship<'_>) -> Seen {
    let end = |found: annals::Result<Option<Entity<'_>>>| {
        let found = found.expect("an end can be read").expect("a relationship has both ends");
        (found.birth().0, found.id().to_string())
    };
    let ends = [end(relationship.from_entity()), end(relationship.to_entity())];
    Seen {
        type_name: relationship.type_name().to_owned(),
        fields: Fields { n: number(relationship.property("n")), ..Fields::default() },
        name: relationship.property("name").and_then(|name| name.as_str().map(str::to_owned)),
        license: license(relationship.provenance()),
        is_copy: false,
        ends: Some(ends),
    }
}

/// All live instances of a snapshot, without candidates.
pub fn of_snapshot(repository: &Repository, snapshot: &Snapshot) -> BTreeMap<Name, Seen> {
    let mut all = BTreeMap::new();
    for found in snapshot.find_entities(&annals::Find::all().limit(1_000)).expect("a search").items {
        if found.type_name() != "annals-candidate" {
            all.insert((false, found.birth().0, found.id().to_string()), entity(repository, &found));
        }
    }
    for found in snapshot.find_relationships(&annals::Find::all().limit(1_000)).expect("a search").items {
        all.insert((true, found.birth().0, found.id().to_string()), relationship(&found));
    }
    all
}

/// All live instances of the model after the record at `position`; only those that are `kept`.
pub fn of_model(model: &Model, position: u64, kept: &Model) -> BTreeMap<Name, Seen> {
    let at = |age: &Age, known: &Known| -> Option<Content> {
        kept.all.contains_key(age).then(|| known.at(position).cloned()).flatten()
    };
    let mut all = BTreeMap::new();
    for (age, known) in &model.all {
        let Some(content) = at(age, known).filter(|content| content.is_live) else { continue };
        let end = |end: Age| {
            let known = &model.all[&end];
            let content = known.at(position).expect("an end is as old as its relationship");
            (known.birth, content.id.clone())
        };
        let seen = Seen {
            type_name: content.type_name.to_owned(),
            fields: content.fields.clone(),
            name: content.name,
            license: content.license,
            is_copy: known.is_copy,
            ends: content.ends.map(|ends| ends.map(end)),
        };
        all.insert((known.is_link, known.birth, content.id), seen);
    }
    all
}

pub fn id(text: &str) -> Id {
    Id::new(text).expect("a short text is an id")
}
