//! `annals neighbors`: the relationships of an entity, with the entities at their other ends.

use annals::{Direction, Error, ErrorKind, Id};
use clap::Args;
use serde_json::json;

use super::listing::json_of_line;
use super::selection::{DirectionArgument, arrow, direction_name};
use crate::columns::NEIGHBORS;
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::rows::{AnswerRows, RowsArguments};
use crate::shown::Shown;
use crate::stop::Outcome;
use crate::table::Table;

/// Show the relationships of an entity, with the entities at their other ends
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals neighbors package:bash
  annals neighbors package:libc6 --direction in --type depends --limit 1000
  annals neighbors package:bash --valid-at 2024-01-01
  annals neighbors package:bash --columns @direction,@relationship.@type,@id,@relationship.constraint
With --json each line is {\"direction\", \"relationship\", \"entity\"}; a last line {\"next\": …} if there is more.")]
pub struct Arguments {
    /// Id of the entity
    id: Id,
    /// Direction of the relationships
    #[arg(long, short = 'd', value_enum, default_value = "both")]
    direction: DirectionArgument,
    /// Only relationships of this type and its subtypes
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    type_name: Option<String>,
    /// Show at most this many neighbours in one direction
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Continue after this relationship; needs --direction out or in
    #[arg(long, value_name = "RELATIONSHIP")]
    after: Option<Id>,
    /// Print only the count
    #[arg(long = "count", conflicts_with = "after")]
    is_count: bool,
    #[command(flatten)]
    rows: RowsArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// The columns of rows, if the user names none.
const USUAL_COLUMNS: &str = "@direction,@relationship.@type,@id,@relationship.*";

/// Prints one page.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    if arguments.after.is_some() && arguments.direction == DirectionArgument::Both {
        let text =
            "--after: expected --direction out or in beside it, found both; page each direction by itself";
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let rows = arguments.rows.rows(context, &NEIGHBORS, USUAL_COLUMNS)?;
    context.warn_of_emptiness(&arguments.as_of)?;
    if arguments.is_count {
        arguments.rows.refuse_beside("--count")?;
        return print_count(context, arguments);
    }
    if let Some(rows) = rows {
        return print_rows(context, arguments, rows);
    }
    let mut table = Table::new(&["", "TYPE", "ENTITY", "PROPERTIES"]);
    let mut next = Vec::new();
    for direction in arguments.direction.directions() {
        let last = page(context, arguments, direction, &mut table)?;
        next.extend(last.map(|last| (direction, last)));
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    for (direction, last) in next {
        let name = direction_name(direction);
        if context.output.is_json() {
            context.output.json(&json!({ "next": last, "direction": name }))?;
        } else {
            context.output.line(format!("more: --direction {name} --after {last}"))?;
        }
    }
    Ok(())
}

/// A request about the relationships in one direction.
fn request(context: &Context, arguments: &Arguments, direction: Direction, rest: &str) -> Request {
    let request =
        Request::get_of("entities", &arguments.id, rest).with("direction", direction_name(direction));
    context.of_candidate(request.with_all("type", &arguments.type_name).read_at(&arguments.as_of))
}

/// Prints one page as rows.
fn print_rows(context: &mut Context, arguments: &Arguments, mut rows: AnswerRows) -> Outcome {
    let (mut next, is_table, is_json) = (Vec::new(), rows.is_table(), rows.is_json());
    for direction in arguments.direction.directions() {
        let name = direction_name(direction);
        let last = each(context, arguments, direction, |context, line| {
            let mut item = json_of_line(&line)?;
            item["direction"] = name.into();
            rows.item(context, &item)
        })?;
        next.extend(last.map(|last| (name, last)));
    }
    rows.end(context, "", None)?;
    for (name, last) in next {
        if is_json {
            context.output.json(&json!({ "next": last, "direction": name }))?;
        } else if is_table {
            context.output.line(format!("more: --direction {name} --after {last}"))?;
        } else {
            tell!("more: --direction {name} --after {last}");
        }
    }
    Ok(())
}

fn print_count(context: &mut Context, arguments: &Arguments) -> Outcome {
    let mut neighbors_count = 0;
    for direction in arguments.direction.directions() {
        let request = request(context, arguments, direction, "/degree");
        let answer = json_of_line(&context.ask(request)?.whole()?)?;
        neighbors_count += Shown(&answer).number("degree");
    }
    context.output.count(neighbors_count)
}

/// Adds the neighbours in one direction; returns where the next page starts.
fn page(
    context: &mut Context,
    arguments: &Arguments,
    direction: Direction,
    table: &mut Table,
) -> Outcome<Option<String>> {
    each(context, arguments, direction, |context, line| {
        if context.output.is_json() {
            // The line has no direction, because the request has it.
            let head = format!("{{\"direction\":\"{}\",", direction_name(direction));
            return context.output.json_line(&[head.as_bytes(), &line[1..]].concat());
        }
        let json = json_of_line(&line)?;
        let (relationship, entity) = (Shown(&json).of("relationship"), Shown(&json).of("entity"));
        table.row([
            arrow(direction).to_owned(),
            relationship.text("type").to_owned(),
            entity.text("id").to_owned(),
            relationship.summary(),
        ]);
        Ok(())
    })
}

/// Takes the neighbours in one direction, each a line of JSON; returns where the next page starts.
fn each(
    context: &mut Context,
    arguments: &Arguments,
    direction: Direction,
    mut take: impl FnMut(&mut Context, Vec<u8>) -> Outcome,
) -> Outcome<Option<String>> {
    let request = request(context, arguments, direction, "/neighbors").lines();
    let request = request.with_all("after", &arguments.after).with("limit", arguments.limit.max(1));
    let mut answer = context.ask(request)?;
    while let Some(line) = answer.line()? {
        match line {
            AnswerLine::Next(next) => return Ok((arguments.limit > 0).then_some(next)),
            AnswerLine::Item(_) if arguments.limit == 0 => {}
            AnswerLine::Item(line) => take(context, line)?,
        }
    }
    Ok(None)
}
