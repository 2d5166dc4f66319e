//! Reads a graph from blocks. For any bytes the result is a graph or a warning, never a panic.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::block::{BlockKind, Damage, Input, Loaded, damaged, read_block};
use super::headers::{load_collection, load_header, loaded_headers};
use super::load_keys::{IndexParts, KeySets};
use super::load_table::{Message, TableParts};
use super::save::{CheckpointOrigin, FORMAT, MAGIC, NO_TABLE, PAST_LINKS_SET, codes};
use super::table_basis::TableBasis;
use crate::graph::Graph;
use crate::graph::index::Indexes;
use crate::graph::index::late_indexes::LateIndexes;
use crate::graph::indexed::Indexed;
use crate::graph::instance::headers;
use crate::graph::instance::row_check::Ends;
use crate::graph::integrity::types::Types;
use crate::graph::purges::Purges;
use crate::graph::repeats::Repeats;
use crate::graph::structures::adjacency::Adjacency;
use crate::graph::structures::link::{Bounds, Link};
use crate::graph::structures::links::Links;
use crate::graph::structures::spill_file::SpillSettings;
use crate::graph::structures::symbols::{Symbol, Symbols};
use crate::graph::table::{Meanings, Table};
use crate::log::LogId;
use crate::memory::{Memory, StoredData};
use crate::model::{Action, TypeDefinition};
use crate::record::decode_record;
use crate::{Error, IdempotencyKey, Position};

/// Most blocks that wait for the thread that reads a table: few, so that their memory is used again.
const WAITING_BLOCKS_MAX: usize = 1;
/// The same in a repository with a memory budget, while the thread builds the table from its rows; less if its share is
/// smaller.
const WAITING_BLOCKS_SPILLED_MAX: usize = 16;
/// The derived data of a row count as this many bytes of a checkpoint: entries in the maps of ids, columns, lists of
/// types.
/// Units: bytes.
const ROW_BYTES: usize = 20;
/// The usual length of a block. Units: bytes.
const BLOCK_BYTES: usize = 1 << 20;

#[derive(Default)]
struct Header {
    origin: CheckpointOrigin,
    slots_counts: [usize; 2],
}

/// The parts that belong to no table.
#[derive(Default)]
struct Parts {
    header: Header,
    instants: Vec<i64>,
    names: Symbols,
    authors: Symbols,
    type_changes: Vec<(u64, Arc<TypeDefinition>)>,
    repeats: Repeats,
    collection: Option<Arc<str>>,
    headers: Vec<headers::RowHeader>,
    // True once the tables know that their rows are complete.
    are_rows_whole: bool,
    links: [LinkParts; 2],
    keys: KeySets,
    // The number of keys of no index, and of those of each table's indexes, for the check.
    keys_counts: Option<[u64; 3]>,
}

/// The links in one direction, read so far.
#[derive(Default)]
struct LinkParts {
    pages: Vec<Arc<[u32]>>,
    wide: Vec<Option<Vec<Link>>>,
}

/// Reads the origin of the checkpoint: its log and position. Errors: why the file cannot be used.
pub(crate) fn read_origin(mut input: impl Read) -> Loaded<CheckpointOrigin> {
    let mut payload = Vec::new();
    let mut parts = Parts::default();
    match read_block(&mut input, &mut payload)? {
        Some(BlockKind::Header) => parts.read_header(&mut Input::new(&payload))?,
        _ => return Err(damaged("it is no checkpoint")),
    }
    Ok(parts.header.origin)
}

/// The memory budget while a checkpoint is read.
pub(crate) struct LoadBudget<'s> {
    memory: Option<&'s Memory>,
    /// Length of the file without long values. Units: bytes.
    bytes: u64,
    /// A table locks this while it derives data from its rows, which is much at once: otherwise both would use the
    /// same room.
    derives: Mutex<()>,
    /// Why reading stopped: threads that wait for each other only see that another one has ended.
    refusal: OnceLock<Error>,
}

impl LoadBudget<'_> {
    /// True if there is a budget.
    pub(crate) fn is_bounded(&self) -> bool {
        self.memory.is_some()
    }

    /// Charges the derived data of `rows`, until the guard is dropped. Errors: as [`LoadBudget::charge`].
    pub(crate) fn charge_derived(&self, rows: usize) -> Loaded<Option<MutexGuard<'_, ()>>> {
        if self.memory.is_none() {
            return Ok(None);
        }
        let guard = self.derives.lock().unwrap_or_else(PoisonError::into_inner);
        self.charge(ROW_BYTES * rows).map(|()| Some(guard))
    }

    /// Checks for room for the graph of `bytes`. Errors: there is no room, and [`load`] returns the reason.
    pub(crate) fn charge(&self, bytes: usize) -> Loaded<()> {
        let Some(memory) = self.memory else { return Ok(()) };
        memory.charge_stored(bytes, StoredData::Checkpoint { bytes: self.bytes }).map_err(|error| {
            let _ = self.refusal.set(error);
            damaged("there is no room for it")
        })
    }
}

/// Reads the whole graph, from the file at `place` of `bytes` without long values. Without a memory budget its indexes are
/// made when they are first asked for. Errors: why the file cannot be used.
pub(crate) fn load(
    input: impl Read,
    place: &str,
    bytes: u64,
    spill: Option<&SpillSettings>,
) -> Loaded<Indexed> {
    let memory = spill.map(|spill| &*spill.memory);
    let room = LoadBudget { memory, bytes, derives: Mutex::new(()), refusal: OnceLock::new() };
    let outcome = load_within(input, place, spill, &room);
    match room.refusal.into_inner() {
        Some(error) => Err(Damage::TooLarge(error)),
        None => outcome,
    }
}

fn load_within(
    mut input: impl Read,
    place: &str,
    spill: Option<&SpillSettings>,
    room: &LoadBudget,
) -> Loaded<Indexed> {
    let waiting = match room.memory {
        // Half for each table.
        Some(memory) => memory.share(2 * WAITING_BLOCKS_SPILLED_MAX * BLOCK_BYTES) / BLOCK_BYTES / 2,
        None => WAITING_BLOCKS_MAX,
    };
    let common = OnceLock::new();
    let (parts, links, tables) = std::thread::scope(|scope| {
        // Reading the tables is most of the work. One table needs from the other only the set of its entities.
        let (entities_in, entities) = sync_channel(waiting);
        let (relationships_in, relationships) = sync_channel(waiting);
        let (ends_out, ends_in) = sync_channel(1);
        let (used_in, used) = channel();
        let also_used_in = used_in.clone();
        let (common, entities_in, relationships_in) = (&common, entities_in, relationships_in);
        let entities = scope.spawn(move || {
            let whole = TableParts::read_rows(&entities, &used_in, spill, common, 0, room)?;
            // The receiver may have failed.
            let _ = ends_out.send(whole.slots());
            whole.table(&entities, common, Ends::None, room)
        });
        let relationships = scope.spawn(move || {
            let whole = TableParts::read_rows(&relationships, &also_used_in, spill, common, 1, room)?;
            let ends = ends_in.recv().map_err(|_| damaged("the rows of entities"))?;
            whole.table(&relationships, common, Ends::Of(ends), room)
        });
        let parts = read(&mut input, common, [entities_in, relationships_in], &used, room);
        let parts = parts.and_then(|mut parts| {
            let links = parts.adjacencies(common)?;
            Ok((parts, links))
        });
        let joined = |outcome: std::thread::Result<_>| outcome.map_err(|_| damaged("reading it panicked"))?;
        let tables: [Loaded<(Table, IndexParts, u64)>; 2] =
            [joined(entities.join()), joined(relationships.join())];
        let [entities, relationships] = tables;
        // A table that failed returns the reason; the reader only sees that the channel is closed.
        let tables = [entities?, relationships?];
        let (parts, links) = parts?;
        Ok::<_, Damage>((parts, links, tables))
    })?;
    let common = common.into_inner().ok_or_else(|| damaged("it is cut off"))?;
    parts.graph(common, links, tables, place, room)
}

/// Reads all blocks, and passes those of tables on. `used` returns their memory.
fn read(
    input: &mut impl Read,
    common: &OnceLock<TableBasis>,
    tables: [SyncSender<Message>; 2],
    used: &Receiver<Vec<u8>>,
    room: &LoadBudget,
) -> Loaded<Parts> {
    let mut parts = Parts::default();
    let mut payload = Vec::new();
    let mut is_first = true;
    while let Some(kind) = read_block(input, &mut payload)? {
        if is_first != (kind == BlockKind::Header) {
            return Err(damaged("the order of blocks"));
        }
        is_first = false;
        room.charge(payload.len())?;
        if matches!(kind, BlockKind::Links | BlockKind::Wide | BlockKind::Keys | BlockKind::End) {
            parts.end_rows(common, &tables)?;
        }
        let is_of_table = match kind {
            BlockKind::Ids
            | BlockKind::Pages
            | BlockKind::Extras
            | BlockKind::Values
            | BlockKind::Deletions => true,
            BlockKind::Keys => payload.first() != Some(&NO_TABLE),
            _ => false,
        };
        if is_of_table {
            let table = payload.first().and_then(|number| tables.get(usize::from(*number)));
            let table = table.ok_or_else(|| damaged("the number of a table"))?;
            // The system clears new memory, which takes longer than reading into old.
            let next = used.try_recv().unwrap_or_default();
            let block = std::mem::replace(&mut payload, next);
            table.send(Message::Block(kind, block)).map_err(|_| unheard())?;
        } else {
            parts.read(kind, Input::new(&payload))?;
        }
    }
    parts.keys.close();
    Ok(parts)
}

/// The thread that has ended returns the reason itself.
fn unheard() -> Damage {
    damaged("a table")
}

impl Parts {
    fn read(&mut self, kind: BlockKind, mut input: Input) -> Loaded<()> {
        match kind {
            BlockKind::Header => return self.read_header(&mut input),
            BlockKind::Keys => {
                input.u8()?;
                return self.keys.read(&mut input);
            }
            BlockKind::Links | BlockKind::Wide => {
                let side = usize::from(input.u8()?);
                let links = self.links.get_mut(side).ok_or_else(|| damaged("a direction"))?;
                return links.read(kind, &mut input);
            }
            BlockKind::End => {
                self.keys_counts = Some([input.number()?, input.number()?, input.number()?]);
                return Ok(());
            }
            _ => {}
        }
        if self.are_rows_whole {
            return Err(damaged("the order of blocks"));
        }
        while !input.is_empty() {
            match kind {
                BlockKind::Instants => {
                    let before = self.instants.last().copied().unwrap_or(0);
                    self.instants.push(before.wrapping_add(input.signed()?));
                }
                BlockKind::Names => drop(self.names.intern(&input.text()?.into())),
                BlockKind::Authors => drop(self.authors.intern(&input.text()?.into())),
                BlockKind::Headers if self.collection.is_none() && self.headers.is_empty() => {
                    self.collection = load_collection(&mut input)?;
                    self.headers.push(headers::RowHeader::default());
                }
                BlockKind::Headers => self.headers.push(load_header(&mut input)?),
                BlockKind::Repeats => {
                    let position = input.number()?;
                    let key = input.take(IdempotencyKey::BYTES)?;
                    let key = key.try_into().map_err(|_| damaged("an idempotency key"))?;
                    self.repeats.add(Position(position), &IdempotencyKey(key));
                }
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
            return Err(format!("of format {format}, this version reads {FORMAT}").into());
        }
        self.header = Header {
            origin: CheckpointOrigin {
                position: Position(input.number()?),
                record_checksum: input.small()?,
                log_id: LogId(input.take(16)?.try_into().map_err(|_| damaged("the id of the log"))?),
                generation: input.number()?,
                address: input.bytes()?.to_vec(),
            },
            slots_counts: [input.count()?, input.count()?],
        };
        if input.bytes()? != codes() {
            return Err("of another list of indexes than this version has".to_owned().into());
        }
        Ok(())
    }

    /// Sends the tables the end of their rows, and the data that both refer to, unless that was done before.
    fn end_rows(&mut self, common: &OnceLock<TableBasis>, tables: &[SyncSender<Message>; 2]) -> Loaded<()> {
        if std::mem::replace(&mut self.are_rows_whole, true) {
            return Ok(());
        }
        let (mut names, authors) = (std::mem::take(&mut self.names), std::mem::take(&mut self.authors));
        let types =
            Types::from_changes(&self.type_changes, &mut names).map_err(|error| damaged(error.text()))?;
        let slots = self.header.slots_counts;
        let headers = std::mem::take(&mut self.headers);
        let headers = loaded_headers(headers, names.len(), authors.len(), slots[0])?;
        let meanings = Meanings { headers, names, types: Arc::new(types) };
        let _ = common.set(TableBasis { meanings, authors, slots });
        tables.iter().try_for_each(|table| table.send(Message::RowsEnd).map_err(|_| unheard()))
    }

    fn adjacencies(&mut self, common: &OnceLock<TableBasis>) -> Loaded<[Adjacency; 2]> {
        let TableBasis { meanings, slots, .. } = common.get().ok_or_else(|| damaged("it is cut off"))?;
        let bounds = Bounds { types: meanings.names.len(), relationships: slots[1], entities: slots[0] };
        let [out, into] = std::mem::take(&mut self.links);
        Ok([out.adjacency(slots[0], bounds)?, into.adjacency(slots[0], bounds)?])
    }

    fn graph(
        mut self,
        common: TableBasis,
        links: [Adjacency; 2],
        [entities, relationships]: [(Table, IndexParts, u64); 2],
        place: &str,
        room: &LoadBudget,
    ) -> Loaded<Indexed> {
        let (entities, entity_parts, entity_keys) = entities;
        let (relationships, relationship_parts, relationship_keys) = relationships;
        let keys_counts = self.keys_counts.filter(|[own, ..]| {
            *own == self.keys.count + entity_keys + relationship_keys
                && u64::try_from(self.instants.len()) == Ok(self.header.origin.position.0)
        });
        let [_, of_entities, of_relationships] =
            keys_counts.ok_or_else(|| damaged("something is missing"))?;
        let late = |parts: IndexParts, keys_count: u64| -> Loaded<LateIndexes> {
            let parts = IndexParts { keys_count, ..parts };
            if room.is_bounded() {
                let _charged = room.charge_derived(parts.table.slots_count())?;
                return Ok(LateIndexes::Made(Box::new(parts.indexes()?)));
            }
            let place = place.to_owned();
            Ok(LateIndexes::waiting(Box::new(move || parts.late_indexes(&place))))
        };
        let entity_indexes = late(entity_parts, of_entities)?;
        let relationship_indexes = late(relationship_parts, of_relationships)?;
        let position = self.header.origin.position;
        let graph = Graph {
            position,
            instants: self.instants.into_iter().collect(),
            types: common.meanings.types,
            type_changes: self.type_changes.into_iter().collect(),
            entities,
            relationships,
            links: Links::of(links),
            past_links: self.keys.take(PAST_LINKS_SET),
            // A checkpoint does not hold it, and this is the latest that it can be.
            purged_relationship_at: position,
            purges: Purges::unknown_until(position),
            repeats: self.repeats,
            collection: self.collection,
            headers: common.meanings.headers,
            names: common.meanings.names,
            authors: common.authors,
            generation: self.header.origin.generation,
            is_bounded: false,
            purged: None,
        };
        let indexes = Indexes { position, entities: entity_indexes, relationships: relationship_indexes };
        Ok(Indexed::new(graph, Arc::new(indexes)))
    }
}

impl LinkParts {
    fn read(&mut self, kind: BlockKind, input: &mut Input) -> Loaded<()> {
        while !input.is_empty() {
            let length = input.count()?;
            if kind == BlockKind::Links {
                let (words, _) = input.take(length.saturating_mul(4))?.as_chunks();
                self.pages.push(words.iter().map(|word| u32::from_le_bytes(*word)).collect());
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
            // Not reserved: a damaged length must not allocate.
            let mut links = Vec::new();
            for _ in 0..count {
                links.push(link(input)?);
            }
            self.wide.push(Some(links));
        }
        Ok(())
    }

    fn adjacency(self, len: usize, bounds: Bounds) -> Loaded<Adjacency> {
        Adjacency::from_pages(len, self.pages, self.wide, bounds)
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
