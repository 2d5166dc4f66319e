//! `annals related`: every entity related to one by any path, in any order.

use annals::Id;
use clap::Args;

use super::listing::{Listing, after_skipped, json_of_line};
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::request::Request;
use crate::shown::Shown;
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
    let request = arguments.walk.of(Request::get_of("entities", &arguments.id, "/related"));
    let request = request.with_all("orderBy", &arguments.order_by);
    if arguments.is_count {
        let mut answer = context.ask_at(request.flag("count", true).with("limit", 1), &arguments.as_of)?;
        let page = json_of_line(&answer.whole()?)?;
        return context.output.count(Shown(&page).number("count"));
    }
    let request =
        request.with("limit", arguments.limit).with_all("after", after_skipped(arguments.skip)).lines();
    let mut answer = context.ask_at(request, &arguments.as_of)?;
    let mut listing = Listing::of_reached();
    let next = listing.take(context, &mut answer)?;
    listing.end_page(context, "--skip", next.map(|_| arguments.skip + arguments.limit))
}
