//! `annals put` and `annals cat` of files: contents of entities, and of properties of a tree.

use std::path::Path;

use annals::{
    Content, DamagedContent, Error, ErrorKind, Id, NewContent, Repository, Result, StoredContent, Value,
};
use annals_exchange::text::one_line;
use annals_json::{damaged_to_json, json_of};
use clap::Args;
use hyper::Method;
use serde_json::{Value as Json, json};

use super::apply::print_receipt;
use super::listing::json_of_line;
use super::tree_path::ChangeArguments;
use crate::context::{Access, AsOfArguments, Context};
use crate::progress::Progress;
use crate::remote::Upload;
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
    repository.contents()?.put(&mut open(file)?, &about)
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
    let Some(repository) = context.open_or_send()? else {
        return upload(context, &id, file, of, change);
    };
    let is_there = repository.snapshot().entity(&id)?.is_some();
    if !is_there && of.type_name.is_none() {
        return Err(absent(&id).into());
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

fn absent(id: &Id) -> Error {
    Error::new(ErrorKind::NotFound, format!("entity {id}: it does not exist; create it, or give --type"))
}

/// Sends a file to a server, as the content of an entity.
fn upload(
    context: &mut Context,
    id: &Id,
    file: &Path,
    of: &FileArguments,
    change: &ChangeArguments,
) -> Outcome {
    let before = context.of_candidate(Request::get_of("entities", id, ""));
    let before = match context.ask(before) {
        Ok(mut answer) => Some(json_of_line(&answer.whole()?)?),
        Err(stop) if matches!(stop.kind(), Some(ErrorKind::NotFound | ErrorKind::Deleted)) => None,
        Err(stop) => return Err(stop),
    };
    if before.is_none() && of.type_name.is_none() {
        return Err(absent(id).into());
    }
    let property = of.property.as_deref().unwrap_or(PROPERTY);
    let name = file.file_name().filter(|_| file != Path::new("-")).map(|name| name.to_string_lossy());
    let from: Upload = match file == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(open(file)?),
    };
    let signature = change.signature();
    let author = context.author(signature.author.as_deref())?;
    let media_type = of.media_type.as_deref().unwrap_or(Content::UNKNOWN);
    let request = Request::get_of("content", id, "")
        .with("property", property)
        .with_all("type", of.type_name.as_ref().filter(|_| before.is_none()))
        .with_all("validFrom", signature.valid_from)
        .signed(author.as_deref(), &signature.message)
        .uploading(Method::PUT, media_type, name.as_deref());
    let request = context.of_candidate(request);
    let receipt = json_of_line(&context.send(request, from)?.whole()?)?;
    let was = before.as_ref().map_or(&Json::Null, |before| &before["properties"][property]);
    let is_same = |before: &str, now: &str| Shown(was).text(before) == Shown(&receipt).text(now);
    let is_equal =
        is_same("$content", "sha256") && is_same("mediaType", "mediaType") && is_same("name", "name");
    print_receipt(
        context,
        &json!({
            "changes": u64::from(!is_equal), "ids": [id.to_string()], "instant": receipt["instant"], "position": receipt["position"],
        }),
    )
}

/// Opens a file that is to be stored.
fn open(file: &Path) -> Result<std::fs::File> {
    let open = || {
        let opened = std::fs::File::open(file)?;
        let is_file = opened.metadata()?.is_file();
        if is_file { Ok(opened) } else { Err(std::io::Error::other("it is no regular file")) }
    };
    open().map_err(|error| Error::io("open the file", error).with("path", file.display()))
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
    let gone = |stop: Stop| match stop.kind() {
        Some(ErrorKind::Deleted) => not_found(format!("entity {id} does not exist at this time")),
        _ => stop,
    };
    let mut answer = context.ask_at(Request::get_of("entities", &id, ""), as_of).map_err(gone)?;
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
fn damaged_to_text(damage: &DamagedContent) -> String {
    let instances: Vec<String> = damage.instances.iter().map(ToString::to_string).collect();
    one_line(&format!("{} ({})", damage.problem, instances.join(", ")))
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
                "read {}, {}, of versions up to position {}: {}",
                annals_exchange::text::counted(report.contents_count, "content"),
                annals_exchange::text::counted(report.bytes, "byte"),
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
