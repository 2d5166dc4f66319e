//! `annals reach`: everything within reach of an entity.

use annals::{Error, ErrorKind, Id};
use annals_exchange::text::{count, counted};
use clap::{Args, ValueEnum};

use super::graph_format::GraphFormatArgument;
use super::grouping::{count_column, print_groups, rest_text};
use super::listing::{Listing, json_of_line};
use super::path::WalkArguments;
use crate::columns::{AnswerColumn, REACHED, Shows};
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::rows::{ColumnsArguments, FormatArgument, Printed};
use crate::shown::{Shown, value_text};
use crate::stop::Outcome;
use crate::table::Table;

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
  annals reach package:bash --columns @distance,@id,version --format csv
With --json each line is {\"distance\", \"entity\"}; grouped {\"value\", \"count\"}, and a last line
{\"count\", \"rest\"}. With --format graphml or dot the start and the relationships on the walk are written, too.")]
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
    /// Write the entities and the relationships between them as a graph for other programs, or print rows
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ReachFormat>,
    #[command(flatten)]
    columns: ColumnsArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// A format of other programs for a graph, or one of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReachFormat {
    /// GraphML, an XML format
    Graphml,
    /// DOT, which Graphviz draws
    Dot,
    /// Aligned columns, for people
    Table,
    /// Commas between cells, as RFC 4180 describes it
    Csv,
    /// Tabs between cells; \t, \n, \r and \\ stand for themselves
    Tsv,
    /// A line of JSON for each entity, as with --json, but only with the columns
    Json,
}

impl ReachFormat {
    fn of_graph(self) -> Option<GraphFormatArgument> {
        match self {
            ReachFormat::Graphml => Some(GraphFormatArgument::Graphml),
            ReachFormat::Dot => Some(GraphFormatArgument::Dot),
            _ => None,
        }
    }

    fn of_rows(self) -> Option<FormatArgument> {
        match self {
            ReachFormat::Table => Some(FormatArgument::Table),
            ReachFormat::Csv => Some(FormatArgument::Csv),
            ReachFormat::Tsv => Some(FormatArgument::Tsv),
            ReachFormat::Json => Some(FormatArgument::Json),
            ReachFormat::Graphml | ReachFormat::Dot => None,
        }
    }
}

/// Prints the entities with their distances.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    context.warn_of_emptiness(&arguments.as_of)?;
    let candidate = context.candidate.clone();
    let request = |rest: &str| {
        let request = arguments.walk.of(Request::get_of("entities", &arguments.id, rest));
        request.read_at(&arguments.as_of).with_all("candidate", &candidate)
    };
    if let Some(format) = arguments.format.and_then(ReachFormat::of_graph) {
        let format = format.without_json(context)?;
        if arguments.is_count || arguments.group_by.is_some() || arguments.limit.is_some() {
            let text = "--format: expected none of --count, --group-by and --limit beside it, found one; leave it out";
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        arguments.columns.refuse_beside(None, "--format for a graph")?;
        return format.print(context, request("/reach"));
    }
    let format = arguments.format.and_then(ReachFormat::of_rows);
    if let Some(field) = &arguments.group_by {
        let printed = arguments.columns.printed_groups(context, format)?;
        let limit = arguments.limit.map(|limit| limit.max(1));
        let request = request("/reach/groups").with("groupBy", field).with_all("limit", limit);
        if matches!(printed, Printed::Text(_)) {
            let shows = Shows::Property(String::new(), "value".to_owned());
            let columns = vec![AnswerColumn { title: field.clone(), shows }, count_column()];
            return print_groups(context, request, columns, printed).map(drop);
        }
        return groups(context, request.lines());
    }
    let rows = arguments.columns.rows(context, format, &REACHED, "@distance,@id,@type,*")?;
    if arguments.is_count {
        arguments.columns.refuse_beside(format, "--count")?;
    } else if let Some(mut rows) = rows {
        if arguments.limit != Some(0) {
            let mut answer = context.ask(request("/reach").with_all("limit", arguments.limit).lines())?;
            rows.take(context, &mut answer)?;
        }
        return rows.end(context, "", None);
    }
    // A list that is cut off does not tell how many there are.
    let is_whole = !arguments.is_count && arguments.limit.is_none();
    let total = if is_whole || (context.output.is_json() && !arguments.is_count) {
        None
    } else {
        Some(context.ask(request("/reach/count"))?.whole()?)
    };
    let (mut entities_count, mut distance_max) = (0, 0);
    if !arguments.is_count && arguments.limit != Some(0) {
        let mut answer = context.ask(request("/reach").with_all("limit", arguments.limit).lines())?;
        let mut listing = Listing::of_reached();
        if context.output.is_json() {
            return listing.take(context, &mut answer).map(drop);
        }
        while let Some(AnswerLine::Item(line)) = answer.line()? {
            let json = json_of_line(&line)?;
            (entities_count, distance_max) = (entities_count + 1, Shown(&json).number("distance"));
            listing.item(context, Shown(&json))?;
        }
        listing.end(context)?;
    }
    if let Some(told) = total {
        if context.output.is_json() {
            return context.output.json_line(&told);
        }
        let json = json_of_line(&told)?;
        (entities_count, distance_max) = (Shown(&json).number("count"), Shown(&json).number("distanceMax"));
    }
    if context.output.is_json() {
        return Ok(());
    }
    let entities = count(entities_count);
    let steps = counted(distance_max, "step");
    context.output.line(format!("{entities} within reach, the farthest {steps} away"))
}

/// Prints the count of each value.
fn groups(context: &mut Context, request: Request) -> Outcome {
    let mut answer = context.ask(request)?;
    let mut table = Table::new(&["VALUE", "COUNT"]);
    while let Some(AnswerLine::Item(line)) = answer.line()? {
        if context.output.is_json() {
            context.output.json_line(&line)?;
            continue;
        }
        let json = json_of_line(&line)?;
        let line = Shown(&json);
        let Some(value) = json.get("value") else {
            // The last line has the totals.
            context.output.table(&mut table)?;
            if let Some(text) = rest_text(line.of("rest")) {
                context.output.line(text)?;
            }
            return context.output.line(format!("{} within reach", count(line.number("count"))));
        };
        table.row([value_text(value).unwrap_or_else(|| "null".to_owned()), count(line.number("count"))]);
    }
    Ok(())
}
