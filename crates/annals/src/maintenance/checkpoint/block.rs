//! The blocks of a checkpoint file: kind, length, checksum, payload.
//!
//! Shape: kind (1), payload length (4), CRC-32C of the payload (4), little endian; then the payload. The format may
//! change with every version of Annals: a checkpoint is a cache.

use std::io::{self, Read, SeekFrom, Write};

use crate::Error;
use crate::model::Id;
use crate::storage::{StoreReader, widen};

/// A block is written when its payload reaches this. Units: bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// A longer payload is damaged. One item is at most as long as a record, and items do not cross blocks.
const BLOCK_BYTES_MAX: usize = 1 << 30;

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BlockKind {
    Header = 1,
    Instants,
    Names,
    Authors,
    TypeChanges,
    Pages,
    Ids,
    Extras,
    Links,
    Wide,
    Keys,
    End,
    Values,
    Headers,
    Deletions,
    Repeats,
}

impl BlockKind {
    #[expect(clippy::as_conversions, reason = "the enum has the representation of a u8")]
    const fn code(self) -> u8 {
        self as u8
    }

    const ALL: [BlockKind; 16] = [
        BlockKind::Header,
        BlockKind::Instants,
        BlockKind::Names,
        BlockKind::Authors,
        BlockKind::TypeChanges,
        BlockKind::Pages,
        BlockKind::Ids,
        BlockKind::Extras,
        BlockKind::Links,
        BlockKind::Wide,
        BlockKind::Keys,
        BlockKind::End,
        BlockKind::Values,
        BlockKind::Headers,
        BlockKind::Deletions,
        BlockKind::Repeats,
    ];
}

/// Collects items and writes them as blocks.
pub(crate) struct BlockWriter<W: Write> {
    out: W,
    kind: BlockKind,
    pub(crate) payload: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    pub(crate) fn new(out: W) -> BlockWriter<W> {
        BlockWriter { out, kind: BlockKind::Header, payload: Vec::with_capacity(BLOCK_BYTES + (64 << 10)) }
    }

    /// Starts a block of this kind.
    pub(crate) fn start(&mut self, kind: BlockKind) -> io::Result<()> {
        self.flush_block()?;
        self.kind = kind;
        Ok(())
    }

    /// Called after each item. True if a new block was started: the caller then repeats the beginning of every block.
    pub(crate) fn end_item(&mut self) -> io::Result<bool> {
        if self.payload.len() < BLOCK_BYTES {
            return Ok(false);
        }
        self.flush_block()?;
        Ok(true)
    }

    fn flush_block(&mut self) -> io::Result<()> {
        if self.payload.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.payload.len()).map_err(|_| io::Error::other("a block over 4 GiB"))?;
        self.out.write_all(&[self.kind.code()])?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&crc32c::crc32c(&self.payload).to_le_bytes())?;
        self.out.write_all(&self.payload)?;
        self.payload.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.flush_block()?;
        self.out.flush()?;
        Ok(self.out)
    }

    pub(crate) fn u8(&mut self, byte: u8) {
        self.payload.push(byte);
    }

    /// Seven bits per byte, lowest first.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            let [lowest, ..] = number.to_le_bytes();
            self.payload.push(lowest | 0x80);
            number >>= 7;
        }
        let [last, ..] = number.to_le_bytes();
        self.payload.push(last);
    }

    /// A count or an index.
    pub(crate) fn count(&mut self, count: usize) {
        self.number(widen(count));
    }

    pub(crate) fn signed(&mut self, number: i64) {
        // Zigzag: small magnitudes of either sign stay short.
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.payload.extend_from_slice(bytes);
    }

    pub(crate) fn id(&mut self, id: &Id) {
        match (id.uuid_bytes(), id.text()) {
            (Some(bytes), _) => {
                self.u8(0);
                self.payload.extend_from_slice(bytes);
            }
            (None, text) => {
                self.u8(1);
                self.bytes(text.unwrap_or_default().as_bytes());
            }
        }
    }
}

/// Why a checkpoint cannot be used.
#[derive(Debug)]
pub(crate) enum Damage {
    /// The text of a warning; an older checkpoint, or the log, may work.
    Ignored(String),
    /// No other checkpoint fits either, since all hold the same graph.
    TooLarge(Error),
}

pub(crate) type Loaded<T> = Result<T, Damage>;

impl From<String> for Damage {
    fn from(why: String) -> Damage {
        Damage::Ignored(why)
    }
}

pub(crate) fn damaged(what: &str) -> Damage {
    Damage::Ignored(format!("damaged: {what}"))
}

/// Reads the next block; `None` at the end of the file.
pub(crate) fn read_block(input: &mut impl Read, payload: &mut Vec<u8>) -> Loaded<Option<BlockKind>> {
    let mut code = [0];
    match input.read(&mut code) {
        Ok(0) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(format!("cannot be read: {error}").into()),
    }
    let kind = BlockKind::ALL.into_iter().find(|kind| [kind.code()] == code);
    let kind = kind.ok_or_else(|| damaged("block kind"))?;
    let (mut stated, mut checksum) = ([0; 4], [0; 4]);
    input
        .read_exact(&mut stated)
        .and_then(|()| input.read_exact(&mut checksum))
        .map_err(|_| damaged("a block is cut off"))?;
    let (stated, checksum) = (u32::from_le_bytes(stated), u32::from_le_bytes(checksum));
    let length = usize::try_from(stated).ok().filter(|length| *length <= BLOCK_BYTES_MAX);
    let length = length.ok_or_else(|| damaged("a block's length"))?;
    // A damaged length must not allocate: more room is made only as bytes arrive.
    payload.resize(length.min(2 * BLOCK_BYTES), 0);
    input.read_exact(payload).map_err(|_| damaged("a block is cut off"))?;
    let rest = input.take(widen(length - payload.len())).read_to_end(payload);
    rest.map_err(|error| format!("cannot be read: {error}"))?;
    if payload.len() != length || crc32c::crc32c(payload) != checksum {
        return Err(damaged("a block's checksum"));
    }
    Ok(Some(kind))
}

/// Length of all blocks except those of long values, up to the first damage. Units: bytes.
pub(crate) fn length_without_values(input: &mut dyn StoreReader) -> u64 {
    let mut length = 0;
    let mut head = [0; 9];
    while input.read_exact(&mut head).is_ok() {
        let [kind, a, b, c, d, ..] = head;
        let payload = u32::from_le_bytes([a, b, c, d]);
        // Every block has a payload.
        if payload == 0 || input.seek(SeekFrom::Current(payload.into())).is_err() {
            break;
        }
        if kind != BlockKind::Values.code() {
            length += u64::from(payload);
        }
    }
    length
}

/// Reads items out of one block.
pub(crate) struct Input<'b> {
    rest: &'b [u8],
}

impl<'b> Input<'b> {
    pub(crate) fn new(payload: &'b [u8]) -> Input<'b> {
        Input { rest: payload }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Loaded<&'b [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or_else(|| damaged("an item is cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Loaded<u8> {
        let (byte, rest) = self.rest.split_first().ok_or_else(|| damaged("an item is cut off"))?;
        self.rest = rest;
        Ok(*byte)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Loaded<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged("a number"))
    }

    pub(crate) fn small(&mut self) -> Loaded<u32> {
        u32::try_from(self.number()?).map_err(|_| damaged("a number over 32 bits"))
    }

    /// A count or an index. At most 32 bits.
    pub(crate) fn count(&mut self) -> Loaded<usize> {
        usize::try_from(self.small()?).map_err(|_| damaged("a count"))
    }

    pub(crate) fn signed(&mut self) -> Loaded<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(crate) fn bytes(&mut self) -> Loaded<&'b [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| damaged("a length"))?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Loaded<&'b str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged("a text"))
    }

    pub(crate) fn id(&mut self) -> Loaded<Id> {
        match self.u8()? {
            0 => Ok(Id::from_uuid_bytes(self.take(16)?.try_into().map_err(|_| damaged("an id"))?)),
            _ => Id::new(self.text()?).map_err(|_| damaged("an id")),
        }
    }
}
