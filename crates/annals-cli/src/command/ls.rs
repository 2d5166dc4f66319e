//! `annals ls`: the children of an item of a tree, or all items that match a path.

use annals::{Result, TreePath};
use annals_exchange::text::one_line;
use clap::Args;

use super::listing::{json_of_line, print_next};
use super::tree_path::{ReadArguments, or_nothing, path};
use crate::columns::ITEMS;
use crate::context::Context;
use crate::output::properties_summary;
use crate::place::{Answer, AnswerLine};
use crate::request::Request;
use crate::rows::{AnswerRows, RowsArguments};
use crate::shown::{Shown, value_of, value_text};
use crate::stop::Outcome;
use crate::table::Table;

/// List the children of an item of a tree
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals ls /interfaces
  annals ls /interfaces/interface --limit 10 --back      the last ten of a list
  annals ls --find '//interface[mtu > 1500]/name'        all that a path leads to
  annals ls --find --explain '//interface'               how that is found
  annals ls --find '//interface' --columns @path,mtu --format csv
With --json each line is {\"id\", \"path\", \"type\", \"value\"}; a last line {\"next\": …} if there is more.")]
pub struct Arguments {
    /// Path of the item, or of a list
    #[arg(default_value = "/")]
    path: String,
    /// List all items that match the path: it may have *, // and conditions
    #[arg(long = "find", conflicts_with_all = ["after", "is_back", "is_count"])]
    is_find: bool,
    /// Show how the items that match the path are found
    #[arg(long = "explain", conflicts_with_all = ["after", "is_back", "is_count"])]
    is_explain: bool,
    /// Print only the count
    #[arg(long = "count", conflicts_with_all = ["after", "is_back"])]
    is_count: bool,
    /// List at most this many items
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Continue after the page that ended with this cursor
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
    /// List the last one first
    #[arg(long = "back")]
    is_back: bool,
    #[command(flatten)]
    rows: RowsArguments,
    #[command(flatten)]
    of: ReadArguments,
}

/// Prints one page.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let path = path(&arguments.path)?;
    let as_of = &arguments.of.as_of;
    let request = |at: &str| arguments.of.root.request(at, &path);
    let usual = if arguments.is_find { "@path,@type,*,@value" } else { "@name,@type,*" };
    let rows = arguments.rows.rows(context, &ITEMS, usual)?;
    if arguments.is_explain || arguments.is_count {
        arguments.rows.refuse_beside(if arguments.is_count { "--count" } else { "--explain" })?;
    }
    if arguments.is_explain {
        // The plan depends on the declared types alone, and on no root.
        let request = context.of_candidate(Request::get("/v1/tree-explain").with("path", &path));
        let plan = context.ask(request)?.whole()?;
        if context.output.is_json() {
            return context.output.json_line(&plan);
        }
        let plan = json_of_line(&plan)?;
        let steps = Shown(&plan).all("steps").filter_map(|step| step.0.as_str());
        return steps.into_iter().try_for_each(|step| context.output.line(step));
    }
    if arguments.is_count {
        let request = request("/v1/tree-list").flag("count", true).with("limit", 1);
        let mut answer = context.ask_at(request, as_of).map_err(|stop| or_nothing(stop, &path))?;
        let page = json_of_line(&answer.whole()?)?;
        return context.output.count(Shown(&page).number("count"));
    }
    let mut table = Table::new(&["NAME", "TYPE", "PROPERTIES"]);
    let mut next = None;
    let is_find = arguments.is_find;
    let request = if is_find {
        request("/v1/tree-find")
    } else {
        request("/v1/tree-list").with_all("after", &arguments.after).flag("back", arguments.is_back)
    };
    let request = request.with("limit", arguments.limit).flag("typed", !context.output.is_json()).lines();
    let mut answer = context.ask_at(request, as_of).map_err(|stop| or_nothing(stop, &path))?;
    if let Some(rows) = rows {
        return print_rows(context, rows, &mut answer);
    }
    while let Some(line) = answer.line()? {
        match line {
            AnswerLine::Next(cursor) => next = Some(cursor),
            AnswerLine::Item(line) if context.output.is_json() => context.output.json_line(&line)?,
            AnswerLine::Item(line) => {
                let row = row(Shown(&json_of_line(&line)?), is_find)?;
                context.output.row(&mut table, row)?;
            }
        }
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    print_next(context, "--after", next)
}

/// Prints the items as rows.
fn print_rows(context: &mut Context, mut rows: AnswerRows, answer: &mut Answer) -> Outcome {
    let mut next = None;
    while let Some(line) = answer.line()? {
        match line {
            AnswerLine::Next(cursor) => next = Some(cursor),
            AnswerLine::Item(line) => {
                let mut item = json_of_line(&line)?;
                item["name"] = name_of(Shown(&item))?.into();
                rows.item(context, &item)?;
            }
        }
    }
    rows.end(context, "--after", next.map(Into::into))
}

/// The last step of the path of an item.
fn name_of(item: Shown) -> Result<String> {
    let path = item.text("path");
    let last = TreePath::parse(path)?.steps.pop();
    Ok(last.map_or_else(|| path.to_owned(), |step| step.to_string().trim_start_matches('/').to_owned()))
}

fn row(item: Shown, is_whole_path: bool) -> Result<[String; 3]> {
    let name = if is_whole_path { item.text("path").to_owned() } else { name_of(item)? };
    let value = item.of("value");
    let told = match item.optional("property") {
        Some(_) => value_text(value.0).unwrap_or_default(),
        None => properties_summary(value.members().map(|(name, value)| (name, value_of(value)))),
    };
    Ok([one_line(&name), item.text("type").to_owned(), told])
}
