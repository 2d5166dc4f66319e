//! `annals related`: every entity related to one by any path, in any order.

use annals::{Id, Reach, Related, Snapshot};
use annals_json::order_from_text;
use clap::Args;

use super::listing::{Listing, is_elsewhere};
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;

/// List every entity related to one by any path
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals related ada                                     nearest first
  annals related ada --order-by -@createdAt --limit 10   the youngest ones
  annals related package:libc6 --direction in --count    how many depend on it in the end
With --json each line is {\"distance\", \"entity\"}; a last line {\"next\": …} has the number for --skip if there is more.")]
pub struct Arguments {
    /// Id of the entity to start at
    id: Id,
    #[command(flatten)]
    walk: WalkArguments,
    /// Order by this property or @header, such as @createdAt; with a minus sign in front, largest first. Repeatable
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true)]
    order_by: Vec<String>,
    /// Page size
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Skip this many entities
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    /// Print only the count
    #[arg(long = "count")]
    is_count: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints one page, or the count.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let related = Related {
        reach: arguments.walk.reach_both()?,
        order: arguments.order_by.iter().map(|key| order_from_text(key)).collect::<annals::Result<_>>()?,
        skip: arguments.skip,
        limit: arguments.limit,
        is_counted: arguments.is_count,
    };
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    if !arguments.is_count && related.order.is_empty() && related.limit > 0 {
        return as_it_walks(context, arguments, &snapshot, related.reach);
    }
    let page = snapshot.related(&arguments.id, &related)?;
    if arguments.is_count {
        return context.output.count(page.count.unwrap_or_default());
    }
    let mut listing = Listing::of_reached();
    page.items.iter().try_for_each(|reached| listing.reached(context, reached))?;
    listing.end_page(context, "--skip", page.has_more.then_some(arguments.skip + arguments.limit))
}

/// Prints the page nearest first, each entity as soon as the walk reaches it.
fn as_it_walks(context: &mut Context, arguments: &Arguments, snapshot: &Snapshot, reach: Reach) -> Outcome {
    let found = snapshot.walk(&arguments.id, &reach)?.entities().filter(is_elsewhere);
    let mut found = found.skip(arguments.skip);
    let mut listing = Listing::of_reached();
    for reached in found.by_ref().take(arguments.limit) {
        listing.reached(context, &reached?)?;
    }
    let has_more = found.next().transpose()?.is_some();
    listing.end_page(context, "--skip", has_more.then_some(arguments.skip + arguments.limit))
}
