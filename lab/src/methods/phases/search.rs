//! Searches: every type page by page, by property and by text; now, and as of the time before updates.

use std::collections::HashSet;

use annals::{Condition, Expression, Field, Find, Header, Id, Instant, Operator, Order, TypeKind, Value};

use crate::methods::archive::{Attribute, Form};
use crate::methods::book::Kept;
use crate::methods::call::Call;
use crate::methods::record::Part;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

/// The rows for the samples.
struct Rows {
    pages: Method,
    by_property: Method,
    by_text: Method,
}

/// A type whose instances are searched, now or as of `then`.
struct Searched<'a> {
    rows: &'a Rows,
    kind: TypeKind,
    number: usize,
    name: &'a str,
    attributes: &'a [Attribute],
    then: Option<Instant>,
}

/// A regular expression, the order, and whether a text matches the expression made from a name.
type TextSearch = (String, Header, Order, fn(&str, &str) -> bool);

impl Rows {
    fn new(kind: TypeKind, then: Option<Instant>) -> Rows {
        use Method::*;
        let [pages, by_property, by_text] = match (kind, then) {
            (TypeKind::Relationship, None) => {
                [FindRelationships, FindRelationshipsByProperty, FindRelationshipsByText]
            }
            (TypeKind::Relationship, Some(_)) => {
                [FindRelationshipsThen, FindRelationshipsByPropertyThen, FindRelationshipsByTextThen]
            }
            (_, None) => [FindEntities, FindEntitiesByProperty, FindEntitiesByText],
            (_, Some(_)) => [FindEntitiesThen, FindEntitiesByPropertyThen, FindEntitiesByTextThen],
        };
        Rows { pages, by_property, by_text }
    }
}

/// All three rows of a kind; as of `then` if it is given.
pub fn all(run: &mut Run, kind: TypeKind, then: Option<Instant>) -> Outcome<()> {
    let rows = Rows::new(kind, then);
    let archive = run.archive;
    for (number, (name, attributes)) in archive.types(kind).enumerate() {
        let (types, others) = match kind {
            TypeKind::Relationship => (1, then),
            // The original reads the first page as of the earlier time, and the others as of now.
            _ => (archive.entities[number].subtree.len(), None),
        };
        run.sweep(rows.pages, kind, name, [then, others], types * run.of_each_type())?;
        let searched = Searched { rows: &rows, kind, number, name, attributes, then };
        run.by_property(&searched)?;
        run.by_text(&searched)?;
    }
    Ok(())
}

impl Run<'_> {
    /// All pages of a type: together each instance once. `[first, others]` are the times to read as of.
    fn sweep(
        &mut self,
        method: Method,
        kind: TypeKind,
        type_name: &str,
        [first, others]: [Option<Instant>; 2],
        expected: usize,
    ) -> Outcome<()> {
        let mut found: HashSet<Id> = HashSet::with_capacity(expected);
        let (mut after, mut is_first) = (None, true);
        loop {
            let find = Find { after, ..Find::of(type_name).limit(self.volume.page) };
            let then = if is_first { first } else { others };
            let call = Call::Find(kind, Box::new(find));
            let answer = self.ask_if(method, call, then, |answer| match (is_first, &answer.next) {
                _ if answer.ids.is_empty() => None,
                (true, None) => Some(Part::Whole),
                (true, Some(_)) => Some(Part::First),
                (false, Some(_)) => Some(Part::Middle),
                (false, None) => Some(Part::Last),
            })??;
            found.extend(answer.ids);
            (after, is_first) = (answer.next, false);
            if after.is_none() {
                break;
            }
        }
        if found.len() != expected {
            let text = format!(
                "{}: {type_name}: wrong answer: expected {expected}, found {}",
                method.row().title(),
                found.len()
            );
            return Err(text.into());
        }
        Ok(())
    }

    /// The four searches by property, first page only.
    fn by_property(&mut self, searched: &Searched) -> Outcome<()> {
        for search in self.property_searches(searched.attributes) {
            let find = Find::of(searched.name)
                .filter(search.filter())
                .sort(Field::Property(search.order_by.clone()), search.order)
                .limit(self.volume.page);
            self.first_page(searched.rows.by_property, searched.kind, find, searched.then, |run| {
                run.expected(searched.kind, searched.number, |kept| search.holds(|name| kept.value(name)))
            })?;
        }
        Ok(())
    }

    /// The five searches by text, first page only.
    fn by_text(&mut self, searched: &Searched) -> Outcome<()> {
        let text = searched.attributes.iter().find(|one| one.form == Form::Text && one.name.len() > 2);
        let Some(name) = text.map(|one| &*one.name) else { return Ok(()) };
        let searches: [TextSearch; 5] = [
            (format!(r"\Q{name}\E"), Header::CreatedAt, Order::Ascending, |text, name| text == name),
            (format!(r"\Q{}\E.*", start(name)), Header::CreatedAt, Order::Descending, |text, name| {
                text.starts_with(start(name))
            }),
            (format!(r".*\Q{}\E.*", end(start(name))), Header::UpdatedAt, Order::Ascending, |text, name| {
                text.contains(end(start(name)))
            }),
            (format!(r".*\Q{}\E", end(name)), Header::UpdatedAt, Order::Descending, |text, name| {
                text.ends_with(end(name))
            }),
            (format!("{}.*", start(name)), Header::Id, Order::Ascending, |text, name| {
                text.starts_with(start(name))
            }),
        ];
        for (pattern, header, order, holds) in searches {
            let find = Find::of(searched.name)
                .filter(Expression::any_text(Operator::Matches, pattern))
                .order_by_header(header, order)
                .limit(self.volume.page);
            self.first_page(searched.rows.by_text, searched.kind, find, searched.then, |run| {
                run.expected(searched.kind, searched.number, |kept| {
                    kept.properties
                        .iter()
                        .any(|(_, value)| value.as_str().is_some_and(|text| holds(text, name)))
                })
            })?;
        }
        Ok(())
    }

    /// One page, recorded unless it is empty. Where the book exists, it is compared with a full scan.
    pub fn first_page(
        &mut self,
        method: Method,
        kind: TypeKind,
        find: Find,
        then: Option<Instant>,
        expected: impl FnOnce(&Self) -> Option<HashSet<Id>>,
    ) -> Outcome<()> {
        let call = Call::Find(kind, Box::new(find.clone()));
        let answer =
            self.ask_if(method, call, then, |answer| (!answer.ids.is_empty()).then_some(Part::Whole))??;
        let Some(expected) = expected(self) else { return Ok(()) };
        let is_right = answer.ids.len() == expected.len().min(self.volume.page)
            && answer.ids.iter().all(|id| expected.contains(id))
            && answer.next.is_some() == (expected.len() > self.volume.page);
        if is_right {
            return Ok(());
        }
        Err(format!(
            "{}: {find}: wrong answer: expected a page of {} of {expected:?}, found {:?}, then {:?}",
            method.row().title(),
            self.volume.page,
            answer.ids,
            answer.next
        )
        .into())
    }

    /// Ids of all instances of a type, with its subtypes, that a search must find; `None` without the book.
    pub fn expected(
        &self,
        kind: TypeKind,
        type_number: usize,
        holds: impl Fn(&Kept) -> bool,
    ) -> Option<HashSet<Id>> {
        let book = self.book.as_ref()?;
        let alone = [type_number];
        let (all, types) = match kind {
            TypeKind::Relationship => (&book.relationships, &alone[..]),
            _ => (&book.entities, &self.archive.entities[type_number].subtree[..]),
        };
        let is_meant = |kept: &&Kept| types.contains(&kept.type_number) && holds(kept);
        Some(all.iter().filter(is_meant).map(|kept| kept.id.clone()).collect())
    }

    /// Up to four, on the first two attributes without text, or else on texts.
    pub fn property_searches(&mut self, attributes: &[Attribute]) -> Vec<PropertySearch> {
        let mut chosen: Vec<Attribute> =
            attributes.iter().filter(|one| one.form != Form::Text).cloned().collect();
        chosen.extend(attributes.iter().filter(|one| one.form == Form::Text).cloned());
        self.property_searches_in_order(&chosen)
    }

    /// The same on the first two attributes.
    pub fn property_searches_in_order(&mut self, attributes: &[Attribute]) -> Vec<PropertySearch> {
        let conditions: Vec<(Attribute, Value)> =
            attributes.iter().take(2).map(|one| (one.clone(), self.values.one(one, 0))).collect();
        let search = |matching: Match, count: usize, order_by: usize, order: Order| {
            Some(PropertySearch {
                matching,
                conditions: conditions.get(..count)?.to_vec(),
                order_by: conditions.get(order_by)?.0.name.clone(),
                order,
            })
        };
        let searches = [
            search(Match::All, 1, 0, Order::Ascending),
            search(Match::All, 2, 1, Order::Descending),
            search(Match::Any, 2, 1, Order::Ascending),
            search(Match::None, 2, 0, Order::Descending),
        ];
        searches.into_iter().flatten().collect()
    }
}

/// The combination of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    All,
    Any,
    None,
}

/// A search by the values of properties: texts match as regular expressions, all other values must be equal.
pub struct PropertySearch {
    pub matching: Match,
    pub conditions: Vec<(Attribute, Value)>,
    pub order_by: std::sync::Arc<str>,
    pub order: Order,
}

impl PropertySearch {
    /// The expression for the engine.
    pub fn filter(&self) -> Expression {
        let condition = |(attribute, value): &(Attribute, Value)| {
            let (operator, value) = match value.as_str() {
                Some(text) => (Operator::Matches, Value::from(format!(r"\Q{text}\E"))),
                None => (Operator::Equal, value.clone()),
            };
            Expression::from(Condition::new(Field::Property(attribute.name.clone()), operator, value))
        };
        let conditions = self.conditions.iter().map(condition).collect();
        match self.matching {
            Match::All => Expression::All(conditions),
            Match::Any => Expression::Any(conditions),
            Match::None => Expression::None(conditions),
        }
    }

    /// True if an instance with these values matches.
    pub fn holds<'v>(&self, value_of: impl Fn(&str) -> Option<&'v Value>) -> bool {
        let holds = |(attribute, value): &(Attribute, Value)| value_of(&attribute.name) == Some(value);
        match self.matching {
            Match::All => self.conditions.iter().all(holds),
            Match::Any => self.conditions.iter().any(holds),
            Match::None => !self.conditions.iter().any(holds),
        }
    }
}

/// The text without its last character.
fn start(name: &str) -> &str {
    &name[..name.len() - 1]
}

/// The text without its first character.
fn end(name: &str) -> &str {
    &name[1..]
}
