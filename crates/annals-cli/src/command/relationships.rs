//! `annals relationships`: the relationships of an entity, in any order.

use annals::{Id, RelationshipsOf};
use annals_json::order_from_text;
use clap::Args;

use super::listing::{BATCH_ITEMS_MAX, Listing};
use super::selection::DirectionArgument;
use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;

/// List the relationships of an entity, each once
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals relationships package:bash
  annals relationships package:libc6 --direction in --order-by -@createdAt --limit 10
  annals relationships package:bash --status deleted
With --json each line is one relationship; a last line {\"next\": …} has the cursor for --after if there is more.")]
pub struct Arguments {
    /// Id of the entity
    id: Id,
    /// Direction of the relationships
    #[arg(long, short = 'd', value_enum, default_value = "both")]
    direction: DirectionArgument,
    /// Only of this type and its subtypes; may be repeated
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,
    /// Only with this status; by default all but deleted; may be repeated
    #[arg(long = "status", value_name = "STATUS")]
    statuses: Vec<String>,
    /// Order by this property or @header, such as @createdAt; with a minus sign in front, largest first. Repeatable
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    order_by: Vec<String>,
    /// Page size
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Skip this many relationships
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    /// Continue after the page that ended with this cursor
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Print only the count
    #[arg(long = "count")]
    is_count: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints one page, or the count.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut of = RelationshipsOf {
        directions: arguments.direction.directions(),
        types: arguments.types.clone(),
        statuses: arguments.statuses.clone(),
        order: arguments.order_by.iter().map(|key| order_from_text(key)).collect::<annals::Result<_>>()?,
        after: arguments.after.clone(),
        skip: arguments.skip,
        limit: arguments.limit,
        ..RelationshipsOf::both()
    };
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    if arguments.is_count {
        let count = snapshot.relationships_of_count(&arguments.id, &of)?;
        return context.output.count(count);
    }
    let mut listing = Listing::of_relationships();
    let mut left = arguments.limit;
    loop {
        // With an order given, each page reads all relationships.
        if of.order.is_empty() {
            of.limit = left.min(BATCH_ITEMS_MAX);
        }
        let page = snapshot.relationships_of(&arguments.id, &of)?;
        left -= page.items.len();
        page.items.iter().try_for_each(|relationship| listing.relationship(context, relationship))?;
        match page.next {
            Some(next) if left > 0 => (of.after, of.skip) = (Some(next), 0),
            next => return listing.end_page(context, "--after", next),
        }
    }
}
