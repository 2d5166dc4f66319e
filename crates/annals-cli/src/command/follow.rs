//! `annals follow`: the change feed, one record per line.

use annals_exchange::text::one_line;
use clap::Args;

use super::listing::json_of_line;
use crate::context::Context;
use crate::place::AnswerLine;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;
use crate::told::Told;

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
    let last = context.ask(Request::get("/v1/stats"))?.position().unwrap_or_default();
    let start = match (arguments.after, arguments.is_once) {
        (Some(after), _) => after,
        (None, true) => 0,
        (None, false) => last,
    };
    let limit = arguments.limit.unwrap_or(u64::MAX);
    let limit = if arguments.is_once { limit.min(last.saturating_sub(start)) } else { limit };
    if limit > 0 {
        let mut answer = context.ask(Request::get("/v1/feed").with("after", start).with("limit", limit))?;
        let mut is_error = false;
        while let Some(line) = answer.line()? {
            // Other lines are those of comments, and of the ids of events, which their data have, too.
            let AnswerLine::Item(line) = line else { continue };
            is_error |= line == b"event: error";
            let Some(event) = line.strip_prefix(b"data:") else { continue };
            let event = json_of_line(event)?;
            if is_error {
                return Err(Told::from_problem(&event).into());
            }
            print(context, Shown(&event).of("data"))?;
            // The reader sees all records up to now.
            context.output.flush()?;
        }
    }
    context.output.end_list();
    Ok(())
}

fn print(context: &mut Context, record: Shown) -> Outcome {
    if context.output.is_json() {
        return context.output.json(record.0);
    }
    let part = |mark: &str, text: &str| match text {
        "" => String::new(),
        text => format!("{mark}{}", one_line(text)),
    };
    let (by, why) = (part(" by ", record.text("author")), part(": ", record.text("message")));
    let instant = record.text("instant");
    context.output.line(format!("{}  {instant}{by}{why}", record.number("position")))?;
    for change in record.all("changes") {
        let valid = change.optional("validFrom").or_else(|| record.optional("validFrom"));
        let valid = valid.filter(|valid| *valid != instant);
        let valid = valid.map(|valid| format!("  (valid from {valid})")).unwrap_or_default();
        context.output.line(format!("    {} {}{valid}", change.text("action"), what(change)))?;
    }
    Ok(())
}

/// The thing that a change is about.
fn what(change: Shown) -> String {
    let (id, kind, type_name) = (change.text("id"), change.text("kind"), change.text("type"));
    match (change.text("action"), kind) {
        ("define-type", _) => {
            let definition = change.of("type");
            format!("{} type {}", definition.text("kind"), one_line(definition.text("name")))
        }
        ("create", "relationship") => {
            format!("relationship {id} ({} -{type_name}-> {})", change.text("from"), change.text("to"))
        }
        ("create", _) => format!("entity {id} ({type_name})"),
        _ => {
            let instance = if id.is_empty() { String::new() } else { format!("{} {id}", kind_of(change)) };
            match change.optional("classification") {
                Some(name) => format!("{instance} as {}", one_line(name)),
                None => instance,
            }
        }
    }
}

/// Only entities have classifications, so that their changes name no kind.
fn kind_of<'j>(change: Shown<'j>) -> &'j str {
    change.optional("kind").unwrap_or("entity")
}
