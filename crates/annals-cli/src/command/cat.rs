//! `annals cat`: the value of a property of a tree, an item with its subtree as JSON, or a stored file.

use std::io::Write;

use annals::Value;
use annals_exchange::text::value_to_text;
use annals_json::{LeafForm, TreeExtent, write_tree};
use clap::Args;

use super::content::{self, is_id};
use super::tree_path::{ReadArguments, nothing, path};
use crate::context::Context;
use crate::stop::{Outcome, Stop};

/// The command writes its text whenever it has this many bytes. Units: bytes.
const CHUNK_BYTES: usize = 64 << 10;

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
    let repository = context.open_to_read()?;
    let snapshot = arguments.of.as_of.snapshot(context, &repository)?;
    if is_id(&arguments.path) {
        return content::cat(context, &repository, &snapshot, &arguments.path, arguments.property.as_deref());
    }
    let path = path(&arguments.path)?;
    let tree = arguments.of.root.tree(&snapshot);
    let found = tree.item(&path)?.ok_or_else(|| nothing(&path))?;
    if let Some(Value::Content(content)) = found.value() {
        return content::write(context, &repository, &content);
    }
    if let (Some(name), Some(value)) = (found.property_name(), found.value()) {
        return match context.output.is_json() {
            true => context.output.json(&LeafForm::of(&value, &found.entity, name)),
            false => context.output.line(value_to_text(&value)),
        };
    }
    let extent = TreeExtent { depth: arguments.depth, has_ids: arguments.has_ids };
    let (writer, mut failure) = (context.output.writer(), None);
    let written = write_tree(&snapshot, &tree, &found.path()?, &extent, &mut |text| {
        if text.bytes_count() < CHUNK_BYTES {
            return Ok(());
        }
        writer.write_all(&text.take()).map_err(|error| {
            failure = Some(Stop::from(error));
            annals::Error::new(annals::ErrorKind::Cancelled, "standard output takes no more")
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    writer.write_all(&written?.ok_or_else(|| nothing(&path))?)?;
    Ok(writer.write_all(b"\n")?)
}
