//! Decodes records. For any bytes the result is a record or an error, never a panic or a large allocation.

use std::sync::Arc;

use minicbor::Decoder;
use minicbor::data::Type;

use super::coded_id::decode_id;
use super::provenance::{decode_origin, decode_provenance, instant};
use super::type_definition::decode_type;
use super::value::{self, Read, array, decode_value, malformed, map, room, skip_rest};
use super::{change_key, record_key, step_code};
use crate::graph::actions::bag::Bag;
use crate::model::{
    Action, Anchor, AnchoredClassification, Change, ClassificationContent, ClassificationCopy, InstanceId,
    Instant, Patch, PatchStep, Provenance, Record, Stamp, Value,
};
use crate::{Error, ErrorKind, IdempotencyKey, Position, Result};

type Properties = Vec<(Arc<str>, Value)>;

/// The record at `position`.
///
/// Errors: `Corrupted` if the bytes are not a record; `NewerFormat` for an action that this version does not know.
pub(crate) fn decode_record(position: Position, bytes: &[u8]) -> Result<Record> {
    let mut changes = Vec::new();
    let frame = read_record(bytes, |change| changes.push(change)).map_err(|error| at(position, error))?;
    Ok(Record { changes, ..frame })
}

/// A record that decodes its changes one by one; the time for one does not depend on their number.
pub(crate) struct IndexedRecord {
    position: Position,
    bytes: Vec<u8>,
    /// The record without its changes.
    pub(crate) head: Record,
    names: Vec<Arc<str>>,
    // The offset of each change in `bytes`.
    offsets: Vec<u32>,
}

impl IndexedRecord {
    /// Errors: as [`decode_record`], for the head and the boundaries of the changes; their content is not checked.
    pub(crate) fn new(position: Position, bytes: Vec<u8>) -> Result<IndexedRecord> {
        let mut offsets = Vec::new();
        let (head, names) = read_frame(&bytes, |input, _| {
            offsets.push(u32::try_from(input.position()).map_err(|_| malformed("a record is over 4 GiB"))?);
            Ok(input.skip()?)
        })
        .map_err(|error| at(position, error))?;
        Ok(IndexedRecord { position, bytes, head, names, offsets })
    }

    /// Change number `index` (from 0).
    ///
    /// Errors: `Corrupted` if it does not exist or cannot be decoded; `NewerFormat`.
    pub(crate) fn change(&self, index: u32) -> Result<Change> {
        let Some(&offset) = self.offsets.get(value::index(index)) else {
            let text = format!("record {}: expected a change number {index}, found none", self.position);
            return Err(Error::new(ErrorKind::Corrupted, text));
        };
        let mut input = Decoder::new(&self.bytes);
        input.set_position(value::index(offset));
        Reader { input: &mut input, names: &self.names }.change().map_err(|error| at(self.position, error))
    }

    /// How many changes it has.
    pub(crate) fn changes_count(&self) -> u32 {
        u32::try_from(self.offsets.len()).unwrap_or(u32::MAX)
    }

    /// Size of change number `index`. Units: bytes.
    pub(crate) fn change_bytes(&self, index: u32) -> usize {
        let offset = |index: usize| self.offsets.get(index).map(|offset| value::index(*offset));
        let start = offset(value::index(index)).unwrap_or(self.bytes.len());
        offset(value::index(index).saturating_add(1)).unwrap_or(self.bytes.len()).saturating_sub(start)
    }

    /// The names that its changes refer to.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Its approximate size in memory. Units: bytes.
    pub(crate) fn bytes_count(&self) -> usize {
        self.bytes.len() + 4 * self.offsets.len() + 64 * self.names.len()
    }
}

enum Failure {
    Malformed(minicbor::decode::Error),
    Newer(String),
}

impl From<minicbor::decode::Error> for Failure {
    fn from(error: minicbor::decode::Error) -> Failure {
        Failure::Malformed(error)
    }
}

fn at(position: Position, failure: Failure) -> Error {
    match failure {
        Failure::Malformed(source) => Error::new(
            ErrorKind::Corrupted,
            format!("record {position}: expected a record in CBOR; restore the log from a backup"),
        )
        .caused_by(source),
        Failure::Newer(what) => Error::new(
            ErrorKind::NewerFormat,
            format!("record {position}: found {what}, which this version does not know; use a newer version"),
        ),
    }
}

fn read_record(bytes: &[u8], mut take: impl FnMut(Change)) -> std::result::Result<Record, Failure> {
    let (record, _) = read_frame(bytes, |input, names| {
        take(Reader { input, names }.change()?);
        Ok(())
    })?;
    Ok(record)
}

/// Reads a record except its changes, which `read_change` reads or skips; also returns the names.
fn read_frame(
    bytes: &[u8],
    mut read_change: impl FnMut(&mut Decoder, &[Arc<str>]) -> std::result::Result<(), Failure>,
) -> std::result::Result<(Record, Vec<Arc<str>>), Failure> {
    let mut input = Decoder::new(bytes);
    let mut record = Record {
        instant: Instant::default(),
        author: "".into(),
        message: "".into(),
        valid_from: None,
        idempotency_key: None,
        changes: Vec::new(),
    };
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut has_changes = false;
    for _ in 0..map(&mut input)? {
        match input.u32()? {
            record_key::INSTANT => record.instant = instant(&mut input)?,
            record_key::AUTHOR => record.author = input.str()?.into(),
            record_key::MESSAGE => record.message = input.str()?.into(),
            record_key::VALID_FROM => record.valid_from = Some(instant(&mut input)?),
            record_key::NAMES => {
                let length = array(&mut input)?;
                names.reserve(room(length));
                for _ in 0..length {
                    names.push(input.str()?.into());
                }
            }
            record_key::CHANGES => {
                has_changes = true;
                for _ in 0..array(&mut input)? {
                    read_change(&mut input, &names)?;
                }
            }
            record_key::IDEMPOTENCY_KEY => {
                let bytes =
                    input.bytes()?.try_into().map_err(|_| malformed("an idempotency key has 24 bytes"))?;
                record.idempotency_key = Some(IdempotencyKey(bytes));
            }
            _ => input.skip()?,
        }
    }
    if !has_changes || input.position() != bytes.len() {
        return Err(malformed("a record ends with its changes").into());
    }
    Ok((record, names))
}

/// Reads the changes of one record, whose names are known.
struct Reader<'a, 'b> {
    input: &'a mut Decoder<'b>,
    names: &'a [Arc<str>],
}

impl Reader<'_, '_> {
    fn change(&mut self) -> std::result::Result<Change, Failure> {
        let (mut code, mut valid_from, mut anchor) = (None, None, None);
        let mut bag = Bag::default();
        for _ in 0..map(self.input)? {
            match self.input.u32()? {
                change_key::ACTION => code = Some(self.input.u32()?),
                change_key::ID => bag.id = Some(decode_id(self.input)?),
                change_key::NAME => bag.name = Some(self.name()?),
                change_key::PROPERTIES => bag.properties = Some(self.properties()?),
                change_key::FROM => bag.from = Some(decode_id(self.input)?),
                change_key::TO => bag.to = Some(decode_id(self.input)?),
                change_key::VALID_FROM => valid_from = Some(instant(self.input)?),
                change_key::PATCH => bag.patch = Some(self.patch()?),
                change_key::ANCHOR => anchor = Some(self.anchor()?),
                change_key::CLASSIFICATIONS => bag.classifications = Some(self.classifications()?),
                change_key::WITH_RELATIONSHIPS => bag.with_relationships = Some(self.input.bool()?),
                change_key::TYPE => bag.definition = Some(decode_type(self.input)?),
                change_key::STATUS => bag.status = Some(self.input.str()?.into()),
                change_key::PROVENANCE => bag.provenance = Some(decode_provenance(self.input)?),
                change_key::NEW_ID => bag.new_id = Some(decode_id(self.input)?),
                change_key::TEXT => bag.text = Some(self.input.str()?.into()),
                change_key::ORIGIN => bag.origin = Some(decode_origin(self.input)?),
                change_key::COPIED => bag.copied = Some(self.copied()?),
                change_key::INSTANCES => bag.instances = Some(self.instances()?),
                _ => self.input.skip()?,
            }
        }
        let code = code.ok_or_else(|| malformed("a change has no action"))?;
        let action = Action::of(code, bag).ok_or_else(|| Failure::Newer(format!("action {code}")))?;
        let action = action.ok_or_else(|| malformed("a change misses an entry that its action needs"))?;
        Ok(Change { action, valid_from, anchor })
    }

    fn name(&mut self) -> Read<Arc<str>> {
        let number = value::index(self.input.u32()?);
        self.names.get(number).cloned().ok_or_else(|| malformed("a name has no entry in the record's names"))
    }

    fn properties(&mut self) -> Read<Properties> {
        let length = map(self.input)?;
        let mut properties = Vec::with_capacity(room(length));
        for _ in 0..length {
            properties.push((self.name()?, decode_value(self.input)?));
        }
        Ok(properties)
    }

    fn classifications(&mut self) -> Read<Vec<ClassificationContent>> {
        (0..array(self.input)?)
            .map(|_| {
                let length = array(self.input)?;
                if length < 2 {
                    return Err(malformed("a classification is not [name, properties, provenance]"));
                }
                let (name, properties) = (self.name()?, self.properties()?);
                let provenance = self.last_provenance(length, 2)?;
                Ok(ClassificationContent { name, properties, provenance })
            })
            .collect()
    }

    fn copied(&mut self) -> Read<Vec<ClassificationCopy>> {
        (0..array(self.input)?)
            .map(|_| {
                let length = array(self.input)?;
                if length < 4 {
                    return Err(malformed("a copied classification does not have four parts"));
                }
                let (name, properties) = (self.name()?, self.properties()?);
                let provenance = decode_provenance(self.input)?;
                let (version, created, updated) = decode_origin(self.input)?;
                skip_rest(self.input, length, 4)?;
                Ok(ClassificationCopy { name, properties, provenance, version, created, updated })
            })
            .collect()
    }

    fn instances(&mut self) -> Read<Vec<InstanceId>> {
        (0..array(self.input)?)
            .map(|_| {
                let length = array(self.input)?;
                if length < 2 {
                    return Err(malformed("an instance of a list is not [kind, id]"));
                }
                let instance = match self.input.u32()? {
                    0 => InstanceId::Entity(decode_id(self.input)?),
                    1 => InstanceId::Relationship(decode_id(self.input)?),
                    _ => {
                        return Err(malformed(
                            "an instance of a list is neither an entity nor a relationship",
                        ));
                    }
                };
                skip_rest(self.input, length, 2)?;
                Ok(instance)
            })
            .collect()
    }

    fn anchor(&mut self) -> Read<Anchor> {
        if array(self.input)? != 2 {
            return Err(malformed("an anchor is not [properties, classifications]"));
        }
        let properties = self.properties()?;
        let classifications = (0..array(self.input)?)
            .map(|_| {
                let length = array(self.input)?;
                if length < 7 {
                    return Err(malformed("an anchor's classification does not have seven or eight parts"));
                }
                let (name, version) = (self.name()?, self.input.u32()?);
                let (created, updated) = (self.stamp()?, self.stamp()?);
                let properties = self.properties()?;
                let provenance = self.last_provenance(length, 7)?;
                let content = ClassificationContent { name, properties, provenance };
                Ok(AnchoredClassification { content, version, created, updated })
            })
            .collect::<Read<_>>()?;
        Ok(Anchor { properties, classifications })
    }

    /// The parts of an array of `length` after the `known` ones: a provenance or null, and parts that a newer version
    /// may have added.
    fn last_provenance(&mut self, length: usize, known: usize) -> Read<Option<Arc<Provenance>>> {
        if length == known {
            return Ok(None);
        }
        let provenance = match self.input.datatype()? {
            Type::Null => {
                self.input.skip()?;
                None
            }
            _ => Some(Arc::new(decode_provenance(self.input)?)),
        };
        skip_rest(self.input, length, known + 1)?;
        Ok(provenance)
    }

    fn stamp(&mut self) -> Read<Stamp> {
        Ok(Stamp { instant: instant(self.input)?, author: self.name()? })
    }

    fn patch(&mut self) -> Read<Patch> {
        let steps = (0..array(self.input)?).map(|_| self.step()).collect::<Read<_>>()?;
        Ok(Patch { steps })
    }

    fn step(&mut self) -> Read<PatchStep> {
        let length = array(self.input)?;
        let code = self.input.u32()?;
        let step = match (code, length) {
            (step_code::SET, 3) => PatchStep::Set(self.name()?, decode_value(self.input)?),
            (step_code::UNSET, 2) => PatchStep::Unset(self.name()?),
            (step_code::ADD, 3) => PatchStep::Add(self.name()?, decode_value(self.input)?),
            (step_code::REMOVE, 3) => PatchStep::Remove(self.name()?, decode_value(self.input)?),
            (step_code::CLEAR, 1) => PatchStep::Clear,
            _ => return Err(malformed("a patch step is none of set, unset, add, remove, clear")),
        };
        Ok(step)
    }
}
