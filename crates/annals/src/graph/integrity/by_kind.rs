//! Values by the kind and the name of a type.

use crate::graph::structures::symbols::Symbol;
use crate::model::TypeKind;

/// Values by the kind and the name of a type: an array for each kind, because every change looks several of them up.
#[derive(Clone)]
pub(super) struct ByKind<T>([Vec<Option<T>>; TypeKind::ALL.len()]);

impl<T> Default for ByKind<T> {
    fn default() -> ByKind<T> {
        ByKind(TypeKind::ALL.map(|_| Vec::new()))
    }
}

impl<T> ByKind<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    #[inline]
    pub(super) fn get(&self, kind: TypeKind, name: Symbol) -> Option<&T> {
        self.0[index(kind)].get(name.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, kind: TypeKind, name: Symbol) -> Option<&mut T> {
        self.0[index(kind)].get_mut(name.index())?.as_mut()
    }

    pub(super) fn insert(&mut self, kind: TypeKind, name: Symbol, value: T) {
        let values = &mut self.0[index(kind)];
        if values.len() <= name.index() {
            values.resize_with(name.index() + 1, || None);
        }
        values[name.index()] = Some(value);
    }

    /// Those of one kind, in the order of their symbols.
    pub(super) fn of_kind(&self, kind: TypeKind) -> impl Iterator<Item = (Symbol, &T)> + Clone {
        let named = (0..).map(Symbol).zip(&self.0[index(kind)]);
        named.filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }

    /// All, by kind and symbol.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((TypeKind, Symbol), &T)> + Clone {
        let of_kind = |kind| self.of_kind(kind).map(move |(name, value)| ((kind, name), value));
        TypeKind::ALL.into_iter().flat_map(of_kind)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> + Clone {
        self.iter().map(|(_, value)| value)
    }
}

#[inline]
fn index(kind: TypeKind) -> usize {
    match kind {
        TypeKind::Entity => 0,
        TypeKind::Relationship => 1,
        TypeKind::Classification => 2,
        TypeKind::Enum => 3,
    }
}
