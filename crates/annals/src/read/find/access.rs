//! The ways to gather all possible hits, in no order.

use super::trigram;
use crate::Result;
use crate::graph::index::TableIndexes;
use crate::graph::index::key::{slot_of_key, without_slot};
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{Id, TypeKind, decode_key_text, key_is_cut};
use crate::read::operators::filter::test::{Bound, Test};
use crate::read::operators::filter::value_test::ValueTest;
use crate::read::operators::scan::bounds::{Bounds, Stretches};
use crate::read::operators::scan::domain::Domain;
use crate::read::snapshot::Snapshot;
use crate::search::{Header, Operator, Pattern};
use crate::structures::key_set::{KeySet, Needed};

/// Cost of checking conditions and order on a row, relative to a step over a key of an index.
const VERIFIED_COST_NOW: usize = 10;
/// The same if a version may have to be read from the log.
const VERIFIED_COST_THEN: usize = 200;

/// A set of places that contains all hits.
#[derive(Clone)]
pub(super) struct CandidateSet<'t> {
    sources: Vec<Source<'t>>,
    /// About how many candidates it has.
    pub(super) len: usize,
}

#[derive(Clone)]
enum Source<'t> {
    /// The whole domain.
    Domain,
    /// Values of a property within bounds.
    Values(Symbol, Bounds),
    /// Texts of a property that match a pattern.
    Texts(Symbol, &'t Pattern),
    /// Instances with these ids.
    Ids(Vec<u32>),
}

/// The searched places, and the state of their indexes.
pub(super) struct Places<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) kind: TypeKind,
    pub(super) table: &'s Table,
    pub(super) indexes: &'s TableIndexes,
    /// Slots touched since the position of the indexes, ascending: index entries of these do not count.
    pub(super) touched: Vec<u32>,
    /// True if past values count as well.
    pub(super) with_past: bool,
    /// Searched instances that are in no index.
    pub(super) proxies: Option<&'s SlotSet>,
}

impl<'s> Places<'s> {
    /// Cost of checking or sorting a candidate of the domain. Units: steps over a key of values.
    pub(super) fn verified_cost(&self) -> usize {
        if self.snapshot.view().is_some() { VERIFIED_COST_THEN } else { VERIFIED_COST_NOW }
    }

    fn sets(&self, property: Symbol) -> impl Iterator<Item = &'s KeySet> {
        let past = || self.indexes.past_values.get(property);
        self.indexes.values.get(property).into_iter().chain(self.with_past.then(past).flatten())
    }

    /// True if the indexes are correct for the instance.
    #[inline]
    pub(super) fn is_told(&self, slot: u32) -> bool {
        self.touched.is_empty() || self.touched.binary_search(&slot).is_err()
    }

    pub(super) fn is_indexed(&self, property: Symbol) -> bool {
        !self.snapshot.graph().types.unindexed.contains(&property)
    }

    /// The symbols of all properties with values.
    fn properties(&self) -> impl Iterator<Item = Symbol> {
        let past_count = if self.with_past { self.indexes.past_values.sets().len() } else { 0 };
        let count = self.indexes.values.sets().len().max(past_count);
        (0u32..).take(count).map(Symbol).filter(|name| self.sets(*name).any(|set| !set.is_empty()))
    }

    /// True if a text of a property is, or was, an IRI or in a language.
    pub(super) fn has_other_texts(&self, property: Symbol) -> bool {
        self.has_keys(property, &Bounds::other_texts())
    }

    fn has_keys(&self, property: Symbol, bounds: &Bounds) -> bool {
        self.sets(property).any(|set| bounds.range(set).next().is_some())
    }

    /// The keys of a property that can fulfil a condition: [`Bounds::of`]. If no literals begin with a wanted prefix, it
    /// is one range.
    pub(super) fn stretches(&self, property: Symbol, test: &ValueTest) -> Option<Stretches> {
        let mut stretches = Bounds::of(test)?;
        if test.operator == Operator::Prefix {
            let mut is_first = true;
            stretches.retain(|bounds| std::mem::take(&mut is_first) || self.has_keys(property, bounds));
        }
        Some(stretches)
    }

    /// About how many keys are within bounds.
    pub(super) fn count(&self, property: Symbol, bounds: &Bounds) -> usize {
        let (low, high) = bounds.edges();
        self.sets(property).map(|set| set.count_about(low, high)).sum()
    }
}

impl<'t> CandidateSet<'t> {
    /// The whole domain.
    pub(super) fn domain(domain: &Domain) -> CandidateSet<'t> {
        CandidateSet { sources: vec![Source::Domain], len: domain.len_max() }
    }

    /// The ways to gather all instances that fulfil a test.
    pub(super) fn all(places: &Places, test: &'t Test) -> Vec<CandidateSet<'t>> {
        match test {
            Test::All(parts) => {
                let mut accesses: Vec<CandidateSet> =
                    parts.iter().filter_map(|part| CandidateSet::of(places, part)).collect();
                accesses.extend(CandidateSet::intersected(places, parts));
                accesses
            }
            one => CandidateSet::of(places, one).into_iter().collect(),
        }
    }

    /// The best way to gather all instances that fulfil a test; `None` if no index helps.
    fn of(places: &Places, test: &'t Test) -> Option<CandidateSet<'t>> {
        match test {
            Test::All(_) => CandidateSet::all(places, test).into_iter().min_by_key(|access| access.len),
            Test::Any(parts) => {
                let mut union = CandidateSet { sources: Vec::new(), len: 0 };
                for part in parts {
                    let access = CandidateSet::of(places, part)?;
                    union.len += access.len;
                    union.sources.extend(access.sources);
                }
                Some(union)
            }
            Test::Property(None, test) => {
                (test.operator != Operator::Missing).then(|| CandidateSet { sources: Vec::new(), len: 0 })
            }
            Test::Property(Some(name), test) if places.is_indexed(*name) => {
                CandidateSet::of_property(places, *name, test)
            }
            Test::AnyText(pattern) if places.snapshot.graph().types.unindexed.is_empty() => {
                let mut access = CandidateSet { sources: Vec::new(), len: 0 };
                let divisor = left_out(pattern);
                for name in places.properties() {
                    // Free text is in no IRI.
                    let one = CandidateSet::of_pattern(places, name, pattern, divisor, false);
                    access.len += one.len;
                    access.sources.extend(one.sources);
                }
                Some(access)
            }
            Test::Header(Header::Id, test)
                if matches!(test.operator, Operator::Equal | Operator::In) && !test.is_of_text() =>
            {
                let texts = test.values.iter().filter_map(|value| value.as_str());
                let slots: Vec<u32> = texts
                    .filter_map(|text| Id::new(text).ok())
                    .filter_map(|id| places.snapshot.slot_of(places.kind, &id))
                    .collect();
                Some(CandidateSet { len: slots.len(), sources: vec![Source::Ids(slots)] })
            }
            _ => None,
        }
    }

    fn of_property(places: &Places, name: Symbol, test: &'t ValueTest) -> Option<CandidateSet<'t>> {
        if let Some(stretches) = places.stretches(name, test) {
            let len = stretches.iter().map(|bounds| places.count(name, bounds)).sum();
            let sources = stretches.into_iter().map(|bounds| Source::Values(name, bounds)).collect();
            return Some(CandidateSet { sources, len });
        }
        let pattern = test.pattern.as_ref().filter(|_| test.is_of_text())?;
        Some(CandidateSet::of_pattern(places, name, pattern, left_out(pattern), true))
    }

    fn of_pattern(
        places: &Places,
        name: Symbol,
        pattern: &'t Pattern,
        left_out: usize,
        with_iris: bool,
    ) -> CandidateSet<'t> {
        let Some(stretches) = Bounds::of_pattern(pattern) else {
            let len = places.count(name, &Bounds::texts()) / left_out;
            return CandidateSet { sources: vec![Source::Texts(name, pattern)], len };
        };
        let mut access = CandidateSet { sources: Vec::new(), len: 0 };
        for bounds in stretches.into_iter().take(2 + usize::from(with_iris)) {
            let len = places.count(name, &bounds);
            if len > 0 {
                access.len += len;
                access.sources.push(Source::Values(name, bounds));
            }
        }
        access
    }

    // Several conditions on a single-valued property are one range.
    fn intersected(places: &Places, parts: &[Test]) -> Vec<CandidateSet<'t>> {
        let mut found: Vec<(Symbol, Bounds, usize)> = Vec::new();
        for part in parts {
            let Test::Property(Some(name), test) = part else { continue };
            let stretches = places.stretches(*name, test).filter(|all| all.len() == 1);
            let Some(mut stretches) = stretches else { continue };
            let Some(bounds) = stretches.pop() else { continue };
            match found.iter_mut().find(|(known, ..)| known == name) {
                Some((_, known, count)) => {
                    known.intersect(bounds);
                    *count += 1;
                }
                None => found.push((*name, bounds, 1)),
            }
        }
        found.retain(|(name, _, count)| {
            *count > 1 && places.is_indexed(*name) && !places.table.is_multi_valued(*name)
        });
        found
            .into_iter()
            .map(|(name, bounds, _)| CandidateSet {
                len: places.count(name, &bounds),
                sources: vec![Source::Values(name, bounds)],
            })
            .collect()
    }

    /// The slots of all candidates in the domain, ascending, each once.
    pub(super) fn gather(&self, places: &Places, domain: &Domain, bound: &Bound) -> Result<Vec<u32>> {
        let mut slots = Vec::new();
        let (mut needed, mut last_pattern): (Needed, Option<&Pattern>) = (Needed::Unknown, None);
        let take = |slot: u32, slots: &mut Vec<u32>| -> Result<()> {
            bound.visit(places.snapshot)?;
            if domain.contains(slot) {
                slots.push(slot);
            }
            Ok(())
        };
        for source in &self.sources {
            match source {
                Source::Domain => {
                    for slot in domain.slots(None, false) {
                        bound.visit(places.snapshot)?;
                        slots.push(slot);
                    }
                }
                Source::Ids(ids) => ids.iter().try_for_each(|slot| take(*slot, &mut slots))?,
                Source::Values(name, bounds) => {
                    for set in places.sets(*name) {
                        for key in bounds.range(set) {
                            take(slot_of_key(key), &mut slots)?;
                        }
                    }
                }
                Source::Texts(name, pattern) => {
                    if last_pattern.is_none_or(|last| !std::ptr::eq(last, *pattern)) {
                        (needed, last_pattern) = (trigram::needed(pattern), Some(*pattern));
                    }
                    for set in places.sets(*name) {
                        let mut take = |slot| take(slot, &mut slots);
                        let skipped = gather_texts(places, set, pattern, &needed, bound, &mut take)?;
                        bound.skipped(skipped);
                    }
                }
            }
        }
        for slot in places.proxies.into_iter().flat_map(SlotSet::iter) {
            take(slot, &mut slots)?;
        }
        // Not counted: the searching client is not responsible for their number.
        slots.extend(places.touched.iter().filter(|slot| domain.contains(**slot)));
        if !slots.is_sorted() {
            slots.sort_unstable();
        }
        slots.dedup();
        Ok(slots)
    }

    /// Its description for people.
    pub(super) fn describe(&self, places: &Places) -> String {
        let name = |name: &Symbol| places.snapshot.graph().names.name(*name).to_string();
        let one = |source: &Source| match source {
            Source::Domain => "everything of the types and classifications".to_owned(),
            Source::Values(property, _) => format!("values of {} within bounds", name(property)),
            Source::Texts(property, _) => format!("texts of {} that the pattern admits", name(property)),
            Source::Ids(ids) => format!("{} ids", ids.len()),
        };
        match &self.sources[..] {
            [] => "nothing: no index has it".to_owned(),
            [only] => one(only),
            [first, ..] => format!("{} and {} more stretches of indexes", one(first), self.sources.len() - 1),
        }
    }
}

/// The share of texts that must be checked: one of this many. The number of matches is unknown before the check;
/// trigrams skip most branches without a wanted part of a text.
fn left_out(pattern: &Pattern) -> usize {
    if trigram::needed(pattern) == Needed::Unknown { 2 } else { 16 }
}

/// Checks the pattern once for each value, and takes all slots with a matching one. Skips branches of the index whose
/// texts lack the needed trigrams; returns their number.
fn gather_texts(
    places: &Places,
    set: &KeySet,
    pattern: &Pattern,
    needed: &Needed,
    bound: &Bound,
    take: &mut dyn FnMut(u32) -> Result<()>,
) -> Result<usize> {
    let bounds = Bounds::texts();
    let mut before: Vec<u8> = Vec::new();
    let mut is_match = false;
    let mut text = Vec::new();
    let high = bounds.high.as_deref().expect("texts have a tag behind them");
    set.search_texts(&bounds.low, high, needed, &mut |key| {
        let value = without_slot(key);
        if value != before[..] {
            bound.visit(places.snapshot)?;
            value.write_to(&mut before);
            // The index has only the beginning of a long text.
            is_match = key_is_cut(&before) || {
                decode_key_text(&before, &mut text);
                std::str::from_utf8(&text).is_ok_and(|text| pattern.is_match(text))
            };
        }
        if is_match { take(slot_of_key(key)) } else { Ok(()) }
    })
}
