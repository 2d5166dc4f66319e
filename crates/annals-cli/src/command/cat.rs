//! `annals cat`: the value of a property of a tree, an item with its subtree as JSON, or a stored file.

use std::io::Write;

use annals::{Id, Value};
use clap::Args;

use super::content::{self, is_id};
use super::listing::json_of_line;
use super::tree_path::{ReadArguments, nothing, or_nothing, path};
use crate::context::Context;
use crate::place::AnswerLine;
use crate::shown::{Shown, value_of, value_text};
use crate::stop::Outcome;

/// Print the value of a property of a tree, an item as JSON, or a stored file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals cat \"/interfaces/interface[name='eth0']/mtu\"
  annals cat /interfaces | jq
  annals cat page-1 > scan.tif             the file stored with the entity page-1
  annals cat /interfaces --at yesterday > interfaces.json; annals put /interfaces interfaces.json")]
pub struct Arguments {
    /// Path of the property or the item; or the id of an entity with a file
    path: String,
    /// Print at most this many levels below the item
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Include the id and the type of each item, as @id and @type
    #[arg(long = "ids")]
    has_ids: bool,
    /// Property that holds the file of an entity [default: content]
    #[arg(long, value_name = "NAME")]
    property: Option<String>,
    #[command(flatten)]
    of: ReadArguments,
}

/// Prints the value or the item.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let as_of = &arguments.of.as_of;
    if is_id(&arguments.path) {
        return content::cat(context, &arguments.path, arguments.property.as_deref(), as_of);
    }
    let path = path(&arguments.path)?;
    // A property may hold a content, and text shows each kind of value in its way.
    let found = arguments.of.root.request("/v1/tree-find", &path).flag("typed", true).with("limit", 1);
    let found = match context.ask_at(found.lines(), as_of)?.line()? {
        Some(AnswerLine::Item(line)) => json_of_line(&line)?,
        _ => return Err(nothing(&path).into()),
    };
    let found = Shown(&found);
    if let Some(name) = found.optional("property") {
        let value = found.of("value");
        if matches!(value_of(value.0), Value::Content(_)) {
            return content::write(context, &Id::new(found.text("id"))?, name, as_of);
        }
        if !context.output.is_json() {
            return context.output.line(value_text(value.0).unwrap_or_default());
        }
    }
    let request = arguments.of.root.request("/v1/tree", &path);
    let request = request.with_all("depth", arguments.depth).flag("ids", arguments.has_ids).read_at(as_of);
    let request = context.of_candidate(request);
    let mut answer = context.ask(request).map_err(|stop| or_nothing(stop, &path))?;
    answer.copy_to(context.output.writer())?;
    Ok(context.output.writer().write_all(b"\n")?)
}
