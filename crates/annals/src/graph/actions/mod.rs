//! What changes do: one file for each action, and their list.

pub(crate) mod act;
pub(crate) mod apply;
pub(crate) mod bag;
pub(crate) mod content;
pub(crate) mod contents;
pub(crate) mod context;
pub(crate) mod copies;
pub(crate) mod headers;
pub(crate) mod lifecycle;
pub(crate) mod unchanged;
pub(crate) mod version;

mod classify;
mod create_entity;
mod create_relationship;
mod declassify;
mod define_type;
mod delete;
mod delete_taken;
mod name_collection;
mod purge;
mod purge_classification_copy;
mod purge_copy;
mod reclassify;
mod rehome;
mod reidentify;
mod relink;
mod replace;
mod restore;
mod restore_taken;
mod retype;
mod save_classification;
mod save_entity;
mod save_proxy;
mod save_relationship;
mod set_provenance;
mod set_status;
mod update;
mod void;

#[cfg(test)]
mod tests;

use crate::Result;
use crate::graph::Graph;
use crate::model::{ClassificationContent, Id, InstanceId};
pub use act::Form;
use act::{Act, Codes, Step, Touches};
pub use bag::{Bag, BagRef, Field, Key};
use contents::Contents;
use context::Context;

/// Makes [`Action`] of the actions that there are.
macro_rules! actions {
    ($($(#[$about:meta])* $file:ident::$name:ident),* $(,)?) => {
        $(pub use $file::$name;)*

        /// What a change does.
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
                // Those of entities and of relationships stand side by side.
                verbs.dedup();
                verbs
            }

            /// The classification that it is about, if it is about one.
            pub fn classification(&self) -> Option<&str> {
                match self { $(Action::$name(act) => act.classification(),)* }.map(|name| &**name)
            }

            /// All actions that there are.
            pub const FORMS: &'static [Form] = &[$(<$name as Act>::FORM),*];

            #[cfg(test)]
            const CODES: &'static [Codes] = &[$(<$name as Act>::CODES),*];

            /// Its form.
            pub fn form(&self) -> Form {
                match self { $(Action::$name(_) => <$name as Act>::FORM,)* }
            }

            /// What it holds.
            pub fn bag(&self) -> BagRef<'_> {
                match self { $(Action::$name(act) => act.bag(),)* }
            }

            /// The action of this form that holds what is in the bag, `kind` included; `None` if something that it needs is
            /// missing, or if there is no action of this form.
            pub fn from_bag(form: &Form, bag: Bag) -> Option<Action> {
                $(
                    if *form == <$name as Act>::FORM {
                        return <$name as Act>::of(bag).map(Action::$name);
                    }
                )*
                None
            }

            /// What stands for it in records, and what it holds.
            pub(crate) fn parts(&self) -> (Codes, &'static [Field], BagRef<'_>) {
                match self {
                    $(Action::$name(act) => (<$name as Act>::CODES, <$name as Act>::FIELDS, act.bag()),)*
                }
            }

            /// The action that `code` stands for in records, inner `None` if the bag misses something that it needs; `None` if
            /// this version knows none.
            pub(crate) fn of(code: u32, mut bag: Bag) -> Option<Option<Action>> {
                $(
                    if let Some(kind) = <$name as Act>::CODES.kind(code) {
                        bag.kind = kind;
                        return Some(<$name as Act>::of(bag).map(Action::$name));
                    }
                )*
                None
            }

            /// The id that it may bring into the repository.
            pub(crate) fn new_id(&self) -> Option<&Id> {
                match self { $(Action::$name(act) => act.new_id(),)* }
            }

            /// The classifications that it gives an entity as this repository's.
            pub(crate) fn given_classifications(&self) -> &[ClassificationContent] {
                match self { $(Action::$name(act) => act.given_classifications(),)* }
            }

            /// Which instances it changes.
            pub(crate) fn touches(&self) -> Touches {
                match self { $(Action::$name(_) => <$name as Act>::TOUCHES,)* }
            }

            /// True if taking back a whole record takes it back, too.
            pub(crate) fn can_be_taken_back(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::CAN_BE_TAKEN_BACK,)* }
            }

            /// True if it makes a new instance.
            pub(crate) fn is_create(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_CREATE,)* }
            }

            /// True if its change alone tells the whole content after it.
            pub(crate) fn is_whole(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_WHOLE,)* }
            }

            /// True if its change may carry the whole content after it.
            pub(crate) fn is_anchored(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::IS_ANCHORED,)* }
            }

            /// True if it may find an instance, or a type, that is already as it would leave it, and then need not be done.
            pub(crate) fn may_change_nothing(&self) -> bool {
                match self { $(Action::$name(_) => <$name as Act>::MAY_CHANGE_NOTHING,)* }
            }

            /// True if, true from now on, it would only make a version like the one in force, or declare a type as it is
            /// declared. False for every action of which [`Action::may_change_nothing`] is.
            ///
            /// Errors: a reason for which the action would fail.
            pub(crate) fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
                match self { $(Action::$name(act) => act.is_unchanged(graph),)* }
            }

            /// Does to the content of its instance what it does.
            pub(crate) fn content(&self, contents: &mut dyn Contents) -> Result<()> {
                match self { $(Action::$name(act) => act.content(contents),)* }
            }

            /// What takes back `step`, unless it is one of content.
            pub(crate) fn take_back(step: &Step) -> Option<Action> {
                $(
                    if let Some(act) = <$name as Act>::take_back(step) {
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

// Order: whoever takes back a step asks them in this order. A change of the home changes the provenance, too, so re-homing is
// asked first.
actions! {
    /// Creates an entity.
    create_entity::CreateEntity,
    /// Creates a relationship between two entities that exist.
    create_relationship::CreateRelationship,
    /// Changes some properties.
    update::Update,
    /// Puts another whole content in place: all properties and, for entities, all classifications.
    replace::Replace,
    /// Sets the status to deleted; an entity takes its live relationships along.
    delete::Delete,
    /// What it did to those that outlived a purged container.
    delete_taken::DeleteTaken,
    /// Brings back what `Delete` took.
    restore::Restore,
    /// What it did to those that outlived a purged container.
    restore_taken::RestoreTaken,
    /// Removes an instance with its history; an entity takes all its relationships along.
    purge::Purge,
    /// Attaches a classification to an entity.
    classify::Classify,
    /// Changes some properties of a classification.
    reclassify::Reclassify,
    /// Takes a classification off an entity.
    declassify::Declassify,
    /// Gives an instance another id; its history goes on under it.
    reidentify::Reidentify,
    /// Makes an instance one of another type.
    retype::Retype,
    /// Moves the start, the end, or both, of a relationship to other entities.
    relink::Relink,
    /// Makes an instance of the named home one of this repository.
    rehome::Rehome,
    /// Gives an instance another status.
    set_status::SetStatus,
    /// Says anew where an instance comes from, all but its home.
    set_provenance::SetProvenance,
    /// Keeps an entity of another collection as it is there, in the place of an older copy or a proxy.
    save_entity::SaveEntity,
    /// Keeps a relationship of another collection as it is there.
    save_relationship::SaveRelationship,
    /// Keeps what is known of an entity of another collection, so that relationships can lead to it.
    save_proxy::SaveProxy,
    /// Keeps a classification of another collection on an entity.
    save_classification::SaveClassification,
    /// Removes what is kept of an instance of the named home, with its history.
    purge_copy::PurgeCopy,
    /// Takes a classification of the named home off an entity.
    purge_classification_copy::PurgeClassificationCopy,
    /// Declares a type, or extends one.
    define_type::DefineType,
    /// Names the collection that this repository is; once.
    name_collection::NameCollection,
    /// Nothing: stands where a purged change stood before the log was compacted.
    void::Void,
}

impl Action {
    /// The instance this action is about; `None` for types, voids and lists.
    pub fn instance(&self) -> Option<InstanceId> {
        self.bag().instance()
    }

    /// The instances that it lists; `None` for an action without a list.
    pub(crate) fn listed_instances(&self) -> Option<&[InstanceId]> {
        self.bag().instances
    }
}
