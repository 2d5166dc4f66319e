//! Compares the present and the past of two graphs, regardless of their slots and symbols.
//!
//! Replaying a log without the changes of purged instances gives other slots and symbols than the original log, but
//! must give the same instances, versions and types.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Graph;
use super::instance::headers::{HeaderNumber, Identity, RowHeader, Shape};
use super::instance::past::PastVersion;
use super::instance::properties::Properties;
use super::instance::unpacked::{Classification, Instance, NO_ENDS, RowStamp};
use super::report::{Differences, UNASKED};
use super::structures::symbols::{Symbol, Symbols};
use crate::model::TypeKind;

/// The differences of `found` from `expected`: at most a hundred lines, none if they are equal. It ends early, with some
/// of them, once `is_over`.
pub(crate) fn meanings(expected: &Graph, found: &Graph, is_over: &dyn Fn() -> bool) -> Vec<String> {
    let mut report = Differences::default();
    let are_same = expected.position == found.position
        && expected.instants.iter().eq(found.instants.iter())
        && expected.type_changes.iter().eq(found.type_changes.iter())
        && expected.collection == found.collection;
    if !are_same {
        report.add(|| "position, commit instants, types, or the name of the collection differ".into());
    }
    let past_links = (expected.past_links.len(), found.past_links.len());
    if past_links.0 != past_links.1 {
        report.add(|| format!("past links: expected {}, found {}", past_links.0, past_links.1));
    }
    let mut translation = Translation::new(expected, found);
    for kind in [TypeKind::Entity, TypeKind::Relationship] {
        translation.compare_table(kind, &mut report, is_over);
    }
    report.into_lines()
}

/// Maps the slots and symbols of one graph to those of the other.
struct Translation<'g> {
    expected: &'g Graph,
    found: &'g Graph,
    names: Vec<Option<Symbol>>,
    authors: Vec<Option<Symbol>>,
    /// By slot of an entity.
    entities: Vec<Option<u32>>,
    headers: HashMap<HeaderNumber, Option<HeaderNumber>>,
}

impl<'g> Translation<'g> {
    fn new(expected: &'g Graph, found: &'g Graph) -> Translation<'g> {
        let symbols = |from: &Symbols, to: &Symbols| from.iter().map(|name| to.find(name)).collect();
        Translation {
            expected,
            found,
            names: symbols(&expected.names, &found.names),
            authors: symbols(&expected.authors, &found.authors),
            entities: Vec::new(),
            headers: HashMap::new(),
        }
    }

    /// Instances keep their order when others between them are removed.
    fn compare_table(&mut self, kind: TypeKind, report: &mut Differences, is_over: &dyn Fn() -> bool) {
        let (expected, found) = (self.expected.table(kind), self.found.table(kind));
        let slots = |count: usize| 0..u32::try_from(count).unwrap_or(u32::MAX);
        let mut others = slots(found.slots_count()).filter(|slot| found.row(*slot).is_some());
        for slot in slots(expected.slots_count()) {
            if slot.is_multiple_of(UNASKED) && is_over() {
                return;
            }
            let other = expected.row(slot).and_then(|_| others.next());
            if kind == TypeKind::Entity {
                self.entities.push(other);
            }
            let instance = match expected.get(slot) {
                Ok(Some(instance)) => instance,
                Ok(None) => continue,
                Err(error) => {
                    report.add(|| format!("{} cannot be read: {error}", expected.id(slot)));
                    continue;
                }
            };
            let other_instance = other.and_then(|other| found.get(other).ok().flatten());
            let difference = match (other, other_instance) {
                (Some(other), Some(_)) if found.slot(&instance.id) != Some(other) => {
                    Some("it is not found by its id".into())
                }
                (Some(other), Some(_)) if found.is_live(other) != expected.is_live(slot) => {
                    Some("it is live in one only".into())
                }
                (_, Some(other)) => self.difference(&instance, &other),
                (_, None) => Some("it is missing".into()),
            };
            if let Some(difference) = difference {
                let (id, version) = (&instance.id, instance.version);
                report.add(|| format!("{} {id} version {version}: {difference}", kind.name()));
            }
        }
        if let Some(more) = others.next() {
            report.add(|| format!("{} {} is there and should not be", kind.name(), found.id(more)));
        }
    }

    /// The difference of `found` from `expected`, without values of properties; `None` if they are the same.
    fn difference(&mut self, expected: &Instance, found: &Instance) -> Option<String> {
        let Some(translated) = self.instance(expected) else {
            return Some("a name, an end or a header is missing".into());
        };
        let past = |instance: &Instance| -> Vec<PastVersion> {
            instance.past.iter().flat_map(|past| past.iter().copied()).collect()
        };
        let (expected_past, found_past) = (past(expected), past(found));
        let translated_past: Vec<Option<PastVersion>> = expected_past
            .iter()
            .map(|version| Some(PastVersion { header: self.header(version.header)?, ..*version }))
            .collect();
        if !translated_past.iter().copied().eq(found_past.iter().copied().map(Some)) {
            return Some(format!("expected the past {translated_past:?}, found {found_past:?}"));
        }
        let found = Instance { past: None, ..found.clone() };
        let part = translated.different_part(&found)?;
        let names = match part {
            "properties" => self.different_properties(&translated, &found),
            _ => String::new(),
        };
        let in_force = (translated.in_force(), found.in_force());
        Some(format!("another {part}{names}; expected {:?}, found {:?}", in_force.0, in_force.1))
    }

    /// The names of properties that two instances of the other graph do not share. Their values may be secret.
    fn different_properties(&self, one: &Instance, other: &Instance) -> String {
        let all = one.properties.iter().chain(other.properties.iter()).map(|(name, _)| name);
        let different = all.filter(|name| one.properties.get(*name) != other.properties.get(*name));
        let names: BTreeSet<&str> = different.map(|name| &**self.found.names.name(name)).collect();
        format!(" {}", names.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The instance with the numbers of the other graph, without its past. `None` if the other graph lacks a number.
    fn instance(&mut self, instance: &Instance) -> Option<Instance> {
        let classifications = instance
            .classifications()
            .iter()
            .map(|known| self.classification(known))
            .collect::<Option<_>>()?;
        let mut translated = Instance {
            properties: self.properties(&instance.properties)?,
            type_name: self.name(instance.type_name)?,
            header: self.header(instance.header)?,
            ends: self.ends(instance.ends)?,
            past: None,
            classifications: None,
            created: self.stamp(instance.created)?,
            updated: self.stamp(instance.updated)?,
            ..instance.clone()
        };
        translated.set_classifications(classifications);
        Some(translated)
    }

    fn classification(&mut self, known: &Classification) -> Option<Classification> {
        Some(Classification {
            name: self.name(known.name)?,
            version: known.version,
            header: self.header(known.header)?,
            created: self.stamp(known.created)?,
            updated: self.stamp(known.updated)?,
            properties: self.properties(&known.properties)?,
        })
    }

    fn properties(&self, properties: &Properties) -> Option<Properties> {
        let entries = properties.iter().map(|(name, value)| Some((self.name(name)?, value.clone())));
        Some(Properties::from_entries(entries.collect::<Option<_>>()?))
    }

    fn name(&self, symbol: Symbol) -> Option<Symbol> {
        self.names.get(symbol.index()).copied().flatten()
    }

    fn stamp(&self, stamp: RowStamp) -> Option<RowStamp> {
        let author = self.authors.get(stamp.author.index()).copied().flatten()?;
        Some(RowStamp { author, ..stamp })
    }

    fn ends(&self, ends: [u32; 2]) -> Option<[u32; 2]> {
        if ends == NO_ENDS {
            return Some(NO_ENDS);
        }
        let [from, to] = ends.map(|end| self.entities.get(end as usize).copied().flatten());
        Some([from?, to?])
    }

    /// The number of an equal header in the other graph.
    fn header(&mut self, number: HeaderNumber) -> Option<HeaderNumber> {
        if let Some(known) = self.headers.get(&number) {
            return *known;
        }
        let header = Arc::clone(self.expected.headers.get(number));
        let translated = self.translated(&header).and_then(|header| self.found.headers.find(&header));
        self.headers.insert(number, translated);
        translated
    }

    fn translated(&self, header: &RowHeader) -> Option<RowHeader> {
        let identity = match &header.identity {
            None => None,
            Some(identity) => {
                let (own, original) = (self.shape(&identity.own)?, self.shape(&identity.original)?);
                Some(Arc::new(Identity { own, original }))
            }
        };
        let created = match header.created {
            None => None,
            Some((micros, author)) => Some((micros, self.stamp(RowStamp { micros, author })?.author)),
        };
        Some(RowHeader { identity, created, ..header.clone() })
    }

    fn shape(&self, shape: &Shape) -> Option<Shape> {
        let (type_name, ends) = (self.name(shape.type_name)?, self.ends(shape.ends)?);
        Some(Shape { id: shape.id.clone(), type_name, ends })
    }
}
