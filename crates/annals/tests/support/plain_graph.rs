//! A random graph in a repository, and what it looked like after every commit as plain lists, to walk naively.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use annals::*;

use super::Random;

/// An entity as it was after a commit.
#[derive(Clone, Debug)]
pub struct Node {
    pub type_name: String,
    pub is_live: bool,
    pub classifications: BTreeSet<String>,
    pub size: Option<i64>,
}

/// A relationship as it was after a commit.
#[derive(Clone, Debug)]
pub struct Edge {
    pub type_name: String,
    pub is_live: bool,
    pub from: String,
    pub to: String,
    pub weight: Option<i64>,
}

/// The graph after a commit.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    pub nodes: BTreeMap<String, Node>,
    pub edges: BTreeMap<String, Edge>,
}

/// A step along an edge.
pub type Hop<'p> = (&'p str, &'p str);

/// Types with their subtypes: the second of each is a subtype of the first.
pub const ENTITY_TYPES: [&str; 3] = ["a", "b", "c"];
pub const RELATIONSHIP_TYPES: [&str; 3] = ["x", "y", "z"];
pub const CLASSIFICATIONS: [&str; 3] = ["k", "l", "m"];

fn is_a(name: &str, wanted: &[String]) -> bool {
    let supertype = match name {
        "b" => "a",
        "y" => "x",
        "l" => "k",
        other => other,
    };
    wanted.is_empty() || wanted.iter().any(|wanted| wanted == name || wanted == supertype)
}

/// True if a property with this value fulfils a condition of [`RandomGraph::reach`].
fn fulfils(condition: &Expression, value: Option<i64>) -> bool {
    match condition {
        Expression::All(parts) => parts.iter().all(|part| fulfils(part, value)),
        Expression::None(parts) => !parts.iter().any(|part| fulfils(part, value)),
        Expression::Condition(Condition { operator: Operator::Greater, values, .. }) => {
            value.is_some_and(|value| value > values[0].as_integer().unwrap())
        }
        other => panic!("{other}: no such condition is made"),
    }
}

fn has_status(is_live: bool, wanted: &[String]) -> bool {
    let status = if is_live { "active" } else { "deleted" };
    if wanted.is_empty() { is_live } else { wanted.iter().any(|wanted| wanted == status) }
}

impl Plain {
    /// The state of the snapshot; instances that it does not show any more are not live.
    fn after(&self, snapshot: &Snapshot) -> Plain {
        let mut plain = self.clone();
        plain.nodes.values_mut().for_each(|node| node.is_live = false);
        plain.edges.values_mut().for_each(|edge| edge.is_live = false);
        for entity in snapshot.find_entities(&Find::all().limit(100_000)).unwrap().items {
            let classifications = entity.classifications().map(|one| one.name().to_owned()).collect();
            let size = entity.property("size").and_then(|size| size.as_integer());
            let type_name = entity.type_name().into();
            let node = Node { type_name, is_live: true, classifications, size };
            plain.nodes.insert(entity.id().to_string(), node);
        }
        for one in snapshot.find_relationships(&Find::all().limit(100_000)).unwrap().items {
            let edge = Edge {
                type_name: one.type_name().into(),
                is_live: true,
                from: one.from().to_string(),
                to: one.to().to_string(),
                weight: one.property("weight").and_then(|weight| weight.as_integer()),
            };
            plain.edges.insert(one.id().to_string(), edge);
        }
        plain
    }

    pub fn admits(&self, node: &str, reach: &Reach) -> bool {
        let node = &self.nodes[node];
        let classes = &reach.classifications;
        has_status(node.is_live, &reach.statuses)
            && is_a(&node.type_name, &reach.entity_types)
            && fulfils(&reach.entity_where, node.size)
            && (classes.is_empty() || node.classifications.iter().any(|name| is_a(name, classes)))
    }

    pub fn admits_edge(&self, edge: &Edge, reach: &Reach) -> bool {
        has_status(edge.is_live, &reach.statuses) && fulfils(&reach.relationship_where, edge.weight)
    }

    /// The directions in which a walk goes along an edge.
    fn directions(edge: &Edge, reach: &Reach) -> Vec<Direction> {
        if reach.types.is_empty() {
            return reach.directions.clone();
        }
        let named =
            reach.types.iter().filter(|along| is_a(&edge.type_name, std::slice::from_ref(&along.type_name)));
        let own = |along: &Along| match &along.directions[..] {
            [] => reach.directions.clone(),
            own => own.to_vec(),
        };
        named.flat_map(own).collect()
    }

    /// Edges that a walk may go along from a node, and where they lead.
    pub fn hops(&self, node: &str, reach: &Reach) -> Vec<Hop<'_>> {
        let mut hops = Vec::new();
        for (id, edge) in self.edges.iter().filter(|(_, edge)| self.admits_edge(edge, reach)) {
            let directions = Plain::directions(edge, reach);
            if edge.from == node && directions.contains(&Direction::Out) {
                hops.push((id.as_str(), edge.to.as_str()));
            }
            // A loop that is gone along both ways is one hop.
            let is_counted = edge.from == node && directions.contains(&Direction::Out);
            if edge.to == node && directions.contains(&Direction::In) && !is_counted {
                hops.push((id.as_str(), edge.from.as_str()));
            }
        }
        hops
    }

    /// Distances of the admitted, the start included.
    pub fn distances(&self, start: &str, reach: &Reach) -> BTreeMap<String, usize> {
        let mut distances = BTreeMap::from([(start.to_owned(), 0)]);
        let mut queue = VecDeque::from([start.to_owned()]);
        while let Some(at) = queue.pop_front() {
            let distance = distances[&at];
            if reach.depth_max.is_some_and(|depth_max| distance >= depth_max) {
                continue;
            }
            for (_, to) in self.hops(&at, reach) {
                if !distances.contains_key(to) && self.admits(to, reach) {
                    distances.insert(to.to_owned(), distance + 1);
                    queue.push_back(to.to_owned());
                }
            }
        }
        distances
    }

    /// All simple paths between two nodes, as lists of edges.
    pub fn simple_paths(&self, from: &str, to: &str, reach: &Reach) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut seen = vec![from.to_owned()];
        self.extend(to, reach, &mut seen, &mut Vec::new(), &mut found);
        found
    }

    fn extend(
        &self,
        to: &str,
        reach: &Reach,
        seen: &mut Vec<String>,
        path: &mut Vec<String>,
        found: &mut Vec<Vec<String>>,
    ) {
        let at = seen.last().unwrap().clone();
        if at == to {
            found.push(path.clone());
            return;
        }
        if reach.depth_max.is_some_and(|depth_max| path.len() >= depth_max) {
            return;
        }
        for (edge, next) in self.hops(&at, reach) {
            if !seen.iter().any(|known| known == next) && (next == to || self.admits(next, reach)) {
                seen.push(next.to_owned());
                path.push(edge.to_owned());
                self.extend(to, reach, seen, path, found);
                seen.pop();
                path.pop();
            }
        }
    }
}

/// A repository with a random graph, and how it looked after each commit.
pub struct RandomGraph {
    pub repository: Repository,
    /// By position, from 0.
    pub plains: Vec<Plain>,
    pub random: Random,
}

impl RandomGraph {
    /// A graph of so many nodes and so many edges, and then so many random changes.
    pub fn new(seed: u64, nodes: usize, edges: usize, changes: usize) -> RandomGraph {
        let repository = Repository::in_memory();
        let mut graph = RandomGraph { repository, plains: vec![Plain::default()], random: Random(seed) };
        graph.commit(|t, _| {
            for (subtype, supertype) in [("b", "a"), ("c", "")] {
                t.define_type(TypeDefinition::entity(if supertype.is_empty() {
                    subtype
                } else {
                    supertype
                }))?;
                if !supertype.is_empty() {
                    t.define_type(TypeDefinition::entity(subtype).supertype(supertype))?;
                }
            }
            t.define_type(TypeDefinition::relationship("x"))?;
            t.define_type(TypeDefinition::relationship("y").supertype("x"))?;
            t.define_type(TypeDefinition::relationship("z"))?;
            t.define_type(TypeDefinition::classification("k"))?;
            t.define_type(TypeDefinition::classification("l").supertype("k"))?;
            t.define_type(TypeDefinition::classification("m"))
        });
        graph.commit(|t, random| (0..nodes).try_for_each(|number| node(t, random, number)));
        graph.commit(|t, random| (0..edges).try_for_each(|number| edge(t, random, number, nodes)));
        for number in 0..changes {
            graph.change(nodes, edges + number);
        }
        graph
    }

    fn commit(&mut self, work: impl Fn(&mut Transaction, &mut Random) -> Result<()>) {
        let mut transaction = self.repository.transaction();
        work(&mut transaction, &mut self.random).unwrap();
        transaction.commit().unwrap();
        let snapshot = self.repository.snapshot();
        // A transaction without a change makes no record.
        if snapshot.position().0 as usize == self.plains.len() {
            let plain = self.plains.last().unwrap().after(&snapshot);
            self.plains.push(plain);
        }
    }

    fn change(&mut self, nodes: usize, number: usize) {
        let plain = self.plains.last().unwrap().clone();
        let node_id = format!("n{}", self.random.below(nodes));
        let edge_id = self.random.choose(&plain.edges.keys().cloned().collect::<Vec<_>>()).clone();
        let entity = Id::new(&node_id).unwrap();
        let relationship = InstanceId::Relationship(Id::new(&edge_id).unwrap());
        let (node, is_edge_live) = (&plain.nodes[&node_id], plain.edges[&edge_id].is_live);
        match self.random.below(6) {
            // One is always left to start at.
            0 if node.is_live && plain.nodes.values().filter(|node| node.is_live).count() > 1 => {
                self.commit(|t, _| t.delete(&InstanceId::Entity(entity.clone())))
            }
            0 | 1 if !node.is_live => self.commit(|t, _| t.restore(&InstanceId::Entity(entity.clone()))),
            2 if is_edge_live => self.commit(|t, _| t.delete(&relationship)),
            3 if node.is_live => self.commit(|t, random| {
                let name = *random.choose(&CLASSIFICATIONS);
                match node.classifications.contains(name) {
                    true => t.declassify(&entity, name),
                    false => t.classify(&entity, ClassificationContent::new(name)),
                }
            }),
            4 if node.is_live => self.commit(|t, random| {
                let patch = Patch::new().set("size", random.below(9) as i64);
                t.update(&InstanceId::Entity(entity.clone()), patch)
            }),
            5 if is_edge_live => self.commit(|t, random| {
                t.update(&relationship, Patch::new().set("weight", random.below(9) as i64))
            }),
            _ => {
                let live: Vec<&String> =
                    plain.nodes.iter().filter(|(_, node)| node.is_live).map(|(id, _)| id).collect();
                if live.len() > 1 {
                    self.commit(|t, random| {
                        let end = |random: &mut Random| Id::new(live[random.below(live.len())]).unwrap();
                        let (from, to) = (end(random), end(random));
                        link(t, random, number, from, to)
                    });
                }
            }
        }
    }

    /// The snapshot as of a position, the present one half of the time, with how it looked then.
    pub fn view(&mut self) -> (Snapshot, Plain) {
        let present = self.repository.snapshot();
        let last = self.plains.len() - 1;
        let position = if self.random.one_in(2) { last } else { 3 + self.random.below(last - 2) };
        let as_of = AsOf { position: Some(Position(position as u64)), ..AsOf::default() };
        (present.as_of(as_of).unwrap(), self.plains[position].clone())
    }

    /// A walk with random filters; none half of the time.
    pub fn reach(&mut self) -> Reach {
        let random = &mut self.random;
        let mut reach = match random.below(4) {
            0 => Reach::out(),
            1 => Reach::incoming(),
            _ => Reach::both(),
        };
        let mut some = |names: &[&str], chance: usize| -> Vec<String> {
            if !random.one_in(chance) {
                return Vec::new();
            }
            (0..1 + random.below(2)).map(|_| (*random.choose(names)).to_owned()).collect()
        };
        let types = some(&RELATIONSHIP_TYPES, 3);
        reach.entity_types = some(&ENTITY_TYPES, 4);
        reach.classifications = some(&CLASSIFICATIONS, 6);
        reach.statuses = some(&["active", "deleted"], 5);
        let own: [&[Direction]; 5] =
            [&[], &[], &[Direction::In], &[Direction::Out], &[Direction::Out, Direction::In]];
        let along = |type_name| Along { type_name, directions: random.choose(&own).to_vec() };
        reach.types = types.into_iter().map(along).collect();
        let mut above = |name: &str| match random.below(8) {
            0 => format!("{name} > {}", random.below(5)).parse().unwrap(),
            1 => format!("not {name} > {}", random.below(9)).parse().unwrap(),
            _ => Expression::everything(),
        };
        reach.entity_where = above("size");
        reach.relationship_where = above("weight");
        reach.depth_max = if random.one_in(3) { None } else { Some(random.below(5)) };
        reach
    }
}

fn node(t: &mut Transaction, random: &mut Random, number: usize) -> Result<()> {
    let name: &str = ENTITY_TYPES[random.below(ENTITY_TYPES.len())];
    let mut entity = NewEntity::new(name).id(&format!("n{number}"))?;
    if number == 0 || !random.one_in(5) {
        entity = entity.property("size", random.below(9) as i64);
    }
    for name in CLASSIFICATIONS {
        if random.one_in(3) {
            entity = entity.classified(ClassificationContent::new(name));
        }
    }
    t.create_entity(entity).map(drop)
}

fn edge(t: &mut Transaction, random: &mut Random, number: usize, nodes: usize) -> Result<()> {
    // Every eighth starts at a hub, every sixteenth is a loop.
    let from = if random.one_in(8) { 0 } else { random.below(nodes) };
    let to = if random.one_in(16) { from } else { random.below(nodes) };
    let id = |number: usize| Id::new(&format!("n{number}")).unwrap();
    link(t, random, number, id(from), id(to))
}

fn link(t: &mut Transaction, random: &mut Random, number: usize, from: Id, to: Id) -> Result<()> {
    let name: &str = RELATIONSHIP_TYPES[random.below(RELATIONSHIP_TYPES.len())];
    let mut relationship = NewRelationship::new(name, from, to).id(&format!("r{number}"))?;
    // The first has one, so that a condition on it can be asked.
    if number == 0 || !random.one_in(5) {
        relationship = relationship.property("weight", random.below(9) as i64);
    }
    t.create_relationship(relationship).map(drop)
}
