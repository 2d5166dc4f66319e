//! Reads a graph from blocks. Any bytes give a graph or a warning, never a panic.

use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::block::{Input, Kind, Loaded, damaged, read_block};
use super::headers::{load_collection, load_header, loaded_headers};
use super::load_keys::KeySets;
use super::load_table::TableParts;
use super::save::{FORMAT, MAGIC, NO_TABLE, SetKind};
use crate::Position;
use crate::graph::Graph;
use crate::graph::adjacency::{Adjacency, Bounds, Link};
use crate::graph::headers;
use crate::graph::row_check::{Ends, Limits};
use crate::graph::spill_file::SpillSettings;
use crate::graph::symbols::{Symbol, Symbols};
use crate::graph::types::Types;
use crate::model::{Action, TypeDefinition};
use crate::record::decode_record;

/// Blocks that may wait for the thread that reads a table.
const WAITING_BLOCKS_MAX: usize = 16;

#[derive(Default)]
struct Header {
    position: u64,
    record_checksum: u32,
    slots_counts: [usize; 2],
}

/// What belongs to no table.
#[derive(Default)]
struct Parts {
    header: Header,
    instants: Vec<i64>,
    names: Vec<Arc<str>>,
    authors: Vec<Arc<str>>,
    type_changes: Vec<(u64, Arc<TypeDefinition>)>,
    collection: Option<Arc<str>>,
    headers: Vec<headers::Header>,
    links: [LinkParts; 2],
    keys: KeySets,
    // How many keys there must be in all.
    keys_count: Option<u64>,
}

/// What has been read of the links in one direction.
#[derive(Default)]
struct LinkParts {
    pages: Vec<Arc<[u32]>>,
    wide: Vec<Option<Vec<Link>>>,
}

type Block = (Kind, Vec<u8>);

/// Reads the whole graph, and the checksum of the record at its position. Errors: why the file cannot be used.
pub(super) fn load(mut input: impl Read, spill: Option<&SpillSettings>) -> Loaded<(Graph, u32)> {
    std::thread::scope(|scope| {
        // The tables are most of the work, and neither needs the other.
        let (entities_in, entities) = sync_channel(WAITING_BLOCKS_MAX);
        let (relationships_in, relationships) = sync_channel(WAITING_BLOCKS_MAX);
        let entities = scope.spawn(move || read_table(&entities, spill));
        let relationships = scope.spawn(move || read_table(&relationships, spill));
        let parts = read(&mut input, [entities_in, relationships_in]);
        let joined = |outcome: std::thread::Result<_>| outcome.map_err(|_| damaged("reading it panicked"))?;
        let tables = [joined(entities.join()), joined(relationships.join())];
        let (parts, [entities, relationships]) = (parts?, tables);
        let record_checksum = parts.header.record_checksum;
        Ok((parts.graph(entities?, relationships?)?, record_checksum))
    })
}

fn read_table(blocks: &Receiver<Block>, spill: Option<&SpillSettings>) -> Loaded<TableParts> {
    let mut table = TableParts::new(spill);
    for (kind, payload) in blocks {
        let mut input = Input::new(&payload);
        input.u8()?;
        table.read(kind, &mut input)?;
    }
    table.keys.close();
    Ok(table)
}

/// Reads all blocks, and hands those of tables on.
fn read(input: &mut impl Read, tables: [SyncSender<Block>; 2]) -> Loaded<Parts> {
    let mut parts = Parts::default();
    let mut payload = Vec::new();
    let mut is_first = true;
    while let Some(kind) = read_block(input, &mut payload)? {
        if is_first != (kind == Kind::Header) {
            return Err(damaged("the order of blocks"));
        }
        is_first = false;
        let is_of_table = match kind {
            Kind::Ids | Kind::Pages | Kind::Extras | Kind::Values => true,
            Kind::Keys => payload.first() != Some(&NO_TABLE),
            _ => false,
        };
        if is_of_table {
            let table = payload.first().and_then(|number| tables.get(usize::from(*number)));
            let table = table.ok_or_else(|| damaged("the number of a table"))?;
            // A thread that has ended tells why itself.
            if table.send((kind, std::mem::take(&mut payload))).is_err() {
                break;
            }
        } else {
            parts.read(kind, Input::new(&payload))?;
        }
    }
    parts.keys.close();
    Ok(parts)
}

impl Parts {
    fn read(&mut self, kind: Kind, mut input: Input) -> Loaded<()> {
        match kind {
            Kind::Header => return self.read_header(&mut input),
            Kind::Keys => {
                input.u8()?;
                return self.keys.read(&mut input);
            }
            Kind::Links | Kind::Wide => {
                let side = usize::from(input.u8()?);
                let links = self.links.get_mut(side).ok_or_else(|| damaged("a direction"))?;
                return links.read(kind, &mut input);
            }
            Kind::End => {
                self.keys_count = Some(input.number()?);
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
                Kind::Headers if self.collection.is_none() && self.headers.is_empty() => {
                    self.collection = load_collection(&mut input)?;
                    self.headers.push(headers::Header::default());
                }
                Kind::Headers => self.headers.push(load_header(&mut input)?),
                _ => {
                    let position = input.number()?;
                    self.type_changes.push((position, Arc::new(definition(input.bytes()?)?)));
                }
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
        self.header = Header {
            position: input.number()?,
            record_checksum: input.small()?,
            slots_counts: [input.small()? as usize, input.small()? as usize],
        };
        Ok(())
    }

    fn graph(mut self, mut entities: TableParts, mut relationships: TableParts) -> Loaded<Graph> {
        let Some(keys_count) = self.keys_count else { return Err(damaged("it is cut off")) };
        let slots = self.header.slots_counts;
        if self.instants.len() as u64 != self.header.position
            || keys_count != self.keys.count + entities.keys.count + relationships.keys.count
        {
            return Err(damaged("something is missing"));
        }
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
        let bounds = Bounds { types: names.len(), relationships: slots[1], entities: slots[0] };
        let entity_rows = entities.rows(slots[0])?;
        let relationship_rows = relationships.rows(slots[1])?;
        let headers = loaded_headers(self.headers, names.len(), authors.len(), slots)?;
        let limits =
            |ends| Limits { names: names.len(), authors: authors.len(), headers: headers.len(), ends };
        let (of_entities, of_relationships) = (limits(Ends::None), limits(Ends::Of(entity_rows.clone())));
        let [out, into] = self.links;
        let (entities, relationships, out, into) = std::thread::scope(|scope| {
            let relationships =
                scope.spawn(|| relationships.table(relationship_rows, &of_relationships, &headers, &names));
            let entities = entities.table(entity_rows, &of_entities, &headers, &names);
            let [out, into] = [out, into].map(|links| links.adjacency(slots[0], bounds));
            let relationships = relationships.join().map_err(|_| damaged("reading it panicked"));
            (entities, relationships, out, into)
        });
        Ok(Graph {
            position: Position(self.header.position),
            instants: self.instants.into_iter().collect(),
            types: Arc::new(types),
            type_changes: self.type_changes.into_iter().collect(),
            entities: entities?,
            relationships: relationships??,
            out: out?,
            into: into?,
            past_links: self.keys.take(SetKind::PastLinks, 0),
            collection: self.collection,
            headers,
            names,
            authors,
        })
    }
}

impl LinkParts {
    fn read(&mut self, kind: Kind, input: &mut Input) -> Loaded<()> {
        while !input.is_empty() {
            let length = input.small()? as usize;
            if kind == Kind::Links {
                let words = input.take(length.saturating_mul(4))?.chunks_exact(4);
                let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                self.pages.push(words.map(word).collect());
                continue;
            }
            let Some(count) = length.checked_sub(1) else {
                self.wide.push(None);
                continue;
            };
            let link = |input: &mut Input| -> Loaded<Link> {
                let type_name = Symbol(input.small()?);
                Ok(Link { type_name, relationship: input.small()?, other: input.small()? })
            };
            // Not reserved: a damaged length must not make us allocate.
            let mut links = Vec::new();
            for _ in 0..count {
                links.push(link(input)?);
            }
            self.wide.push(Some(links));
        }
        Ok(())
    }

    fn adjacency(self, len: usize, bounds: Bounds) -> Loaded<Adjacency> {
        Adjacency::from_pages(len, self.pages, &self.wide, bounds)
            .ok_or_else(|| damaged("a link refers to what is not there"))
    }
}

fn definition(record: &[u8]) -> Loaded<TypeDefinition> {
    let record = decode_record(Position(1), record).map_err(|_| damaged("a type"))?;
    match record.changes.into_iter().next().map(|change| change.action) {
        Some(Action::DefineType(definition)) => Ok(*definition),
        _ => Err(damaged("a type")),
    }
}
