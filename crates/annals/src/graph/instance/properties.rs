//! The properties of one instance, ordered by symbol; versions of an instance with thousands share unchanged parts.

use std::sync::Arc;

use crate::graph::structures::symbols::Symbol;
use crate::model::Value;

/// Most properties in one chunk.
const CHUNK_MAX: usize = 64;

type Entry = (Symbol, Value);

/// Values by symbol. Few properties are one block that versions share; many are chunks of up to 64, of which an update
/// copies one.
#[derive(Clone, Debug)]
pub(crate) enum Properties {
    Few(Arc<[Entry]>),
    Many(Vec<Arc<[Entry]>>),
}

/// All properties, in the order of their symbols.
pub(crate) struct Entries<'p> {
    chunk: std::slice::Iter<'p, Entry>,
    chunks: std::slice::Iter<'p, Arc<[Entry]>>,
}

impl<'p> Iterator for Entries<'p> {
    type Item = (Symbol, &'p Value);

    #[inline]
    fn next(&mut self) -> Option<(Symbol, &'p Value)> {
        loop {
            if let Some((symbol, value)) = self.chunk.next() {
                return Some((*symbol, value));
            }
            self.chunk = self.chunks.next()?.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let here = self.chunk.len();
        (here, self.chunks.as_slice().is_empty().then_some(here))
    }
}

impl Properties {
    pub(crate) fn new() -> Properties {
        Properties::Few(Arc::default())
    }

    /// The properties in `entries`; the later of two with one name counts.
    pub(crate) fn from_entries(mut entries: Vec<Entry>) -> Properties {
        entries.sort_by_key(|entry| entry.0);
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            entries.reverse();
            entries.sort_by_key(|entry| entry.0);
            entries.dedup_by_key(|entry| entry.0);
        }
        Properties::from_sorted(entries)
    }

    /// The properties in `entries`, ordered by symbol, each once.
    pub(crate) fn from_sorted(entries: Vec<Entry>) -> Properties {
        if entries.is_empty() {
            return Properties::new();
        }
        if entries.len() <= CHUNK_MAX {
            return Properties::Few(entries.into());
        }
        let mut chunks = Vec::with_capacity(entries.len().div_ceil(CHUNK_MAX / 2));
        let mut entries = entries.into_iter();
        while entries.len() > 0 {
            chunks.push(entries.by_ref().take(CHUNK_MAX / 2).collect());
        }
        Properties::Many(chunks)
    }

    pub(crate) fn iter(&self) -> Entries<'_> {
        match self {
            Properties::Few(entries) => Entries { chunk: entries.iter(), chunks: [].iter() },
            Properties::Many(chunks) => Entries { chunk: [].iter(), chunks: chunks.iter() },
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Properties::Few(entries) => entries.len(),
            Properties::Many(chunks) => chunks.iter().map(|chunk| chunk.len()).sum(),
        }
    }

    /// The chunk in which `symbol` belongs.
    fn chunk_of(chunks: &[Arc<[Entry]>], symbol: Symbol) -> usize {
        chunks.partition_point(|chunk| chunk[0].0 <= symbol).saturating_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, symbol: Symbol) -> Option<&Value> {
        let entries = match self {
            Properties::Few(entries) => &**entries,
            Properties::Many(chunks) => &*chunks[Self::chunk_of(chunks, symbol)],
        };
        entries.iter().find(|entry| entry.0 == symbol).map(|entry| &entry.1)
    }

    /// Sets or (with `None`) removes one value; returns the one before.
    pub(crate) fn put(&mut self, symbol: Symbol, value: Option<Value>) -> Option<Value> {
        match self {
            Properties::Few(entries) => {
                let mut changed = entries.to_vec();
                let before = put_entry(&mut changed, symbol, value);
                *self = Properties::from_entries(changed);
                before
            }
            Properties::Many(chunks) => {
                let at = Self::chunk_of(chunks, symbol);
                let mut changed = chunks[at].to_vec();
                let before = put_entry(&mut changed, symbol, value);
                if changed.len() > CHUNK_MAX {
                    let upper = changed.split_off(CHUNK_MAX / 2);
                    chunks.insert(at + 1, upper.into());
                }
                if changed.is_empty() {
                    chunks.remove(at);
                } else {
                    chunks[at] = changed.into();
                }
                if chunks.is_empty() {
                    *self = Properties::new();
                }
                before
            }
        }
    }

    /// Removes one value to change it; put it back with [`Properties::put`].
    pub(crate) fn take(&mut self, symbol: Symbol) -> Option<Value> {
        self.put(symbol, None)
    }
}

fn put_entry(entries: &mut Vec<Entry>, symbol: Symbol, value: Option<Value>) -> Option<Value> {
    match (entries.binary_search_by_key(&symbol, |entry| entry.0), value) {
        (Ok(at), Some(value)) => Some(std::mem::replace(&mut entries[at].1, value)),
        (Ok(at), None) => Some(entries.remove(at).1),
        (Err(at), Some(value)) => {
            entries.insert(at, (symbol, value));
            None
        }
        (Err(_), None) => None,
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Properties) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// True if `matches` holds for the text of a string or of a literal with a language, also in a set.
pub(crate) fn any_text(value: &Value, matches: &mut dyn FnMut(&str) -> bool) -> bool {
    match value {
        Value::String(text) => matches(text),
        Value::Literal(literal) => literal.text_in_language().is_some_and(matches),
        Value::Set(values) => values.iter().any(|value| any_text(&value, matches)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn properties_behave_as_a_map(steps in proptest::collection::vec((0u32..300, any::<Option<i64>>()), 0..600)) {
            let mut properties = Properties::new();
            let mut model = BTreeMap::new();
            for (number, value) in steps {
                let value = value.map(Value::Integer);
                let before = properties.put(Symbol(number), value.clone());
                let expected = match value {
                    Some(value) => model.insert(Symbol(number), value),
                    None => model.remove(&Symbol(number)),
                };
                prop_assert_eq!(before, expected);
                prop_assert_eq!(properties.get(Symbol(number)), model.get(&Symbol(number)));
            }
            prop_assert!(properties.iter().eq(model.iter().map(|(symbol, value)| (*symbol, value))));
        }
    }
}
