//! Headers of instances in a checkpoint, and the name of the repository's collection.

use std::io::{self, Write};
use std::sync::Arc;

use super::block::{BlockKind, BlockWriter, Input, Loaded, damaged};
use crate::graph::Graph;
use crate::graph::instance::headers::{Headers, Identity, RowHeader, Shape};
use crate::graph::structures::symbols::Symbol;
use crate::record::{decode_provenance_from, encode_provenance_into};

// The fields of a header, as bits.
const STATUS: u8 = 1;
const PROVENANCE: u8 = 2;
const PROXY: u8 = 4;
const REIDENTIFIED: u8 = 8;
const IDENTITY: u8 = 16;
const CREATED: u8 = 32;
const CONTENT: u8 = 64;

/// The block begins with the name of the collection; the plain header is omitted.
pub(crate) fn save_headers(out: &mut BlockWriter<impl Write>, graph: &Graph) -> io::Result<()> {
    out.start(BlockKind::Headers)?;
    out.bytes(graph.collection.as_deref().unwrap_or_default().as_bytes());
    out.end_item()?;
    for header in graph.headers.iter() {
        save_header(out, header);
        out.end_item()?;
    }
    Ok(())
}

fn save_header(out: &mut BlockWriter<impl Write>, header: &RowHeader) {
    let flag = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
    out.u8(flag(header.status.is_some(), STATUS)
        | flag(header.provenance.is_some(), PROVENANCE)
        | flag(header.is_proxy, PROXY)
        | flag(header.reidentified_from.is_some(), REIDENTIFIED)
        | flag(header.identity.is_some(), IDENTITY)
        | flag(header.created.is_some(), CREATED)
        | flag(header.content_offset > 0, CONTENT));
    out.signed(header.version_offset);
    if header.content_offset > 0 {
        out.number(header.content_offset.into());
    }
    if let Some(status) = &header.status {
        out.bytes(status.as_bytes());
    }
    if let Some(provenance) = &header.provenance {
        let mut bytes = Vec::new();
        encode_provenance_into(provenance, &mut bytes);
        out.bytes(&bytes);
    }
    if let Some(id) = &header.reidentified_from {
        out.id(id);
    }
    if let Some(identity) = &header.identity {
        save_shape(out, &identity.own);
        save_shape(out, &identity.original);
    }
    if let Some((micros, author)) = header.created {
        out.signed(micros);
        out.number(author.0.into());
    }
}

fn save_shape(out: &mut BlockWriter<impl Write>, shape: &Shape) {
    out.id(&shape.id);
    out.number(shape.type_name.0.into());
    shape.ends.iter().for_each(|end| out.number(u64::from(end.wrapping_add(1))));
}

/// The beginning of the first block of headers.
pub(crate) fn load_collection(input: &mut Input) -> Loaded<Option<Arc<str>>> {
    let name = input.text()?;
    Ok((!name.is_empty()).then(|| name.into()))
}

pub(crate) fn load_header(input: &mut Input) -> Loaded<RowHeader> {
    let flags = input.u8()?;
    let has = |flag: u8| flags & flag != 0;
    let mut header =
        RowHeader { version_offset: input.signed()?, is_proxy: has(PROXY), ..RowHeader::default() };
    if has(CONTENT) {
        header.content_offset = input.small()?;
    }
    if has(STATUS) {
        header.status = Some(input.text()?.into());
    }
    if has(PROVENANCE) {
        let provenance = decode_provenance_from(input.bytes()?).ok_or_else(|| damaged("a provenance"))?;
        header.provenance = Some(Arc::new(provenance));
    }
    if has(REIDENTIFIED) {
        header.reidentified_from = Some(input.id()?);
    }
    if has(IDENTITY) {
        let (own, original) = (load_shape(input)?, load_shape(input)?);
        header.identity = Some(Arc::new(Identity { own, original }));
    }
    if has(CREATED) {
        header.created = Some((input.signed()?, Symbol(input.small()?)));
    }
    Ok(header)
}

fn load_shape(input: &mut Input) -> Loaded<Shape> {
    let (id, type_name) = (input.id()?, Symbol(input.small()?));
    Ok(Shape { id, type_name, ends: [input.small()?.wrapping_sub(1), input.small()?.wrapping_sub(1)] })
}

/// The headers, the plain one first, if everything that they refer to exists. `entities` counts the entities.
pub(crate) fn loaded_headers(
    list: Vec<RowHeader>,
    names: usize,
    authors: usize,
    entities: usize,
) -> Loaded<Headers> {
    let mut headers = Headers::new();
    for header in list.into_iter().skip(1) {
        let shapes = header.identity.iter().flat_map(|identity| [&identity.own, &identity.original]);
        let are_sound = shapes.into_iter().all(|shape| {
            let are_ends = shape
                .ends
                .iter()
                .all(|end| *end == u32::MAX || usize::try_from(*end).is_ok_and(|end| end < entities));
            shape.type_name.index() < names && are_ends
        });
        let is_author = header.created.is_none_or(|(_, author)| author.index() < authors);
        let before = headers.len();
        headers.intern(header);
        if !are_sound || !is_author || headers.len() == before {
            return Err(damaged("a header"));
        }
    }
    Ok(headers)
}
