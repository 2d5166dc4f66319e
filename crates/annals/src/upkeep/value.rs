//! The value of a register for upkeep: the term in force, and what leaves the store, as bytes.

use std::collections::BTreeSet;

use minicbor::decode::Error as Malformed;
use minicbor::{Decoder, Encoder};

use super::content_name::ContentName;
use super::parts::{FORMAT, end, open, read_instant, read_token};
use crate::Result;
use crate::log::{Term, Token};
use crate::model::{Instant, Sha256};
use crate::storage::widen;

/// Elements of the array.
const ELEMENTS: u64 = 8;
/// Elements of an entry of `leaving`.
const LEAVING_ELEMENTS: u64 = 4;
/// Units: bytes of the beginning of a digest.
const BEGINNING_BYTES: usize = 8;

/// The term in force, and the state of the store. Its writer alone changes it; only contents that were put again are taken
/// off the doomed by any repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upkeep {
    pub(crate) term: Term,
    pub(crate) writer: Token,
    /// How often it was changed: no value is ever stored twice.
    pub(crate) count: u64,
    /// The names of the checkpoints in force, newest first.
    pub(crate) checkpoints: Vec<String>,
    /// Checkpoints that are no longer in force, and removed after the grace.
    pub(crate) replaced: Vec<Replaced>,
    /// Contents that no version names: removed after the grace, unless they are named or put again.
    pub(super) doomed: Vec<Doomed>,
    /// Names of contents that are being removed. While a name is here, no repository puts or names a content under it.
    pub(super) leaving: Vec<Leaving>,
}

/// A checkpoint that is no longer in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) name: String,
    pub(crate) since: Instant,
}

/// Contents that were found to be unnamed at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Doomed {
    pub(super) since: Instant,
    /// The first bytes of their digests. Two contents with the same beginning are taken off together, which delays a removal.
    pub(super) beginnings: BTreeSet<[u8; BEGINNING_BYTES]>,
}

/// A name of a content that is being removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    pub(super) name: ContentName,
    pub(super) since: Instant,
    /// Whose writer removes it.
    pub(super) term: Term,
}

/// The first bytes of a digest.
pub(super) fn beginning(sha256: &Sha256) -> [u8; BEGINNING_BYTES] {
    sha256.0.first_chunk().copied().unwrap_or_default()
}

impl Upkeep {
    /// The state before the first writer.
    pub(super) fn new(writer: Token) -> Upkeep {
        Upkeep {
            term: Term(0),
            writer,
            count: 0,
            checkpoints: Vec::new(),
            replaced: Vec::new(),
            doomed: Vec::new(),
            leaving: Vec::new(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new(Vec::new());
        // Writing to memory cannot fail.
        let _ = self.write(&mut out);
        out.into_writer()
    }

    fn write(
        &self,
        out: &mut Encoder<Vec<u8>>,
    ) -> std::result::Result<(), minicbor::encode::Error<std::convert::Infallible>> {
        out.array(ELEMENTS)?.u8(FORMAT)?.u64(self.term.0)?.u64(self.count)?;
        out.array(widen(self.checkpoints.len()))?;
        for name in &self.checkpoints {
            out.str(name)?;
        }
        out.array(widen(self.replaced.len()))?;
        for Replaced { name, since } in &self.replaced {
            out.array(2)?.str(name)?.i64(since.micros())?;
        }
        out.array(widen(self.doomed.len()))?;
        for Doomed { since, beginnings } in &self.doomed {
            let beginnings: Vec<u8> = beginnings.iter().flatten().copied().collect();
            out.array(2)?.i64(since.micros())?.bytes(&beginnings)?;
        }
        out.array(widen(self.leaving.len()))?;
        for Leaving { name, since, term } in &self.leaving {
            out.array(LEAVING_ELEMENTS)?.bytes(&name.sha256.0)?.u32(name.number)?;
            out.i64(since.micros())?.u64(term.0)?;
        }
        out.bytes(&self.writer.0.to_le_bytes())?;
        Ok(())
    }

    /// Errors: `Corrupted`; `NewerFormat`.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Upkeep> {
        let (mut input, count) = open(bytes)?;
        end(Upkeep::read(&mut input, count))
    }

    fn read(input: &mut Decoder<'_>, count: u64) -> std::result::Result<Upkeep, Malformed> {
        let term = Term(input.u64()?);
        let mut upkeep = Upkeep { term, ..Upkeep::new(Token(0)) };
        // An earlier version had the term and its writer only.
        if count > 3 {
            upkeep.count = input.u64()?;
            upkeep.checkpoints = list(input, |input| Ok(input.str()?.to_owned()))?;
            upkeep.replaced = list(input, |input| {
                input.array()?;
                Ok(Replaced { name: input.str()?.to_owned(), since: read_instant(input)? })
            })?;
            upkeep.doomed = list(input, |input| {
                input.array()?;
                let since = read_instant(input)?;
                let (beginnings, rest) = input.bytes()?.as_chunks();
                match rest.is_empty() {
                    true => Ok(Doomed { since, beginnings: beginnings.iter().copied().collect() }),
                    false => Err(Malformed::message("beginnings of digests have 8 bytes each")),
                }
            })?;
            upkeep.leaving = list(input, |input| {
                input.array()?;
                let sha256 = <[u8; 32]>::try_from(input.bytes()?);
                let sha256 = Sha256(sha256.map_err(|_| Malformed::message("a digest has 32 bytes"))?);
                let name = ContentName { sha256, number: input.u32()? };
                Ok(Leaving { name, since: read_instant(input)?, term: Term(input.u64()?) })
            })?;
        }
        upkeep.writer = read_token(input)?;
        Ok(upkeep)
    }
}

/// Reads an array. Its length is bounded by that of the value.
fn list<T>(
    input: &mut Decoder<'_>,
    mut read: impl FnMut(&mut Decoder<'_>) -> std::result::Result<T, Malformed>,
) -> std::result::Result<Vec<T>, Malformed> {
    let count = input.array()?.ok_or_else(|| Malformed::message("an array tells its length"))?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(read(input)?);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn values_read_back_and_others_are_refused() {
        let at = |micros| Instant::from_micros(micros).unwrap();
        let upkeep = Upkeep {
            term: Term(3),
            writer: Token(u128::MAX),
            count: 300,
            checkpoints: vec!["b".to_owned(), "a".to_owned()],
            replaced: vec![Replaced { name: "c".to_owned(), since: at(-5) }],
            doomed: vec![
                Doomed { since: at(1), beginnings: BTreeSet::from([[1; 8], [2; 8]]) },
                Doomed { since: at(2), beginnings: BTreeSet::new() },
            ],
            leaving: vec![Leaving {
                name: ContentName { sha256: Sha256([9; 32]), number: 4 },
                since: at(7),
                term: Term(2),
            }],
        };
        let bytes = upkeep.encode();
        assert_eq!(Upkeep::decode(&bytes).unwrap(), upkeep);
        for length in 0..bytes.len() {
            assert_eq!(Upkeep::decode(&bytes[..length]).unwrap_err().kind(), ErrorKind::Corrupted);
        }
        let mut newer = bytes;
        newer[1] = 2;
        assert_eq!(Upkeep::decode(&newer).unwrap_err().kind(), ErrorKind::NewerFormat);
        let mut earlier = Encoder::new(Vec::new());
        earlier.array(3).unwrap().u8(1).unwrap().u64(3).unwrap().bytes(&[255; 16]).unwrap();
        let expected = Upkeep { term: Term(3), ..Upkeep::new(Token(u128::MAX)) };
        assert_eq!(Upkeep::decode(&earlier.into_writer()).unwrap(), expected);
    }
}
