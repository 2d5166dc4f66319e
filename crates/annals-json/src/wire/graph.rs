//! Results of walks through the graph.

use annals_json_form::form;
use serde_json::{Number, Value as Json, json};

use super::page::{counted_example, page_example};
use super::provenance::joined;
use super::{
    CountablePage, CountedPage, Direction, Entity, Listed, OrNull, Page, Relationship, RestOfGroups, Value,
    entity_example, relationship_example,
};

named_forms![
    NeighborPage,
    Neighbor,
    Degree,
    ReachPage,
    RelatedPage,
    Reached,
    Path,
    PathStep,
    PathList,
    FoundPath,
    SubgraphPage,
    RelationshipsOfPage,
    SharedPage,
    Shared,
    ReachCount,
    Groups,
    Group,
    GraphMl,
    Dot,
    Csv,
];

/// A page of neighbours.
#[form]
#[schemars(example = page_example(neighbor_example()))]
pub struct NeighborPage(pub Page<Neighbor>);

/// A neighbour, and the relationship that leads to it.
#[form]
#[schemars(example = neighbor_example())]
pub struct Neighbor {
    pub relationship: Relationship,
    pub entity: Entity,
}

/// Number of relationships of an entity.
#[form]
#[schemars(example = json!({ "degree": 3 }))]
pub struct Degree {
    pub degree: u64,
}

/// A page of entities that a walk reaches, nearest first.
#[form]
#[schemars(example = counted_example(reached_example()))]
pub struct ReachPage(pub CountedPage<Reached>);

/// A page of related entities.
#[form]
#[schemars(example = counted_example(reached_example()))]
pub struct RelatedPage(pub CountablePage<Reached>);

/// An entity that a walk reaches.
#[form]
#[schemars(example = reached_example())]
pub struct Reached {
    /// Steps from the start.
    pub distance: u64,
    pub entity: Entity,
}

/// A path; `found` is false if there is none.
#[form]
#[schemars(example = json!({ "found": true, "length": 1.0, "start": entity_example(), "steps": [step_example()] }))]
pub struct Path {
    pub found: bool,
    /// Number of steps, or sum of the weights.
    #[schemars(range(min = 0))]
    pub length: Number,
    /// Null if there is no path.
    pub start: OrNull<Entity>,
    pub steps: Vec<PathStep>,
}

/// A step of a path.
#[form]
#[schemars(example = step_example())]
pub struct PathStep {
    pub direction: Direction,
    pub relationship: Relationship,
    pub entity: Entity,
}

/// Paths, shortest first.
#[form]
#[schemars(example = json!({ "items": [found_path_example()] }))]
pub struct PathList(pub Listed<FoundPath>);

/// A path of a list.
#[form]
#[schemars(example = found_path_example())]
pub struct FoundPath {
    /// Number of steps, or sum of the weights.
    #[schemars(range(min = 0))]
    pub length: Number,
    pub start: Entity,
    pub steps: Vec<PathStep>,
}

/// A part of the graph: entities, and the relationships between them.
#[form]
#[schemars(example = json!({
    "entities": [{ "distance": 0, "entity": entity_example() }], "relationships": [relationship_example()],
    "entitiesCount": 1, "relationshipsCount": 1, "next": null,
}))]
pub struct SubgraphPage {
    pub entities: Vec<Reached>,
    pub relationships: Vec<Relationship>,
    /// Number of entities on all pages.
    pub entities_count: u64,
    /// Number of relationships on all pages.
    pub relationships_count: u64,
    /// The cursor (`after`) of the next page; null on the last one.
    pub next: OrNull<String>,
}

/// A page of the relationships of an entity.
#[form]
#[schemars(example = json!({ "items": [relationship_example()], "next": "1f0000000700000003", "count": 117 }))]
pub struct RelationshipsOfPage(pub CountablePage<Relationship>);

/// A page of entities that walks from two entities reach.
#[form]
#[schemars(example = counted_example(shared_example()))]
pub struct SharedPage(pub CountedPage<Shared>);

/// An entity that walks from two entities reach.
#[form]
#[schemars(example = shared_example())]
pub struct Shared {
    /// Steps from each of the two.
    pub distances: [u64; 2],
    pub entity: Entity,
}

/// The number of entities that a walk reaches.
#[form]
#[schemars(example = json!({ "count": 4, "distanceMax": 3 }))]
pub struct ReachCount {
    pub count: u64,
    /// Steps to the farthest one; 0 if there is none.
    pub distance_max: u64,
}

/// Counts of the entities that a walk reaches, by the value of a property.
#[form]
#[schemars(example = json!({
    "groups": [{ "value": "finance", "count": 3 }, { "value": null, "count": 1 }],
    "count": 4, "rest": { "groups": 0, "count": 0 },
}))]
pub struct Groups {
    /// The largest groups, largest first.
    pub groups: Vec<Group>,
    /// Number of entities that the walk reaches.
    pub count: u64,
    pub rest: RestOfGroups,
}

/// Entities with one value.
#[form]
#[schemars(example = json!({ "value": "finance", "count": 3 }))]
pub struct Group {
    /// Null for entities without the property.
    pub value: OrNull<Value>,
    pub count: u64,
}

/// A graph in GraphML.
#[form]
#[schemars(example = &"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"/>\n")]
pub struct GraphMl(pub String);

/// A graph in the language of Graphviz.
#[form]
#[schemars(example = &"digraph annals {\n}\n")]
pub struct Dot(pub String);

/// Rows of CSV, below their header: entities of one type, or relationships of one.
#[form]
#[schemars(example = &"icao,name,elevation:long\nEDDF,Frankfurt,364\n")]
pub struct Csv(pub String);

/// A neighbour.
pub fn neighbor_example() -> Json {
    json!({ "relationship": relationship_example(), "entity": entity_example() })
}

/// An entity that a walk reaches.
pub fn reached_example() -> Json {
    json!({ "distance": 1, "entity": entity_example() })
}

/// An entity that two walks reach.
pub fn shared_example() -> Json {
    json!({ "distances": [1, 1], "entity": entity_example() })
}

fn step_example() -> Json {
    joined(neighbor_example(), json!({ "direction": "out" }))
}

/// A path.
pub fn found_path_example() -> Json {
    json!({ "length": 1.0, "start": entity_example(), "steps": [step_example()] })
}
