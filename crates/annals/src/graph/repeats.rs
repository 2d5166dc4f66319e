//! The latest idempotency keys: the commit that a request has made already.

use crate::IdempotencyKey;
use crate::structures::key_set::KeySet;
use crate::{Error, ErrorKind, Position, Result};

/// Most keys that a graph knows; the oldest ones are forgotten first.
const KNOWN_MAX: usize = 65_536;

/// The latest idempotency keys, with the positions of their commits.
#[derive(Clone)]
pub(crate) struct Repeats {
    /// Shape: the name of a key (16), its position (8, big endian), the rest of the key (8).
    by_key: KeySet,
    /// Shape: position (8, big endian), key (24).
    by_position: KeySet,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats { by_key: KeySet::new(), by_position: KeySet::new() }
    }
}

impl Repeats {
    /// Notes the key of the record at `position`. A key that is known keeps its first commit.
    pub(crate) fn add(&mut self, position: Position, key: &IdempotencyKey) {
        let name = name_of(key);
        if self.by_key.prefix(name).next().is_some() {
            return;
        }
        let position = position.0.to_be_bytes();
        self.by_key.insert(&[name, &position, &key.0[IdempotencyKey::NAME_BYTES..]].concat());
        self.by_position.insert(&[&position[..], &key.0].concat());
        if self.by_position.len() > KNOWN_MAX
            && let Some(oldest) = self.by_position.iter().next().map(|oldest| oldest.to_vec())
        {
            let (position, key) = oldest.split_at(8);
            let (name, request) = key.split_at(IdempotencyKey::NAME_BYTES);
            self.by_key.remove(&[name, position, request].concat());
            self.by_position.remove(&oldest);
        }
    }

    /// The position of the commit with this key.
    ///
    /// Errors: `InvalidArgument` if it was the key of another request.
    pub(crate) fn find(&self, key: &IdempotencyKey) -> Result<Option<Position>> {
        let name = name_of(key);
        let Some(found) = self.by_key.prefix(name).next() else { return Ok(None) };
        let position = u64::from_be_bytes(found.bytes_at(name.len()));
        if found.bytes_at::<8>(name.len() + 8) == key.0[IdempotencyKey::NAME_BYTES..] {
            return Ok(Some(Position(position)));
        }
        let text = format!(
            "idempotency key: expected one for this request only, found that of another request, which was committed at position \
             {position}; take a new key for each request"
        );
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    /// Refuses a key that is known, where all records up to `durable` are durable.
    ///
    /// Errors: `AlreadyExists`; `Conflict` if its record is not durable yet: whether it will be is known at the next try. Those of
    /// [`Repeats::find`].
    pub(crate) fn check_new(&self, key: &IdempotencyKey, durable: Position) -> Result<()> {
        let Some(position) = self.find(key)? else { return Ok(()) };
        if position > durable {
            let text = "idempotency key: this request is being committed; try again";
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        let text = format!(
            "idempotency key: this request was committed at position {position}; ask for its receipt"
        );
        Err(Error::new(ErrorKind::AlreadyExists, text))
    }

    /// All keys in the order of their positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, IdempotencyKey)> {
        self.by_position
            .iter()
            .map(|known| (u64::from_be_bytes(known.bytes_at(0)), IdempotencyKey(known.bytes_at(8))))
    }
}

fn name_of(key: &IdempotencyKey) -> &[u8] {
    &key.0[..IdempotencyKey::NAME_BYTES]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_keys_are_forgotten_and_a_known_one_keeps_its_commit() {
        let key = |number: u64| IdempotencyKey::new("ada", &number.to_string(), "POST /v1/transactions");
        let mut repeats = Repeats::default();
        for number in 1..=70_000 {
            repeats.add(Position(number), &key(number));
        }
        repeats.add(Position(70_001), &key(70_000));
        let known: Vec<u64> = repeats.iter().map(|(position, _)| position).collect();
        assert_eq!((known.len(), known.first(), known.last()), (KNOWN_MAX, Some(&4_465), Some(&70_000)));
        assert_eq!(repeats.by_key.len(), KNOWN_MAX);
        assert_eq!(repeats.find(&key(4_464)).unwrap(), None);
        assert_eq!(repeats.find(&key(70_000)).unwrap(), Some(Position(70_000)));
        let other = IdempotencyKey::new("ada", "70000", "DELETE /v1/entities/x");
        assert_eq!(repeats.find(&other).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(repeats.find(&IdempotencyKey::new("grace", "70000", "")).unwrap(), None);
    }
}
