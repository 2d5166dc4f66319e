//! `annals stats`: the counts and the size of the repository.

use annals::{Result, Snapshot, TypeKind};
use annals_exchange::text::count;
use annals_json::Object;
use clap::Args;
use serde_json::{Value as Json, json};

use crate::context::{AsOfArguments, Context};
use crate::output::{Table, bytes};
use crate::stop::Outcome;

const KINDS: [(TypeKind, &str); 3] = [
    (TypeKind::Entity, "entities"),
    (TypeKind::Relationship, "relationships"),
    (TypeKind::Classification, "classifications"),
];

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
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let position = snapshot.position();
    let instant = snapshot.instant_of(position);
    if context.output.is_json() {
        let mut json = json!({
            "position": position.0,
            "instant": instant.map(|instant| instant.to_string()),
            "types": snapshot.types().len(),
            "logBytes": repository.log_bytes(),
        });
        for (kind, name) in KINDS {
            json[name] = counts_to_json(&snapshot, kind)?;
        }
        return context.output.json(&json);
    }
    let instant = instant.map(|instant| format!(", committed {instant}")).unwrap_or_default();
    // The log has no size for an earlier time: only its present size is known.
    let now = if arguments.as_of.is_given() { " now" } else { "" };
    context.output.line(format!(
        "position {}{instant}, log of {}{now}",
        count(position.0),
        bytes(repository.log_bytes())
    ))?;
    for (kind, name) in KINDS {
        let counts = snapshot.counts(kind)?;
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        context.output.line(format!("{} {name}", count(total)))?;
        let width = counts.iter().map(|(_, number)| count(*number).len()).max().unwrap_or_default();
        let mut table = Table::untitled();
        for (type_name, number) in counts {
            table.row([format!("  {:>width$}", count(number)), type_name.to_string()]);
        }
        context.output.table(&mut table)?;
    }
    Ok(())
}

fn counts_to_json(snapshot: &Snapshot, kind: TypeKind) -> Result<Json> {
    let counts = snapshot.counts(kind)?;
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let by_type: Object = counts.into_iter().map(|(name, count)| (name.to_string(), count.into())).collect();
    Ok(json!({ "total": total, "byType": by_type }))
}
