//! `annals reach`: everything within reach of an entity.

use annals::{Error, ErrorKind, Id, Reach, Snapshot};
use annals_exchange::text::{count, value_to_text};
use annals_json::{GroupsForm, Members, ObjectOf, field_from_text};
use clap::Args;
use serde_json::json;

use super::graph_format::GraphFormatArguments;
use super::listing::{Listing, is_elsewhere};
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::output::Table;
use crate::stop::Outcome;

/// Show everything within reach of an entity, nearest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals reach package:bash --type depends --type pre-depends      all it needs
  annals reach package:libc6 --direction in --type depends         all that would break without it
  annals reach package:libc6 -d in --count --valid-at 2024-01-01   how many, as was true then
  annals reach table:raw.customers --type reads:in --type writes:out     what is made of it, job by job
  annals reach table:raw.customers -t reads:in -t writes:out --group-by owner   whose tables and jobs these are
  annals reach ada --relationship-where 'since > 1830' --entity-where 'not is machine'
With --json each line is {\"distance\", \"entity\"}; grouped {\"value\", \"count\"}, and a last line
{\"count\", \"rest\"}. With --format the start and the relationships on the walk are written, too.")]
pub struct Arguments {
    /// Id of the entity to start at
    id: Id,
    #[command(flatten)]
    walk: WalkArguments,
    /// Print only the count
    #[arg(long = "count")]
    is_count: bool,
    /// Count by the values of this property or @header, such as @type; each member of a set counts
    #[arg(long, value_name = "FIELD", conflicts_with = "is_count")]
    group_by: Option<String>,
    /// Show at most this many; of groups, the largest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    format: GraphFormatArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the entities with their distances.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let reach = arguments.walk.reach()?;
    if let Some(format) = arguments.format.of(context)? {
        if arguments.is_count || arguments.group_by.is_some() || arguments.limit.is_some() {
            let text = "--format: expected none of --count, --group-by and --limit beside it, found one; leave it out";
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        return format.write(&snapshot.neighborhood(&arguments.id, &reach)?, context);
    }
    if let Some(field) = &arguments.group_by {
        return groups(context, arguments, &snapshot, &reach, field);
    }
    let walk = snapshot.walk(&arguments.id, &reach)?;
    let mut walk = walk.entities().filter(is_elsewhere);
    let mut listing = Listing::of_reached();
    let shown = if arguments.is_count { 0 } else { arguments.limit.unwrap_or(usize::MAX) };
    let (mut entities_count, mut distance_max) = (0, 0);
    for reached in walk.by_ref().take(shown) {
        let reached = reached?;
        (entities_count, distance_max) = (entities_count + 1, reached.distance);
        listing.reached(context, &reached)?;
    }
    listing.end(context)?;
    if context.output.is_json() && !arguments.is_count {
        return Ok(());
    }
    for reached in walk {
        (entities_count, distance_max) = (entities_count + 1, reached?.distance);
    }
    if context.output.is_json() {
        return context.output.json(&json!({ "count": entities_count, "distanceMax": distance_max }));
    }
    let entities = count(entities_count);
    context.output.line(format!("{entities} within reach, the farthest {distance_max} steps away"))
}

/// Prints the count of each value.
fn groups(
    context: &mut Context,
    arguments: &Arguments,
    snapshot: &Snapshot,
    reach: &Reach,
    field: &str,
) -> Outcome {
    let found = snapshot.groups(&arguments.id, reach, &field_from_text(field)?)?;
    let form = GroupsForm::of(&found, arguments.limit.unwrap_or(usize::MAX));
    if context.output.is_json() {
        form.shown().iter().try_for_each(|group| context.output.json(group))?;
        return context.output.json(&ObjectOf(|members: &mut Members| form.add_totals(members)));
    }
    let mut table = Table::new(&["VALUE", "COUNT"]);
    for group in form.shown() {
        let value = group.value.as_ref().map_or("null".to_owned(), value_to_text);
        table.row([value, count(group.count as u64)]);
    }
    context.output.table(&mut table)?;
    let (groups, rest) = form.rest();
    if groups > 0 {
        let (groups, rest) = (count(groups as u64), count(rest as u64));
        context.output.line(format!("and {groups} more values, together {rest}"))?;
    }
    context.output.line(format!("{} within reach", count(found.count as u64)))
}
