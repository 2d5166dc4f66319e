//! Names as small numbers: types, properties, classifications; and authors.

use std::sync::Arc;

use super::hash::key_of;
use super::id_map::IdMap;
use super::vector::Vector;

/// The number of a name within one graph. Symbols are given in the order in which names first appear on the log.
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
}

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

    /// The symbol of `name`, a new one if it has none.
    pub(crate) fn intern(&mut self, name: &Arc<str>) -> Symbol {
        if let Some(symbol) = self.find(name) {
            return symbol;
        }
        let symbol = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        self.names.push(Arc::clone(name));
        self.by_name.insert(key_of(name), symbol, |symbol| self.names.get(symbol as usize).map(key_of));
        Symbol(symbol)
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        self.names.get(symbol.index()).expect("a symbol comes from this graph")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names.iter()
    }
}
