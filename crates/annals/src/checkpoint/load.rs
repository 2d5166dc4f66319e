//! Reads a graph from blocks. Any bytes give a graph or a warning, never a panic.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use super::block::{Input, Kind, Loaded, damaged, read_block};
use super::save::{FORMAT, MAGIC, SetKind};
use crate::Position;
use crate::graph::Graph;
use crate::graph::adjacency::{Link, Neighbors};
use crate::graph::instance::{Classification, Instance, NO_ENDS, Stamp};
use crate::graph::key_set::{KEY_BYTES_MAX, KeySet};
use crate::graph::past::{Past, PastVersion, Place};
use crate::graph::properties::Properties;
use crate::graph::symbols::{Symbol, Symbols};
use crate::graph::table::Table;
use crate::graph::types::Types;
use crate::graph::vector::Vector;
use crate::model::{Action, Status, TypeDefinition};
use crate::record::{decode_record, decode_value_from};

type Slots = Vec<Option<Arc<Instance>>>;

/// The sets of keys read so far: ascending keys, one after the other, with the end of each.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn last(&self) -> &[u8] {
        let end = self.bytes.len();
        let start = self.ends.len().checked_sub(2).map_or(0, |at| self.ends[at]);
        &self.bytes[if self.ends.is_empty() { end } else { start }..end]
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end])
    }
}

#[derive(Default)]
struct Parts {
    position: u64,
    record_checksum: u32,
    slots_counts: [u64; 2],
    instants: Vec<i64>,
    names: Vec<Arc<str>>,
    authors: Vec<Arc<str>>,
    type_changes: Vec<(u64, Arc<TypeDefinition>)>,
    entities: Slots,
    relationships: Slots,
    keys: HashMap<(u8, u8, u64), KeySet>,
    // The set whose blocks are being read.
    open: Option<((u8, u8, u64), Keys)>,
    keys_count: u64,
    is_ended: bool,
}

/// Reads the whole graph, and the checksum of the record at its position. Errors: why the file cannot be used.
pub(super) fn load(mut input: impl Read) -> Loaded<(Graph, u32)> {
    let mut parts = Parts::default();
    let mut payload = Vec::new();
    let mut is_first = true;
    while let Some(kind) = read_block(&mut input, &mut payload)? {
        if is_first != (kind == Kind::Header) {
            return Err(damaged("the order of blocks"));
        }
        is_first = false;
        parts.read(kind, Input::new(&payload))?;
    }
    parts.close_keys();
    if !parts.is_ended {
        return Err(damaged("it is cut off"));
    }
    let record_checksum = parts.record_checksum;
    Ok((parts.graph()?, record_checksum))
}

impl Parts {
    fn read(&mut self, kind: Kind, mut input: Input) -> Loaded<()> {
        match kind {
            Kind::Header => return self.read_header(&mut input),
            Kind::Keys => return self.read_keys(&mut input),
            Kind::End => {
                self.close_keys();
                self.is_ended = input.number()? == self.keys_count;
                return Ok(());
            }
            _ => {}
        }
        while !input.is_empty() {
            match kind {
                Kind::Instants => {
                    let before = self.instants.last().copied().unwrap_or(0);
                    self.instants.push(before.wrapping_add(input.signed()?));
                }
                Kind::Names => self.names.push(input.text()?.into()),
                Kind::Authors => self.authors.push(input.text()?.into()),
                Kind::TypeChanges => {
                    let position = input.number()?;
                    self.type_changes.push((position, Arc::new(definition(input.bytes()?)?)));
                }
                Kind::Entities => self.entities.push(instance(&mut input)?),
                _ => self.relationships.push(instance(&mut input)?),
            }
        }
        Ok(())
    }

    fn read_header(&mut self, input: &mut Input) -> Loaded<()> {
        if input.bytes()? != MAGIC {
            return Err(damaged("it is no checkpoint"));
        }
        let format = input.number()?;
        if format != FORMAT {
            return Err(format!("of format {format}, this version reads {FORMAT}"));
        }
        self.position = input.number()?;
        self.record_checksum = input.small()?;
        self.slots_counts = [input.number()?, input.number()?];
        Ok(())
    }

    fn read_keys(&mut self, input: &mut Input) -> Loaded<()> {
        let set = (input.u8()?, input.u8()?, input.number()?);
        if self.open.as_ref().is_none_or(|(open, _)| *open != set) {
            self.close_keys();
            self.open = Some((set, Keys::default()));
        }
        let Some((_, keys)) = &mut self.open else { return Err(damaged("a set of keys")) };
        let mut key: Vec<u8> = Vec::new();
        while !input.is_empty() {
            let shared = input.small()? as usize;
            if shared > key.len() {
                return Err(damaged("a key"));
            }
            key.truncate(shared);
            key.extend_from_slice(input.bytes()?);
            let is_ascending = keys.ends.is_empty() || keys.last() < &key[..];
            if !is_ascending || key.len() > KEY_BYTES_MAX || key.len() < 4 {
                return Err(damaged("the order of keys"));
            }
            keys.bytes.extend_from_slice(&key);
            keys.ends.push(keys.bytes.len());
            self.keys_count += 1;
        }
        Ok(())
    }

    fn close_keys(&mut self) {
        if let Some((set, keys)) = self.open.take() {
            self.keys.insert(set, KeySet::from_sorted(keys.iter()));
        }
    }

    fn graph(mut self) -> Loaded<Graph> {
        let is_whole = self.instants.len() as u64 == self.position
            && self.slots_counts == [self.entities.len() as u64, self.relationships.len() as u64];
        if !is_whole {
            return Err(damaged("something is missing"));
        }
        self.check_references()?;
        let [out, into] = self.neighbors();
        let mut names = Symbols::new();
        self.names.iter().for_each(|name| {
            names.intern(name);
        });
        let mut authors = Symbols::new();
        self.authors.iter().for_each(|name| {
            authors.intern(name);
        });
        let types =
            Types::from_changes(&self.type_changes, &mut names).map_err(|error| damaged(error.text()))?;
        let entities = std::mem::take(&mut self.entities);
        let relationships = std::mem::take(&mut self.relationships);
        Ok(Graph {
            position: Position(self.position),
            instants: std::mem::take(&mut self.instants).into_iter().collect(),
            types: Arc::new(types),
            type_changes: std::mem::take(&mut self.type_changes).into_iter().collect(),
            entities: self.table(0, entities),
            relationships: self.table(1, relationships),
            out,
            into,
            past_links: self.take_keys(SetKind::PastLinks, 0, 0),
            names,
            authors,
        })
    }

    /// Slots and symbols out of range would panic later, so they are looked at now.
    fn check_references(&self) -> Loaded<()> {
        let (names, authors, slots) = (self.names.len(), self.authors.len(), self.entities.len());
        let is_stamp = |stamp: Stamp| stamp.author.index() < authors;
        let are_names = |properties: &Properties| properties.iter().all(|(name, _)| name.index() < names);
        let is_sound = |instance: &Instance| {
            instance.type_name.index() < names
                && is_stamp(instance.created)
                && is_stamp(instance.updated)
                && are_names(&instance.properties)
                && instance.classifications().iter().all(|known| {
                    known.name.index() < names
                        && is_stamp(known.created)
                        && is_stamp(known.updated)
                        && are_names(&known.properties)
                })
        };
        let has_ends = |instance: &Instance| {
            instance.ends.iter().all(|&end| (end as usize) < slots && self.entities[end as usize].is_some())
        };
        let entities = self.entities.iter().flatten();
        let relationships = self.relationships.iter().flatten();
        if entities.clone().all(|entity| is_sound(entity) && entity.ends == NO_ENDS)
            && relationships.clone().all(|relationship| is_sound(relationship) && has_ends(relationship))
        {
            return Ok(());
        }
        Err(damaged("an instance refers to what is not there"))
    }

    /// The live relationships of every entity, sorted into place by counting.
    fn neighbors(&self) -> [Vector<Neighbors>; 2] {
        let live = || {
            (0u32..).zip(&self.relationships).filter_map(|(slot, relationship)| {
                relationship.as_ref().filter(|relationship| relationship.is_live()).map(|found| (slot, found))
            })
        };
        [0, 1].map(|side| {
            let mut starts = vec![0usize; self.entities.len() + 1];
            live().for_each(|(_, found)| starts[found.ends[side] as usize + 1] += 1);
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
            let nowhere = Link { type_name: Symbol(0), relationship: 0, other: 0 };
            let mut links = vec![nowhere; starts.last().copied().unwrap_or(0)];
            let mut next = starts.clone();
            for (slot, found) in live() {
                let at = &mut next[found.ends[side] as usize];
                let other = found.ends[1 - side];
                links[*at] = Link { type_name: found.type_name, relationship: slot, other };
                *at += 1;
            }
            starts
                .windows(2)
                .map(|bounds| {
                    let own = &mut links[bounds[0]..bounds[1]];
                    own.sort_unstable();
                    Neighbors::from_sorted(own.to_vec())
                })
                .collect()
        })
    }

    fn table(&mut self, number: u8, slots: Slots) -> Table {
        let mut table = Table::from_slots(slots);
        table.set_extents(self.take_keys(SetKind::Extents, number, 0));
        table.past_extents = self.take_keys(SetKind::PastExtents, number, 0);
        table.past_values_of = self.take_keys(SetKind::PastValuesOf, number, 0);
        table.classified = self.take_keys(SetKind::Classified, number, 0);
        table.past_classified = self.take_keys(SetKind::PastClassified, number, 0);
        table.past_classified_of = self.take_keys(SetKind::PastClassifiedOf, number, 0);
        for (kind, is_past) in [(SetKind::Values, false), (SetKind::PastValues, true)] {
            let used = |parts: &Parts| {
                parts.keys.keys().filter(|set| set.0 == kind as u8 && set.1 == number).map(|set| set.2).max()
            };
            let names = used(self).map_or(0, |last| last + 1).min(self.names.len() as u64);
            let sets = (0..names).map(|name| self.take_keys(kind, number, name)).collect();
            *(if is_past { &mut table.past_values } else { &mut table.values }) = sets;
        }
        table
    }

    fn take_keys(&mut self, kind: SetKind, table: u8, name: u64) -> KeySet {
        debug_assert!(SetKind::ALL.contains(&kind));
        self.keys.remove(&(kind as u8, table, name)).unwrap_or_default()
    }
}

fn definition(record: &[u8]) -> Loaded<TypeDefinition> {
    let record = decode_record(Position(1), record).map_err(|_| damaged("a type"))?;
    match record.changes.into_iter().next().map(|change| change.action) {
        Some(Action::DefineType(definition)) => Ok(definition),
        _ => Err(damaged("a type")),
    }
}

fn instance(input: &mut Input) -> Loaded<Option<Arc<Instance>>> {
    let status = match input.u8()? {
        0 => return Ok(None),
        1 => Status::Active,
        2 => Status::Deleted,
        _ => return Err(damaged("a status")),
    };
    let id = input.id()?;
    let type_name = Symbol(input.small()?);
    let [version, versions, base, since_anchor] =
        [input.small()?, input.small()?, input.small()?, input.small()?];
    let (created, updated) = (stamp(input)?, stamp(input)?);
    let valid_from = input.signed()?;
    let live_from = input.signed()?.wrapping_add(valid_from);
    let place = Place { position: input.number()?, change: input.small()? };
    let changed = input.number()?;
    let ends = [input.small()?.wrapping_sub(1), input.small()?.wrapping_sub(1)];
    let properties = properties(input)?;
    let mut classifications = Vec::new();
    for _ in 0..input.number()? {
        classifications.push(Classification {
            name: Symbol(input.small()?),
            version: input.small()?,
            created: stamp(input)?,
            updated: stamp(input)?,
            properties: self::properties(input)?,
        });
    }
    let mut past = None;
    for _ in 0..input.number()? {
        let this = PastVersion {
            version: input.small()?,
            base: input.small()?,
            status: if input.u8()? == 0 { Status::Active } else { Status::Deleted },
            place: Place { position: input.number()?, change: input.small()? },
            valid_from: input.signed()?,
        };
        past = Some(Past::push(past, this));
    }
    let mut instance = Instance {
        id,
        type_name,
        status,
        version,
        versions,
        created,
        updated,
        valid_from,
        live_from,
        base,
        place,
        since_anchor,
        changed,
        ends,
        properties,
        classifications: None,
        past,
    };
    instance.set_classifications(classifications);
    Ok(Some(Arc::new(instance)))
}

fn stamp(input: &mut Input) -> Loaded<Stamp> {
    Ok(Stamp { micros: input.signed()?, author: Symbol(input.small()?) })
}

fn properties(input: &mut Input) -> Loaded<Properties> {
    let mut entries = Vec::new();
    for _ in 0..input.number()? {
        let name = Symbol(input.small()?);
        let (value, length) = decode_value_from(input.peek()).ok_or_else(|| damaged("a value"))?;
        input.take(length)?;
        entries.push((name, value));
    }
    Ok(Properties::from_entries(entries))
}
