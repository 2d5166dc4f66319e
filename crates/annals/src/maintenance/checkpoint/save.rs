//! Writes a graph as blocks.

use std::io::{self, Write};
use std::sync::Arc;

use super::block::{BlockKind, BlockWriter};
use super::headers::save_headers;
use crate::Position;
use crate::graph::Graph;
use crate::graph::index::{Lists, SavedSet, TableIndexes};
use crate::graph::indexed::Indexed;
use crate::graph::instance::deletions::Deletion;
use crate::graph::instance::past::{Past, PastVersion};
use crate::graph::instance::row::{Row, stub_extra};
use crate::graph::structures::adjacency::Adjacency;
use crate::graph::structures::rows::rows_of;
use crate::graph::table::Table;
use crate::log::LogId;
use crate::model::{Action, Change, Record, Status};
use crate::record::encode_record;

/// The first bytes of every checkpoint file.
pub(crate) const MAGIC: &[u8] = b"ANNALS CHECKPOINT";
/// Changes whenever the bytes or the meaning of a checkpoint change.
pub(crate) const FORMAT: u64 = 18;

/// The spilled values of this many pages are written together before the pages.
const PAGES_TOGETHER: usize = 64;

/// The number of a table, for keys that belong to no table.
pub(crate) const NO_TABLE: u8 = 2;

/// Code of the set of past links, which belongs to no table. The other codes are those of indexes.
pub(crate) const PAST_LINKS_SET: u8 = 0;

/// The codes of all sets that indexes have.
pub(crate) fn codes() -> Vec<u8> {
    Lists::codes().chain(TableIndexes::codes()).collect()
}

/// The log and the position of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckpointOrigin {
    pub(crate) position: Position,
    /// CRC-32C of the record at the position.
    pub(crate) record_checksum: u32,
    pub(crate) log_id: LogId,
    /// How often the log had been rewritten.
    pub(crate) generation: u64,
    /// The address of the record in the log; empty if the log has none.
    pub(crate) address: Vec<u8>,
}

/// Writes the whole graph.
pub(crate) fn save(indexed: &Indexed, origin: &CheckpointOrigin, out: impl Write) -> io::Result<()> {
    let graph = &indexed.graph;
    let mut out = BlockWriter::new(out);
    out.start(BlockKind::Header)?;
    out.bytes(MAGIC);
    out.number(FORMAT);
    out.number(origin.position.0);
    out.number(origin.record_checksum.into());
    out.payload.extend_from_slice(&origin.log_id.0);
    out.number(origin.generation);
    out.bytes(&origin.address);
    out.count(graph.entities.slots_count());
    out.count(graph.relationships.slots_count());
    out.bytes(&codes());
    save_instants(&mut out, graph)?;
    for (kind, symbols) in [(BlockKind::Names, &graph.names), (BlockKind::Authors, &graph.authors)] {
        out.start(kind)?;
        for name in symbols.iter() {
            out.bytes(name.as_bytes());
            out.end_item()?;
        }
    }
    out.start(BlockKind::TypeChanges)?;
    for (position, definition) in graph.type_changes.iter() {
        out.number(*position);
        out.bytes(&type_record((**definition).clone()));
        out.end_item()?;
    }
    out.start(BlockKind::Repeats)?;
    for (position, key) in graph.repeats.iter() {
        out.number(position);
        out.payload.extend_from_slice(&key.0);
        out.end_item()?;
    }
    save_headers(&mut out, graph)?;
    for (number, table) in [(0, &graph.entities), (1, &graph.relationships)] {
        save_table(&mut out, number, table)?;
    }
    for (number, links) in (0..).zip(graph.links.both()) {
        save_links(&mut out, number, links)?;
    }
    let [entities, relationships] = indexed.indexes.made().map_err(io::Error::other)?;
    // The keys that loading reads at once, and those of the indexes of each table.
    let (mut own_count, mut index_counts) = (0, Vec::new());
    for (number, table, indexes) in [(0, &graph.entities, entities), (1, &graph.relationships, relationships)]
    {
        for set in table.lists.save() {
            own_count += save_keys(&mut out, number, &set)?;
        }
        let mut count = 0;
        for set in indexes.save() {
            count += save_keys(&mut out, number, &set)?;
        }
        index_counts.push(count);
    }
    let past_links = SavedSet { code: PAST_LINKS_SET, number: 0, keys: &graph.past_links };
    own_count += save_keys(&mut out, NO_TABLE, &past_links)?;
    out.start(BlockKind::End)?;
    out.count(own_count);
    index_counts.into_iter().for_each(|count| out.count(count));
    out.finish()?;
    Ok(())
}

fn save_instants(out: &mut BlockWriter<impl Write>, graph: &Graph) -> io::Result<()> {
    out.start(BlockKind::Instants)?;
    let mut before = 0;
    for &micros in graph.instants.iter() {
        // Wrapping, because the first difference may exceed 63 bits.
        out.signed(micros.wrapping_sub(before));
        before = micros;
        out.end_item()?;
    }
    Ok(())
}

fn type_record(definition: crate::TypeDefinition) -> Vec<u8> {
    encode_record(&Record {
        changes: vec![Change::from(Action::DefineType(Box::new(definition)))],
        ..Record::default()
    })
}

/// Starts a block of a part that exists twice, or continues it in a new block.
fn start_numbered(out: &mut BlockWriter<impl Write>, kind: BlockKind, number: u8) -> io::Result<()> {
    out.start(kind)?;
    out.u8(number);
    Ok(())
}

fn save_table(out: &mut BlockWriter<impl Write>, number: u8, table: &Table) -> io::Result<()> {
    start_numbered(out, BlockKind::Ids, number)?;
    for id in table.ids.iter() {
        out.id(id);
        if out.end_item()? {
            out.u8(number);
        }
    }
    start_numbered(out, BlockKind::Extras, number)?;
    for extra in table.extras.iter() {
        let row = extra.row.as_ref().map(|row| row.row());
        if let Some(row) = row.filter(|row| row.has_spilled()) {
            save_values(out, number, table, std::iter::once(row))?;
            start_numbered(out, BlockKind::Extras, number)?;
        }
        save_past(out, extra.past.as_ref());
        out.bytes(&row.map(Row::inlined).unwrap_or_default());
        if out.end_item()? {
            out.u8(number);
        }
    }
    start_numbered(out, BlockKind::Pages, number)?;
    let mut pages = table.rows.pages().peekable();
    while pages.peek().is_some() {
        let together: Vec<Arc<[u8]>> = pages.by_ref().take(PAGES_TOGETHER).collect();
        if table.spill.is_used() {
            let rows = together.iter().flat_map(|page| rows_of(page));
            let rows = rows.filter(|row| !row.is_empty() && stub_extra(row).is_none()).map(Row::new);
            save_values(out, number, table, rows)?;
            start_numbered(out, BlockKind::Pages, number)?;
        }
        for page in together {
            out.bytes(&page);
            if out.end_item()? {
                out.u8(number);
            }
        }
    }
    save_deletions(out, number, table)
}

/// The deletions by number, each after a zero; then the runs of their slots, each after a one.
fn save_deletions(out: &mut BlockWriter<impl Write>, number: u8, table: &Table) -> io::Result<()> {
    start_numbered(out, BlockKind::Deletions, number)?;
    for Deletion { place, stamp, valid_from } in table.deletions.list() {
        out.u8(0);
        out.number(place.position);
        out.number(place.change.into());
        out.number(stamp.author.0.into());
        out.signed(stamp.micros);
        out.signed(*valid_from);
        if out.end_item()? {
            out.u8(number);
        }
    }
    for run in table.deletions.runs() {
        out.u8(1);
        [run.first, run.len, run.number].iter().for_each(|part| out.number((*part).into()));
        if out.end_item()? {
            out.u8(number);
        }
    }
    Ok(())
}

/// The spilled values of `rows`, in order, before the rows: so loading has read a value before the row that refers to
/// it.
fn save_values<'r>(
    out: &mut BlockWriter<impl Write>,
    number: u8,
    table: &Table,
    rows: impl Iterator<Item = Row<'r>>,
) -> io::Result<()> {
    start_numbered(out, BlockKind::Values, number)?;
    for place in rows.flat_map(Row::places) {
        out.bytes(&table.spill.read(place).map_err(io::Error::other)?);
        if out.end_item()? {
            out.u8(number);
        }
    }
    Ok(())
}

fn save_links(out: &mut BlockWriter<impl Write>, number: u8, links: &Adjacency) -> io::Result<()> {
    start_numbered(out, BlockKind::Wide, number)?;
    for wide in links.wide() {
        // One more, so that zero means none.
        out.count(wide.map_or(0, |links| links.degree(None) + 1));
        for link in wide.into_iter().flat_map(|links| links.iter(None)) {
            for number in [link.type_name.0, link.relationship, link.other] {
                out.number(number.into());
            }
        }
        if out.end_item()? {
            out.u8(number);
        }
    }
    start_numbered(out, BlockKind::Links, number)?;
    for page in links.pages() {
        out.count(page.len());
        page.iter().for_each(|word| out.payload.extend_from_slice(&word.to_le_bytes()));
        if out.end_item()? {
            out.u8(number);
        }
    }
    Ok(())
}

fn save_past(out: &mut BlockWriter<impl Write>, past: Option<&Arc<Past>>) {
    let mut past: Vec<&PastVersion> = past.into_iter().flat_map(|past| past.iter()).collect();
    past.reverse();
    out.count(past.len());
    for version in past {
        out.number(version.version.into());
        out.number(version.base.into());
        out.u8(u8::from(version.status == Status::Deleted));
        out.number(version.header.0.into());
        out.number(version.place.position);
        out.number(version.place.change.into());
        out.signed(version.valid_from);
    }
}

/// Keys in order; each as the length it shares with the one before, and the rest. Every block names its set.
fn save_keys(
    out: &mut BlockWriter<impl Write>,
    table: u8,
    SavedSet { code, number, keys }: &SavedSet,
) -> io::Result<usize> {
    let (mut before, mut key) = (Vec::new(), Vec::new());
    let mut is_new = true;
    for next in keys.iter() {
        next.write_to(&mut key);
        if is_new {
            out.start(BlockKind::Keys)?;
            out.u8(table);
            out.u8(*code);
            out.number(*number);
            before.clear();
        }
        let shared = before.iter().zip(&key).take_while(|(a, b)| a == b).count();
        out.count(shared);
        out.bytes(key.split_at(shared).1);
        std::mem::swap(&mut before, &mut key);
        is_new = out.end_item()?;
    }
    Ok(keys.len())
}
