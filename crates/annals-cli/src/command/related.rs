//! `annals related`: every entity related to one by any path, in any order.

use annals::{Id, Related};
use clap::Args;
use serde_json::json;

use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, count, properties_summary};
use crate::stop::Outcome;
use crate::wire::{ReachedForm, order_from_text};

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
    /// Leave out so many first
    #[arg(long, default_value_t = 0, value_name = "N")]
    skip: usize,
    /// Only say how many
    #[arg(long = "count")]
    is_count: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints one page, or the count.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let related = Related {
        reach: arguments.walk.reach_both(),
        order: arguments.order_by.iter().map(|key| order_from_text(key)).collect::<annals::Result<_>>()?,
        skip: arguments.skip,
        limit: arguments.limit,
        is_counted: arguments.is_count,
    };
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let page = snapshot.related(&arguments.id, &related)?;
    if arguments.is_count {
        let number = page.count.unwrap_or_default();
        if context.output.is_json() {
            return context.output.json(&json!({ "count": number }));
        }
        return context.output.line(count(number as u64));
    }
    let next = page.has_more.then_some(arguments.skip + arguments.limit);
    let mut table = Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]);
    for reached in &page.items {
        if context.output.is_json() {
            context.output.json(&ReachedForm::of(reached)?)?;
            continue;
        }
        let entity = reached.entity()?;
        table.row([
            reached.distance.to_string(),
            entity.id().to_string(),
            entity.type_name().to_owned(),
            properties_summary(entity.properties()),
        ]);
    }
    if context.output.is_json() {
        return next.map_or(Ok(()), |next| context.output.json(&json!({ "next": next })));
    }
    context.output.table(&table)?;
    next.map_or(Ok(()), |next| context.output.line(format!("more: --skip {next}")))
}
