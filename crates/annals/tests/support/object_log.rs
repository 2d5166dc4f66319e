//! A log as an object store would keep it: one object for each append call, put only if no object has its name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use annals::log::{Appended, Call, Log, LogId, ReadBatch, ReadLimit, check_append, check_next, check_read};
use annals::{Error, ErrorKind, Position, Result};

/// Objects by the position of their first record. Clones share them, as processes share a bucket.
#[derive(Clone)]
pub struct ObjectLog {
    id: LogId,
    objects: Arc<Mutex<BTreeMap<u64, Vec<u8>>>>,
}

impl ObjectLog {
    pub fn new() -> ObjectLog {
        ObjectLog { id: LogId::random(), objects: Arc::default() }
    }

    pub fn objects_count(&self) -> usize {
        self.objects.lock().unwrap().len()
    }

    /// Changes a byte of the object with the first record at a position.
    pub fn damage(&self, first: u64) {
        let mut objects = self.objects.lock().unwrap();
        *objects.get_mut(&first).expect("an object").last_mut().expect("a byte") ^= 1;
    }
}

/// The records of an object, after the token of the call: each has its checksum and its length before it.
fn decode(name: u64, mut object: &[u8]) -> Result<Vec<&[u8]>> {
    let damaged = || Error::new(ErrorKind::Corrupted, format!("object {name}: expected whole records"));
    let mut records = Vec::new();
    object = object.get(16..).ok_or_else(damaged)?;
    while let Some((head, rest)) = object.split_first_chunk::<8>() {
        let [sum, length] = [0, 4].map(|at| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()));
        let (record, rest) = rest.split_at_checked(length as usize).ok_or_else(damaged)?;
        if crc32c::crc32c(record) != sum {
            return Err(damaged());
        }
        records.push(record);
        object = rest;
    }
    if object.is_empty() { Ok(records) } else { Err(damaged()) }
}

fn encode(call: &Call<'_>) -> Vec<u8> {
    let mut object = call.token.0.to_le_bytes().to_vec();
    for record in call.records {
        object.extend(crc32c::crc32c(record).to_le_bytes());
        object.extend((record.len() as u32).to_le_bytes());
        object.extend_from_slice(record);
    }
    object
}

fn tail_of(objects: &BTreeMap<u64, Vec<u8>>) -> Result<Position> {
    let Some((first, object)) = objects.last_key_value() else { return Ok(Position::ZERO) };
    Ok(Position(first + decode(*first, object)?.len() as u64 - 1))
}

impl Log for ObjectLog {
    fn tail(&self) -> Result<Position> {
        tail_of(&self.objects.lock().unwrap())
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if let Err(error) = check_append(self, call) {
            return Appended::Refused(error);
        }
        let mut objects = self.objects.lock().unwrap();
        let tail = match tail_of(&objects) {
            Ok(tail) => tail,
            Err(error) => return Appended::Refused(error),
        };
        if objects.get(&call.at.0).is_some_and(|object| object.starts_with(&call.token.0.to_le_bytes())) {
            return Appended::Stored;
        }
        if let Some(outcome) = check_next(self, call.at, tail) {
            return outcome;
        }
        objects.insert(call.at.0, encode(call));
        Appended::Stored
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        let objects = self.objects.lock().unwrap();
        let mut batch = ReadBatch::new(limit);
        let start = objects.range(..=from.0).next_back().map_or(1, |(first, _)| *first);
        'objects: for (first, object) in objects.range(start..) {
            let skipped = from.0.saturating_sub(*first) as usize;
            for record in decode(*first, object)?.into_iter().skip(skipped) {
                if !batch.offer(record) || batch.is_full() {
                    break 'objects;
                }
            }
        }
        Ok(batch.into_records())
    }

    fn describe(&self) -> String {
        "object log".to_owned()
    }

    fn id(&self) -> LogId {
        self.id
    }
}
