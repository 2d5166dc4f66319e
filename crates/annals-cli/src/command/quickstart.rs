//! `annals quickstart`: a small catalogue with a past, and commands to try on it.

use std::sync::Arc;

use annals::{Error, ErrorKind, Position, Repository};
use annals_exchange::import::{
    BATCH_BYTES_MAX, JsonlOptions, LineBounds, LoadOptions, Report, Run, Source, load_jsonl,
};
use annals_exchange::text::counted;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::stop::Outcome;

/// Make a small catalogue with a past, and show what to try on it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals quickstart                     in ./annals-data
  annals -r demo quickstart             in the folder demo
It holds tables of data, jobs that read and write them, and more than a year of changes. It writes into a new or an empty
repository only; remove the folder when you have seen enough.")]
pub struct Arguments {}

/// The catalogue: records of the past, as an export with history writes them.
const CATALOGUE: &str = include_str!("quickstart.jsonl");
/// Commands to try, and the meaning of each.
const TO_TRY: [(&str, &str); 5] = [
    ("find table --columns @id,owner,rows", "the tables"),
    ("reach table:raw.customers -t reads:in -t writes:out", "what is made of the customers, job by job"),
    ("reach table:raw.customers -t reads:in -t writes:out --at 2024-06-01", "the same as of June 2024"),
    ("history table:raw.customers", "who changed it, when and why"),
    ("find table --group-by owner --sum rows --at 2024-06-01", "rows by owner then; leave --at out for now"),
];

/// Makes the catalogue, and prints the commands.
pub fn run(context: &mut Context, _: &Arguments) -> Outcome {
    let repository = context.open_or_create()?;
    let place = context.path.display().to_string();
    let outcome = load(&repository, &place);
    let snapshot = repository.snapshot();
    let (entities, relationships) = (snapshot.entities_count(), snapshot.relationships_count());
    let position = snapshot.position();
    drop(snapshot);
    repository.close()?;
    outcome?;
    if context.output.is_json() {
        let made = json!({ "position": position.0, "entities": entities, "relationships": relationships });
        return context.output.json(&made);
    }
    let (entities, relationships) = (counted(entities, "entity"), counted(relationships, "relationship"));
    let records = counted(position.0, "record");
    context.output.line(format!("{place} has {entities} and {relationships}, made in {records}. Try:"))?;
    context.output.line("")?;
    let at = match place.as_str() {
        "annals-data" => String::new(),
        place => format!("-r {} ", shlex::try_quote(place).unwrap_or_else(|_| place.into())),
    };
    for (command, shows) in TO_TRY {
        context.output.line(format!("  annals {at}{command}"))?;
        context.output.line(format!("      {shows}"))?;
    }
    context.output.line("")?;
    context.output.line(format!(
        "annals {at}shell completes names with Tab; annals {at}serve answers the same over HTTP."
    ))
}

/// Loads the catalogue into an empty repository.
///
/// Errors: `AlreadyExists` if it has records.
fn load(repository: &Repository, place: &str) -> Outcome {
    let found = repository.snapshot().position();
    if found > Position::ZERO {
        let text = format!(
            "{place}: expected a new or an empty repository, found one with {}; name another folder with --repository",
            counted(found.0, "record")
        );
        return Err(Error::new(ErrorKind::AlreadyExists, text).into());
    }
    let name = "the catalogue";
    let load = LoadOptions {
        batch_changes: 1,
        batch_bytes_max: BATCH_BYTES_MAX,
        author: String::new(),
        message: String::new(),
        check: None,
    };
    let options = JsonlOptions {
        load: &load,
        name,
        is_resuming: false,
        run: Run::begin(repository),
        set_aside: Default::default(),
        valid_from: None,
        line_bounds: LineBounds::default(),
        plain: None,
        is_shared: false,
        is_resumable: false,
    };
    let mut report = Report::new(Arc::new(()), true);
    load_jsonl(
        repository,
        &mut report,
        Source::from_reader(name, CATALOGUE.as_bytes())?,
        options,
        &mut || {},
    )?;
    Ok(())
}
