//! `annals tree`: an item of a tree with its subtree, one line for each item.

use annals::{Entity, Error, ErrorKind, Result, TreeVisitor};
use annals_exchange::text::one_line;
use clap::Args;

use super::tree_path::{ReadArguments, nothing, path};
use crate::context::Context;
use crate::output::properties_summary;
use crate::stop::{Outcome, Stop};

/// Show an item of a tree with its subtree
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals tree
  annals tree /interfaces --depth 1
Items of a list have [] after its name. `annals cat` prints the same as JSON.")]
pub struct Arguments {
    /// Path of the item
    #[arg(default_value = "/")]
    path: String,
    /// Show at most this many levels below the item
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    of: ReadArguments,
}

/// Prints the subtree.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let path = path(&arguments.path)?;
    let repository = context.open_to_read()?;
    let snapshot = context.snapshot(&arguments.of.as_of, &repository)?;
    let tree = arguments.of.root.tree(&snapshot);
    let found =
        tree.item(&path)?.filter(|found| found.property_name().is_none()).ok_or_else(|| nothing(&path))?;
    let path = found.path()?;
    let mut lines = Lines { context, path: path.to_string(), level: 0, failure: None };
    let outcome = tree.visit(&path, arguments.depth, &mut lines);
    match lines.failure {
        Some(failure) => Err(failure),
        None => Ok(outcome.map(drop)?),
    }
}

/// Prints each item that the walk shows it.
struct Lines<'c> {
    context: &'c mut Context,
    /// Of the item at the top.
    path: String,
    level: usize,
    failure: Option<Stop>,
}

impl TreeVisitor for Lines<'_> {
    fn enter(&mut self, name: Option<&str>, is_listed: bool, entity: &Entity<'_>) -> Result<()> {
        let name = one_line(name.unwrap_or(&self.path));
        let list = if is_listed { "[]" } else { "" };
        let properties = properties_summary(entity.properties());
        let line = format!("{:indent$}{name}{list}  {properties}", "", indent = 2 * self.level);
        self.level += 1;
        self.context.output.line(line.trim_end()).map_err(|failure| {
            self.failure = Some(failure);
            Error::new(ErrorKind::Cancelled, "standard output takes no more")
        })
    }

    fn leave(&mut self) -> Result<()> {
        self.level -= 1;
        Ok(())
    }
}
