//! The bytes of a call, in every store: its records one after the other, and an index with their ends and checksums.

use annals::{Error, ErrorKind, Result};

/// Units: bytes of an entry of the index: the end of the record in the body, and its CRC-32C. Both have four bytes, the
/// highest first, so that SQL can read them.
pub(crate) const ENTRY_BYTES: usize = 8;

/// The bytes of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Body {
    /// Shape: an entry for each record.
    pub index: Vec<u8>,
    /// Shape: the records, without anything between them.
    pub body: Vec<u8>,
}

impl Body {
    /// Errors: `TooLarge` if the ends do not fit; the bounds of a call are far below.
    pub fn encode<'r>(records: impl Iterator<Item = &'r [u8]>, bytes: usize) -> Result<Body> {
        let mut encoded = Body { index: Vec::new(), body: Vec::with_capacity(bytes) };
        for record in records {
            encoded.body.extend_from_slice(record);
            let end = i32::try_from(encoded.body.len()).map_err(|_| {
                Error::new(ErrorKind::TooLarge, "a call: expected at most 2 GiB of records; split it")
            })?;
            encoded.index.extend_from_slice(&end.to_be_bytes());
            encoded.index.extend_from_slice(&crc32c::crc32c(record).to_be_bytes());
        }
        Ok(encoded)
    }
}

/// Successive records of one call: a part of its index, and of its body from the first of them on.
pub(crate) struct Part<'p> {
    pub index: &'p [u8],
    pub body: &'p [u8],
    /// Where the first record begins in the whole body.
    pub begin: i64,
}

impl<'p> Part<'p> {
    /// The records that are whole in this part. The last ones may be cut off.
    ///
    /// Errors: a text for the record with this number, counted from 0, if it is damaged.
    pub fn records(&self) -> std::result::Result<Vec<&'p [u8]>, (usize, String)> {
        let mut records = Vec::new();
        let mut start = 0;
        for (number, entry) in self.index.chunks(ENTRY_BYTES).enumerate() {
            let damaged = |text: &str| (number, text.to_owned());
            let Some((end, checksum)) = entry.split_first_chunk::<4>() else {
                return Err(damaged("expected whole entries in its index"));
            };
            let end = i64::from(i32::from_be_bytes(*end)) - self.begin;
            let end = usize::try_from(end).ok().filter(|end| *end >= start);
            let Some(end) = end else { return Err(damaged("expected ascending ends in its index")) };
            let Some(record) = self.body.get(start..end) else {
                return match number {
                    0 => Err(damaged("expected the bytes that its index names, found fewer")),
                    _ => Ok(records),
                };
            };
            let found = crc32c::crc32c(record).to_be_bytes();
            if checksum != found {
                let text = format!("expected the checksum {checksum:02x?}, found {found:02x?}");
                return Err((number, text));
            }
            records.push(record);
            start = end;
        }
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_call_give_its_whole_records_and_find_damage() {
        let all: [&[u8]; 4] = [b"one", b"", b"three", b"4"];
        let encoded = Body::encode(all.into_iter(), 9).unwrap();
        assert_eq!(encoded.body, b"onethree4");
        let part = |index: &'static [u8], body, begin| Part { index, body, begin }.records();
        let index: &'static [u8] = encoded.index.clone().leak();
        assert_eq!(part(index, b"onethree4", 0).unwrap(), all);
        assert_eq!(part(index, b"onethr", 0).unwrap(), all[..2]);
        assert_eq!(part(&index[16..], b"three4", 3).unwrap(), all[2..]);
        assert_eq!(part(index, b"on", 0).unwrap_err().0, 0);
        assert_eq!(part(index, b"onethrEe4", 0).unwrap_err().0, 2);
        assert_eq!(part(&index[..9], b"onethree4", 0).unwrap_err().0, 1);
        assert_eq!(part(index, b"one", 4).unwrap_err().0, 0);
    }
}
