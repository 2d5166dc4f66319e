//! Types of what the repository stores about itself, such as candidates and grants: only admins write their instances, and no
//! grant admits them.

use crate::graph::Graph;
use crate::graph::structures::symbols::Symbol;
use crate::model::TypeKind;
use crate::structures::number::narrow;

/// Beginnings of the names of these types.
const INTERNAL_TYPES: [&str; 2] = ["annals.", "annals-"];

impl Graph {
    /// True if a type, or a classification, of this name is internal: its name begins so, or that of one of its supertypes.
    pub(crate) fn is_internal(&self, name: &str) -> bool {
        begins_internal(name) || self.names.find(name).is_some_and(|symbol| self.is_below_internal(symbol))
    }

    /// The names of all internal types, ascending.
    pub(crate) fn internal_types(&self) -> Vec<Symbol> {
        let symbols = self.names.iter().enumerate().map(|(number, name)| (Symbol(narrow(number)), name));
        let internal =
            symbols.filter(|(symbol, name)| begins_internal(name) || self.is_below_internal(*symbol));
        internal.map(|(symbol, _)| symbol).collect()
    }

    fn is_below_internal(&self, name: Symbol) -> bool {
        let mut declared = TypeKind::ALL.into_iter().filter_map(|kind| self.types.get(kind, name));
        declared.any(|one| one.ancestors.iter().any(|above| begins_internal(self.names.name(*above))))
    }
}

fn begins_internal(name: &str) -> bool {
    INTERNAL_TYPES.iter().any(|start| name.starts_with(start))
}
