//! The definition of an action.

use std::sync::Arc;

use super::bag::{Bag, BagRef, Field};
use super::context::Context;
use super::draft::Draft;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::headers::{RowHeader, Shape};
use crate::model::{ClassificationContent, Id, InstanceId, TypeKind};

/// An action: everything about it except its `Transaction` method and its doors.
pub(crate) trait Act: Sized {
    /// The verb used by every door.
    const NAME: &'static str;
    /// Its codes in records.
    const CODES: Codes;
    /// Its entries, in the order of records, with the names that doors use.
    const FIELDS: &'static [Field];
    /// The instances that it changes.
    const TOUCHES: Touches;
    /// True if [`Transaction::take_back`](crate::Transaction::take_back) can undo it.
    const CAN_BE_TAKEN_BACK: bool = false;
    /// True if it makes a new instance.
    const IS_CREATE: bool = false;
    /// True if its change alone contains the whole content after it.
    const IS_WHOLE: bool = false;
    /// True if its change may contain the whole content after it.
    const IS_ANCHORED: bool = false;
    /// True if the log shows its changes.
    const IS_LOGGED: bool = true;
    /// True if the instance, or the type, may already be as the action would leave it; then it may be left out.
    const MAY_CHANGE_NOTHING: bool = false;

    /// Its description for doors.
    const FORM: Form = Form { verb: Self::NAME, kinds: Self::CODES.kinds(), fields: Self::FIELDS };

    /// Its entries.
    fn bag(&self) -> BagRef<'_>;

    /// The action with these entries; `None` if one is missing.
    fn of(bag: Bag) -> Option<Self>;

    /// The id that it may add to the repository.
    fn new_id(&self) -> Option<&Id> {
        None
    }

    /// Its classification, if it has one.
    fn classification(&self) -> Option<&Arc<str>> {
        None
    }

    /// The classifications that it adds to an entity as those of this repository.
    fn given_classifications(&self) -> &[ClassificationContent] {
        &[]
    }

    /// True if the action, with the present as its valid time, would only make a version equal to the one in force, or
    /// declare a type unchanged. Called only if [`Act::MAY_CHANGE_NOTHING`].
    ///
    /// Errors: a reason why it would fail.
    fn is_unchanged(&self, _: &Graph) -> Result<bool> {
        Ok(false)
    }

    /// Changes the content of its instance. Does nothing for an action that does not change content, and for one whose
    /// change alone contains the whole content.
    fn content(&self, _: &mut dyn Draft) -> Result<()> {
        Ok(())
    }

    /// The action that undoes `step`, if this kind of action can.
    fn undo(_: &VersionStep) -> Option<Self> {
        None
    }

    /// Applies it to the graph.
    ///
    /// Errors: those of all checks; the graph must then be dropped.
    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()>;
}

/// The codes of an action in records, as in `docs/formats.md`; a code is never reused.
#[derive(Clone, Copy)]
pub(crate) enum Codes {
    /// Of an action on entities.
    Entity(u32),
    /// Of an action on relationships.
    Relationship(u32),
    /// Of an action on both: one code for entities, one for relationships.
    Both(u32, u32),
    /// Of an action without an instance.
    Other(u32),
}

impl Codes {
    /// The code for an instance of this kind.
    pub(crate) const fn code(self, kind: Option<TypeKind>) -> u32 {
        match (self, kind) {
            (Codes::Both(_, relationship), Some(TypeKind::Relationship)) => relationship,
            (
                Codes::Entity(code) | Codes::Relationship(code) | Codes::Both(code, _) | Codes::Other(code),
                _,
            ) => code,
        }
    }

    /// The kinds of instances that have a code.
    pub(crate) const fn kinds(self) -> &'static [TypeKind] {
        match self {
            Codes::Entity(_) => &[TypeKind::Entity],
            Codes::Relationship(_) => &[TypeKind::Relationship],
            Codes::Both(..) => &[TypeKind::Entity, TypeKind::Relationship],
            Codes::Other(_) => &[],
        }
    }

    /// The kind of instance for `code`: inner `None` for an action without an instance; outer `None` for another code.
    pub(crate) const fn kind(self, code: u32) -> Option<Option<TypeKind>> {
        match self {
            Codes::Entity(own) | Codes::Both(own, _) if own == code => Some(Some(TypeKind::Entity)),
            Codes::Relationship(own) | Codes::Both(_, own) if own == code => {
                Some(Some(TypeKind::Relationship))
            }
            Codes::Other(own) if own == code => Some(None),
            _ => None,
        }
    }
}

/// The description of an action for doors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The verb used by every door. If two actions have one verb, one is for entities, one for relationships.
    pub verb: &'static str,
    /// The kinds of instances that it is for; none for an action without an instance.
    pub kinds: &'static [TypeKind],
    /// Its entries, in the order of records.
    pub fields: &'static [Field],
}

/// The instances that an action changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// None.
    Nothing,
    /// The named one: its content.
    Instance,
    /// The named one: fields by which it is found, so that searches may depend on it in many ways.
    Shape,
    /// The named one; an entity with relationships.
    WithRelationships,
    /// Any.
    Everything,
}

/// A version of an instance and the next one: a step that may have to be undone.
pub(crate) struct VersionStep<'s> {
    pub(crate) graph: &'s Graph,
    pub(crate) instance: &'s InstanceId,
    /// Id, type and ends before and after.
    pub(crate) was: Shape,
    pub(crate) is: Shape,
    /// The header before and after.
    pub(crate) before: &'s RowHeader,
    pub(crate) now: &'s RowHeader,
}
