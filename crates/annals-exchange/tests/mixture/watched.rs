//! Sets that clients keep by the events of a subscription: they are what a search finds, and a tree is not another one
//! without an event. A client may be behind, and goes on from its position.

use std::collections::BTreeMap;

use annals::*;

use crate::reverted::plain;
use crate::world::World;

/// Searches that are kept: with all types, conditions, a supertype that is declared some time, and relationships.
const SEARCHES: [(TypeKind, &str); 8] = [
    (TypeKind::Entity, "*"),
    (TypeKind::Entity, "node where n <= 1"),
    (TypeKind::Entity, "item"),
    (TypeKind::Entity, "* where code = 1"),
    (TypeKind::Entity, "thing"),
    (TypeKind::Entity, "thing where n > 0"),
    (TypeKind::Relationship, "contains"),
    (TypeKind::Relationship, "knows where n = 0"),
];
const TREES: [&str; 2] = ["/", "/a"];

/// The set that a client keeps.
enum Kept {
    /// The properties `n` and `code` by id.
    Set {
        kind: TypeKind,
        text: &'static str,
        all: BTreeMap<String, [Option<Value>; 2]>,
    },
    Tree {
        text: &'static str,
        item: Option<Item>,
    },
}

/// A client with the position up to which it has had all events.
pub struct Client {
    position: Position,
    kept: Kept,
}

const NAMES: [&str; 2] = ["n", "code"];

fn search(text: &str) -> Find {
    text.parse().expect("a search")
}

impl Client {
    /// Clients that keep nothing so far.
    pub fn all() -> Vec<Client> {
        let sets = SEARCHES.map(|(kind, text)| Kept::Set { kind, text, all: BTreeMap::new() });
        let trees = TREES.map(|text| Kept::Tree { text, item: None });
        sets.into_iter().chain(trees).map(|kept| Client { position: Position(0), kept }).collect()
    }

    fn watch(&self) -> Watch {
        match &self.kept {
            Kept::Set { kind, text, .. } => Watch::Search { kind: *kind, find: Box::new(search(text)) },
            Kept::Tree { text, .. } => Watch::tree(text).expect("a path"),
        }
    }

    fn what(&self) -> &str {
        let (Kept::Set { text, .. } | Kept::Tree { text, .. }) = &self.kept;
        text
    }

    /// Takes all events so far; true if there was one.
    fn take_events(&mut self, repository: &Repository) -> bool {
        let events = repository.subscribe(self.watch(), Some(self.position));
        let (mut events, before) = (events.expect("a position that there was"), self.position);
        let mut has_some = false;
        while let Some(event) = events.poll().expect("events can be read") {
            assert!(event.from >= before && event.position > event.from, "{event:?}");
            has_some = true;
            if event.read_again {
                self.read(&repository.snapshot());
                self.position = repository.snapshot().position();
                return true;
            }
            event.changes.iter().for_each(|change| self.take(repository, event.position, change));
        }
        self.position = events.position();
        has_some
    }

    fn take(&mut self, repository: &Repository, position: Position, change: &WatchedChange) {
        let (Kept::Set { all, .. }, WatchedChange::Instance(change)) = (&mut self.kept, change) else {
            return;
        };
        match change {
            InstanceChange::Appeared(instance) => {
                let snapshot = repository.snapshot();
                let then = snapshot.as_of(AsOf { position: Some(position), ..AsOf::default() });
                let values = values(&then.expect("a position that there was"), instance);
                assert!(all.insert(instance.id().to_string(), values).is_none(), "{instance} was there");
            }
            // One that was purged may have been reported before.
            InstanceChange::Disappeared(instance) => drop(all.remove(&instance.id().to_string())),
            InstanceChange::Changed(instance, difference) => {
                let before = difference.id.as_ref().map_or(instance.id(), |(before, _)| before).to_string();
                let mut values = all.remove(&before).expect("what changes was there");
                for property in &difference.properties {
                    for (name, value) in NAMES.iter().zip(&mut values) {
                        if *property.name == **name {
                            assert_eq!(*value, property.before, "{name} of {instance}");
                            value.clone_from(&property.after);
                        }
                    }
                }
                all.insert(instance.id().to_string(), values);
            }
        }
    }

    /// The set as it is now.
    fn found(&self, snapshot: &Snapshot) -> Kept {
        match &self.kept {
            Kept::Set { kind, text, .. } => {
                Kept::Set { kind: *kind, text, all: found(snapshot, *kind, search(text)) }
            }
            Kept::Tree { text, .. } => {
                let path = TreePath::parse(text).expect("a path");
                let item = snapshot.tree().get(&path, None).expect("a look-up").map(plain);
                Kept::Tree { text, item }
            }
        }
    }

    fn read(&mut self, snapshot: &Snapshot) {
        self.kept = self.found(snapshot);
    }
}

fn values(snapshot: &Snapshot, instance: &InstanceId) -> [Option<Value>; 2] {
    let of = |name: &str| match instance {
        InstanceId::Entity(id) => snapshot.entity(id).ok().flatten().and_then(|found| found.property(name)),
        InstanceId::Relationship(id) => {
            snapshot.relationship(id).ok().flatten().and_then(|found| found.property(name))
        }
    };
    NAMES.map(of)
}

fn found(snapshot: &Snapshot, kind: TypeKind, find: Find) -> BTreeMap<String, [Option<Value>; 2]> {
    let find = find.limit(1_000);
    let ids: Result<Vec<InstanceId>> = match kind {
        TypeKind::Relationship => snapshot
            .find_relationships(&find)
            .map(|page| page.items.iter().map(|found| found.instance_id()).collect()),
        _ => snapshot
            .find_entities(&find)
            .map(|page| page.items.iter().map(|found| found.instance_id()).collect()),
    };
    let ids = match ids {
        // Nothing is of this type so far.
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        ids => ids.expect("a search"),
    };
    ids.iter().map(|instance| (instance.id().to_string(), values(snapshot, instance))).collect()
}

impl World {
    /// Each client takes its events, or is behind.
    pub(crate) fn check_watched(&mut self) {
        let mut clients = std::mem::take(&mut self.clients);
        let snapshot = self.repository().snapshot();
        for client in &mut clients {
            if self.random.one_in(3) {
                continue;
            }
            let had_events = client.take_events(self.repository());
            assert_eq!(client.position, snapshot.position(), "{}", self.what());
            match (&client.kept, client.found(&snapshot)) {
                (Kept::Set { all, .. }, Kept::Set { all: found, .. }) => {
                    assert_eq!(*all, found, "the watch of {}: {}", client.what(), self.what());
                }
                (Kept::Tree { item, .. }, Kept::Tree { item: found, .. }) => {
                    let is_same = *item == found;
                    assert!(had_events || is_same, "no event of {}: {}", client.what(), self.what());
                    client.read(&snapshot);
                }
                _ => unreachable!("a client keeps one thing"),
            }
        }
        self.clients = clients;
    }

    /// Declares that a type has a supertype: searches by it find more.
    pub(crate) fn declare_supertype(&mut self) {
        let name = *self.random.choose(&["container", "root"]);
        self.history.push(format!("{}: {name} is a thing", self.position() + 1));
        let declared = self.repository().transact(|t| {
            t.define_type(TypeDefinition::entity("thing"))?;
            t.define_type(TypeDefinition::entity(name).supertype("thing"))
        });
        declared.expect("a supertype can be declared");
        self.note();
    }
}
