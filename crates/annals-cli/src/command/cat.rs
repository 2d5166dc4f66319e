//! `annals cat`: the value of a property of a tree, or an item with its subtree as JSON.

use std::io::Write;

use annals_exchange::text::value_to_text;
use annals_json::{LeafForm, TreeExtent, write_tree};
use clap::Args;

use super::tree_path::{ReadArguments, nothing, path};
use crate::context::Context;
use crate::stop::{Outcome, Stop};

/// The command writes its text whenever it has this many bytes. Units: bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Print the value of a property of a tree, or an item as JSON
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals cat \"/interfaces/interface[name='eth0']/mtu\"
  annals cat /interfaces | jq
  annals cat /interfaces --at yesterday > interfaces.json; annals put /interfaces interfaces.json")]
pub struct Arguments {
    /// Path of the property or the item
    path: String,
    /// Print at most this many levels below the item
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Include the id and the type of each item, as @id and @type
    #[arg(long = "ids")]
    has_ids: bool,
    #[command(flatten)]
    of: ReadArguments,
}

/// Prints the value or the item.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let path = path(&arguments.path)?;
    let repository = context.open_to_read()?;
    let snapshot = arguments.of.as_of.snapshot(context, &repository)?;
    let tree = arguments.of.root.tree(&snapshot);
    let found = tree.item(&path)?.ok_or_else(|| nothing(&path))?;
    if let Some(value) = found.value() {
        return match context.output.is_json() {
            true => context.output.json(&LeafForm(&value)),
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
