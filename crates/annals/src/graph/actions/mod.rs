//! The actions of changes: one file for each action, and their list.

pub(crate) mod act;
pub(crate) mod along;
pub(crate) mod apply;
pub(crate) mod bag;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod copies;
pub(crate) mod draft;
pub(crate) mod headers;
pub(crate) mod lifecycle;
pub(crate) mod taken_along;
pub(crate) mod unchanged;
pub(crate) mod version;

mod classify;
mod create_entity;
mod create_relationship;
mod create_together;
mod declassify;
mod define_type;
mod delete;
mod delete_taken;
mod delete_together;
mod name_collection;
mod purge;
mod purge_classification_copy;
mod purge_copy;
mod purge_together;
mod reclassify;
mod rehome;
mod reidentify;
mod relink;
mod replace;
mod restore;
mod restore_taken;
mod restore_together;
mod retype;
mod save_classification;
mod save_entity;
mod save_proxy;
mod save_relationship;
mod set_provenance;
mod set_status;
mod together;
mod update;
mod void;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::graph::Graph;
use crate::model::{ClassificationContent, Id, InstanceId};
pub use act::Form;
use act::{Act, Codes, Touches, VersionStep};
pub use bag::{Bag, BagRef, Field, Key};
use context::Context;
use draft::Draft;

/// Makes [`Action`] from the list of actions.
macro_rules! actions {
    ($($(#[$about:meta])* $file:ident::$name:ident),* $(,)?) => {
        $(pub use $file::$name;)*

        /// The action of a change.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Action {
            $($(#[$about])* $name($name),)*
        }

        $(
            impl From<$name> for Action {
                fn from(act: $name) -> Action {
                    Action::$name(act)
                }
            }
        )*

        impl Action {
            /// The verb used by every door, e.g. `"create"`.
            pub fn verb(&self) -> &'static str {
                match self { $(Action::$name(_) => <$name as Act>::NAME,)* }
            }

            /// The verbs of changes that the log shows.
            pub fn verbs() -> Vec<&'static str> {
                let all = [$((<$name as Act>::NAME, <$name as Act>::IS_LOGGED)),*];
                let mut verbs: Vec<&str> = all.into_iter().filter(|(_, is_logged)| *is_logged).map(|(verb, _)| verb).collect();
                // Actions for entities and for relationships are adjacent.
                verbs.dedup();
                verbs
            }

            /// Its classification, if it has one.
            pub fn classification(&self) -> Option<&str> {
                match self { $(Action::$name(act) => act.classification(),)* }.map(|name| &**name)
            }

            /// The forms of all actions.
            pub const FORMS: &'static [Form] = &[$(<$name as Act>::FORM),*];

            #[cfg(test)]
            const CODES: &'static [Codes] = &[$(<$name as Act>::CODES),*];

            /// Its form.
            pub fn form(&self) -> Form {
                match self { $(Action::$name(_) => <$name as Act>::FORM,)* }
            }

            /// Its entries.
            pub fn bag(&self) -> BagRef<'_> {
                match self { $(Action::$name(act) => act.bag(),)* }
            }

            /// The action of this form with the entries of the bag, including `kind`; `None` if an entry is missing, or
            /// if no action has this form.
            pub fn from_bag(form: &Form, bag: Bag) -> Option<Action> {
                $(
                    if *form == <$name as Act>::FORM {
                        return <$name as Act>::of(bag).map(Action::$name);
                    }
                )*
                None
            }

            /// Its codes and its entries.
            pub(crate) fn parts(&self) -> (Codes, &'static [Field], BagRef<'_>) {
                match self {
                    $(Action::$name(act) => (<$name as Act>::CODES, <$name as Act>::FIELDS, act.bag()),)*
                }
            }

            /// The action for `code`: inner `None` if the bag lacks an entry; outer `None` for an unknown code.
            pub(crate) fn of(code: u32, mut bag: Bag) -> Option<Option<Action>> {
                $(
                    if let Some(kind) = <$name as Act>::CODES.kind(code) {
                        bag.kind = kind;
                        return Some(<$name as Act>::of(bag).map(Action::$name));
                    }
                )*
                None
            }

            /// The id that it may add to the repository.
            pub(crate) fn new_id(&self) -> Option<&Id> {
                match self { $(Action::$name(act) => act.new_id(),)* }
            }

            /// The classifications that it adds to an entity as those of this repository.
            pub(crate) fn given_classifications(&self) -> &[ClassificationContent] {
                match self { $(Action::$name(act) => act.given_classifications(),)* }
            }

            /// The instances that it changes.
            pub(crate) fn touches(&self) -> Touches {
                match self { $(Action::$name(_) => <$name as Act>::TOUCHES,)* }
            }

            /// True if it may change instances that it does not name, or types.
            pub fn changes_more_than_it_names(&self) -> bool {
                match self.touches() {
                    Touches::Nothing | Touches::Instance | Touches::Shape => false,
                    Touches::WithRelationships => !matches!(self.instance(), Some(InstanceId::Relationship(_))),
                    Touches::Everything => true,
                }
            }

            /// True if undoing a whole record can undo it.
            pub(crate) fn can_be_taken_back(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::CAN_BE_TAKEN_BACK,)* }
            }

            /// True if it makes a new instance.
            pub(crate) fn is_create(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_CREATE,)* }
            }

            /// True if its change alone contains the whole content after it.
            pub(crate) fn is_whole(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_WHOLE,)* }
            }

            /// True if its change may contain the whole content after it.
            pub(crate) fn is_anchored(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_ANCHORED,)* }
            }

            /// True if the instance, or the type, may already be as the action would leave it; then it may be left out.
            pub(crate) fn may_change_nothing(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::MAY_CHANGE_NOTHING,)* }
            }

            /// True if the action, with the present as its valid time, would only make a version equal to the one in
            /// force, or declare a type unchanged. Always false if [`Action::may_change_nothing`] is.
            ///
            /// Errors: a reason why the action would fail.
            pub(crate) fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
                match self { $(Action::$name(act) => act.is_unchanged(graph),)* }
            }

            /// Changes the content of its instance.
            pub(crate) fn content(&self, draft: &mut dyn Draft) -> Result<()> {
                match self { $(Action::$name(act) => act.content(draft),)* }
            }

            /// The action that undoes `step`, unless it is a change of content.
            pub(crate) fn undo(step: &VersionStep) -> Option<Action> {
                $(
                    if let Some(act) = <$name as Act>::undo(step) {
                        return Some(Action::$name(act));
                    }
                )*
                None
            }

            fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
                match self { $(Action::$name(act) => act.apply(graph, context),)* }
            }
        }
    };
}

// Order: undoing a step tries the actions in this order. A change of the home also changes the provenance, so re-homing
// comes first.
actions! {
    /// Creates an entity.
    create_entity::CreateEntity,
    /// Creates a relationship between two entities that exist.
    create_relationship::CreateRelationship,
    /// Changes some properties.
    update::Update,
    /// Replaces the whole content: all properties and, for entities, all classifications.
    replace::Replace,
    /// Sets the status to deleted; also deletes the live relationships of an entity.
    delete::Delete,
    /// The rest of a deletion: children that outlived a purged container.
    delete_taken::DeleteTaken,
    /// Restores an instance that `Delete` deleted.
    restore::Restore,
    /// The rest of a restoration: children that outlived a purged container.
    restore_taken::RestoreTaken,
    /// Removes an instance with its history; an entity with all its relationships.
    purge::Purge,
    /// Adds a classification to an entity.
    classify::Classify,
    /// Changes some properties of a classification.
    reclassify::Reclassify,
    /// Removes a classification from an entity.
    declassify::Declassify,
    /// Changes the id of an instance; its history continues.
    reidentify::Reidentify,
    /// Changes the type of an instance.
    retype::Retype,
    /// Moves the start, the end, or both, of a relationship to other entities.
    relink::Relink,
    /// Moves an instance of the named home to this repository.
    rehome::Rehome,
    /// Changes the status of an instance.
    set_status::SetStatus,
    /// Replaces the provenance of an instance, except its home.
    set_provenance::SetProvenance,
    /// Stores a copy of an entity of another collection, replacing an older copy or a proxy.
    save_entity::SaveEntity,
    /// Stores a copy of a relationship of another collection.
    save_relationship::SaveRelationship,
    /// Stores the known fields of an entity of another collection, so that relationships can lead to it.
    save_proxy::SaveProxy,
    /// Stores a copy of a classification of another collection on an entity.
    save_classification::SaveClassification,
    /// Removes the copy of an instance of the named home, with its history.
    purge_copy::PurgeCopy,
    /// Removes a classification of the named home from an entity.
    purge_classification_copy::PurgeClassificationCopy,
    /// Declares a type, or extends one.
    define_type::DefineType,
    /// Names the collection of this repository; once.
    name_collection::NameCollection,
    /// Does nothing: replaces a change of a purged instance in a compacted log.
    void::Void,
}

impl Action {
    /// The instance of this action; `None` for types, voids and lists.
    pub fn instance(&self) -> Option<InstanceId> {
        self.bag().instance()
    }

    /// The instances of its list; `None` for an action without a list.
    pub(crate) fn listed_instances(&self) -> Option<&[InstanceId]> {
        self.bag().instances
    }

    /// Its instance, or those of its list.
    pub(crate) fn named_instances(&self) -> impl Iterator<Item = InstanceId> {
        self.instance().into_iter().chain(self.listed_instances().unwrap_or_default().iter().cloned())
    }
}
