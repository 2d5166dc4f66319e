//! The instances that a read of a snapshot takes without a check. A snapshot finds out once, because each read asks.

use super::Snapshot;
use crate::graph::Graph;
use crate::graph::table::PlainSlots;
use crate::model::TypeKind;

/// Of entities and of relationships, for a snapshot of the present of the whole graph.
pub(super) fn slots(graph: &Graph) -> [PlainSlots; 2] {
    [graph.entities.plain_slots(), graph.relationships.plain_slots()]
}

impl Snapshot {
    pub(super) fn with_plain_slots(mut self) -> Snapshot {
        self.plain_slots = if self.is_plain() { slots(self.graph()) } else { Default::default() };
        self
    }

    #[inline]
    fn plain_slots(&self, kind: TypeKind) -> PlainSlots {
        self.plain_slots[usize::from(kind == TypeKind::Relationship)]
    }

    /// True if this snapshot sees the instance at `slot` live and no proxy, in its version in force, which is in memory:
    /// then a read checks nothing. False if it must check.
    #[inline]
    pub(crate) fn is_plain_live(&self, kind: TypeKind, slot: u32) -> bool {
        slot < self.plain_slots(kind).live
    }

    /// The same, live or deleted.
    #[inline]
    pub(crate) fn is_plain_held(&self, kind: TypeKind, slot: u32) -> bool {
        slot < self.plain_slots(kind).held
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::log::MemoryLog;
    use crate::model::{
        CopyHeader, Direction, EntityProxy, Id, InstanceId, NewEntity, NewRelationship, Provenance,
        RelationshipCopy, Stamp, TypeKind, Value,
    };
    use crate::options::Options;
    use crate::read::{AsOf, Grant, Sight};
    use crate::{Find, Position, Repository, Result};

    const NAMES: [&str; 6] = ["a", "b", "c", "d", "gone", "far"];
    const LONG: &str = "a text that a repository with little memory keeps in a file";

    fn id(name: &str) -> Id {
        Id::new(name).expect("an id")
    }

    fn entity(name: &str) -> InstanceId {
        InstanceId::Entity(id(name))
    }

    /// Four entities, each with links to all.
    fn filled(options: Options) -> Result<Repository> {
        let repository = Repository::with_log(Arc::new(MemoryLog::new()), options)?;
        repository.transact(|t| {
            for (name, size) in NAMES[..4].iter().zip(0..) {
                let new = NewEntity::new("t").id(name)?.property("size", size).property("text", LONG);
                t.create_entity(new)?;
            }
            for (from, to) in NAMES[..4].iter().flat_map(|from| NAMES[..4].iter().map(move |to| (from, to))) {
                let new = NewRelationship::new("r", id(from), id(to)).id(&format!("{from}{to}"))?;
                t.create_relationship(new.property("text", LONG))?;
            }
            Ok(())
        })?;
        Ok(repository)
    }

    fn told_of<T: std::fmt::Debug>(told: Result<T>) -> String {
        format!("{:?}", told.map_err(|error| error.to_string()))
    }

    /// All that look-ups, hops, scans and pages tell.
    fn told(snapshot: &Snapshot) -> Result<Vec<String>> {
        let mut told = Vec::new();
        for name in NAMES {
            told.push(told_of(snapshot.entity(&id(name))));
            for direction in [Direction::Out, Direction::In] {
                let neighbors = snapshot.neighbors(&id(name), direction, None);
                told.push(told_of(neighbors.and_then(Iterator::collect::<Result<Vec<_>>>)));
            }
            told.push(told_of(snapshot.relationship(&id(&format!("a{name}")))));
        }
        let all = snapshot.entities_of(None).collect::<Result<Vec<_>>>()?;
        let mut values: Vec<Option<Value>> = Vec::new();
        for name in ["size", "text"] {
            let name = snapshot.name(name).expect("a name");
            let take = |value: Option<&Value>| values.push(value.cloned());
            snapshot.each_expanded_value(&all, Direction::Out, Some("r"), name, take)?;
        }
        snapshot.each_neighbor(&all, &[Direction::In], None, |_, _, neighbor| {
            told.push(format!("{neighbor:?}"));
            Ok(())
        })?;
        told.push(format!("{all:?} {:?} {values:?}", snapshot.expand(&all, Direction::Out, None)?));
        for text in ["t", "t where size >= 1 order by size", "t order by size desc", "t where size = 2"] {
            for found in snapshot.find_entities(&Find::parse(text)?)?.items {
                assert_eq!(told_of(snapshot.entity(found.id())), told_of(Ok(Some(&found))));
                told.push(format!("{text}: {found:?}"));
            }
        }
        Ok(told)
    }

    /// Which kinds of instances reads check none of.
    #[derive(Debug, PartialEq)]
    enum Unchecked {
        Live,
        /// Only whether they are live.
        Held,
        None,
    }

    #[track_caller]
    fn check(snapshot: &Snapshot, expected: Unchecked) -> Result<()> {
        let plain = snapshot.plain_slots(TypeKind::Entity);
        let unchecked = match (plain.live > 0, plain.held > 0) {
            (true, true) => Unchecked::Live,
            (false, true) => Unchecked::Held,
            _ => Unchecked::None,
        };
        assert_eq!(unchecked, expected);
        let checked = Snapshot { plain_slots: Default::default(), ..snapshot.clone() };
        assert_eq!(told(snapshot)?, told(&checked)?);
        Ok(())
    }

    #[test]
    fn reads_of_live_deleted_and_purged_instances_tell_what_checked_reads_tell() -> Result<()> {
        let repository = filled(Options::default())?;
        repository.transact(|t| t.create_entity(NewEntity::new("t").id("gone")?))?;
        check(&repository.snapshot(), Unchecked::Live)?;
        let mut transaction = repository.transaction();
        transaction.delete(&entity("gone"))?;
        // Its own changes, before they are committed.
        check(transaction.view()?, Unchecked::Held)?;
        transaction.commit()?;
        let deleted = repository.snapshot();
        check(&deleted, Unchecked::Held)?;
        repository.transact(|t| t.delete(&entity("d")))?;
        check(&repository.snapshot(), Unchecked::Held)?;
        let as_of =
            |position| repository.snapshot().as_of(AsOf { position: Some(position), ..AsOf::default() });
        check(&as_of(deleted.position())?, Unchecked::None)?;
        check(&as_of(repository.snapshot().position())?, Unchecked::Held)?;
        repository.transact(|t| t.purge(&entity("gone")))?;
        check(&repository.snapshot(), Unchecked::None)?;
        check(&as_of(Position(1))?, Unchecked::None)
    }

    #[test]
    fn reads_under_a_sight_tell_what_checked_reads_tell() -> Result<()> {
        let repository = filled(Options::default())?;
        let grant = Grant { entities: Find::parse("t where size >= 1")?, ..Grant::default() };
        let sight = Arc::new(Sight::new(vec![grant])?);
        let seen = repository.snapshot().seen_by(&sight)?;
        check(&seen, Unchecked::None)?;
        check(&seen.unsighted(), Unchecked::Live)?;
        repository.transact(|t| t.delete(&entity("c")))?;
        check(&seen.as_of(AsOf { position: Some(Position(1)), ..AsOf::default() })?, Unchecked::None)?;
        check(&repository.snapshot().seen_by(&sight)?, Unchecked::None)
    }

    #[test]
    fn reads_beside_proxies_and_files_tell_what_checked_reads_tell() -> Result<()> {
        let repository = filled(Options::default())?;
        repository.transact(|t| {
            let stamp = Stamp { instant: "2020-01-01".parse()?, author: "x".into() };
            let (created, updated) = (stamp.clone(), stamp);
            let header = CopyHeader {
                provenance: Provenance::of_home("there"),
                version: 1,
                status: None,
                created,
                updated,
            };
            let (from, to, properties) = (id("a"), id("far"), Vec::new());
            let copy =
                RelationshipCopy { id: id("afar"), type_name: "r".into(), from, to, properties, header };
            t.save_relationship_copy(copy, [EntityProxy::new(id("far"), "t", "there")])
        })?;
        check(&repository.snapshot(), Unchecked::None)?;
        let options =
            Options { memory_bytes_max: Some(64 << 30), spilled_value_bytes_min: 20, ..Options::default() };
        check(&filled(options)?.snapshot(), Unchecked::None)
    }
}
