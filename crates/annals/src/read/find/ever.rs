//! Rejects candidates without reading a version, if no version of the instance can match.

use super::access::Places;
use crate::graph::instance::past::PastVersion;
use crate::graph::structures::symbols::Symbol;
use crate::model::{decode_key_text, is_text_key, key_is_cut};
use crate::read::operators::filter::test::Test;
use crate::read::operators::filter::value_test::ValueTest;
use crate::read::operators::scan::bounds::{Bounds, Stretches};
use crate::search::{Operator, Pattern};

/// For an instance with more past values these are not checked: each is in another place of memory.
const PAST_KEYS_MAX: usize = 32;

/// A condition that some version must have fulfilled, as far as the indexes know all versions.
pub(super) enum Ever<'t> {
    /// The indexes do not know.
    Unknown,
    All(Vec<Ever<'t>>),
    Any(Vec<Ever<'t>>),
    /// A value of a property within one of these ranges of the index.
    Value(Symbol, &'t ValueTest, Stretches),
    /// A text of a property.
    Text(Symbol, &'t ValueTest, &'t Pattern),
    /// A text of any property.
    AnyText(&'t Pattern),
    /// One of these types, ascending.
    Type(&'t [Symbol]),
    /// One of these classifications.
    Classified(&'t [Symbol]),
}

impl<'t> Ever<'t> {
    pub(super) fn of(places: &Places, test: &'t Test) -> Ever<'t> {
        match test {
            Test::All(parts) => {
                let mut parts: Vec<Ever> = parts.iter().map(|part| Ever::of(places, part)).collect();
                parts.retain(|part| !matches!(part, Ever::Unknown));
                if parts.is_empty() { Ever::Unknown } else { Ever::All(parts) }
            }
            Test::Any(parts) => {
                let parts: Vec<Ever> = parts.iter().map(|part| Ever::of(places, part)).collect();
                let is_unknown = parts.iter().any(|part| matches!(part, Ever::Unknown));
                if is_unknown { Ever::Unknown } else { Ever::Any(parts) }
            }
            Test::Property(None, test) if test.operator != Operator::Missing => Ever::Any(Vec::new()),
            Test::Property(Some(name), test) if places.is_indexed(*name) => {
                match (Bounds::of(test), &test.pattern) {
                    (Some(stretches), _) => Ever::Value(*name, test, stretches),
                    (None, Some(pattern)) if test.is_of_text() => Ever::Text(*name, test, pattern),
                    _ => Ever::Unknown,
                }
            }
            Test::AnyText(pattern) if places.snapshot.graph().types.unindexed.is_empty() => {
                Ever::AnyText(pattern)
            }
            Test::Type(types) => Ever::Type(types),
            Test::Classified(names, _) => Ever::Classified(names),
            _ => Ever::Unknown,
        }
    }

    /// False if no version of the instance at `slot` can match; for a type, only other versions than `version` count.
    pub(super) fn may_hold(&self, places: &Places, slot: u32, version: PastVersion) -> bool {
        let table = places.table;
        // Proxies are in no index, and spilled values are never checked.
        if table.lists.proxies.present.contains(slot) || table.has_spilled(slot) {
            return true;
        }
        self.may_hold_of(places, slot, version)
    }

    fn may_hold_of(&self, places: &Places, slot: u32, version: PastVersion) -> bool {
        let table = places.table;
        match self {
            Ever::Unknown => true,
            Ever::All(parts) => parts.iter().all(|part| part.may_hold_of(places, slot, version)),
            Ever::Any(parts) => parts.iter().any(|part| part.may_hold_of(places, slot, version)),
            Ever::Value(name, test, stretches) => {
                test.holds(table.value(slot, *name).as_ref())
                    || may_have_held(places, slot, Some(*name), |key| {
                        stretches.iter().any(|bounds| bounds.holds(key))
                    })
            }
            Ever::Text(name, test, pattern) => {
                test.holds(table.value(slot, *name).as_ref())
                    || may_have_held(places, slot, Some(*name), |key| matches(pattern, key))
            }
            Ever::AnyText(pattern) => {
                let row = table.row(slot);
                row.is_none_or(|row| row.any_text(&mut |text| pattern.is_match(text)))
                    || may_have_held(places, slot, None, |key| matches(pattern, key))
            }
            Ever::Type(types) => {
                let graph = places.snapshot.graph();
                let shape = graph.shape(places.kind, slot, version.header);
                let own = shape.map(|shape| shape.type_name);
                let own = own.or_else(|| table.row(slot).map(|row| row.type_name()));
                own.is_none_or(|own| types.binary_search(&own).is_ok())
            }
            Ever::Classified(names) => names.iter().any(|name| table.lists.classified.ever(*name, slot)),
        }
    }
}

/// True if one of the past values may match; if there are many, only the newest ones are checked.
fn may_have_held(places: &Places, slot: u32, name: Option<Symbol>, holds: impl Fn(&[u8]) -> bool) -> bool {
    let is_asked = |of: Symbol| name.is_none_or(|name| name == of);
    if !places.is_told(slot) {
        return true;
    }
    let mut keys = (0..).zip(places.indexes.past_values.of(slot));
    keys.any(|(count, (of, key))| count == PAST_KEYS_MAX || is_asked(of) && holds(key))
}

/// True if the text of an index key may match the pattern.
fn matches(pattern: &Pattern, key: &[u8]) -> bool {
    if !is_text_key(key) || key_is_cut(key) {
        return is_text_key(key);
    }
    let mut text = Vec::new();
    decode_key_text(key, &mut text);
    std::str::from_utf8(&text).is_ok_and(|text| pattern.is_match(text))
}
