//! `annals ls`: the children of an item of a tree, or all items that match a path.

use annals::{ListOptions, TreeItem};
use annals_exchange::text::{one_line, value_to_text};
use annals_json::TreeEntry;
use clap::Args;
use serde_json::json;

use super::listing::print_next;
use super::tree_path::{ReadArguments, nothing, path};
use crate::context::Context;
use crate::output::{Table, properties_summary};
use crate::stop::Outcome;

/// List the children of an item of a tree
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals ls /interfaces
  annals ls /interfaces/interface --limit 10 --back      the last ten of a list
  annals ls --find '//interface[mtu > 1500]/name'        all that a path leads to
  annals ls --find --explain '//interface'               how that is found
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
    of: ReadArguments,
}

/// Prints one page.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let path = path(&arguments.path)?;
    let repository = context.open_to_read()?;
    let snapshot = arguments.of.as_of.snapshot(context, &repository)?;
    let tree = arguments.of.root.tree(&snapshot);
    if arguments.is_explain {
        let plan = tree.explain(&path);
        if context.output.is_json() {
            return context.output.json(&json!({ "isLookUp": plan.is_look_up, "steps": plan.steps }));
        }
        return plan.steps.iter().try_for_each(|step| context.output.line(step));
    }
    if arguments.is_count {
        let children_count = tree.count(&path)?.ok_or_else(|| nothing(&path))?;
        return context.output.count(children_count as u64);
    }
    let mut table = Table::new(&["NAME", "TYPE", "PROPERTIES"]);
    let mut next = None;
    if arguments.is_find {
        for item in tree.find(&path, arguments.limit)? {
            print(context, &mut table, item, true)?;
        }
    } else {
        let options = ListOptions {
            after: arguments.after.clone(),
            limit: arguments.limit,
            is_back: arguments.is_back,
            ..ListOptions::default()
        };
        let page = tree.list(&path, &options)?.ok_or_else(|| nothing(&path))?;
        for item in page.items {
            print(context, &mut table, item, false)?;
        }
        next = page.next;
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    print_next(context, "--after", next)
}

fn print(context: &mut Context, table: &mut Table, item: TreeItem, is_whole_path: bool) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&TreeEntry::new(item)?);
    }
    let path = item.path()?;
    let name = match path.steps.last().filter(|_| !is_whole_path) {
        Some(step) => step.to_string().trim_start_matches('/').to_owned(),
        None => path.to_string(),
    };
    let told = item
        .value()
        .map_or_else(|| properties_summary(item.entity.properties()), |value| value_to_text(&value));
    context.output.row(table, [one_line(&name), item.entity.type_name().to_owned(), told])
}
