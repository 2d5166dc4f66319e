//! Answers of graph queries, and the text form of an order.

use annals::{Direction, Order, Path, PathStep, Reached, Result, Shared, Sort, SortBy, Subgraph};
use serde_json::{Value as Json, json};

use super::{entity_to_json, invalid, relationship_to_json};

/// An order from `@id`, `@createdAt`, `@updatedAt` or the name of a property, with a minus sign in front for largest first.
pub fn sort_from_text(text: &str) -> Result<Sort> {
    let (order, name) = match text.strip_prefix('-') {
        Some(name) => (Order::Descending, name),
        None => (Order::Ascending, text),
    };
    let by = match name {
        "@id" => SortBy::Id,
        "@createdAt" => SortBy::Created,
        "@updatedAt" => SortBy::Updated,
        "" => {
            return Err(invalid(
                "orderBy: expected a property, @id, @createdAt or @updatedAt, found nothing",
            ));
        }
        name if name.starts_with('@') => {
            return Err(invalid(format!(
                "orderBy {name}: expected @id, @createdAt, @updatedAt or a property"
            )));
        }
        property => SortBy::Property(property.into()),
    };
    Ok(Sort { by, order })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_header_field_or_a_property() {
        assert_eq!(sort_from_text("-@createdAt").unwrap(), Sort::descending(SortBy::Created));
        assert_eq!(sort_from_text("id").unwrap(), Sort::ascending(SortBy::Property("id".into())));
        for bad in ["", "-", "@", "@size"] {
            assert!(sort_from_text(bad).is_err(), "{bad}");
        }
    }
}
