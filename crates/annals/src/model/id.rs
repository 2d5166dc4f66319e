//! Ids of entities and relationships: a UUID, or any text of at most 255 bytes.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::structures::number::bytes_at;
use crate::{Error, ErrorKind, Result};

/// Longest text id, in bytes.
pub const ID_BYTES_MAX: usize = 255;
/// Id of the default root, from which paths start.
pub const ROOT_ID: &str = "root";

/// Names one entity, or one relationship. Entities and relationships have separate id spaces.
///
/// A text that is a UUID in its canonical form (36 characters, lower case) is stored as a UUID, so
/// `Id::from("0190…")` and the UUID itself are the same id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(IdForm);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IdForm {
    Uuid([u8; 16]),
    Text(Arc<str>),
}

impl Id {
    /// A fresh UUID version 7: unique, and ordered by the time it was made.
    pub fn random() -> Id {
        Id(IdForm::Uuid(FRESH.with_borrow_mut(Fresh::next)))
    }

    /// For tests, which repeat a history: the fresh ids of this thread follow from `seed`, not from the clock.
    #[doc(hidden)]
    pub fn repeat_random(seed: u64) {
        FRESH.with_borrow_mut(|fresh| *fresh = Fresh { seed: Some(seed), ..Fresh::new() });
    }

    /// The id with these sixteen bytes.
    pub fn from_uuid_bytes(bytes: [u8; 16]) -> Id {
        Id(IdForm::Uuid(bytes))
    }

    /// The id written as `text`.
    ///
    /// `.` and `..` are ids in old logs; a transaction refuses them for new instances.
    /// Errors: `InvalidArgument` if it is empty, longer than [`ID_BYTES_MAX`] bytes or has control characters.
    pub fn new(text: &str) -> Result<Id> {
        if text.is_empty() || text.len() > ID_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("id: expected 1 to {ID_BYTES_MAX} bytes, found {}", text.len()),
            ));
        }
        // Most ids are ASCII, and a checkpoint has very many.
        let is_plain = text.bytes().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(&byte));
        if !is_plain && text.chars().any(char::is_control) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("id {text:?}: expected no control characters; remove them"),
            ));
        }
        if let Some(bytes) = canonical_uuid(text) {
            return Ok(Id(IdForm::Uuid(bytes)));
        }
        Ok(Id(IdForm::Text(text.into())))
    }

    /// [`ROOT_ID`] as an id.
    pub(crate) fn root() -> Id {
        Id(IdForm::Text(ROOT_ID.into()))
    }

    /// True for `.` and `..`, which clients remove from paths: such an instance cannot be reached over HTTP.
    pub(crate) fn is_dots(&self) -> bool {
        matches!(self.text(), Some("." | ".."))
    }

    /// The sixteen bytes if this id is a UUID.
    pub fn uuid_bytes(&self) -> Option<&[u8; 16]> {
        match &self.0 {
            IdForm::Uuid(bytes) => Some(bytes),
            IdForm::Text(_) => None,
        }
    }

    /// Its bytes if it is of the kind that is made here, a UUID of version 7. One id of another kind may come after all
    /// of these.
    #[inline]
    pub(crate) fn fresh_bytes(&self) -> Option<&[u8; 16]> {
        self.uuid_bytes().filter(|bytes| bytes[6] >> 4 == 7)
    }

    /// The text if this id is not a UUID.
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            IdForm::Uuid(_) => None,
            IdForm::Text(text) => Some(text),
        }
    }
}

thread_local! {
    static FRESH: RefCell<Fresh> = const { RefCell::new(Fresh::new()) };
}

/// Units: bytes of randomness requested together. The system call for them is most of the cost of an id.
const RANDOM_BYTES: usize = 512;

/// Makes the ids of one thread. Shape: milliseconds (48 bits), their 4096th parts (12 bits), and 62 bits that are
/// random for the first id in such a part, and grow by a random step for the next ones.
///
/// Source: RFC 9562, sections 5.7 and 6.2, methods 2 and 3.
struct Fresh {
    // The time of the last id. Units: 4096th parts of a millisecond.
    time: u64,
    // The other bits of the last id.
    low: u64,
    random: [u8; RANDOM_BYTES],
    // How many bytes of `random` are unused.
    left: usize,
    // In tests that repeat a history: the state of random numbers that anybody can guess.
    seed: Option<u64>,
}

impl Fresh {
    const LOW_BITS: u32 = 62;

    const fn new() -> Fresh {
        Fresh { time: 0, low: 0, random: [0; RANDOM_BYTES], left: 0, seed: None }
    }

    fn next(&mut self) -> [u8; 16] {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let parts = u64::from(since.subsec_nanos() % 1_000_000) * 4096 / 1_000_000;
        let time = (since.as_secs() * 1_000 + u64::from(since.subsec_millis())) << 12 | parts;
        let (time, random) = match self.repeated() {
            Some(random) => (self.time + (random & 7), random),
            None => (time, self.random()),
        };
        let step = (random >> 32) + 1;
        if time > self.time {
            // One bit is free for the steps to come.
            (self.time, self.low) = (time, random >> (64 - Self::LOW_BITS + 1));
        } else if self.low + step < 1 << Self::LOW_BITS {
            self.low += step;
        } else {
            (self.time, self.low) = (self.time + 1, random >> (64 - Self::LOW_BITS + 1));
        }
        self.bytes()
    }

    /// The next random number of a repeated history. Source: SplitMix64.
    fn repeated(&mut self) -> Option<u64> {
        let state = self.seed.as_mut()?;
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(mixed ^ (mixed >> 31))
    }

    fn bytes(&self) -> [u8; 16] {
        let high = (self.time >> 12) << 16 | 0x7000 | (self.time & 0xfff);
        (u128::from(high) << 64 | 0b10 << Self::LOW_BITS | u128::from(self.low)).to_be_bytes()
    }

    #[expect(clippy::expect_used, reason = "without random bytes, two instances could have one id")]
    fn random(&mut self) -> u64 {
        if self.left == 0 {
            getrandom::fill(&mut self.random).expect("the system gives random bytes");
            self.left = RANDOM_BYTES;
        }
        self.left -= 8;
        u64::from_ne_bytes(bytes_at(&self.random, self.left))
    }
}

fn canonical_uuid(text: &str) -> Option<[u8; 16]> {
    let is_canonical = text.len() == 36 && !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if !is_canonical {
        return None;
    }
    uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            IdForm::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).hyphenated().fmt(f),
            IdForm::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::str::FromStr for Id {
    type Err = Error;
    fn from_str(text: &str) -> Result<Id> {
        Id::new(text)
    }
}

impl From<uuid::Uuid> for Id {
    fn from(uuid: uuid::Uuid) -> Id {
        Id(IdForm::Uuid(uuid.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_uuid_text_is_the_uuid() {
        let id = Id::random();
        assert_eq!(Id::new(&id.to_string()).unwrap(), id);
        assert!(Id::new("6BA7B810-9DAD-11D1-80B4-00C04FD430C8").unwrap().text().is_some());
    }

    #[test]
    fn fresh_ids_are_of_version_7_and_of_now_and_ascend() {
        let millis = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let (begin, ids) = (millis(), (0..10_000).map(|_| Id::random()).collect::<Vec<Id>>());
        let end = millis();
        assert!(ids.is_sorted_by(|one, next| one < next));
        for id in ids {
            let uuid = uuid::Uuid::from_bytes(*id.uuid_bytes().unwrap());
            assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
            let (seconds, nanos) = uuid.get_timestamp().unwrap().to_unix();
            assert!((begin..=end).contains(&(seconds * 1_000 + u64::from(nanos / 1_000_000))));
        }
    }

    #[test]
    fn fresh_ids_ascend_when_the_clock_stands_or_runs_back_and_steps_run_out() {
        let last = |time, low| Fresh { time, low, ..Fresh::new() };
        for mut fresh in [last(u64::MAX >> 5, 5), last(u64::MAX >> 5, (1 << Fresh::LOW_BITS) - 1)] {
            let (before, after) = (fresh.bytes(), fresh.next());
            assert!(before < after);
            assert_eq!(uuid::Uuid::from_bytes(after).get_version_num(), 7);
        }
    }

    #[test]
    fn fresh_ids_of_many_threads_differ() {
        let make = || (0..10_000).map(|_| Id::random()).collect::<Vec<Id>>();
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(make)).collect();
        let ids: Vec<Id> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn empty_long_and_control_ids_are_refused() {
        for bad in ["", &"x".repeat(256), "a\nb"] {
            assert_eq!(Id::new(bad).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        assert!(Id::new(&"x".repeat(255)).is_ok());
    }
}
