//! `annals follow`: the change feed, one record per line.

use annals::action;
use std::time::Duration;

use annals::{Action, InstanceId, Position, Record};
use annals_exchange::text::one_line;
use annals_json::record_to_json;
use clap::Args;

use crate::context::Context;
use crate::stop::Outcome;

/// Duration of one wait for a record; after it the command waits again.
const WAIT: Duration = Duration::from_millis(200);

/// Show commits, and continue as new ones come
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals follow                      what is committed from now on
  annals follow --after 0 --once     the whole log, then stop
  annals --json follow --after 42    a feed for programs; resume behind the last position seen
`annals log` lists commits, newest first, by author, type, id and time, with the values before and after.")]
pub struct Arguments {
    /// Start after this position; 0 for everything. Without it: only new commits
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    /// Stop at the end of the log
    #[arg(long = "once")]
    is_once: bool,
    /// Stop after this many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// Prints records until the limit, the end, or a signal.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let start = match (arguments.after, arguments.is_once) {
        (Some(after), _) => Position(after),
        (None, true) => Position(0),
        (None, false) => repository.snapshot().position(),
    };
    let mut follow = repository.follow(start);
    let mut left = arguments.limit.unwrap_or(u64::MAX);
    while left > 0 {
        match follow.poll()? {
            Some((position, record)) => {
                print(context, position, &record)?;
                left -= 1;
            }
            None if arguments.is_once => break,
            None => {
                // Order: flush before waiting, so that the reader sees all records up to now.
                context.output.flush()?;
                if let Some((position, record)) = follow.wait(WAIT)? {
                    print(context, position, &record)?;
                    left -= 1;
                }
            }
        }
    }
    context.output.end_list();
    Ok(())
}

fn print(context: &mut Context, position: Position, record: &Record) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&record_to_json(position, record));
    }
    let by =
        if record.author.is_empty() { String::new() } else { format!(" by {}", one_line(&record.author)) };
    let why =
        if record.message.is_empty() { String::new() } else { format!(": {}", one_line(&record.message)) };
    context.output.line(format!("{position}  {}{by}{why}", record.instant))?;
    for change in &record.changes {
        let what = match &change.action {
            Action::DefineType(definition) => {
                format!("{} type {}", definition.kind.name(), one_line(&definition.name))
            }
            Action::CreateEntity(new) => format!("entity {} ({})", new.id, new.type_name),
            Action::CreateRelationship(new) => {
                format!("relationship {} ({} -{}-> {})", new.id, new.from, new.type_name, new.to)
            }
            Action::Classify(action::Classify { content, .. }) => {
                instance_text(&change.action.instance(), Some(&content.name))
            }
            Action::Reclassify(action::Reclassify { name, .. })
            | Action::Declassify(action::Declassify { name, .. }) => {
                instance_text(&change.action.instance(), Some(name))
            }
            action => instance_text(&action.instance(), None),
        };
        let valid = change.valid_from.or(record.valid_from).filter(|valid| *valid != record.instant);
        let valid = valid.map(|valid| format!("  (valid from {valid})")).unwrap_or_default();
        context.output.line(format!("    {} {what}{valid}", change.action.verb()))?;
    }
    Ok(())
}

fn instance_text(id: &Option<InstanceId>, classification: Option<&str>) -> String {
    let id = id.as_ref().map(ToString::to_string).unwrap_or_default();
    match classification {
        Some(name) => format!("{id} as {}", one_line(name)),
        None => id,
    }
}
