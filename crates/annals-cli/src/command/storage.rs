//! `annals storage`: looks at the log in a store, and accepts one that lost records.

use annals::{Error, ErrorKind};
use annals_exchange::text::counted;
use annals_logs::{Options, Place};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::Context;
use crate::output::bytes;
use crate::stop::Outcome;

/// Look at a log in a store, or accept one that lost records
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals storage status -r postgres://annals@db.example/library
  annals storage adopt -r s3://library/annals
  annals storage adopt -r postgres://annals@db.example/library --objects s3://library/annals")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Show its last position, its size, and how durable a commit is. It begins with `unsafe:` if one may be lost
    Status,
    /// Accept a log that lost acknowledged records, after a restored backup or a failover of the store: it gets another id.
    /// Stop all servers first, and start them afterwards
    Adopt {
        /// The store of its contents and checkpoints, if the servers name one with --objects
        #[arg(long, value_name = "URL")]
        objects: Option<String>,
    },
}

/// Prints what it found.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let place = Place::parse(&context.path)?;
    if let Some(folder) = place.folder() {
        let text = format!(
            "{}: expected the URL of a log in a store, found a folder; annals check looks at a folder",
            folder.display()
        );
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let place = place.to_string();
    match &arguments.action {
        Action::Status => {
            let status = annals_logs::status(&place, &Options::default())?;
            if context.output.is_json() {
                return context.output.json_line(
                    json!({
                        "place": status.place,
                        "id": status.id.to_string(),
                        "position": status.tail.0,
                        "bytes": status.bytes,
                        "generation": status.generation,
                        "durability": status.durability,
                    })
                    .to_string()
                    .as_bytes(),
                );
            }
            context.output.line(format!("place       {}", status.place))?;
            context.output.line(format!("id          {}", status.id))?;
            let (position, size) = (counted(status.tail.0, "record"), bytes(status.bytes));
            context.output.line(format!("records     {position}, {size}"))?;
            context.output.line(format!("rewritten   {}", counted(status.generation, "time")))?;
            context.output.line(format!("durability  {}", status.durability))
        }
        Action::Adopt { objects } => {
            let id = annals_logs::adopt(&place, objects.as_deref(), &Options::default())?;
            if context.output.is_json() {
                return context.output.json_line(json!({ "id": id.to_string() }).to_string().as_bytes());
            }
            context.output.line(format!("the log has the id {id} now; start the servers again"))
        }
    }
}
