//! The graph at one position: an immutable value, and the function from records to it.

// In the order a newcomer should read them: structures, then instances, then indexes, then how records change them.
pub(crate) mod structures;
pub(crate) mod instance;
pub(crate) mod index;
pub(crate) mod table;
pub(crate) mod former_ids;
pub(crate) mod integrity;
pub(crate) mod containment;
pub(crate) mod siblings;
pub(crate) mod references;
pub(crate) mod record_end;
pub(crate) mod put;
pub(crate) mod purges;
pub(crate) mod repeats;
pub mod actions;
pub(crate) mod indexed;
pub(crate) mod report;
pub(crate) mod compare;
pub(crate) mod meanings;

use std::sync::Arc;

use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;
use instance::headers::{HeaderNumber, Headers, PLAIN, Shape};
use instance::past::ChangePlace;
use instance::spill::Spill;
use instance::unpacked::Instance;
use integrity::types::Types;
use purges::Purges;
use repeats::Repeats;
use structures::adjacency::{Adjacency, Neighbors};
use structures::link::Link;
use structures::links::Links;
use structures::spill_file::SpillSettings;
use structures::symbols::Symbols;
use structures::wide::{LINK_BYTES, key_of_link};
use table::Table;

use crate::Position;
use crate::model::{Direction, Id, InstanceId, Instant, TypeDefinition, TypeKind};

pub(crate) use actions::apply::{
    changed_since, check_conflicts, find_conflict, named_at_end, reidentified, too_many_properties,
};

/// A version that a purge has removed.
#[derive(Clone)]
pub(crate) struct PurgedVersion {
    /// The place where it was written.
    pub(crate) place: ChangePlace,
    /// The instance with its id in that version.
    pub(crate) instance: InstanceId,
    /// The slot of its child.
    pub(crate) child: Option<u32>,
}

/// Everything known at one position. Cloning costs a few reference counts; clones share unchanged parts.
#[derive(Clone)]
pub(crate) struct Graph {
    pub(crate) entities: Table,
    pub(crate) relationships: Table,
    pub(crate) position: Position,
    /// Commit instants by position - 1. Units: microseconds since 1970; they never run backwards.
    pub(crate) instants: Vector<i64>,
    /// Names of types, properties and classifications.
    pub(crate) names: Symbols,
    pub(crate) authors: Symbols,
    pub(crate) types: Arc<Types>,
    /// Every declaration and extension of a type, with its position.
    pub(crate) type_changes: Vector<(u64, Arc<TypeDefinition>)>,
    /// Live relationships by the slots of their start and end entities.
    pub(crate) links: Links,
    /// Headers: fields beyond the usual ones.
    pub(crate) headers: Headers,
    /// Name of the collection of this repository, once it has one.
    pub(crate) collection: Option<Arc<str>>,
    /// Relationships that are not live now. Shape: entity slot (4), direction (1), link (12).
    pub(crate) past_links: KeySet,
    /// Position of the last record that may have purged a relationship; zero if none has.
    pub(crate) purged_relationship_at: Position,
    /// The latest purges.
    pub(crate) purges: Purges,
    /// The latest idempotency keys.
    pub(crate) repeats: Repeats,
    /// The generation of the log when it was replayed into this graph: in graphs of different generations, slots and
    /// symbols have different meanings.
    pub(crate) generation: u64,
    /// True while a new record is applied: only then do the bounds of names hold. Records of a log may exceed them,
    /// because they may be older than the bounds.
    pub(crate) is_bounded: bool,
    /// The versions that purges have removed; `None` unless a compaction needs them.
    pub(crate) purged: Option<Vec<PurgedVersion>>,
}

impl Graph {
    /// The graph before the first record. It spills as `settings` say; without them everything stays in memory.
    pub(crate) fn with_spill(settings: Option<&SpillSettings>) -> Graph {
        Graph {
            position: Position::ZERO,
            instants: Vector::new(),
            names: Symbols::new(),
            authors: Symbols::new(),
            types: Arc::new(Types::default()),
            type_changes: Vector::new(),
            entities: Table::new(Spill::new(settings)),
            relationships: Table::new(Spill::new(settings)),
            links: Links::default(),
            headers: Headers::new(),
            collection: None,
            past_links: KeySet::new(),
            purged_relationship_at: Position::ZERO,
            purges: Purges::unknown_until(Position::ZERO),
            repeats: Repeats::default(),
            generation: 0,
            is_bounded: false,
            purged: None,
        }
    }

    /// The graph before the first record. It spills as this one does, to its own files.
    pub(crate) fn rebuilt_from_nothing(&self) -> Graph {
        Graph { generation: self.generation, ..Graph::with_spill(self.entities.spill.settings()) }
    }

    /// A copy for trial changes, which are dropped later: it spills nothing.
    pub(crate) fn speculative(&self) -> Graph {
        let mut copy = self.clone();
        copy.entities.spill.stop();
        copy.relationships.spill.stop();
        copy
    }

    /// The table of entities, or of relationships. Classifications have none: they are part of their entities.
    pub(crate) fn table(&self, kind: TypeKind) -> &Table {
        match kind {
            TypeKind::Relationship => &self.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &self.entities,
        }
    }

    /// True if the type is declared, or an instance has, or had, it.
    pub(crate) fn is_type_known(&self, kind: TypeKind, name: structures::symbols::Symbol) -> bool {
        let table = self.table(kind);
        let extents = table.lists.extents_of(kind);
        self.types.get(kind, name).is_some()
            || extents.iter().any(|extents| extents.of(name).is_some_and(|slots| slots.len() > 0))
    }

    pub(crate) fn table_mut(&mut self, kind: TypeKind) -> &mut Table {
        match kind {
            TypeKind::Relationship => &mut self.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &mut self.entities,
        }
    }

    /// The live relationships of entities in one direction.
    #[inline]
    pub(crate) fn adjacency(&self, direction: Direction) -> &Adjacency {
        self.links.in_direction(direction)
    }

    #[inline(always)]
    pub(crate) fn neighbors(&self, slot: u32, direction: Direction) -> Neighbors<'_> {
        self.adjacency(direction).get(slot)
    }

    /// The commit instant of the last record. Units: microseconds since 1970.
    pub(crate) fn last_instant(&self) -> i64 {
        self.instants
            .len()
            .checked_sub(1)
            .and_then(|last| self.instants.get(last))
            .copied()
            .unwrap_or(i64::MIN)
    }

    /// Position of the last record committed at or before `instant`.
    pub(crate) fn position_at(&self, instant: Instant) -> Position {
        let (mut low, mut high) = (0, self.instants.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.instants[middle] <= instant.micros() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Position(low as u64)
    }
}

impl Graph {
    /// Id, type and ends of the version with this header, of the instance at `slot`. Rows without a header need no
    /// look-up.
    pub(crate) fn shape(&self, kind: TypeKind, slot: u32, version: HeaderNumber) -> Option<&Shape> {
        let row = self.table(kind).row(slot)?;
        self.shape_by(row.header(), version)
    }

    /// True if all versions of the instance at `slot` have the id, the type and the ends of the one in force.
    #[inline]
    pub(crate) fn has_one_shape(&self, kind: TypeKind, slot: u32) -> bool {
        !self.headers.has_identity()
            || self
                .table(kind)
                .row(slot)
                .is_none_or(|row| row.header() == PLAIN || self.headers.get(row.header()).identity.is_none())
    }

    fn shape_by(&self, in_force: HeaderNumber, version: HeaderNumber) -> Option<&Shape> {
        if in_force == PLAIN {
            return None;
        }
        let known = self.headers.get(in_force).identity.as_ref()?;
        let own = self.headers.get(version).identity.as_ref();
        Some(own.map_or(&known.original, |identity| &identity.own))
    }

    /// The same for a decoded instance; its own shape unless it had others.
    pub(crate) fn shape_of(&self, instance: &Instance, version: HeaderNumber) -> Shape {
        self.shape_by(instance.header, version).cloned().unwrap_or_else(|| Shape {
            id: instance.id.clone(),
            type_name: instance.type_name,
            ends: instance.ends,
        })
    }

    /// The id of the version with this header, of the instance at `slot`.
    #[inline]
    pub(crate) fn id_in(&self, kind: TypeKind, slot: u32, version: HeaderNumber) -> &Id {
        self.shape(kind, slot, version).map_or_else(|| self.table(kind).id(slot), |shape| &shape.id)
    }
}

/// Key of a past link of the entity at `slot`.
pub(crate) fn past_link_key(slot: u32, direction: Direction, link: Link) -> [u8; 5 + LINK_BYTES] {
    let mut past = [0; 5 + LINK_BYTES];
    past[..5].copy_from_slice(&past_link_prefix(slot, direction));
    past[5..].copy_from_slice(&key_of_link(link));
    past
}

/// The common prefix of the keys of all past links of the entity at `slot` in one direction.
pub(crate) fn past_link_prefix(slot: u32, direction: Direction) -> [u8; 5] {
    let mut prefix = [0; 5];
    prefix[..4].copy_from_slice(&slot.to_be_bytes());
    prefix[4] = u8::from(direction == Direction::In);
    prefix
}

/// The kind of the table of an instance.
pub(crate) fn kind_of(instance: &InstanceId) -> TypeKind {
    match instance {
        InstanceId::Entity(_) => TypeKind::Entity,
        InstanceId::Relationship(_) => TypeKind::Relationship,
    }
}

/// The instance with this id in a table of this kind.
pub(crate) fn instance_id(kind: TypeKind, id: Id) -> InstanceId {
    match kind {
        TypeKind::Relationship => InstanceId::Relationship(id),
        TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => InstanceId::Entity(id),
    }
}
