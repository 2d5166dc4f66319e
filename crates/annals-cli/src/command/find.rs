//! `annals find`: entities or relationships by type, classification and property.

use annals::{Condition, Error, ErrorKind, Find, Order, Result};
use clap::Args;
use serde_json::json;

use crate::condition::{is_condition, parse_condition};
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, entity_row, relationship_row};
use crate::stop::Outcome;
use crate::wire::{entity_to_json, relationship_to_json};

/// Find entities, or relationships, by type and properties
#[derive(Args, Debug)]
#[command(after_help = "\
Conditions, all of which must hold:
  name=bash   name!=bash   size<10   size<=10   size>10   size>=10
  name^=lib   starts with       name~=foo   contains
  name?       is there          !name       is missing
A value is JSON if it reads as JSON, otherwise text: size=10 is a number, size='\"10\"' a text,
born='{\"$date\": \"1815-12-10\"}' a date. Quote < > ! ? for your shell.

Examples:
  annals find package                                  every package, page by page
  annals find package 'installed_size_kib>=500000' --order-by -installed_size_kib
  annals find package --classified essential --valid-at 2024-01-01
  annals find depends 'constraint?' --relationships --limit 10
With --json each line is one instance; a last line {\"next\": …} has the cursor for --after if there is more.")]
pub struct Arguments {
    /// A type (subtypes are found too), then conditions; both may be left out
    #[arg(value_name = "TYPE|CONDITION", allow_hyphen_values = false)]
    terms: Vec<String>,
    /// Order by this property, smallest first; -PROPERTY for largest first
    #[arg(long, value_name = "PROPERTY", allow_hyphen_values = true)]
    order_by: Option<String>,
    /// Only entities that carry this classification
    #[arg(long, value_name = "NAME", conflicts_with = "is_relationships")]
    classified: Option<String>,
    /// Find relationships
    #[arg(long = "relationships")]
    is_relationships: bool,
    /// Page size
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Continue behind the page that ended with this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints one page.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let find = search(arguments)?;
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let is_json = context.output.is_json();
    let (table, next) = if arguments.is_relationships {
        let page = snapshot.find_relationships(&find)?;
        let mut table = Table::new(&["ID", "FROM", "TYPE", "TO", "PROPERTIES"]);
        for relationship in &page.items {
            match is_json {
                true => context.output.json(&relationship_to_json(relationship))?,
                false => table.row(relationship_row(relationship)),
            }
        }
        (table, page.next)
    } else {
        let page = snapshot.find_entities(&find)?;
        let mut table = Table::new(&["ID", "TYPE", "PROPERTIES"]);
        for entity in &page.items {
            match is_json {
                true => context.output.json(&entity_to_json(entity))?,
                false => table.row(entity_row(entity)),
            }
        }
        (table, page.next)
    };
    context.output.table(&table)?;
    match next {
        Some(next) if is_json => context.output.json(&json!({ "next": next })),
        Some(next) => context.output.line(format!("more: --after {next}")),
        None => Ok(()),
    }
}

fn search(arguments: &Arguments) -> Result<Find> {
    let mut find = Find {
        classification: arguments.classified.as_deref().map(Into::into),
        limit: arguments.limit,
        after: arguments.after.clone(),
        ..Find::default()
    };
    for (index, term) in arguments.terms.iter().enumerate() {
        if is_condition(term) {
            find.conditions.push(parse_condition(term)?);
        } else if index == 0 {
            find.type_name = Some(term.as_str().into());
        } else {
            let Condition { .. } = parse_condition(term)?;
        }
    }
    find.order = match arguments.order_by.as_deref() {
        None => None,
        Some("" | "-") => {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "--order-by: expected a property, found nothing",
            ));
        }
        Some(property) => Some(match property.strip_prefix('-') {
            Some(property) => (property.into(), Order::Descending),
            None => (property.into(), Order::Ascending),
        }),
    };
    Ok(find)
}
