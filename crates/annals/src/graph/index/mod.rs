//! Indexes that find instances other than by id: one file for each index, and their two lists.
//!
//! [`Lists`] are part of the graph: sequencing checks changes against them. [`TableIndexes`] are separate values, which
//! a thread updates after commits.

pub(crate) mod event;
pub(crate) mod key;

mod by_home;
mod by_type;
pub(crate) mod children;
mod classified;
mod ids;
pub(crate) mod late_indexes;
pub(crate) mod key_changes;
mod past_keys;
mod past_values;
mod proxies;
mod sets;
pub(crate) mod times;
mod unique;
mod values;

use crate::graph::instance::row::Row;
use crate::graph::report::Differences;
use crate::graph::structures::slot_set::Extents;
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::model::{Id, TypeKind};
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;
use crate::{Position, Result};
use event::Event;
use late_indexes::LateIndexes;

/// An index of one table.
pub(crate) trait Index: Clone + Default {
    /// Its name in reports.
    const NAME: &'static str;
    /// Codes of its sets in checkpoints (`docs/formats.md`); a code is never reused. None if all of it is derived from
    /// rows.
    const SETS: &'static [u8] = &[];

    /// Applies events, in order.
    fn update(&mut self, events: &[&Event]);

    /// Adds data derived from some rows of a checkpoint; the next call has the next rows.
    ///
    /// Errors: those of reading spilled values.
    fn derive(&mut self, _: &[Stored]) -> Result<()> {
        Ok(())
    }

    /// Its sets for a checkpoint.
    fn save(&self) -> Vec<SavedSet<'_>> {
        Vec::new()
    }

    /// Takes its sets from a checkpoint. Shape: `None` if they cannot belong to this table.
    fn load(&mut self, _: &mut LoadSets) -> Option<()> {
        Some(())
    }

    /// Reports the differences of `found` from this index, which was rebuilt from the same records.
    fn compare(&self, found: &Self, report: &mut Differences);
}

/// A set of keys in a checkpoint.
pub(crate) struct SavedSet<'i> {
    pub(crate) code: u8,
    /// The number of the set among those with its code.
    pub(crate) number: u64,
    pub(crate) keys: &'i KeySet,
}

impl SavedSet<'_> {
    fn all(code: u8, sets: &Vector<KeySet>) -> Vec<SavedSet<'_>> {
        (0..).zip(sets.iter()).map(|(number, keys)| SavedSet { code, number, keys }).collect()
    }
}

/// The sets of a checkpoint, for the indexes of one table.
pub(crate) struct LoadSets<'l> {
    /// Number of slots in the table.
    pub(crate) slots_count: usize,
    /// Removes and returns the sets with a code, by number.
    pub(crate) take: &'l mut dyn FnMut(u8) -> Vector<KeySet>,
}

impl LoadSets<'_> {
    fn all(&mut self, code: u8) -> Vector<KeySet> {
        (self.take)(code)
    }

    fn one(&mut self, code: u8) -> KeySet {
        self.all(code).get(0).cloned().unwrap_or_default()
    }
}

/// An instance of a checkpoint, with further data for indexes.
pub(crate) struct Stored<'t> {
    pub(crate) table: &'t Table,
    pub(crate) slot: u32,
    pub(crate) row: Row<'t>,
    pub(crate) id: &'t Id,
    pub(crate) is_proxy: bool,
    /// Its collection, if it is not this repository's own.
    pub(crate) home: Option<Symbol>,
    /// The versions that are not in force, if versions differ in more than content.
    pub(crate) past: Vec<StoredVersion>,
}

/// A version of it that is not in force.
pub(crate) struct StoredVersion {
    pub(crate) id: Id,
    pub(crate) type_name: Symbol,
    pub(crate) home: Option<Symbol>,
    pub(crate) is_proxy: bool,
}

/// Makes a list of indexes that get the same events.
macro_rules! indexes {
    ($(#[$about:meta])* $list:ident { $($file:ident::$name:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Default)]
        pub(crate) struct $list {
            $(pub(crate) $file: $file::$name,)*
        }

        impl $list {
            /// The codes of all their sets in checkpoints.
            pub(crate) fn codes() -> impl Iterator<Item = u8> {
                [$(<$file::$name as Index>::SETS),*].into_iter().flatten().copied()
            }

            /// Applies events, in order.
            pub(crate) fn update(&mut self, events: &[&Event]) {
                $(self.$file.update(events);)*
            }

            /// Adds data derived from some rows of a checkpoint. Errors: those of reading spilled values.
            pub(crate) fn derive(&mut self, stored: &[Stored]) -> Result<()> {
                $(self.$file.derive(stored)?;)*
                Ok(())
            }

            /// Their sets for a checkpoint.
            pub(crate) fn save(&self) -> Vec<SavedSet<'_>> {
                let mut sets = Vec::new();
                $(sets.extend(self.$file.save());)*
                sets
            }

            /// Takes their sets from a checkpoint. Shape: the name of an index whose sets cannot belong to this table.
            pub(crate) fn load(&mut self, sets: &mut LoadSets) -> std::result::Result<(), &'static str> {
                $(self.$file.load(sets).ok_or(<$file::$name as Index>::NAME)?;)*
                Ok(())
            }

            /// Reports the differences of `found` from these.
            pub(crate) fn compare(&self, found: &Self, report: &mut Differences) {
                $(self.$file.compare(&found.$file, report);)*
            }
        }
    };
}

indexes! {
    /// The lists of a table: part of the graph.
    Lists {
        by_type::ByType,
        by_home::ByHome,
        children::Children,
        classified::Classified,
        proxies::Proxies,
        sets::Sets,
        unique::Unique,
    }
}

indexes! {
    /// The indexes of a table, which may be behind the graph.
    TableIndexes {
        values::Values,
        past_values::PastValues,
        times::Times,
        ids::Ids,
    }
}

impl Lists {
    /// Instances by type, for types of this kind: present and past.
    pub(crate) fn extents_of(&self, kind: TypeKind) -> [&Extents; 2] {
        match kind {
            TypeKind::Classification => [&self.classified.present, &self.classified.past],
            TypeKind::Entity | TypeKind::Relationship | TypeKind::Enum => {
                [&self.by_type.extents, &self.by_type.past_extents]
            }
        }
    }
}

/// The indexes of a graph, whose position is not before `position`.
#[derive(Clone, Default)]
pub(crate) struct Indexes {
    /// The position up to which the indexes have all records, and no later ones.
    pub(crate) position: Position,
    pub(crate) entities: LateIndexes,
    pub(crate) relationships: LateIndexes,
}

impl Indexes {
    /// Those of entities and of relationships, made now if they are not. Errors: as [`LateIndexes::get`].
    pub(crate) fn made(&self) -> Result<[&TableIndexes; 2]> {
        // Order: a search has usually begun with those of entities.
        let relationships = self.relationships.get()?;
        Ok([self.entities.get()?, relationships])
    }

    /// True if nobody has to wait for them.
    pub(crate) fn are_made(&self) -> bool {
        self.entities.are_made() && self.relationships.are_made()
    }
}
