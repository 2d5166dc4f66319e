//! `annals relationships`: the relationships of an entity, in any order.

use annals::Id;
use clap::Args;

use super::listing::{Listing, json_of_line};
use super::selection::DirectionArgument;
use crate::context::{AsOfArguments, Context};
use crate::request::Request;
use crate::shown::Shown;
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
    let request = Request::get_of("entities", &arguments.id, "/relationships")
        .with("direction", arguments.direction.name())
        .with_all("type", &arguments.types)
        .with_all("status", &arguments.statuses)
        .with_all("orderBy", &arguments.order_by);
    if arguments.is_count {
        let mut answer = context.ask_at(request.flag("count", true).with("limit", 1), &arguments.as_of)?;
        let page = json_of_line(&answer.whole()?)?;
        return context.output.count(Shown(&page).number("count"));
    }
    let request = request
        .with("limit", arguments.limit)
        .with_all("skip", Some(arguments.skip).filter(|skip| *skip > 0))
        .with_all("after", &arguments.after)
        .lines();
    let mut answer = context.ask_at(request, &arguments.as_of)?;
    let mut listing = Listing::of_relationships();
    let next = listing.take(context, &mut answer)?;
    listing.end_page(context, "--after", next)
}
