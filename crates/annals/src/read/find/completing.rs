//! Completes the text of a search with names and values that the snapshot has. Only what a reader may see comes into it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::structures::slot_set::Extents;
use crate::model::{Id, TypeDefinition, TypeKind, Value};
use crate::read::snapshot::Snapshot;
use crate::search::{
    Completion, Condition, Expected, Expression, Field, Find, Header, Operator, name_text, value_text,
};
use crate::{ErrorKind, Result};

/// So many instances are looked at for names and values that are declared nowhere.
const SAMPLE: usize = 200;
/// A search for a sample visits at most so many instances.
const VISITED_MAX: usize = 20_000;
/// So many types are asked whether the reader sees an instance of them.
const TYPES_ASKED_MAX: usize = 200;
/// Longer values are no help. Units: bytes.
const VALUE_BYTES_MAX: usize = 200;

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CompletionKind {
    /// The name of a type.
    Type,
    /// The name of a classification.
    Classification,
    /// The name of a status.
    Status,
    /// The name of a property.
    Property,
    /// A header, with `@`.
    Header,
    /// A value.
    Value,
    /// A word or sign of the language.
    Word,
}

impl CompletionKind {
    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            CompletionKind::Type => "type",
            CompletionKind::Classification => "classification",
            CompletionKind::Status => "status",
            CompletionKind::Property => "property",
            CompletionKind::Header => "header",
            CompletionKind::Value => "value",
            CompletionKind::Word => "word",
        }
    }
}

/// The completions at the cursor of a search. Made by [`Snapshot::complete`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// Where the text begins that a completion replaces, up to the cursor. Units: bytes.
    pub from: usize,
    /// The completions, as they are written in a search: names first, then values, then words, each by its text.
    pub items: Vec<(CompletionKind, String)>,
    /// True if there are more.
    pub has_more: bool,
}

impl Snapshot {
    /// The names and values that may come at the cursor of a search for entities or relationships, at most `limit`. Names that
    /// are declared nowhere, and values, come from a sample of what the search would find.
    ///
    /// Units: `cursor` in bytes of the text.
    /// Errors: those of [`Find::completion`]; `Cancelled`; those of reading history.
    ///
    /// ```
    /// use annals::{NewEntity, Repository, TypeKind};
    /// # fn main() -> annals::Result<()> {
    /// let repository = Repository::in_memory();
    /// repository.transact(|t| t.create_entity(NewEntity::new("package").property("section", "shells")))?;
    /// let text = "package where sec";
    /// let found = repository.snapshot().complete(TypeKind::Entity, text, text.len(), 10)?;
    /// assert_eq!((found.from, &*found.items[0].1), (14, "section"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete(&self, kind: TypeKind, text: &str, cursor: usize, limit: usize) -> Result<Completions> {
        let at = Find::completion(text, cursor)?;
        let mut found = BTreeSet::new();
        for expected in &at.expected {
            let completing = Completing { snapshot: self, kind, at: &at };
            completing.add(expected, &mut found)?;
        }
        let has_more = found.len() > limit;
        Ok(Completions { from: at.from, items: found.into_iter().take(limit).collect(), has_more })
    }
}

/// The completion of one text.
struct Completing<'s> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    at: &'s Completion,
}

type Found = BTreeSet<(CompletionKind, String)>;

impl Completing<'_> {
    fn add(&self, expected: &Expected, found: &mut Found) -> Result<()> {
        match expected {
            Expected::Word(word) => {
                if self.begins(word) {
                    found.insert((CompletionKind::Word, (*word).to_owned()));
                }
            }
            Expected::Type => self.add_types(self.kind, CompletionKind::Type, found)?,
            Expected::RelationshipType => {
                self.add_types(TypeKind::Relationship, CompletionKind::Type, found)?
            }
            Expected::Classification => {
                self.add_types(TypeKind::Classification, CompletionKind::Classification, found)?;
            }
            Expected::Status => self.add_names(CompletionKind::Status, self.statuses(), found),
            Expected::Field => self.add_fields(found)?,
            Expected::Value(field) => self.add_values(field, found)?,
        }
        Ok(())
    }

    /// True if a name begins as the word at the cursor does, in any case.
    fn begins(&self, name: &str) -> bool {
        let mut letters = name.chars().flat_map(char::to_lowercase);
        self.at.begun.chars().flat_map(char::to_lowercase).all(|begun| letters.next() == Some(begun))
    }

    fn add_names(&self, kind: CompletionKind, names: impl IntoIterator<Item = Arc<str>>, found: &mut Found) {
        let wanted = names.into_iter().filter(|name| self.begins(name));
        found.extend(wanted.map(|name| (kind, name_text(&name))));
    }

    fn add_types(&self, kind: TypeKind, told: CompletionKind, found: &mut Found) -> Result<()> {
        let declared = self.snapshot.types_of(kind).into_iter().map(|known| Arc::clone(&known.name));
        let mut names: BTreeSet<Arc<str>> = declared.filter(|name| self.begins(name)).collect();
        let graph = self.snapshot.graph();
        let extents = graph.table(kind).lists.extents_of(kind);
        let others = extents.into_iter().flat_map(Extents::iter).map(|(name, _)| graph.names.name(name));
        let others: BTreeSet<&Arc<str>> =
            others.filter(|name| self.begins(name) && !names.contains(*name)).collect();
        for name in others.into_iter().take(TYPES_ASKED_MAX) {
            if self.is_seen(kind, name)? {
                names.insert(Arc::clone(name));
            }
        }
        // Types of the repository itself are no subject of a search, unless the user asks for them.
        names.retain(|name| !self.snapshot.is_internal(name) || self.at.begun.contains("annals"));
        self.add_names(told, names, found);
        Ok(())
    }

    /// True if the reader sees an instance of a type that is declared nowhere.
    fn is_seen(&self, kind: TypeKind, name: &str) -> Result<bool> {
        let find = match kind {
            TypeKind::Classification => Find::all().classified(name),
            _ => Find::of(name),
        };
        let find = sampled(find, 1);
        Ok(match kind {
            TypeKind::Relationship => {
                of_sample(self.snapshot.find_relationships(&find))?.is_some_and(|page| !page.items.is_empty())
            }
            _ => of_sample(self.snapshot.find_entities(&find))?.is_some_and(|page| !page.items.is_empty()),
        })
    }

    /// Calls `take` with each property of a sample of what the search finds so far.
    fn each_sampled(&self, filter: Expression, mut take: impl FnMut(&str, Value)) -> Result<()> {
        let mut find = sampled(Find::all().filter(filter), SAMPLE);
        find.types.clone_from(&self.at.types);
        match self.kind {
            TypeKind::Relationship => {
                let page = of_sample(self.snapshot.find_relationships(&find))?;
                for relationship in page.iter().flat_map(|page| &page.items) {
                    relationship.properties().for_each(|(name, value)| take(name, value));
                }
            }
            _ => {
                let page = of_sample(self.snapshot.find_entities(&find))?;
                for entity in page.iter().flat_map(|page| &page.items) {
                    entity.properties().for_each(|(name, value)| take(name, value));
                }
            }
        }
        Ok(())
    }

    /// The declared types of what the search finds, with their supertypes; all of the kind if the search names none.
    fn definitions(&self) -> Vec<Arc<TypeDefinition>> {
        let all = self.snapshot.types_of(self.kind);
        if self.at.types.is_empty() {
            return all;
        }
        let by_name: BTreeMap<&str, &Arc<TypeDefinition>> =
            all.iter().map(|known| (&*known.name, known)).collect();
        let (mut open, mut met) = (self.at.types.clone(), BTreeSet::new());
        let mut found = Vec::new();
        while let Some(name) = open.pop() {
            if let Some(known) = by_name.get(&*name)
                && met.insert(Arc::clone(&name))
            {
                open.extend(known.supertypes.iter().cloned());
                found.push(Arc::clone(known));
            }
        }
        found
    }

    fn statuses(&self) -> BTreeSet<Arc<str>> {
        let declared = self.definitions().into_iter().flat_map(|known| known.statuses.clone());
        declared.chain(["active".into(), "deleted".into()]).collect()
    }

    fn add_fields(&self, found: &mut Found) -> Result<()> {
        if self.at.quote.is_none() {
            let headers = Header::ALL.iter().map(|header| format!("@{}", header.name()));
            let texts = headers.chain(["@text".to_owned()]).filter(|text| self.begins(text));
            found.extend(texts.map(|text| (CompletionKind::Header, text)));
        }
        let definitions = self.definitions();
        let attributes = definitions.iter().flat_map(|known| &known.attributes);
        let mut names: BTreeSet<Arc<str>> = attributes.map(|attribute| Arc::clone(&attribute.name)).collect();
        self.each_sampled(Expression::everything(), |name, _| {
            if !names.contains(name) {
                names.insert(name.into());
            }
        })?;
        self.add_names(CompletionKind::Property, names, found);
        Ok(())
    }

    fn add_values(&self, field: &Field, found: &mut Found) -> Result<()> {
        let Field::Property(name) = field else {
            return self.add_values_of_header(field, found);
        };
        let definitions = self.definitions();
        let attribute =
            definitions.iter().flat_map(|known| &known.attributes).find(|known| known.name == *name);
        if let Some(of) = attribute.and_then(|attribute| attribute.enum_type.as_deref())
            && let Some(known) = self.snapshot.type_definition(TypeKind::Enum, of)
        {
            let elements = known.elements.iter().map(|element| Value::from(&*element.name));
            self.add_each(elements, found);
            return Ok(());
        }
        let exists = || {
            let (field, values) = (field.clone(), Vec::new());
            Expression::from(Condition { field, operator: Operator::Exists, values, ignores_case: false })
        };
        let wanted = match self.at.begun.is_empty() {
            true => exists(),
            false => Expression::property(name, Operator::Prefix, &*self.at.begun),
        };
        let before = found.len();
        for filter in [wanted, exists()] {
            self.each_sampled(filter, |known, value| {
                if *known == **name {
                    match value {
                        Value::Set(set) => self.add_each(set.iter(), found),
                        Value::List(list) => self.add_each(list.iter().cloned(), found),
                        value => self.add_each([value], found),
                    }
                }
            })?;
            // Other values than texts have no prefix.
            if found.len() > before {
                break;
            }
        }
        Ok(())
    }

    fn add_values_of_header(&self, field: &Field, found: &mut Found) -> Result<()> {
        match field {
            Field::Header(Header::Type) => {
                let mut types = Found::new();
                self.add_types(self.kind, CompletionKind::Value, &mut types)?;
                found.extend(types);
            }
            Field::Header(Header::Status) => {
                self.add_each(self.statuses().into_iter().map(|name| Value::from(&*name)), found);
            }
            Field::Header(Header::Id) if !self.at.begun.is_empty() => {
                let begun = Expression::header(Header::Id, Operator::Prefix, &*self.at.begun);
                let mut find = sampled(Find::all().filter(begun), SAMPLE);
                find.types.clone_from(&self.at.types);
                let ids: Vec<Id> = match self.kind {
                    TypeKind::Relationship => {
                        let page = of_sample(self.snapshot.find_relationships(&find))?;
                        page.iter().flat_map(|page| &page.items).map(|known| known.id().clone()).collect()
                    }
                    _ => {
                        let page = of_sample(self.snapshot.find_entities(&find))?;
                        page.iter().flat_map(|page| &page.items).map(|known| known.id().clone()).collect()
                    }
                };
                self.add_each(ids.iter().map(|id| Value::from(id.to_string())), found);
            }
            _ => {}
        }
        Ok(())
    }

    fn add_each(&self, values: impl IntoIterator<Item = Value>, found: &mut Found) {
        for value in values {
            let shown = match &value {
                Value::String(text) => text.to_string(),
                other => value_text(other),
            };
            if shown.len() <= VALUE_BYTES_MAX && self.begins(&shown) {
                found.insert((CompletionKind::Value, value_text(&value)));
            }
        }
    }
}

fn sampled(find: Find, limit: usize) -> Find {
    Find { visited_max: VISITED_MAX, ..find.limit(limit) }
}

/// The page of a sample; `None` if it cannot be had in time.
fn of_sample<T>(page: Result<T>) -> Result<Option<T>> {
    match page {
        Ok(page) => Ok(Some(page)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::TooLarge) => Ok(None),
        Err(error) => Err(error),
    }
}
