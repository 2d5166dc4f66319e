//! The one owner of the bytes of a call: a header, the index of its records, and the records.

use annals::log::{APPEND_BYTES_MAX, APPEND_RECORDS_MAX, Term, Token};
use annals::{Error, ErrorKind, Position, Result};

use crate::call_body::{ENTRY_BYTES, Part};

/// The newest format that this version writes and reads.
const FORMAT: u16 = 1;
const MAGIC: [u8; 4] = [0xA7, b'a', b'n', b'c'];
/// The records are in a segment only.
const FLAG_STUB: u16 = 1;
/// Units: bytes of a header, and of the part of it that its checksum protects.
pub(super) const HEADER_BYTES: usize = 80;
const SEALED_BYTES: usize = 72;

/// The description of a call, in its object. All numbers have their highest byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallHeader {
    pub first: Position,
    pub last: Position,
    pub token: Token,
    pub term: Term,
    /// The token of the call before; zero for the first one.
    pub previous: Token,
    /// Units: bytes of all records.
    pub body_bytes: u64,
    /// True without index and records: a rewriting has changed one of them, and segments have them.
    pub is_stub: bool,
}

impl CallHeader {
    pub fn records_count(&self) -> u64 {
        self.last.0.saturating_sub(self.first.0).saturating_add(1)
    }

    /// Units: bytes before the records.
    pub fn head_bytes(&self) -> u64 {
        let entries = if self.is_stub { 0 } else { self.records_count() };
        wide(HEADER_BYTES).saturating_add(entries.saturating_mul(wide(ENTRY_BYTES)))
    }

    /// Units: bytes of the call with everything.
    pub fn whole_bytes(&self) -> u64 {
        let body = if self.is_stub { 0 } else { self.body_bytes };
        self.head_bytes().saturating_add(body)
    }

    /// The call without its records.
    pub fn stub(&self) -> Vec<u8> {
        CallHeader { is_stub: true, ..*self }.encode(&[])
    }

    /// The header and the index.
    pub fn encode(&self, index: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + index.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_be_bytes());
        bytes.extend((if self.is_stub { FLAG_STUB } else { 0 }).to_be_bytes());
        bytes.extend(self.first.0.to_be_bytes());
        bytes.extend(self.last.0.to_be_bytes());
        bytes.extend(self.token.0.to_be_bytes());
        bytes.extend(self.term.0.to_be_bytes());
        bytes.extend(self.previous.0.to_be_bytes());
        bytes.extend(self.body_bytes.to_be_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_be_bytes());
        bytes.extend(crc32c::crc32c(index).to_be_bytes());
        bytes.extend_from_slice(index);
        bytes
    }

    /// Reads the header at the start of `bytes`. Shape: it, and the checksum of the index.
    ///
    /// Errors: `Corrupted`; `NewerFormat`.
    pub fn decode(bytes: &[u8]) -> Result<(CallHeader, u32)> {
        let Some((sealed, sums)) = bytes.get(..HEADER_BYTES).map(|head| head.split_at(SEALED_BYTES)) else {
            return Err(damaged(&format!("{HEADER_BYTES} bytes"), &format!("{}", bytes.len())));
        };
        let mut rest = sealed;
        let magic: [u8; 4] = take(&mut rest);
        if magic != MAGIC {
            return Err(damaged(&format!("the magic {MAGIC:02x?}"), &format!("{magic:02x?}")));
        }
        let mut sums = sums;
        let (expected, index_sum) = (take(&mut sums), u32::from_be_bytes(take(&mut sums)));
        let found = crc32c::crc32c(sealed).to_be_bytes();
        if expected != found {
            return Err(damaged(&format!("the checksum {expected:02x?}"), &format!("{found:02x?}")));
        }
        let (format, flags) = (u16::from_be_bytes(take(&mut rest)), u16::from_be_bytes(take(&mut rest)));
        if format > FORMAT || flags & !FLAG_STUB != 0 {
            let text = format!("expected format {FORMAT}, found {format}; use a newer version");
            return Err(Error::new(ErrorKind::NewerFormat, text));
        }
        let header = CallHeader {
            first: Position(u64::from_be_bytes(take(&mut rest))),
            last: Position(u64::from_be_bytes(take(&mut rest))),
            token: Token(u128::from_be_bytes(take(&mut rest))),
            term: Term(u64::from_be_bytes(take(&mut rest))),
            previous: Token(u128::from_be_bytes(take(&mut rest))),
            body_bytes: u64::from_be_bytes(take(&mut rest)),
            is_stub: flags & FLAG_STUB != 0,
        };
        let is_bounded = header.first > Position::ZERO
            && header.last >= header.first
            && header.last < Position(u64::MAX)
            && header.records_count() <= wide(APPEND_RECORDS_MAX)
            && header.body_bytes <= wide(APPEND_BYTES_MAX);
        match is_bounded {
            true => Ok((header, index_sum)),
            false => Err(damaged("the bounds of a call", &format!("{header:?}"))),
        }
    }
}

/// A call with its records.
pub(super) struct WholeCall<'b> {
    pub header: CallHeader,
    pub index: &'b [u8],
    pub body: &'b [u8],
}

impl<'b> WholeCall<'b> {
    /// Reads the call at the start of `bytes`.
    ///
    /// Errors: `Corrupted`; `NewerFormat`.
    pub fn decode(bytes: &'b [u8]) -> Result<WholeCall<'b>> {
        let (header, sum) = CallHeader::decode(bytes)?;
        let (head, whole) = (narrow(header.head_bytes()), narrow(header.whole_bytes()));
        let (Some(index), Some(body)) = (bytes.get(HEADER_BYTES..head), bytes.get(head..whole)) else {
            return Err(damaged(&format!("{whole} bytes"), &format!("{}", bytes.len())));
        };
        check_index(index, sum)?;
        Ok(WholeCall { header, index, body })
    }

    /// Its records, each checked. A stub has none.
    ///
    /// Errors: `Corrupted`.
    pub fn records(&self) -> Result<Vec<&'b [u8]>> {
        let records = Part { index: self.index, body: self.body, begin: 0 }.records();
        let records = records.map_err(|(number, text)| {
            let at = self.header.first.0.saturating_add(wide(number));
            Error::new(ErrorKind::Corrupted, format!("the record at {at}: {text}"))
        })?;
        let expected = if self.header.is_stub { 0 } else { self.header.records_count() };
        match wide(records.len()) == expected {
            true => Ok(records),
            false => Err(damaged(&format!("{expected} records"), &format!("{}", records.len()))),
        }
    }
}

/// Errors: `Corrupted` if the index is not the one of which this is the checksum.
pub(super) fn check_index(index: &[u8], sum: u32) -> Result<()> {
    let found = crc32c::crc32c(index);
    match found == sum {
        true => Ok(()),
        false => Err(damaged(&format!("the checksum {sum:08x} of the index"), &format!("{found:08x}"))),
    }
}

fn damaged(expected: &str, found: &str) -> Error {
    Error::new(ErrorKind::Corrupted, format!("expected {expected}, found {found}"))
}

/// The next bytes; zeros behind the last one.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else { return [0; N] };
    *bytes = rest;
    *head
}

pub(super) fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

pub(super) fn narrow(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_body::Body;

    fn header() -> CallHeader {
        CallHeader {
            first: Position(7),
            last: Position(8),
            token: Token(1),
            term: Term(2),
            previous: Token(3),
            body_bytes: 5,
            is_stub: false,
        }
    }

    /// The table of docs/logs/s3.md.
    #[test]
    fn a_call_has_these_bytes() {
        let body = Body::encode([&b"one"[..], b"22"].into_iter(), 5).unwrap();
        let mut bytes = header().encode(&body.index);
        bytes.extend(&body.body);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let long = "0".repeat(31);
        let head = format!(
            "a7616e630001000000000000000000070000000000000008{long}10000000000000002{long}30000000000000005"
        );
        assert_eq!(hex.get(..144), Some(&*head));
        assert!(hex.ends_with("6f6e653232"));
        let call = WholeCall::decode(&bytes).unwrap();
        assert_eq!((call.header, call.records().unwrap()), (header(), vec![&b"one"[..], b"22"]));
        let stub = header().stub();
        let (read, _) = CallHeader::decode(&stub).unwrap();
        assert_eq!((stub.len(), read), (HEADER_BYTES, CallHeader { is_stub: true, ..header() }));
        assert_eq!(WholeCall::decode(&stub).unwrap().records().unwrap(), Vec::<&[u8]>::new());
    }

    #[test]
    fn damage_of_any_byte_is_found() {
        let body = Body::encode([&b"one"[..], b"22"].into_iter(), 5).unwrap();
        let mut bytes = header().encode(&body.index);
        bytes.extend(&body.body);
        let is_whole = |bytes: &[u8]| WholeCall::decode(bytes).is_ok_and(|call| call.records().is_ok());
        assert!(is_whole(&bytes));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(!is_whole(&damaged), "byte {at}");
            assert!(!is_whole(&bytes[..at]), "{at} bytes");
        }
    }
}
