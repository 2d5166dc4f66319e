//! Prints instances as they come: JSON line by line, or a table in parts.

use serde_json::json;

use crate::context::Context;
use crate::place::{Answer, AnswerLine};
use crate::shown::Shown;
use crate::stop::Outcome;
use crate::table::Table;

/// Records looked up together.
pub const BATCH_ITEMS_MAX: usize = 1_000;

/// A list of instances of one kind.
pub struct Listing {
    table: Table,
    /// The cells of an item.
    row: fn(Shown) -> Vec<String>,
}

impl Listing {
    /// A list of entities.
    pub fn of_entities() -> Listing {
        let table = Table::new(&["ID", "TYPE", "PROPERTIES"]);
        Listing { table, row: |entity| entity.entity_row().into() }
    }

    /// A list of entities with their distances.
    pub fn of_reached() -> Listing {
        let table = Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]);
        Listing {
            table,
            row: |reached| [vec![distance(reached)], reached.of("entity").entity_row().into()].concat(),
        }
    }

    /// A list of relationships.
    pub fn of_relationships() -> Listing {
        let table = Table::new(&["ID", "FROM", "TYPE", "TO", "PROPERTIES"]);
        Listing { table, row: |relationship| relationship.relationship_row().into() }
    }

    /// Prints an item.
    pub fn item(&mut self, context: &mut Context, item: Shown) -> Outcome {
        context.output.row(&mut self.table, (self.row)(item))
    }

    /// Prints all items of an answer; returns the cursor of the next page, if there is one.
    pub fn take(&mut self, context: &mut Context, answer: &mut Answer) -> Outcome<Option<String>> {
        while let Some(line) = answer.line()? {
            match line {
                AnswerLine::Next(next) => return Ok(Some(next)),
                AnswerLine::Item(line) if context.output.is_json() => context.output.json_line(&line)?,
                AnswerLine::Item(line) => self.item(context, Shown(&json_of_line(&line)?))?,
            }
        }
        Ok(None)
    }

    /// True if no row waits to be printed.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Prints the remaining rows.
    pub fn end(mut self, context: &mut Context) -> Outcome {
        context.output.table(&mut self.table)
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

/// The steps from the start, or from both starts.
fn distance(reached: Shown) -> String {
    match reached.of("distances").0.as_array().map(Vec::as_slice) {
        Some([from, to]) => format!("{from}, {to}"),
        _ => reached.number("distance").to_string(),
    }
}

/// The cursor behind this many items of a counted list. It has no position: the last one there can be.
pub fn after_skipped(skip: usize) -> Option<String> {
    (skip > 0).then(|| format!("{}-{skip}", u64::MAX))
}

/// A line of an answer, read.
///
/// Errors: `Io` for a line that is no JSON.
pub fn json_of_line(line: &[u8]) -> annals::Result<serde_json::Value> {
    serde_json::from_slice(line).map_err(|error| annals::Error::io("read an answer", error.into()))
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
