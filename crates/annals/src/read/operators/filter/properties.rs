//! Refuses properties that no searched instance can have: a misspelt name would find nothing, or everything.

use crate::graph::integrity::types::DeclaredType;
use crate::graph::structures::symbols::Symbol;
use crate::model::TypeKind;
use crate::read::nearest;
use crate::read::snapshot::Snapshot;
use crate::search::{Condition, Expression, Field, Find, Header, OrderBy};
use crate::{Error, ErrorKind, Result};

/// The subject of conditions: instances of some types, or classifications with some names.
struct Scope<'a> {
    snapshot: &'a Snapshot,
    kind: TypeKind,
    /// `None` for all.
    types: Option<&'a [Symbol]>,
    /// True if only live instances of the present are searched: those of a closed type have only its declared
    /// properties.
    is_present: bool,
}

/// Checks the names in the conditions and the order of a search for instances of some types, or of all. `is_present`: only
/// live ones of the present.
///
/// Errors: `NotFound` for a property that none of the types declares, if all types are declared, and that no instance
/// has: the name is new to the repository, or the types are closed.
pub(in crate::read) fn check_search(
    snapshot: &Snapshot,
    kind: TypeKind,
    types: Option<&[Symbol]>,
    is_present: bool,
    find: &Find,
) -> Result<()> {
    if is_unchecked(snapshot) {
        return Ok(());
    }
    let scope = Scope { snapshot, kind, types, is_present };
    scope.check_expression(&find.filter)?;
    scope.check_order(&find.order)
}

/// Checks the names in the order of instances of some types, or of all. Errors: as [`check_search`].
pub(in crate::read) fn check_order(
    snapshot: &Snapshot,
    kind: TypeKind,
    types: Option<&[Symbol]>,
    order: &[OrderBy],
) -> Result<()> {
    if snapshot.sight().is_some() {
        return Ok(());
    }
    Scope { snapshot, kind, types, is_present: false }.check_order(order)
}

/// Checks the names in a condition on instances of some types, or of all. Errors: as [`check_search`].
pub(in crate::read) fn check_filter(
    snapshot: &Snapshot,
    kind: TypeKind,
    types: Option<&[Symbol]>,
    filter: &Expression,
) -> Result<()> {
    if is_unchecked(snapshot) {
        return Ok(());
    }
    Scope { snapshot, kind, types, is_present: false }.check_expression(filter)
}

/// True if a name that no instance has finds nothing, instead of being refused. Under a sight the refusal would tell
/// which names hidden instances have.
fn is_unchecked(snapshot: &Snapshot) -> bool {
    snapshot.graph().types.is_empty() || snapshot.sight().is_some()
}

impl Scope<'_> {
    fn check_order(&self, order: &[OrderBy]) -> Result<()> {
        order.iter().try_for_each(|sort| self.check_field(&sort.field))
    }

    fn check_expression(&self, expression: &Expression) -> Result<()> {
        let inner = |kind, name: Option<&str>, inner: &Option<Box<Expression>>| {
            let Some(inner) = inner else { return Ok(()) };
            let types = name.map(|name| self.snapshot.types_named(kind, name));
            Scope { kind, types: types.as_deref(), ..*self }.check_expression(inner)
        };
        match expression {
            Expression::All(parts) => {
                let type_name = parts.iter().find_map(|part| match part {
                    Expression::Type(name) => Some(name),
                    _ => None,
                });
                let types = type_name.map(|name| self.snapshot.types_named(self.kind, name));
                let scope = Scope { types: types.as_deref().or(self.types), ..*self };
                parts.iter().try_for_each(|part| scope.check_expression(part))
            }
            Expression::Any(parts) | Expression::None(parts) => {
                parts.iter().try_for_each(|part| self.check_expression(part))
            }
            Expression::Condition(Condition { field, .. }) => self.check_field(field),
            Expression::Type(_) => Ok(()),
            Expression::Classified { name, matching } => {
                inner(TypeKind::Classification, Some(name), matching)
            }
            Expression::Linked { type_name, matching, other, .. } => {
                inner(TypeKind::Relationship, type_name.as_deref(), matching)?;
                inner(TypeKind::Entity, None, other)
            }
        }
    }

    fn check_field(&self, field: &Field) -> Result<()> {
        match field {
            Field::Property(name) if !self.may_have(name) => Err(self.unknown(name)),
            _ => Ok(()),
        }
    }

    fn may_have(&self, name: &str) -> bool {
        let graph = self.snapshot.graph();
        let symbol = graph.names.find(name);
        let may_be_of = |declared: &DeclaredType| {
            let is_free = !(declared.is_closed && self.is_present);
            symbol.is_some_and(|symbol| is_free || declared.attributes.contains_key(&symbol))
        };
        if let Some(types) = self.types {
            // An instance of an undeclared type may have any property.
            let may_have =
                |name: &Symbol| graph.types.get(self.kind, *name).is_none_or(|known| may_be_of(known));
            return types.is_empty() || types.iter().any(may_have);
        }
        let mut declared = graph.types.of_kind(self.kind).peekable();
        declared.peek().is_none() || declared.any(|(_, known)| may_be_of(known)) || self.has_undeclared()
    }

    /// True if an instance has, or had, an undeclared type.
    fn has_undeclared(&self) -> bool {
        let graph = self.snapshot.graph();
        let table = graph.table(self.kind);
        let extents = table.lists.extents_of(self.kind);
        let is_undeclared = |name| graph.types.get(self.kind, name).is_none();
        extents
            .iter()
            .flat_map(|extents| extents.iter())
            .any(|(name, slots)| slots.len() > 0 && is_undeclared(name))
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        let graph = self.snapshot.graph();
        let of_kind: Vec<Symbol> = graph.types.of_kind(self.kind).map(|(name, _)| name).collect();
        let types = self.types.unwrap_or(&of_kind);
        let declared = || types.iter().filter_map(|name| graph.types.get(self.kind, *name));
        let attributes = declared().flat_map(|known| &known.definition.attributes).map(|known| &*known.name);
        let inherited = declared().flat_map(|known| known.attributes.values());
        let inherited = inherited.map(|known| &*known.definition.name);
        // Undeclared properties that are in use and in the index.
        let indexes = match self.snapshot.indexed().indexes(self.kind) {
            Ok(indexes) => indexes,
            Err(error) => return error,
        };
        let used = graph.names.iter().zip(indexes.values.sets().iter()).filter(|(_, keys)| !keys.is_empty());
        let used = used.map(|(name, _)| &**name);
        let is_own = self.kind != TypeKind::Classification;
        let known = attributes.chain(inherited).chain(used.filter(|_| is_own));
        let hint = match Header::named(name) {
            Some(header) => format!("; did you mean @{}?", header.name()),
            None => nearest::hint(name, known, "see the declared types"),
        };
        let what = self.kind.name();
        let by = match types {
            [one] if self.kind == TypeKind::Classification => format!("{what} {}", graph.names.name(*one)),
            [one] => format!("{what} type {}", graph.names.name(*one)),
            _ => format!("any of the {} {what} types searched", types.len()),
        };
        Error::new(
            ErrorKind::NotFound,
            format!("property {name:?} is not declared by {by}, and nothing has it{hint}"),
        )
    }
}
