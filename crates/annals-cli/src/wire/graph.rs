//! Answers of graph queries.

use annals::{Direction, Path, PathStep, Reached, Result, Shared, Subgraph};
use serde_json::{Value as Json, json};

use super::{entity_to_json, relationship_to_json};

/// The name of a direction.
pub fn direction_to_text(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

/// `{"length", "start", "steps": [{"direction", "relationship", "entity"}]}`.
pub fn path_to_json(path: &Path) -> Json {
    let step = |step: &PathStep| {
        json!({
            "direction": direction_to_text(step.direction),
            "relationship": relationship_to_json(&step.relationship),
            "entity": entity_to_json(&step.entity),
        })
    };
    let steps: Json = path.steps.iter().map(step).collect();
    json!({ "length": path.length, "start": entity_to_json(&path.start), "steps": steps })
}

/// `{"distance", "entity"}`.
pub fn reached_to_json(reached: &Reached) -> Result<Json> {
    Ok(json!({ "distance": reached.distance, "entity": entity_to_json(&reached.entity()?) }))
}

/// `{"distances", "entity"}`.
pub fn shared_to_json(shared: &Shared) -> Result<Json> {
    Ok(json!({ "distances": shared.distances, "entity": entity_to_json(&shared.entity()?) }))
}

/// A part of a subgraph: its entities and then its relationships, so many of them left out and so many taken.
///
/// Shape: `{"entities": [{"distance", "entity"}], "relationships": […]}`, and whether there are more.
pub fn subgraph_to_json(subgraph: &Subgraph, skip: usize, limit: usize) -> Result<(Json, bool)> {
    let (entities, relationships) = (subgraph.entities(), subgraph.relationships());
    let (entities_count, relationships_count) = (entities.len(), relationships.len());
    let entities = entities
        .skip(skip)
        .take(limit)
        .map(|reached| reached_to_json(&reached))
        .collect::<Result<Vec<_>>>()?;
    let rest = limit - entities.len();
    let relationships = relationships.skip(skip.saturating_sub(entities_count)).take(rest);
    let relationships = relationships
        .map(|crossed| Ok(relationship_to_json(&crossed.relationship()?)))
        .collect::<Result<Vec<_>>>()?;
    let has_more = skip.saturating_add(limit) < entities_count + relationships_count;
    let json = json!({
        "entities": entities,
        "relationships": relationships,
        "entitiesCount": entities_count,
        "relationshipsCount": relationships_count,
    });
    Ok((json, has_more))
}
