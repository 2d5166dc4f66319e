//! `annals compact`: removes the bytes of purged instances from the log.

use annals_exchange::text::count;
use annals_json::compaction_to_json;
use clap::Args;

use crate::context::Context;
use crate::output::bytes;
use crate::stop::Outcome;

/// Remove the bytes of purged instances from the log
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  echo '{\"action\": \"purge\", \"kind\": \"entity\", \"id\": \"ada\"}' | annals apply -
  annals compact
Positions do not change. Earlier backups still hold purged instances.
It needs the repository for itself. Beside `annals serve`, use POST /v1/compactions.")]
pub struct Arguments {}

/// Compacts and prints how much it removed.
pub fn run(context: &mut Context, _: &Arguments) -> Outcome {
    let repository = context.open_to_write()?;
    let report = repository.compact()?;
    repository.close()?;
    if context.output.is_json() {
        return context.output.json(&compaction_to_json(&report));
    }
    if report.contents_count > 0 {
        let (number, size) = (count(report.contents_count), bytes(report.contents_bytes));
        context.output.line(format!("removed {number} contents, {size}, that no version names"))?;
    }
    context.output.line(format!(
        "removed {} changes from {} records in {} segments; the log had {}, has {}",
        count(report.changes_count),
        count(report.records_count),
        count(report.segments_count),
        bytes(report.bytes_before),
        bytes(report.bytes_after)
    ))
}
