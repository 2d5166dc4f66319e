//! Prints instances as they are found: JSON line by line, or a table in parts.

use annals::{Entity, Reached, Relationship, Shared};
use annals_json::{CrossedForm, ReachedForm};
use serde_json::json;

use crate::context::Context;
use crate::output::{Table, entity_row, properties_summary, relationship_row};
use crate::stop::Outcome;

/// Instances looked up together.
pub const BATCH_ITEMS_MAX: usize = 1_000;

/// False for the start of a walk, which the list leaves out.
pub fn is_elsewhere(reached: &annals::Result<Reached>) -> bool {
    !matches!(reached, Ok(reached) if reached.distance == 0)
}

/// A list of instances of one kind.
pub struct Listing(Table);

impl Listing {
    /// A list of entities.
    pub fn of_entities() -> Listing {
        Listing(Table::new(&["ID", "TYPE", "PROPERTIES"]))
    }

    /// A list of entities with their distances.
    pub fn of_reached() -> Listing {
        Listing(Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]))
    }

    /// A list of relationships.
    pub fn of_relationships() -> Listing {
        Listing(Table::new(&["ID", "FROM", "TYPE", "TO", "PROPERTIES"]))
    }

    /// Prints an entity.
    pub fn entity(&mut self, context: &mut Context, entity: &Entity) -> Outcome {
        if context.output.is_json() {
            return context.output.json(entity);
        }
        context.output.row(&mut self.0, entity_row(entity))
    }

    /// Prints a relationship.
    pub fn relationship(&mut self, context: &mut Context, relationship: &Relationship) -> Outcome {
        if context.output.is_json() {
            return context.output.json(relationship);
        }
        context.output.row(&mut self.0, relationship_row(relationship))
    }

    /// Prints a relationship that a walk went along.
    pub fn crossed(&mut self, context: &mut Context, crossed: &annals::Crossed) -> Outcome {
        if context.output.is_json() {
            return context.output.json(&CrossedForm::of(crossed)?);
        }
        context.output.row(&mut self.0, relationship_row(&crossed.relationship()?))
    }

    /// Prints an entity that a walk reached.
    pub fn reached(&mut self, context: &mut Context, reached: &Reached) -> Outcome {
        if context.output.is_json() {
            return context.output.json(&ReachedForm::of(reached)?);
        }
        self.far(context, reached.distance.to_string(), &reached.entity()?)
    }

    /// Prints an entity that walks from two entities reached.
    pub fn shared(&mut self, context: &mut Context, shared: &Shared) -> Outcome {
        if context.output.is_json() {
            return context.output.json(&ReachedForm::of_shared(shared)?);
        }
        let [from, to] = shared.distances;
        self.far(context, format!("{from}, {to}"), &shared.entity()?)
    }

    fn far(&mut self, context: &mut Context, distance: String, entity: &Entity) -> Outcome {
        let summary = properties_summary(entity.properties());
        let row = [distance, entity.id().to_string(), entity.type_name().to_owned(), summary];
        context.output.row(&mut self.0, row)
    }

    /// Prints the remaining rows.
    pub fn end(mut self, context: &mut Context) -> Outcome {
        context.output.table(&mut self.0)
    }

    /// Prints the remaining rows, and the argument that shows the next page.
    pub fn end_page(
        self,
        context: &mut Context,
        argument: &str,
        next: Option<impl Into<serde_json::Value>>,
    ) -> Outcome {
        self.end(context)?;
        context.output.end_list();
        print_next(context, argument, next)
    }
}

/// Prints the argument that shows the next page, if there is one.
pub fn print_next(
    context: &mut Context,
    argument: &str,
    next: Option<impl Into<serde_json::Value>>,
) -> Outcome {
    let Some(next) = next.map(Into::into) else { return Ok(()) };
    if context.output.is_json() {
        return context.output.json(&json!({ "next": next }));
    }
    let text = next.as_str().map_or_else(|| next.to_string(), str::to_owned);
    context.output.line(format!("more: {argument} {text}"))
}
