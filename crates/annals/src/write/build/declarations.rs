//! Declarations of types: of one type, of many in the order in which they need each other, and additions to one.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::transaction::Transaction;
use crate::model::{TypeDefinition, TypeKind, TypePatch};
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// Declares a type, or extends the declared one: you can add attributes and supertypes, but not remove them.
    pub fn define_type(&mut self, definition: TypeDefinition) -> Result<()> {
        self.push(Box::new(definition))
    }

    /// Declares several types. They may have any order: supertypes and enums are declared before the types that need
    /// them.
    ///
    /// Errors: `TypeViolation` if supertypes form a circle. The commit reports all other errors.
    pub fn define_types(&mut self, definitions: Vec<TypeDefinition>) -> Result<()> {
        in_order_of_need(definitions)?.into_iter().try_for_each(|definition| self.define_type(definition))
    }

    /// Adds to a declared type.
    ///
    /// Errors: `NotFound` if it is not declared; `InvalidArgument` for statuses of a type that has none of its own.
    pub fn patch_type(&mut self, patch: &TypePatch) -> Result<()> {
        let (kind, name) = (patch.kind, &patch.name);
        let before = self.current()?.type_definition(kind, name).ok_or_else(|| {
            let text = format!("{} type {name} is not declared; declare it first", kind.name());
            Error::new(ErrorKind::NotFound, text)
        })?;
        if before.statuses.is_empty() && !patch.statuses.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "patch {} type {name}: it has no statuses of its own, so adding some would take others away; declare \
                     the type with its whole list",
                    kind.name()
                ),
            ));
        }
        self.define_type(patch.applied_to(&before))
    }
}

/// The definitions; each comes after the supertypes and enums that it needs.
fn in_order_of_need(definitions: Vec<TypeDefinition>) -> Result<Vec<TypeDefinition>> {
    let (mut ordered, rest): (Vec<_>, Vec<_>) =
        definitions.into_iter().partition(|definition| definition.kind == TypeKind::Enum);
    let mut waiting: HashSet<(TypeKind, Arc<str>)> =
        rest.iter().map(|definition| (definition.kind, Arc::clone(&definition.name))).collect();
    let mut rest: VecDeque<TypeDefinition> = rest.into();
    let mut put_off = 0;
    while let Some(definition) = rest.pop_front() {
        let is_waiting = |name: &Arc<str>| {
            *name != definition.name && waiting.contains(&(definition.kind, Arc::clone(name)))
        };
        if definition.supertypes.iter().any(is_waiting) {
            put_off += 1;
            if put_off > rest.len() {
                let text = format!("type {}: its supertypes lead in a circle; break it", definition.name);
                return Err(Error::new(ErrorKind::TypeViolation, text));
            }
            rest.push_back(definition);
            continue;
        }
        put_off = 0;
        waiting.remove(&(definition.kind, Arc::clone(&definition.name)));
        ordered.push(definition);
    }
    Ok(ordered)
}
