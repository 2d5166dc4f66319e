//! Encodes transactions. The committing thread encodes the body; the leader adds only the instant.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use minicbor::{Decoder, Encoder};
use smallvec::SmallVec;

use super::provenance::{encode_origin, encode_provenance};
use super::type_definition::encode_type;
use super::value::{INFALLIBLE, Sink, encode_value, length};
use super::{change_key, record_key, step_code};
use crate::graph::actions::bag::{BagRef, Key};
use crate::log::RECORD_BYTES_MAX;
use crate::model::{
    Action, Anchor, Change, ClassificationContent, ClassificationCopy, Id, InstanceId, Instant, Patch,
    PatchStep, Record, Value,
};

/// A record without its instant.
#[derive(Debug)]
pub(crate) struct RecordBody {
    // Number of entries of the record map that `bytes` holds.
    entries: u64,
    // The body from `HEAD_BYTES_MAX` on. The head ends there; it is written once the instant is known.
    bytes: Vec<u8>,
    // Offset of the head.
    start: usize,
    // Offset of the array of names.
    names_start: usize,
}

/// Units: bytes of the map's length and the instant, at most. This room is reserved, so that adding them copies
/// nothing.
const HEAD_BYTES_MAX: usize = 16;

/// Units: usual bytes of a change. A larger one gets its room when it is encoded.
const CHANGE_BYTES: usize = 256;
/// Units: usual bytes of author, message and names.
const TEXTS_BYTES: usize = 128;

impl RecordBody {
    pub(crate) fn encode(
        author: &str,
        message: &str,
        valid_from: Option<Instant>,
        changes: &[Change],
    ) -> RecordBody {
        let mut names = Names::default();
        let room = (HEAD_BYTES_MAX + CHANGE_BYTES * changes.len() + TEXTS_BYTES).min(RECORD_BYTES_MAX);
        let mut bytes = Vec::with_capacity(room);
        bytes.resize(HEAD_BYTES_MAX, 0);
        let mut out = Encoder::new(&mut bytes);
        out.array(length(changes.len())).expect(INFALLIBLE);
        for change in changes {
            encode_change(&mut out, &mut names, change);
        }

        // The part before the changes is known only now.
        let changes_end = bytes.len();
        let mut entries = 2;
        let mut out = Encoder::new(&mut bytes);
        for (key, text) in [(record_key::AUTHOR, author), (record_key::MESSAGE, message)] {
            if !text.is_empty() {
                out.u32(key).and_then(|out| out.str(text)).expect(INFALLIBLE);
                entries += 1;
            }
        }
        if let Some(instant) = valid_from {
            out.u32(record_key::VALID_FROM).and_then(|out| out.i64(instant.micros())).expect(INFALLIBLE);
            entries += 1;
        }
        out.u32(record_key::NAMES).expect(INFALLIBLE);
        let names_start = HEAD_BYTES_MAX + out.writer().len() - changes_end;
        let mut out = Encoder::new(&mut bytes);
        out.array(length(names.order.len())).expect(INFALLIBLE);
        for name in &names.order {
            out.str(name).expect(INFALLIBLE);
        }
        out.u32(record_key::CHANGES).expect(INFALLIBLE);
        let before = bytes.len() - changes_end;
        bytes.split_at_mut(HEAD_BYTES_MAX).1.rotate_right(before);
        RecordBody { entries, bytes, start: HEAD_BYTES_MAX, names_start }
    }

    /// The names of types, classifications and properties in it, each once.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut names = Decoder::new(self.bytes.get(self.names_start..).unwrap_or_default());
        let count = names.array().ok().flatten().unwrap_or(0);
        (0..count).map_while(move |_| names.str().ok())
    }

    /// Greatest length of the record with any instant. Units: bytes.
    pub(crate) fn record_bytes_max(&self) -> usize {
        self.bytes.len()
    }

    /// Completes the record, or changes its instant.
    pub(crate) fn set_instant(&mut self, instant: Instant) {
        let mut head = [0; HEAD_BYTES_MAX];
        let mut out = Encoder::new(minicbor::encode::write::Cursor::new(head.as_mut_slice()));
        out.map(self.entries + 1)
            .and_then(|out| out.u32(record_key::INSTANT)?.i64(instant.micros()))
            .expect("the head is at most 1 + 1 + 9 bytes");
        let length = out.writer().position();
        self.start = HEAD_BYTES_MAX - length;
        let room = self.bytes.split_at_mut(HEAD_BYTES_MAX).0;
        room.split_at_mut(self.start).1.copy_from_slice(head.split_at(length).0);
    }

    /// The whole record, once it has an instant.
    pub(crate) fn record(&self) -> &[u8] {
        self.bytes.split_at(self.start).1
    }
}

/// The bytes of a whole record.
pub(crate) fn encode_record(record: &Record) -> Vec<u8> {
    let mut body = RecordBody::encode(&record.author, &record.message, record.valid_from, &record.changes);
    body.set_instant(record.instant);
    body.record().to_vec()
}

/// The names of types and properties of one record: each is written once, and changes refer to it by its number.
#[derive(Default)]
struct Names<'a> {
    order: SmallVec<[&'a str; Names::LINEAR_MAX]>,
    numbers: Option<HashMap<&'a str, u32>>,
}

impl<'a> Names<'a> {
    /// Up to this many names are searched one by one, which is faster than hashing.
    const LINEAR_MAX: usize = 12;

    fn number(&mut self, name: &'a str) -> u32 {
        let next = u32::try_from(self.order.len()).expect("a record is smaller than 2^32 names");
        match &mut self.numbers {
            None => {
                // Usually both are the same memory, and comparing addresses is faster than comparing texts.
                let same = self.order.iter().position(|known| std::ptr::eq(*known, name));
                let found = same.or_else(|| self.order.iter().position(|known| *known == name));
                if let Some(found) = found {
                    return u32::try_from(found).expect("at most LINEAR_MAX");
                }
                self.order.push(name);
                if self.order.len() > Self::LINEAR_MAX {
                    let mut numbers = HashMap::new();
                    numbers.extend(self.order.iter().copied().zip(0..));
                    self.numbers = Some(numbers);
                }
                next
            }
            Some(numbers) => *numbers.entry(name).or_insert_with(|| {
                self.order.push(name);
                next
            }),
        }
    }
}

/// The bytes of a change that needs no names.
pub(super) fn encode_nameless(change: &Change) -> Vec<u8> {
    let (mut bytes, mut names) = (Vec::new(), Names::default());
    encode_change(&mut Encoder::new(&mut bytes), &mut names, change);
    assert!(names.order.is_empty(), "the change needs no names");
    bytes
}

fn encode_change<'a>(out: &mut Sink, names: &mut Names<'a>, change: &'a Change) {
    let extra = u64::from(change.valid_from.is_some()) + u64::from(change.anchor.is_some());
    encode_action(out, names, &change.action, extra);
    if let Some(instant) = change.valid_from {
        out.u32(change_key::VALID_FROM).and_then(|out| out.i64(instant.micros())).expect(INFALLIBLE);
    }
    if let Some(anchor) = &change.anchor {
        out.u32(change_key::ANCHOR).expect(INFALLIBLE);
        encode_anchor(out, names, anchor);
    }
}

/// Writes the map header for the action's own entries and `extra` more, then its own entries.
fn encode_action<'a>(out: &mut Sink, names: &mut Names<'a>, action: &'a Action, extra: u64) {
    let (codes, fields, bag) = action.parts();
    let own = fields.iter().filter(|field| bag.has(field.key)).count();
    out.map(1 + length(own) + extra)
        .and_then(|out| out.u32(change_key::ACTION)?.u32(codes.code(bag.kind)))
        .expect(INFALLIBLE);
    for field in fields {
        encode_entry(out, names, field.key, &bag);
    }
}

/// Writes an entry of the bag, if it exists.
fn encode_entry<'a>(out: &mut Sink, names: &mut Names<'a>, key: Key, bag: &BagRef<'a>) {
    match key {
        Key::Id => encode_some_id(out, change_key::ID, bag.id),
        Key::From => encode_some_id(out, change_key::FROM, bag.from),
        Key::To => encode_some_id(out, change_key::TO, bag.to),
        Key::NewId => encode_some_id(out, change_key::NEW_ID, bag.new_id),
        Key::Name => {
            if let Some(name) = bag.name {
                out.u32(change_key::NAME).and_then(|out| out.u32(names.number(name))).expect(INFALLIBLE);
            }
        }
        Key::Properties => {
            if let Some(properties) = bag.properties {
                out.u32(change_key::PROPERTIES).expect(INFALLIBLE);
                encode_properties(out, names, properties);
            }
        }
        Key::Patch => {
            if let Some(patch) = bag.patch {
                encode_patch(out, names, patch);
            }
        }
        Key::Classifications => {
            if let Some(classifications) = bag.classifications {
                encode_classifications(out, names, classifications);
            }
        }
        Key::WithRelationships => {
            if let Some(with) = bag.with_relationships {
                out.u32(change_key::WITH_RELATIONSHIPS).and_then(|out| out.bool(with)).expect(INFALLIBLE);
            }
        }
        Key::Type => {
            if let Some(definition) = bag.definition {
                out.u32(change_key::TYPE).expect(INFALLIBLE);
                encode_type(out, definition);
            }
        }
        Key::Status => encode_some_text(out, change_key::STATUS, bag.status),
        Key::Text => encode_some_text(out, change_key::TEXT, bag.text),
        Key::Provenance => {
            if let Some(provenance) = bag.provenance {
                out.u32(change_key::PROVENANCE).expect(INFALLIBLE);
                encode_provenance(out, provenance);
            }
        }
        Key::Origin => {
            if let Some((version, created, updated)) = bag.origin {
                out.u32(change_key::ORIGIN).expect(INFALLIBLE);
                encode_origin(out, version, created, updated);
            }
        }
        Key::Copied | Key::CopiedOne => {
            if let Some(copied) = bag.copied {
                out.u32(change_key::COPIED)
                    .and_then(|out| out.array(length(copied.len())))
                    .expect(INFALLIBLE);
                for copy in copied {
                    encode_copied(out, names, copy);
                }
            }
        }
        Key::Instances => {
            if let Some(instances) = bag.instances {
                encode_instances(out, instances);
            }
        }
    }
}

fn encode_some_id(out: &mut Sink, key: u32, id: Option<&Id>) {
    if let Some(id) = id {
        out.u32(key).expect(INFALLIBLE);
        encode_id(out, id);
    }
}

fn encode_some_text(out: &mut Sink, key: u32, text: Option<&Arc<str>>) {
    if let Some(text) = text {
        out.u32(key).and_then(|out| out.str(text)).expect(INFALLIBLE);
    }
}

// Shape: name, properties, provenance, origin.
fn encode_copied<'a>(out: &mut Sink, names: &mut Names<'a>, copy: &'a ClassificationCopy) {
    out.array(4).and_then(|out| out.u32(names.number(&copy.name))).expect(INFALLIBLE);
    encode_properties(out, names, &copy.properties);
    encode_provenance(out, &copy.provenance);
    encode_origin(out, copy.version, &copy.created, &copy.updated);
}

// Shape: for each one 0 for an entity or 1 for a relationship, and its id.
fn encode_instances(out: &mut Sink, instances: &[InstanceId]) {
    out.u32(change_key::INSTANCES).and_then(|out| out.array(length(instances.len()))).expect(INFALLIBLE);
    for instance in instances {
        let is_relationship = matches!(instance, InstanceId::Relationship(_));
        out.array(2).and_then(|out| out.u32(u32::from(is_relationship))).expect(INFALLIBLE);
        encode_id(out, instance.id());
    }
}

fn encode_id(out: &mut Sink, id: &Id) {
    match (id.uuid_bytes(), id.text()) {
        (Some(bytes), _) => out.bytes(bytes).map(drop).expect(INFALLIBLE),
        (None, text) => out.str(text.expect("an id is a UUID or a text")).map(drop).expect(INFALLIBLE),
    }
}

fn encode_properties<'a>(out: &mut Sink, names: &mut Names<'a>, properties: &'a [(Arc<str>, Value)]) {
    out.map(length(properties.len())).expect(INFALLIBLE);
    for (name, value) in properties {
        out.u32(names.number(name)).expect(INFALLIBLE);
        encode_value(out, value);
    }
}

fn encode_classifications<'a>(
    out: &mut Sink,
    names: &mut Names<'a>,
    classifications: &'a [ClassificationContent],
) {
    out.u32(change_key::CLASSIFICATIONS)
        .and_then(|out| out.array(length(classifications.len())))
        .expect(INFALLIBLE);
    for classification in classifications {
        let length = 2 + u64::from(classification.provenance.is_some());
        out.array(length).and_then(|out| out.u32(names.number(&classification.name))).expect(INFALLIBLE);
        encode_properties(out, names, &classification.properties);
        if let Some(provenance) = &classification.provenance {
            encode_provenance(out, provenance);
        }
    }
}

fn encode_anchor<'a>(out: &mut Sink, names: &mut Names<'a>, anchor: &'a Anchor) {
    out.array(2).expect(INFALLIBLE);
    encode_properties(out, names, &anchor.properties);
    out.array(length(anchor.classifications.len())).expect(INFALLIBLE);
    for anchored in &anchor.classifications {
        let provenance = anchored.content.provenance.as_ref();
        out.array(7 + u64::from(provenance.is_some()))
            .and_then(|out| out.u32(names.number(&anchored.content.name))?.u32(anchored.version))
            .expect(INFALLIBLE);
        for stamp in [&anchored.created, &anchored.updated] {
            out.i64(stamp.instant.micros())
                .and_then(|out| out.u32(names.number(&stamp.author)))
                .expect(INFALLIBLE);
        }
        encode_properties(out, names, &anchored.content.properties);
        if let Some(provenance) = provenance {
            encode_provenance(out, provenance);
        }
    }
}

fn encode_patch<'a>(out: &mut Sink, names: &mut Names<'a>, patch: &'a Patch) {
    out.u32(change_key::PATCH).and_then(|out| out.array(length(patch.steps.len()))).expect(INFALLIBLE);
    for step in &patch.steps {
        let (code, name, value) = match step {
            PatchStep::Set(name, value) => (step_code::SET, Some(name), Some(value)),
            PatchStep::Unset(name) => (step_code::UNSET, Some(name), None),
            PatchStep::Add(name, value) => (step_code::ADD, Some(name), Some(value)),
            PatchStep::Remove(name, value) => (step_code::REMOVE, Some(name), Some(value)),
            PatchStep::Clear => (step_code::CLEAR, None, None),
        };
        let length = 1 + u64::from(name.is_some()) + u64::from(value.is_some());
        out.array(length).and_then(|out| out.u32(code)).expect(INFALLIBLE);
        if let Some(name) = name {
            out.u32(names.number(name)).expect(INFALLIBLE);
        }
        if let Some(value) = value {
            encode_value(out, value);
        }
    }
}
