//! What became of an instance: all that indexes are told.

use std::sync::Arc;

use crate::graph::instance::patch::ValueChange;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::child::Child;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, has_own_key};

/// What became of one instance. Actions name no index: they say this, and each index takes what concerns it.
#[derive(Clone)]
pub(crate) enum Event {
    /// A version is in force, in the place of the one before.
    Put(Put),
    /// A version was written into the past; the one in force stays.
    Correct(Correct),
    /// The instance is gone, with all its versions. Nothing gets its slot again.
    Purge(Purge),
    /// A declaration of its type decides anew which of its values are indexed.
    Reindex(Reindex),
}

#[derive(Clone)]
pub(crate) struct Put {
    pub(crate) slot: u32,
    /// `None` for the first version.
    pub(crate) before: Option<Known>,
    pub(crate) after: Known,
    /// How the values differ, if there is a version before.
    pub(crate) changes: Vec<ValueChange>,
}

#[derive(Clone)]
pub(crate) struct Correct {
    pub(crate) slot: u32,
    /// When it was written. Units: microseconds since 1970.
    pub(crate) written: i64,
    /// Values that the version may have, as far as they are indexed.
    pub(crate) values: Vec<(Symbol, Value)>,
    /// Classifications that it may carry.
    pub(crate) classified: Vec<Symbol>,
}

#[derive(Clone)]
pub(crate) struct Purge {
    pub(crate) slot: u32,
    pub(crate) last: Known,
    /// The types that its versions were of.
    pub(crate) types: Vec<Symbol>,
    /// The other collections that they were of.
    pub(crate) homes: Vec<Symbol>,
}

#[derive(Clone)]
pub(crate) struct Reindex {
    pub(crate) slot: u32,
    pub(crate) instance: Arc<Instance>,
    /// The properties of which it is otherwise from now on, and whether they are indexed.
    pub(crate) properties: Vec<(Symbol, bool)>,
}

/// An instance, and what indexes have to know of it beside.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) instance: Arc<Instance>,
    /// True if only what relationships tell is known of it.
    pub(crate) is_proxy: bool,
    /// The collection that it is of, if it is another than this repository's.
    pub(crate) home: Option<Symbol>,
    /// Those of its properties that are not indexed, and of those that its last change was about.
    pub(crate) unindexed: Vec<Symbol>,
    /// The place of the child that it leads to, if it is a live relationship that contains one.
    pub(crate) child: Option<Box<Child>>,
}

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The instance had it, and does not any more.
    Out,
    /// The instance has it now.
    In,
}

impl Event {
    pub(crate) fn slot(&self) -> u32 {
        match self {
            Event::Put(put) => put.slot,
            Event::Correct(correct) => correct.slot,
            Event::Purge(purge) => purge.slot,
            Event::Reindex(reindex) => reindex.slot,
        }
    }
}

impl Known {
    /// True if it is live, and more than a proxy: lists of the present have it.
    pub(crate) fn is_listed(&self) -> bool {
        self.instance.is_live() && !self.is_proxy
    }

    /// True if it is a proxy that relationships can lead to.
    pub(crate) fn is_live_proxy(&self) -> bool {
        self.instance.is_live() && self.is_proxy
    }

    /// The collection that lists of the present have it below.
    pub(crate) fn listed_home(&self) -> Option<Symbol> {
        self.home.filter(|_| self.instance.is_live())
    }

    /// Its values, as far as they are indexed.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (Symbol, &Value)> {
        self.instance.properties.iter().filter(|(name, _)| self.is_indexed(*name))
    }

    /// True if indexes of values have this property of it.
    pub(crate) fn is_indexed(&self, name: Symbol) -> bool {
        self.unindexed.is_empty() || !self.unindexed.contains(&name)
    }
}

impl Put {
    /// Calls `take` with each value that a listed instance lost or got, in order: what becomes of a value last, counts.
    /// `has` tells of which properties of an instance.
    pub(crate) fn each_value(
        &self,
        has: &dyn Fn(&Known, Symbol) -> bool,
        take: &mut dyn FnMut(Symbol, &Value, Way),
    ) {
        let before = self.before.as_ref().filter(|before| before.is_listed());
        let after = Some(&self.after).filter(|after| after.is_listed());
        match (before, after) {
            // A type decides what is indexed.
            (Some(before), Some(after)) if before.instance.type_name == after.instance.type_name => {
                self.each_change([before, after], has, take);
            }
            _ => {
                for (known, way) in [(before, Way::Out), (after, Way::In)] {
                    let Some(known) = known else { continue };
                    let values = known.instance.properties.iter().filter(|(name, _)| has(known, *name));
                    values.for_each(|(name, value)| take(name, value, way));
                }
            }
        }
    }

    fn each_change(
        &self,
        [before, after]: [&Known; 2],
        has: &dyn Fn(&Known, Symbol) -> bool,
        take: &mut dyn FnMut(Symbol, &Value, Way),
    ) {
        for change in &self.changes {
            match change {
                ValueChange::Added(name, value) if has(after, *name) => take(*name, value, Way::In),
                ValueChange::Removed(name, value) if has(before, *name) => {
                    take(*name, value, Way::Out);
                    // A long text shares its key with others that begin alike, and one of them may still be held.
                    if !has_own_key(value)
                        && has(after, *name)
                        && let Some(held) = after.instance.properties.get(*name)
                    {
                        take(*name, held, Way::In);
                    }
                }
                _ => {}
            }
        }
    }
}
