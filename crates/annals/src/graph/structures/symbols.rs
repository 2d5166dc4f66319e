//! Names as small numbers: types, properties, classifications; and authors.

use std::sync::Arc;

use smallvec::SmallVec;

use super::hash::key_of;
use super::id_map::IdMap;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// The number of a name within one graph. Symbols follow the order in which names first appear in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol(pub(crate) u32);

impl Symbol {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names by symbol and symbols by name.
#[derive(Clone, Default)]
pub(crate) struct Symbols {
    names: Vector<Arc<str>>,
    by_name: IdMap,
    // Only while it helps.
    recent: Option<Box<Recent>>,
}

/// The first names found, with their symbols: few clients use more names together. An equal `Arc` is found by its
/// address, other names without a hash.
#[derive(Clone, Default)]
pub(crate) struct Recent(SmallVec<[(Arc<str>, Symbol); RECENT_MAX]>);

impl Recent {
    /// As [`Symbols::find`], always with the same symbols.
    pub(crate) fn find(&mut self, symbols: &Symbols, name: &Arc<str>) -> Option<Symbol> {
        if let Some((_, symbol)) = self.0.iter().find(|(known, _)| known == name) {
            return Some(*symbol);
        }
        let symbol = symbols.find(name)?;
        if self.0.len() < RECENT_MAX {
            self.0.push((Arc::clone(name), symbol));
        }
        Some(symbol)
    }
}

/// For more names, a look-up in the map is as fast.
const RECENT_MAX: usize = 8;

impl Symbols {
    pub(crate) fn new() -> Symbols {
        Symbols::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Symbol> {
        self.by_name
            .get(key_of(name), |slot| self.names.get(slot as usize).is_some_and(|known| **known == *name))
            .map(Symbol)
    }

    /// Caches found names until [`Symbols::forget`]. False if another caller did so already.
    pub(crate) fn remember(&mut self) -> bool {
        let begins = self.recent.is_none();
        self.recent.get_or_insert_default();
        begins
    }

    pub(crate) fn forget(&mut self) {
        self.recent = None;
    }

    /// As [`Symbols::find`], for callers that look the same names up repeatedly.
    pub(crate) fn find_again(&mut self, name: &Arc<str>) -> Option<Symbol> {
        let Some(mut recent) = self.recent.take() else { return self.find(name) };
        let symbol = recent.find(self, name);
        self.recent = Some(recent);
        symbol
    }

    /// The symbol of `name`; a new one if the name is new.
    pub(crate) fn intern(&mut self, name: &Arc<str>) -> Symbol {
        if let Some(symbol) = self.find(name) {
            return symbol;
        }
        let symbol = narrow(self.names.len());
        self.names.push(Arc::clone(name));
        self.by_name.insert(key_of(name), symbol);
        Symbol(symbol)
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        &self.names[symbol.index()]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_again_wherever_it_is_kept() {
        let names: Vec<Arc<str>> =
            (0..2 * RECENT_MAX).map(|number| format!("name {number}").into()).collect();
        let mut symbols = Symbols::new();
        let known: Vec<Symbol> = names.iter().map(|name| symbols.intern(name)).collect();
        symbols.remember();
        for _ in 0..2 {
            for (name, symbol) in names.iter().zip(&known) {
                assert_eq!(symbols.find_again(name), Some(*symbol));
                assert_eq!(
                    symbols.find_again(&Arc::from(&**name)),
                    Some(*symbol),
                    "the same in other memory"
                );
            }
            assert_eq!(symbols.find_again(&Arc::from("unknown")), None);
        }
        symbols.forget();
        assert_eq!(symbols.find_again(&names[0]), Some(known[0]));
    }
}
