//! `annals put` and `annals cat` of files: contents of entities, and of properties of a tree.

use std::path::Path;

use annals::{
    Content, DamagedContent, Error, ErrorKind, Id, NewContent, Repository, Result, StoredContent, Value,
};
use annals_exchange::text::one_line;
use annals_json::json_of;
use clap::Args;
use serde_json::{Value as Json, json};

use super::listing::json_of_line;
use super::tree_path::ChangeArguments;
use crate::context::{Access, AsOfArguments, Context};
use crate::progress::Progress;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{DAMAGED, Outcome, Stop};

/// The property that holds the content, unless an argument names another.
pub const PROPERTY: &str = "content";

/// Arguments that say what a file is.
#[derive(Args, Clone, Debug)]
pub struct FileArguments {
    /// Property that holds the file [default: content]
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// Create the entity with this type if it does not exist
    #[arg(long = "type", value_name = "TYPE")]
    pub type_name: Option<String>,
    /// Media type of the file, as in image/tiff
    #[arg(long, value_name = "TYPE/NAME")]
    pub media_type: Option<String>,
}

/// True if a target of `put` and `cat` is the id of an entity, and no path of a tree.
pub fn is_id(target: &str) -> bool {
    !target.starts_with('/')
}

/// Stores a file in the repository.
fn store(repository: &Repository, file: &Path, of: &FileArguments) -> Result<StoredContent> {
    let mut about = NewContent::of(of.media_type.as_deref().unwrap_or(Content::UNKNOWN));
    if file == Path::new("-") {
        return repository.contents()?.put(&mut std::io::stdin().lock(), &about);
    }
    about.name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let open = || {
        let opened = std::fs::File::open(file)?;
        let is_file = opened.metadata()?.is_file();
        if is_file { Ok(opened) } else { Err(std::io::Error::other("it is no regular file")) }
    };
    let mut opened =
        open().map_err(|error| Error::io("open the file", error).with("path", file.display()))?;
    repository.contents()?.put(&mut opened, &about)
}

/// The JSON form of a stored content.
fn value_of(stored: &StoredContent) -> Result<Json> {
    annals_json::json_from_slice(&json_of(&stored.value()))
        .map_err(|fault| Error::new(ErrorKind::InvalidArgument, format!("content: {fault}")))
}

/// Stores a file as the content of an entity.
pub fn put(
    context: &mut Context,
    target: &str,
    file: &Path,
    of: &FileArguments,
    change: &ChangeArguments,
) -> Outcome {
    let id = Id::new(target)?;
    let repository = context.open_or_create()?;
    let is_there = repository.snapshot().entity(&id)?.is_some();
    if !is_there && of.type_name.is_none() {
        let text = format!("entity {id}: it does not exist; create it, or give --type");
        return Err(Error::new(ErrorKind::NotFound, text).into());
    }
    // Kept until the commit names it.
    let stored = store(&repository, file, of)?;
    let property = of.property.as_deref().unwrap_or(PROPERTY);
    let values = json!({ property: value_of(&stored)? });
    let operation = match (&of.type_name, is_there) {
        (Some(name), false) => {
            json!({ "action": "create", "kind": "entity", "id": target, "type": name, "properties": values })
        }
        _ => json!({ "action": "update", "kind": "entity", "id": target, "patch": values }),
    };
    context.enter_folder(repository)?;
    change.commit_operations(context, Access::Create, &[operation])
}

/// Stores a file as the value of a property of a tree.
pub fn put_at_path(
    context: &mut Context,
    path: &str,
    file: &Path,
    of: &FileArguments,
    change: &ChangeArguments,
) -> Outcome {
    let repository = context.open_or_create()?;
    let stored = store(&repository, file, of)?;
    let members = json!({ "path": path, "value": value_of(&stored)? });
    context.enter_folder(repository)?;
    change.commit(context, Access::Create, "put-tree", members)
}

/// Writes the content of an entity to standard output.
pub fn cat(context: &mut Context, id: &str, property: Option<&str>, as_of: &AsOfArguments) -> Outcome {
    let id = Id::new(id)?;
    let property = property.unwrap_or(PROPERTY);
    let absent = |stop: Stop| match stop.kind() {
        Some(ErrorKind::Deleted) => not_found(format!("entity {id} does not exist at this time")),
        _ => stop,
    };
    let mut answer = context.ask_at(Request::get_of("entities", &id, ""), as_of).map_err(absent)?;
    let entity = json_of_line(&answer.whole()?)?;
    let found = Shown(&entity).properties().find(|(name, _)| *name == property).map(|(_, value)| value);
    match found {
        Some(Value::Content(_)) => write(context, &id, property, as_of),
        found => {
            let found = found.map_or("nothing", |value| value.value_type().name());
            let text = format!("entity {id}: expected a content in the property {property}, found {found}");
            Err(not_found(text))
        }
    }
}

fn not_found(text: String) -> Stop {
    Error::new(ErrorKind::NotFound, text).into()
}

/// Writes the bytes of the content in a property to standard output.
pub fn write(context: &mut Context, id: &Id, property: &str, as_of: &AsOfArguments) -> Outcome {
    let request = Request::get_of("content", id, "").with("property", property).read_at(as_of);
    let request = context.of_candidate(request);
    context.ask(request)?.copy_to(context.output.writer())
}

/// A damaged content as a line, with the instances that it concerns.
pub fn damaged_to_text(damage: &DamagedContent) -> String {
    let instances: Vec<String> = damage.instances.iter().map(ToString::to_string).collect();
    one_line(&format!("{} ({})", damage.problem, instances.join(", ")))
}

/// Damaged contents as JSON.
pub fn damaged_to_json(damaged: &[DamagedContent]) -> Json {
    let one = |damage: &DamagedContent| {
        let instances: Vec<String> = damage.instances.iter().map(ToString::to_string).collect();
        json!({ "sha256": damage.sha256.to_string(), "problem": damage.problem, "instances": instances })
    };
    damaged.iter().map(one).collect()
}

/// Read every content again, and compare it with its SHA-256
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals fixity
  annals -r /backup/monday fixity --json
It changes nothing and may run beside a writer. Exit code 5 if a content is damaged or missing.")]
pub struct Fixity {}

impl Fixity {
    /// Reads them, and prints the damaged ones.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let repository = context.open_to_read()?;
        let progress = Progress::new("fixity", "bytes");
        let report = repository.fixity(|read, all| progress.set(read, Some(all)));
        progress.finish();
        let report = report?;
        if context.output.is_json() {
            let damaged = damaged_to_json(&report.damaged);
            context.output.json(&json!({
                "position": report.position.0,
                "contents": report.contents_count,
                "bytes": report.bytes,
                "damaged": damaged,
            }))?;
        } else {
            for damage in &report.damaged {
                context.output.line(damaged_to_text(damage))?;
            }
            context.output.line(format!(
                "read {} contents, {} bytes, of versions up to position {}: {}",
                annals_exchange::text::count(report.contents_count),
                annals_exchange::text::count(report.bytes),
                report.position,
                match report.damaged.len() {
                    0 => "all are as they were stored".to_owned(),
                    1 => "1 is damaged".to_owned(),
                    many => format!("{many} are damaged"),
                }
            ))?;
        }
        if report.is_clean() { Ok(()) } else { Err(Stop::Silent(DAMAGED)) }
    }
}
