//! `annals compact`: removes the bytes of purged instances from the log.

use annals_exchange::text::counted;
use clap::Args;

use super::listing::json_of_line;
use crate::context::{Access, Context};
use crate::output::bytes;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;

/// Remove the bytes of purged instances from the log
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  echo '{\"action\": \"purge\", \"kind\": \"entity\", \"id\": \"ada\"}' | annals apply -
  annals compact
Positions do not change. Earlier backups still hold purged instances.
It needs the repository for itself; beside `annals serve`, and with --server, the server compacts.")]
pub struct Arguments {}

/// Compacts and prints how much it removed.
pub fn run(context: &mut Context, _: &Arguments) -> Outcome {
    context.enter(Access::Write)?;
    let author = context.author(None)?;
    let request = Request::get("/v1/compactions").posted_empty().signed(author.as_deref(), "").patient();
    let progress = context.waiting("compact", Access::Write)?;
    let told = context.ask(request).and_then(|mut answer| answer.whole());
    progress.finish();
    let told = told?;
    context.leave()?;
    if context.output.is_json() {
        return context.output.json_line(&told);
    }
    let report = json_of_line(&told)?;
    let report = Shown(&report);
    let number = |one: &str| counted(report.number(&format!("{one}s")), one);
    if report.number("contents") > 0 {
        let (contents, size) = (number("content"), bytes(report.number("contentsBytes")));
        context.output.line(format!("removed {contents}, {size}, that no version names"))?;
    }
    context.output.line(format!(
        "removed {} from {} in {}; the log had {}, has {}",
        number("change"),
        number("record"),
        number("segment"),
        bytes(report.number("bytesBefore")),
        bytes(report.number("bytesAfter"))
    ))
}
