//! What an action says of itself.

use std::sync::Arc;

use super::bag::{Bag, BagRef, Field};
use super::contents::Contents;
use super::context::Context;
use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::headers::{Header, Shape};
use crate::model::{ClassificationContent, Id, InstanceId, TypeKind};

/// An action: all that is known of it beside its `Transaction` method and its doors.
pub(crate) trait Act: Sized {
    /// The verb used by every door.
    const NAME: &'static str;
    /// What stands for it in records.
    const CODES: Codes;
    /// What it holds, in the order of records, with the names that doors use.
    const FIELDS: &'static [Field];
    /// Which instances it changes.
    const TOUCHES: Touches;
    /// True if [`Transaction::take_back`](crate::Transaction::take_back) finds out by itself what undoes it.
    const CAN_BE_TAKEN_BACK: bool = false;
    /// True if it makes a new instance.
    const IS_CREATE: bool = false;
    /// True if its change alone tells the whole content after it.
    const IS_WHOLE: bool = false;
    /// True if its change may carry the whole content after it.
    const IS_ANCHORED: bool = false;
    /// True if the log shows its changes.
    const IS_LOGGED: bool = true;
    /// True if it may find an instance, or a type, that is already as it would leave it, and then need not be done.
    const MAY_CHANGE_NOTHING: bool = false;

    /// What doors need to know of it.
    const FORM: Form = Form { verb: Self::NAME, kinds: Self::CODES.kinds(), fields: Self::FIELDS };

    /// What it holds.
    fn bag(&self) -> BagRef<'_>;

    /// The action that holds this; `None` if something is missing.
    fn of(bag: Bag) -> Option<Self>;

    /// The id that it may bring into the repository.
    fn new_id(&self) -> Option<&Id> {
        None
    }

    /// The classification that it is about, if it is about one.
    fn classification(&self) -> Option<&Arc<str>> {
        None
    }

    /// The classifications that it gives an entity as this repository's.
    fn given_classifications(&self) -> &[ClassificationContent] {
        &[]
    }

    /// True if, true from now on, it would only make a version like the one in force, or declare a type as it is declared.
    /// Asked only if [`Act::MAY_CHANGE_NOTHING`].
    ///
    /// Errors: a reason for which it would fail.
    fn is_unchanged(&self, _: &Graph) -> Result<bool> {
        Ok(false)
    }

    /// Does to the content of its instance what it does. Nothing, for one that leaves the content as it is, and for one
    /// whose change alone tells the whole content.
    fn content(&self, _: &mut dyn Contents) -> Result<()> {
        Ok(())
    }

    /// What takes back a change like those that it makes, if `step` is one.
    fn take_back(_: &Step) -> Option<Self> {
        None
    }

    /// Makes it so in the graph.
    ///
    /// Errors: whatever check fails; the graph must then be thrown away.
    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()>;
}

/// What stands for an action in records: the codes of `docs/formats.md`, which nothing else ever gets.
#[derive(Clone, Copy)]
pub(crate) enum Codes {
    /// Of an action about entities.
    Entity(u32),
    /// Of an action about relationships.
    Relationship(u32),
    /// Of an action about both: one code for entities, one for relationships.
    Both(u32, u32),
    /// Of an action that is about no instance.
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

    /// The kinds of instances that there is a code for.
    pub(crate) const fn kinds(self) -> &'static [TypeKind] {
        match self {
            Codes::Entity(_) => &[TypeKind::Entity],
            Codes::Relationship(_) => &[TypeKind::Relationship],
            Codes::Both(..) => &[TypeKind::Entity, TypeKind::Relationship],
            Codes::Other(_) => &[],
        }
    }

    /// The kind of instance that `code` is for, itself `None` for an action about no instance; `None` if it is none of these.
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

/// What doors need to know of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The verb used by every door. Of two actions with one verb, one is for entities, one for relationships.
    pub verb: &'static str,
    /// The kinds of instances that it is for; none for an action that is about no instance.
    pub kinds: &'static [TypeKind],
    /// What it holds, in the order of records.
    pub fields: &'static [Field],
}

/// Which instances an action changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// None.
    Nothing,
    /// The one that it names, and what that holds.
    Instance,
    /// The one that it names, and by what it is found: it may be searched for in many ways.
    Shape,
    /// The one that it names; an entity takes relationships along.
    WithRelationships,
    /// Any.
    Everything,
}

/// From one version of an instance to the next: what may have to be taken back.
pub(crate) struct Step<'s> {
    pub(crate) graph: &'s Graph,
    pub(crate) instance: &'s InstanceId,
    /// Id, type and ends before and after.
    pub(crate) was: Shape,
    pub(crate) is: Shape,
    /// The header before and after.
    pub(crate) before: &'s Header,
    pub(crate) now: &'s Header,
}
