//! Random changes of containers, compared with a plain model: parents, names, order, what is taken along, and all of it as of before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::{CheckedRepository, Random, seeds};
use annals::*;

type Outcome = std::result::Result<(), ErrorKind>;

/// Which change wrote a version.
type Place = usize;

#[derive(Clone, Debug)]
struct Known {
    is_live: bool,
    place: Place,
    /// True for an item of a list, which its key names.
    is_listed: bool,
    key: i64,
}

#[derive(Clone, Debug)]
struct Link {
    is_live: bool,
    place: Place,
    ends: [usize; 2],
    /// All that it ever led from or to.
    ever: BTreeSet<usize>,
    /// `None` for a relationship that does not contain.
    contains: Option<Contains>,
}

#[derive(Clone, Debug)]
struct Contains {
    name: Option<String>,
    order: Option<u8>,
}

/// Named children come before those in lists; in a list, those that users order come first.
type Name = (bool, String, i64);

/// Entities and relationships by the number in their ids.
#[derive(Clone, Debug, Default)]
struct Model {
    entities: BTreeMap<usize, Known>,
    links: BTreeMap<usize, Link>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Create { is_listed: bool, key: i64 },
    Contain { from: usize, to: usize, name: u8, order: Option<u8> },
    Relate { from: usize, to: usize },
    Relink { link: usize, from: usize },
    Rename { link: usize, name: u8 },
    Reorder { link: usize, order: u8 },
    Rekey { entity: usize, key: i64 },
    Retype { entity: usize, is_listed: bool },
    Delete { is_link: bool, number: usize },
    Restore { is_link: bool, number: usize, with: bool },
    Purge { is_link: bool, number: usize },
}

fn name_of(name: u8) -> Option<String> {
    (name > 0).then(|| format!("n{name}"))
}

impl Model {
    fn links_of(&self, entity: usize, is_wanted: impl Fn(&Link) -> bool) -> Vec<usize> {
        let found = self.links.iter().filter(|(_, link)| link.ends.contains(&entity) && is_wanted(link));
        found.map(|(number, _)| *number).collect()
    }

    fn parent(&self, entity: usize, but: usize) -> Option<usize> {
        let mut links = self.links.iter().filter(|(number, _)| **number != but);
        let (_, link) =
            links.find(|(_, link)| link.is_live && link.contains.is_some() && link.ends[1] == entity)?;
        Some(link.ends[0])
    }

    fn name(&self, link: &Link) -> Option<Name> {
        let child = &self.entities[&link.ends[1]];
        match child.is_listed {
            true => Some((true, String::new(), child.key)),
            false => link.contains.as_ref()?.name.clone().map(|name| (false, name, 0)),
        }
    }

    /// Checks a containment that is live, or is to be.
    fn check(&self, number: usize, link: &Link) -> Outcome {
        let Some(contains) = &link.contains else { return Ok(()) };
        let [parent, child] = link.ends;
        if self.parent(child, number).is_some() {
            return Err(ErrorKind::Cardinality);
        }
        let above = std::iter::successors(Some(parent), |at| {
            if *at == child { None } else { self.parent(*at, usize::MAX) }
        });
        if above.take(300).any(|at| at == child) {
            return Err(ErrorKind::InvalidEnds);
        }
        let Some(name) = self.name(link) else { return Err(ErrorKind::InvalidProperty) };
        let _ = contains;
        let is_taken = self.links.iter().any(|(other, known)| {
            let is_sibling = known.is_live && known.contains.is_some() && known.ends[0] == parent;
            *other != number && is_sibling && self.name(known).as_ref() == Some(&name)
        });
        if is_taken { Err(ErrorKind::NotUnique) } else { Ok(()) }
    }

    fn live(&self, entity: usize) -> Outcome {
        let known = self.entities.get(&entity).ok_or(ErrorKind::NotFound)?;
        if known.is_live { Ok(()) } else { Err(ErrorKind::Deleted) }
    }

    fn ends(&self, ends: [usize; 2]) -> Outcome {
        let are_live = ends.iter().all(|end| self.live(*end).is_ok());
        if are_live { Ok(()) } else { Err(ErrorKind::MissingEnd) }
    }

    fn link(&self, number: usize) -> std::result::Result<Link, ErrorKind> {
        let link = self.links.get(&number).ok_or(ErrorKind::NotFound)?;
        if link.is_live { Ok(link.clone()) } else { Err(ErrorKind::Deleted) }
    }

    /// `number` is that of the change, and of what it creates.
    fn apply(&mut self, number: Place, change: Change) -> Outcome {
        let place = number;
        match change {
            Change::Create { is_listed, key } => {
                self.entities.insert(number, Known { is_live: true, place, is_listed, key });
            }
            Change::Contain { from, to, name, order } => {
                self.ends([from, to])?;
                let contains = Some(Contains { name: name_of(name), order });
                let (ends, ever) = ([from, to], BTreeSet::from([from, to]));
                let link = Link { is_live: true, place, ends, ever, contains };
                self.check(number, &link)?;
                self.links.insert(number, link);
            }
            Change::Relate { from, to } => {
                self.ends([from, to])?;
                let (ends, ever) = ([from, to], BTreeSet::from([from, to]));
                self.links.insert(number, Link { is_live: true, place, ends, ever, contains: None });
            }
            Change::Relink { link, from } => {
                let mut known = self.link(link)?;
                self.ends([from, from])?;
                known.ends[0] = from;
                known.ever.insert(from);
                self.write_link(link, known, place)?;
            }
            Change::Rename { link, name } => {
                let mut known = self.link(link)?;
                known.contains.as_mut().ok_or(ErrorKind::InvalidArgument)?.name = name_of(name);
                self.write_link(link, known, place)?;
            }
            Change::Reorder { link, order } => {
                let mut known = self.link(link)?;
                known.contains.as_mut().ok_or(ErrorKind::InvalidArgument)?.order = Some(order);
                self.write_link(link, known, place)?;
            }
            Change::Rekey { entity, key } => {
                self.live(entity)?;
                let known = Known { key, place, ..self.entities[&entity].clone() };
                self.write_entity(entity, known)?;
            }
            Change::Retype { entity, is_listed } => {
                self.live(entity)?;
                let known = Known { is_listed, place, ..self.entities[&entity].clone() };
                self.write_entity(entity, known)?;
            }
            Change::Delete { is_link: true, number } => {
                let known = Link { is_live: false, place, ..self.link(number)? };
                self.links.insert(number, known);
            }
            Change::Delete { number, .. } => {
                self.live(number)?;
                self.delete(number, place);
            }
            Change::Restore { is_link: true, number, .. } => {
                let known = self.links.get(&number).ok_or(ErrorKind::NotFound)?.clone();
                if known.is_live {
                    return Err(ErrorKind::NotDeleted);
                }
                self.restore_link(number, place)?;
            }
            Change::Restore { number, with, .. } => {
                let known = self.entities.get(&number).ok_or(ErrorKind::NotFound)?;
                if known.is_live {
                    return Err(ErrorKind::NotDeleted);
                }
                self.restore(number, with, place)?;
            }
            Change::Purge { is_link: true, number } => {
                self.links.remove(&number).ok_or(ErrorKind::NotFound)?;
            }
            Change::Purge { number, .. } => {
                self.entities.get(&number).ok_or(ErrorKind::NotFound)?;
                self.purge(number);
            }
        }
        Ok(())
    }

    fn write_link(&mut self, number: usize, link: Link, place: Place) -> Outcome {
        self.check(number, &link)?;
        self.links.insert(number, Link { place, ..link });
        Ok(())
    }

    /// Another key, or another type, may be another name.
    fn write_entity(&mut self, entity: usize, known: Known) -> Outcome {
        self.entities.insert(entity, known);
        let contained = self
            .links
            .iter()
            .find(|(_, link)| link.is_live && link.contains.is_some() && link.ends[1] == entity);
        contained.map_or(Ok(()), |(number, link)| self.check(*number, link))
    }

    fn delete(&mut self, entity: usize, place: Place) {
        for number in self.links_of(entity, |link| link.is_live) {
            let link = self.links.get_mut(&number).unwrap();
            (link.is_live, link.place) = (false, place);
            let child = link.ends[1];
            if link.contains.is_some() && child != entity {
                self.delete(child, place);
            }
        }
        let known = self.entities.get_mut(&entity).unwrap();
        (known.is_live, known.place) = (false, place);
    }

    fn restore_link(&mut self, number: usize, place: Place) -> Outcome {
        let link = Link { is_live: true, place, ..self.links[&number].clone() };
        self.ends(link.ends)?;
        self.write_link(number, link, place)
    }

    fn restore(&mut self, entity: usize, with: bool, place: Place) -> Outcome {
        let known = self.entities.get_mut(&entity).unwrap();
        let gone = std::mem::replace(&mut known.place, place);
        known.is_live = true;
        for number in self.links_of(entity, |link| !link.is_live && link.place == gone) {
            let Link { is_live, ends: [from, child], ref contains, .. } = self.links[&number];
            let is_child = contains.is_some() && from == entity && child != entity;
            let went_along = |known: &Known| !known.is_live && known.place == gone;
            if is_child && went_along(&self.entities[&child]) {
                self.restore(child, with, place)?;
                if !self.links[&number].is_live {
                    self.restore_link(number, place)?;
                }
            } else if with && !is_live && self.ends([from, child]).is_ok() {
                // A child that was restored alone, and has another container now, stays there.
                if contains.is_some() && self.parent(child, number).is_some() {
                    continue;
                }
                self.restore_link(number, place)?;
            }
        }
        Ok(())
    }

    fn purge(&mut self, entity: usize) {
        let (mut all, mut open) = (BTreeSet::new(), vec![entity]);
        while let Some(entity) = open.pop() {
            if !all.insert(entity) {
                continue;
            }
            let known = &self.entities[&entity];
            let went_along = |link: &Link| {
                let child = &self.entities[&link.ends[1]];
                !known.is_live && !child.is_live && [link.place, child.place] == [known.place; 2]
            };
            let is_child = |link: &Link| link.contains.is_some() && link.ends[0] == entity;
            let links = self.links.values().filter(|link| is_child(link));
            let links = links.filter(|link| link.is_live || went_along(link));
            open.extend(links.map(|link| link.ends[1]));
        }
        self.entities.retain(|entity, _| !all.contains(entity));
        self.links.retain(|_, link| link.ever.is_disjoint(&all));
    }

    /// The children of an entity in order.
    fn children(&self, entity: usize) -> Vec<usize> {
        let is_child = |link: &Link| link.is_live && link.contains.is_some() && link.ends[0] == entity;
        let mut children: Vec<_> = self
            .links
            .iter()
            .filter(|(_, link)| is_child(link))
            .map(|(number, link)| {
                let (is_listed, name, key) = self.name(link).unwrap();
                match link.contains.as_ref().unwrap().order {
                    Some(order) => ((is_listed, false, order, String::new(), 0, *number), link.ends[1]),
                    None => ((is_listed, true, 0, name, key, 0), link.ends[1]),
                }
            })
            .collect();
        children.sort();
        children.into_iter().map(|(_, child)| child).collect()
    }
}

fn id(number: usize) -> Id {
    Id::new(&format!("i{number}")).unwrap()
}

fn instance(is_link: bool, number: usize) -> InstanceId {
    if is_link { InstanceId::Relationship(id(number)) } else { InstanceId::Entity(id(number)) }
}

fn order_bytes(order: u8) -> Value {
    Value::Bytes(Arc::from([0, 0, 0, order]))
}

fn commit(t: &mut Transaction, number: usize, change: Change) -> Result<()> {
    let type_name = |is_listed: bool| if is_listed { "list" } else { "folder" };
    match change {
        Change::Create { is_listed, key } => {
            let new = NewEntity { id: id(number), ..NewEntity::new(type_name(is_listed)) };
            t.create_entity(new.property("k", key)).map(drop)
        }
        Change::Contain { from, to, name, order } => {
            let type_name = if order.is_some() { "orders" } else { "contains" };
            let mut new =
                NewRelationship { id: id(number), ..NewRelationship::new(type_name, id(from), id(to)) };
            if let Some(name) = name_of(name) {
                new = new.property("name", name);
            }
            if let Some(order) = order {
                new = new.property("order", order_bytes(order));
            }
            t.create_relationship(new).map(drop)
        }
        Change::Relate { from, to } => {
            let new = NewRelationship { id: id(number), ..NewRelationship::new("knows", id(from), id(to)) };
            t.create_relationship(new).map(drop)
        }
        Change::Relink { link, from } => t.relink(&id(link), Some(&id(from)), None),
        Change::Rename { link, name } => {
            let patch = match name_of(name) {
                Some(name) => Patch::new().set("name", name),
                None => Patch::new().unset("name"),
            };
            t.update(&instance(true, link), patch)
        }
        Change::Reorder { link, order } => {
            t.update(&instance(true, link), Patch::new().set("order", order_bytes(order)))
        }
        Change::Rekey { entity, key } => t.update(&instance(false, entity), Patch::new().set("k", key)),
        Change::Retype { entity, is_listed } => t.retype(&instance(false, entity), type_name(is_listed)),
        Change::Delete { is_link, number } => t.delete(&instance(is_link, number)),
        Change::Restore { is_link: false, number, with: false } => t.restore_alone(&id(number)),
        Change::Restore { is_link, number, .. } => t.restore(&instance(is_link, number)),
        Change::Purge { is_link, number } => t.purge(&instance(is_link, number)),
    }
}

/// A change of what there is, or of what there is no more.
fn any_change(random: &mut Random, model: &Model) -> Option<Change> {
    let entities: Vec<usize> = model.entities.keys().copied().collect();
    let is_live = |number: &&usize| model.entities[*number].is_live;
    let live: Vec<usize> = entities.iter().filter(is_live).copied().collect();
    let links: Vec<usize> = model.links.keys().copied().collect();
    let key = random.below(4) as i64;
    if live.len() < 4 || random.one_in(5) && live.len() < 14 {
        return Some(Change::Create { is_listed: random.one_in(2), key });
    }
    let (from, to) = (*random.choose(&live), *random.choose(&live));
    let (name, order) = (random.below(4) as u8, 1 + random.below(200) as u8);
    let kind = random.below(16);
    if kind < 4 {
        let order = random.one_in(3).then_some(order);
        return Some(Change::Contain { from, to, name, order });
    }
    let is_link = !links.is_empty() && random.one_in(4);
    let number = if is_link { *random.choose(&links) } else { *random.choose(&entities) };
    Some(match kind {
        4 => Change::Relate { from, to },
        5 => Change::Rekey { entity: number, key },
        6 => Change::Retype { entity: number, is_listed: random.one_in(2) },
        7..9 => Change::Delete { is_link, number },
        9..12 => Change::Restore { is_link, number, with: random.one_in(2) },
        12 if random.one_in(3) => Change::Purge { is_link, number },
        _ => {
            let containing = links.iter().filter(|link| model.links[link].contains.is_some());
            let containing: Vec<usize> = containing.copied().collect();
            if containing.is_empty() {
                return None;
            }
            let link = *random.choose(&containing);
            let is_ordered = model.links[&link].contains.as_ref().unwrap().order.is_some();
            match random.below(3) {
                0 => Change::Relink { link, from },
                1 if is_ordered => Change::Reorder { link, order },
                _ => Change::Rename { link, name },
            }
        }
    })
}

/// Fails unless a snapshot shows what the model says.
fn compare(snapshot: &Snapshot, model: &Model, what: &str) {
    let mut live = 0;
    for (number, known) in &model.entities {
        let found = snapshot.entity(&id(*number)).unwrap();
        assert_eq!(found.is_some(), known.is_live, "{what}: entity {number}");
        if !known.is_live {
            continue;
        }
        live += 1;
        let tree = snapshot.tree_below(&id(*number));
        let page = tree.list(&TreePath::root(), &ListOptions::default()).unwrap().unwrap();
        let found: Vec<Id> = page.items.iter().map(|item| item.entity.id().clone()).collect();
        let expected: Vec<Id> = model.children(*number).into_iter().map(id).collect();
        assert_eq!(found, expected, "{what}: children of {number}");
        for item in &page.items {
            // A name leads back to what has it.
            let path = item.path().unwrap();
            let again = tree.item(&path).unwrap().expect("it is listed");
            assert_eq!(again.entity.id(), item.entity.id(), "{what}: {path}");
        }
    }
    for (number, link) in &model.links {
        assert_eq!(
            snapshot.relationship(&id(*number)).unwrap().is_some(),
            link.is_live,
            "{what}: link {number}"
        );
    }
    assert_eq!(snapshot.entities_count(), live, "{what}");
}

fn run(seed: u64) -> usize {
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let mut repository = CheckedRepository::open(&path);
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(TypeDefinition::relationship("orders").containing_in_order())?;
            let key = AttributeDefinition::new("k", ValueType::Integer).key();
            t.define_type(TypeDefinition::entity("list").attribute(key))?;
            t.define_type(TypeDefinition::entity("folder"))
        })
        .unwrap();
    let (mut model, mut accepted) = (Model::default(), 0);
    let mut history = Vec::new();
    // The model as of each position, without the instances that were purged since.
    let mut past: BTreeMap<Position, Model> = BTreeMap::new();
    for number in 1..200 {
        let Some(change) = any_change(&mut random, &model) else { continue };
        let mut next = model.clone();
        let expected = next.apply(number, change);
        let found = repository.transact(|t| commit(t, number, change)).map(drop);
        let kind = found.as_ref().copied().map_err(Error::kind);
        assert_eq!(kind, expected, "seed {seed}: change {number}, {change:?}: {found:?} after {history:#?}");
        if expected.is_err() {
            continue;
        }
        accepted += 1;
        model = next;
        history.push((number, change));
        past.insert(repository.snapshot().position(), model.clone());
        if random.one_in(40) {
            repository.checkpoint().unwrap();
        }
        if random.one_in(50) {
            drop(repository);
            repository = CheckedRepository::open(&path);
        }
        let compacted = random.one_in(30).then(|| repository.compact());
        assert!(!matches!(compacted, Some(Err(_))), "seed {seed}: {compacted:?} after {history:#?}");
    }
    let snapshot = repository.snapshot();
    compare(&snapshot, &model, &format!("seed {seed}"));
    for (position, known) in past {
        let mut then = known.clone();
        then.entities.retain(|number, _| model.entities.contains_key(number));
        then.links.retain(|number, _| model.links.contains_key(number));
        let as_of = AsOf { position: Some(position), ..AsOf::default() };
        compare(&snapshot.as_of(as_of).unwrap(), &then, &format!("seed {seed} as of {position}"));
    }
    accepted
}

#[test]
fn containers_are_what_a_plain_model_says_they_are() {
    let seeds = seeds("CONTAINMENT_SEED", 12);
    let histories = seeds.clone().count();
    let accepted: usize = seeds.map(run).sum();
    assert!(accepted > 50 * histories, "{accepted}");
}
