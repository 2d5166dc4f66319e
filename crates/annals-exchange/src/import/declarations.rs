//! Loads types first, in whatever order the files have them: it finds them before anything else of an import is loaded.

use annals::action;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::sync::Arc;

use annals::{Action, Error, ErrorKind, Repository, Result, TypeKind};
use annals_json::Object;

use super::jsonl::{JsonItem, LineReader, parse_line};
use super::loader::{LoadOptions, Loader};
use super::mark::Run;
use super::operation::Operation;
use super::report::Report;
use super::unit::Unit;
use crate::Outcome;

/// The types of all files are in memory until they are loaded. Units: bytes of input.
const TYPES_BYTES_MAX: usize = 256 << 20;

/// The declarations of types in the files of an import.
#[derive(Default)]
pub struct Declarations {
    /// The file by its index, and the line.
    found: Vec<(usize, Unit)>,
    bytes: usize,
}

impl Declarations {
    /// Looks for types in a file of JSON Lines; skips the lines that its `run` has committed. Loading the file later
    /// reports lines that are not types or cannot be read; but if such a line names a type, the name is noted here.
    ///
    /// Errors: `TooLarge` for too many types; those of reading.
    pub fn find(
        &mut self,
        file: usize,
        name: &str,
        input: impl BufRead,
        run: &Run,
        report: &mut Report,
    ) -> Result<()> {
        let mut lines = LineReader::new(input);
        let (mut is_first, mut follows) = (true, None);
        while let Some((place, text)) = lines.read_text()? {
            let text = text.unwrap_or_default();
            // A history has its types in its own order.
            if std::mem::take(&mut is_first) && has_key(text, b"\"record\"") {
                return Ok(());
            }
            if !has_key(text, b"\"type\"") || run.covered.has(place.line) {
                follows = None;
                continue;
            }
            match parse_line(text, None) {
                Ok(JsonItem::Operations(operations)) if operations.iter().all(Operation::is_definition) => {
                    self.found.push((file, Unit::new(place, follows, operations)));
                    follows = Some(place.last);
                }
                _ => {
                    follows = None;
                    if let Some((kind, type_name)) = name_of(text) {
                        report.refuse_type(kind, &type_name, name, place.line)?;
                    }
                }
            }
            self.bytes += place.bytes;
            if self.bytes > TYPES_BYTES_MAX {
                let text = format!("{name}: expected at most {TYPES_BYTES_MAX} bytes of types in one import");
                return Err(Error::new(ErrorKind::TooLarge, text));
            }
        }
        Ok(())
    }

    /// Loads the types, each after the types that it needs. Returns their lines by the index of the file.
    pub fn load(
        self,
        repository: &Repository,
        options: &LoadOptions,
        report: &mut Report,
        files: &[(&str, &Run)],
    ) -> Outcome<HashMap<usize, HashSet<u64>>> {
        let mut lines: HashMap<usize, HashSet<u64>> = HashMap::new();
        for (file, unit) in &self.found {
            lines.entry(*file).or_default().insert(unit.place.line);
        }
        let mut found = sorted(self.found, |(_, unit)| unit).into_iter().peekable();
        while let Some(&(file, _)) = found.peek() {
            let (name, run) = files[file];
            let mut loader = Loader::new(repository, options, report, name, run.clone());
            while let Some((_, unit)) = found.next_if(|(other, _)| *other == file) {
                loader.add_unit(unit)?;
            }
            loader.finish()?;
        }
        Ok(lines)
    }
}

/// The units, with each type after the types that it needs; otherwise in their order. Types that need each other in a
/// circle come last.
pub fn order_of_need(units: Vec<Unit>) -> Vec<Unit> {
    sorted(units, |unit| unit)
}

fn sorted<T>(items: Vec<T>, unit: impl Fn(&T) -> &Unit) -> Vec<T> {
    let definitions = |item: &T| {
        let definitions = unit(item).operations.iter().filter_map(|operation| match &operation.action {
            Action::DefineType(definition) => Some(definition.clone()),
            _ => None,
        });
        definitions.collect::<Vec<_>>()
    };
    // How many declarations of each name are not in order yet.
    let mut waiting: HashMap<(TypeKind, Arc<str>), usize> = HashMap::new();
    let mut rest: Vec<_> = items.into_iter().map(|item| (definitions(&item), item)).collect();
    for definition in rest.iter().flat_map(|(definitions, _)| definitions) {
        *waiting.entry((definition.kind, Arc::clone(&definition.name))).or_default() += 1;
    }
    let mut ordered = Vec::with_capacity(rest.len());
    loop {
        let count = rest.len();
        let mut left = Vec::new();
        for (definitions, item) in rest {
            let is_needing = definitions.iter().any(|definition| {
                let enums = definition.attributes.iter().filter_map(|attribute| attribute.enum_type.as_ref());
                let enums = enums.map(|name| (TypeKind::Enum, name));
                let supertypes = definition.supertypes.iter().map(|name| (definition.kind, name));
                enums.chain(supertypes).any(|(kind, name)| {
                    let is_itself = kind == definition.kind && *name == definition.name;
                    !is_itself && waiting.get(&(kind, Arc::clone(name))).is_some_and(|count| *count > 0)
                })
            });
            if is_needing {
                left.push((definitions, item));
                continue;
            }
            for definition in definitions {
                if let Some(count) = waiting.get_mut(&(definition.kind, definition.name)) {
                    *count -= 1;
                }
            }
            ordered.push(item);
        }
        if left.is_empty() || left.len() == count {
            ordered.extend(left.into_iter().map(|(_, item)| item));
            return ordered;
        }
        rest = left;
    }
}

/// The types of the instance that an action writes.
pub fn type_names(action: &Action) -> Vec<(TypeKind, &str)> {
    let mut names = Vec::new();
    match action {
        Action::CreateEntity(new) => {
            names.push((TypeKind::Entity, &*new.type_name));
            names.extend(new.classifications.iter().map(|one| (TypeKind::Classification, &*one.name)));
        }
        Action::CreateRelationship(new) => names.push((TypeKind::Relationship, &*new.type_name)),
        Action::Classify(action::Classify { content, .. }) => {
            names.push((TypeKind::Classification, &*content.name))
        }
        // The other collection has checked its instances.
        _ => {}
    }
    names
}

/// True if the first key of the object is this one, in quotes.
fn has_key(text: &[u8], key: &[u8]) -> bool {
    text.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(key))
}

/// The name of a type whose line could not be read completely.
fn name_of(text: &[u8]) -> Option<(TypeKind, String)> {
    let line: Object = serde_json::from_slice(text).ok()?;
    let fields = line.get("type")?.as_object()?;
    let kind = fields.get("kind")?.as_str()?;
    let kind = TypeKind::ALL.into_iter().find(|known| known.name() == kind)?;
    Some((kind, fields.get("name")?.as_str()?.to_owned()))
}
