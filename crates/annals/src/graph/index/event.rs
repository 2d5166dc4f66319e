//! The changes of an instance, for indexes.

use std::sync::Arc;

use crate::graph::instance::patch::ValueChange;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::child::Child;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Value, has_own_key};

/// As many events are made at once for indexes.
pub(crate) const MADE_TOGETHER: usize = 1_024;

/// The events of one change of the graph.
#[derive(Clone)]
pub(crate) enum Told {
    One(Event),
    /// Instances were created together.
    Created(Arc<Together>),
    /// Instances were deleted together.
    Deleted(Arc<Together>),
    /// Instances were restored together.
    Restored(Arc<Together>),
    /// Instances were purged together.
    Purged(Arc<Together>),
}

/// Instances that were created, deleted, restored or purged together: their events are made when an index needs them.
pub(crate) struct Together {
    /// Shape: ascending, each once.
    pub(crate) slots: Vec<u32>,
    pub(crate) instances: Box<dyn Instances>,
}

/// The table of instances that were changed together, as that left it.
pub(crate) trait Instances: Send + Sync {
    /// The event of the instance at `slot`, without its place in a container.
    fn event(&self, slot: u32) -> Option<Event>;
}

impl Told {
    /// The event of a single instance.
    pub(crate) fn one(&self) -> Option<&Event> {
        match self {
            Told::One(event) => Some(event),
            Told::Created(_) | Told::Deleted(_) | Told::Restored(_) | Told::Purged(_) => None,
        }
    }

    /// Number of its events. Instances that were deleted or purged together count once: searches pass over them fast.
    pub(crate) fn count(&self) -> usize {
        match self {
            Told::One(_) | Told::Deleted(_) | Told::Purged(_) => 1,
            Told::Created(together) | Told::Restored(together) => together.slots.len(),
        }
    }

    /// The slots of the instances that changed.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> {
        let (one, others) = match self {
            Told::One(event) => (Some(event.slot()), &[][..]),
            Told::Created(together)
            | Told::Deleted(together)
            | Told::Restored(together)
            | Told::Purged(together) => (None, &together.slots[..]),
        };
        one.into_iter().chain(others.iter().copied())
    }
}

impl Together {
    /// Calls `take` with the events of all instances, some together, in the order of slots.
    pub(crate) fn each(&self, take: &mut dyn FnMut(&[&Event])) {
        for slots in self.slots.chunks(MADE_TOGETHER) {
            let events: Vec<Event> = slots.iter().filter_map(|slot| self.event(*slot)).collect();
            take(&events.iter().collect::<Vec<_>>());
        }
    }

    /// The event of the instance at `slot`.
    pub(crate) fn event(&self, slot: u32) -> Option<Event> {
        self.instances.event(slot)
    }
}

/// The change of one instance. Actions do not call indexes: they make events, and each index uses the events that
/// concern it.
#[derive(Clone)]
pub(crate) enum Event {
    /// A new version replaces the one in force.
    Put(Put),
    /// A version was written into the past; the one in force stays.
    Correct(Correct),
    /// The instance is removed, with all its versions. Its slot is never reused.
    Purge(Purge),
    /// A declaration of its type changed which of its values are indexed.
    Reindex(Reindex),
}

#[derive(Clone)]
pub(crate) struct Put {
    pub(crate) slot: u32,
    /// `None` for the first version.
    pub(crate) before: Option<Known>,
    pub(crate) after: Known,
    /// The differences of the values, if there is a version before.
    pub(crate) changes: Vec<ValueChange>,
}

#[derive(Clone)]
pub(crate) struct Correct {
    pub(crate) slot: u32,
    /// The instant when it was written. Units: microseconds since 1970.
    pub(crate) written: i64,
    /// Indexed values that the version may have.
    pub(crate) values: Vec<(Symbol, Value)>,
    /// Classifications that it may have.
    pub(crate) classified: Vec<Symbol>,
}

#[derive(Clone)]
pub(crate) struct Purge {
    pub(crate) slot: u32,
    pub(crate) last: Known,
    /// The types of its versions.
    pub(crate) types: Vec<Symbol>,
    /// The other collections of its versions.
    pub(crate) homes: Vec<Symbol>,
}

#[derive(Clone)]
pub(crate) struct Reindex {
    pub(crate) slot: u32,
    pub(crate) instance: Arc<Instance>,
    /// Properties that become indexed, or are no longer indexed.
    pub(crate) properties: Vec<(Symbol, bool)>,
}

/// An instance, with further data for indexes.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) instance: Arc<Instance>,
    /// True if it is a proxy: only the fields given by relationships are known.
    pub(crate) is_proxy: bool,
    /// Its collection, if it is not this repository's own.
    pub(crate) home: Option<Symbol>,
    /// Those of its properties, and of the properties in its last change, that are not indexed.
    pub(crate) unindexed: Vec<Symbol>,
    /// The place of its child, if it is a live relationship that contains one.
    pub(crate) child: Option<Box<Child>>,
}

/// The direction of a change of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The instance no longer has it.
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
    /// True if it is live, and not a proxy: then the lists of the present have it.
    pub(crate) fn is_listed(&self) -> bool {
        self.instance.is_live() && !self.is_proxy
    }

    /// True if it is a proxy that relationships can lead to.
    pub(crate) fn is_live_proxy(&self) -> bool {
        self.instance.is_live() && self.is_proxy
    }

    /// The collection under which the lists of the present have it.
    pub(crate) fn listed_home(&self) -> Option<Symbol> {
        self.home.filter(|_| self.instance.is_live())
    }

    /// Its indexed values.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (Symbol, &Value)> {
        self.instance.properties.iter().filter(|(name, _)| self.is_indexed(*name))
    }

    /// True if indexes of values have this property of it.
    pub(crate) fn is_indexed(&self, name: Symbol) -> bool {
        self.unindexed.is_empty() || !self.unindexed.contains(&name)
    }
}

impl Put {
    /// Calls `take` for each value that a listed instance lost or gained, in order; for one value the last call counts.
    /// `has` selects the properties of an instance.
    pub(crate) fn each_value(
        &self,
        has: &dyn Fn(&Known, Symbol) -> bool,
        take: &mut dyn FnMut(Symbol, &Value, Way),
    ) {
        let before = self.before.as_ref().filter(|before| before.is_listed());
        let after = Some(&self.after).filter(|after| after.is_listed());
        match (before, after) {
            // The type decides which values are indexed.
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
                    // A long text has the same key as texts with the same beginning, and the instance may still have
                    // one of these.
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
