//! `annals stats`: the counts and the size of the repository.

use annals_exchange::text::count;
use clap::Args;

use super::listing::json_of_line;
use crate::context::{AsOfArguments, Context};
use crate::output::bytes;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;
use crate::table::Table;

/// Count entities, relationships and classifications by type
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals stats
  annals stats --at 2024-01-01       as the repository was then
  annals --json stats | jq .entities.total")]
pub struct Arguments {
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the counts.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let told = context.ask_at(Request::get("/v1/stats"), &arguments.as_of)?.whole()?;
    if context.output.is_json() {
        return context.output.json_line(&told);
    }
    let told = json_of_line(&told)?;
    let stats = Shown(&told);
    let instant =
        stats.optional("instant").map(|instant| format!(", committed {instant}")).unwrap_or_default();
    // The log has no size for an earlier time: only its present size is known.
    let now = if arguments.as_of.is_given() { " now" } else { "" };
    context.output.line(format!(
        "position {}{instant}, log of {}{now}",
        count(stats.number("position")),
        bytes(stats.number("logBytes"))
    ))?;
    for name in ["entities", "relationships", "classifications"] {
        let counts = stats.of(name);
        context.output.line(format!("{} {name}", count(counts.number("total"))))?;
        let by_type = counts.of("byType").members();
        let mut by_type: Vec<(&str, u64)> =
            by_type.map(|(name, number)| (name, number.as_u64().unwrap_or_default())).collect();
        // Most frequent first.
        by_type.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        let width = by_type.iter().map(|(_, number)| count(*number).len()).max().unwrap_or_default();
        let mut table = Table::untitled();
        for (type_name, number) in by_type {
            table.row([format!("  {:>width$}", count(number)), type_name.to_owned()]);
        }
        context.output.table(&mut table)?;
    }
    Ok(())
}
