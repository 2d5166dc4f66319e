//! Encodes transactions. The committing thread encodes the body; the leader adds only the instant.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use minicbor::Decoder;
use smallvec::SmallVec;

use super::coded_id::encode_id;
use super::provenance::{encode_origin, encode_provenance};
use super::sink::Sink;
use super::type_definition::encode_type;
use super::value::encode_value;
use super::{change_key, record_key, step_code};
use crate::graph::actions::bag::{BagRef, Key};
use crate::log::RECORD_BYTES_MAX;
use crate::model::{
    Action, Anchor, AnchoredClassification, Change, ClassificationContent, ClassificationCopy, InstanceId,
    Instant, Patch, PatchStep, Record, Value,
};

/// A record without its instant.
#[derive(Debug)]
pub(crate) struct RecordBody {
    // Number of entries of the record map that `bytes` holds.
    entries: usize,
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
    /// That of a record; its instant does not count.
    pub(crate) fn of(record: &Record) -> RecordBody {
        let Record { author, message, valid_from, idempotency_key, changes, .. } = record;
        let mut names = Names::default();
        let room = (HEAD_BYTES_MAX + CHANGE_BYTES * changes.len() + TEXTS_BYTES).min(RECORD_BYTES_MAX);
        let mut bytes = Vec::with_capacity(room);
        bytes.resize(HEAD_BYTES_MAX, 0);
        let mut out = Sink::new(&mut bytes);
        out.list(changes, |out, change| encode_change(out, &mut names, change));

        // The part before the changes is known only now.
        let changes_end = bytes.len();
        let mut entries = 2;
        let mut out = Sink::new(&mut bytes);
        for (key, text) in [(record_key::AUTHOR, author), (record_key::MESSAGE, message)] {
            if !text.is_empty() {
                out.put(key).str(text);
                entries += 1;
            }
        }
        if let Some(instant) = valid_from {
            out.entry(record_key::VALID_FROM, instant.micros());
            entries += 1;
        }
        if let Some(key) = idempotency_key {
            out.put(record_key::IDEMPOTENCY_KEY).bytes(&key.0);
            entries += 1;
        }
        out.put(record_key::NAMES);
        let names_start = HEAD_BYTES_MAX + bytes.len() - changes_end;
        let mut out = Sink::new(&mut bytes);
        out.list(&names.order, |out, name| _ = out.str(name));
        out.put(record_key::CHANGES);
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
        let mut head = Vec::with_capacity(HEAD_BYTES_MAX);
        Sink::new(&mut head).map(self.entries + 1).entry(record_key::INSTANT, instant.micros());
        self.start = HEAD_BYTES_MAX - head.len();
        let room = self.bytes.split_at_mut(HEAD_BYTES_MAX).0;
        room.split_at_mut(self.start).1.copy_from_slice(&head);
    }

    /// The whole record, once it has an instant.
    pub(crate) fn record(&self) -> &[u8] {
        self.bytes.split_at(self.start).1
    }
}

/// The bytes of a whole record.
pub(crate) fn encode_record(record: &Record) -> Vec<u8> {
    let mut body = RecordBody::of(record);
    body.set_instant(record.instant);
    body.record().to_vec()
}

/// The names of types and properties of one record: each is written once, and changes refer to it by its number.
#[derive(Default)]
struct Names<'a> {
    order: SmallVec<[&'a str; Names::LINEAR_MAX]>,
    numbers: Option<HashMap<&'a str, usize>>,
}

impl<'a> Names<'a> {
    /// Up to this many names are searched one by one, which is faster than hashing.
    const LINEAR_MAX: usize = 12;

    fn number(&mut self, name: &'a str) -> usize {
        let next = self.order.len();
        match &mut self.numbers {
            None => {
                // Usually both are the same memory, and comparing addresses is faster than comparing texts.
                let same = self.order.iter().position(|known| std::ptr::eq(*known, name));
                let found = same.or_else(|| self.order.iter().position(|known| *known == name));
                if let Some(found) = found {
                    return found;
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

/// The bytes of a change of a record with these names; `None` if it needs others.
pub(super) fn encode_with_names(change: &Change, names: &[Arc<str>]) -> Option<Vec<u8>> {
    let order: SmallVec<[&str; Names::LINEAR_MAX]> = names.iter().map(|name| &**name).collect();
    let is_long = order.len() > Names::LINEAR_MAX;
    let numbers = is_long.then(|| order.iter().copied().zip(0..).collect());
    let (mut bytes, mut known) = (Vec::new(), Names { order, numbers });
    encode_change(&mut Sink::new(&mut bytes), &mut known, change);
    (known.order.len() == names.len()).then_some(bytes)
}

/// The names that a change needs.
pub(super) fn names_of(change: &Change) -> Vec<&str> {
    let (mut bytes, mut names) = (Vec::new(), Names::default());
    encode_change(&mut Sink::new(&mut bytes), &mut names, change);
    names.order.into_vec()
}

fn encode_change<'a>(out: &mut Sink, names: &mut Names<'a>, change: &'a Change) {
    let extra = usize::from(change.valid_from.is_some()) + usize::from(change.anchor.is_some());
    encode_action(out, names, &change.action, extra);
    out.some(change_key::VALID_FROM, change.valid_from, |out, instant| _ = out.put(instant.micros()));
    out.some(change_key::ANCHOR, change.anchor.as_ref(), |out, anchor| encode_anchor(out, names, anchor));
}

/// Writes the map header for the action's own entries and `extra` more, then its own entries.
fn encode_action<'a>(out: &mut Sink, names: &mut Names<'a>, action: &'a Action, extra: usize) {
    let (codes, fields, bag) = action.parts();
    let own = fields.iter().filter(|field| bag.has(field.key)).count();
    out.map(1 + own + extra).entry(change_key::ACTION, codes.code(bag.kind));
    for field in fields {
        encode_entry(out, names, field.key, &bag);
    }
}

/// Writes an entry of the bag, if it exists.
fn encode_entry<'a>(out: &mut Sink, names: &mut Names<'a>, key: Key, bag: &BagRef<'a>) {
    match key {
        Key::Id => out.some(change_key::ID, bag.id, encode_id),
        Key::From => out.some(change_key::FROM, bag.from, encode_id),
        Key::To => out.some(change_key::TO, bag.to, encode_id),
        Key::NewId => out.some(change_key::NEW_ID, bag.new_id, encode_id),
        Key::Name => out.some(change_key::NAME, bag.name, |out, name| _ = out.put(names.number(name))),
        Key::Properties => {
            out.some(change_key::PROPERTIES, bag.properties, |out, all| encode_properties(out, names, all));
        }
        Key::Patch => out.some(change_key::PATCH, bag.patch, |out, patch| encode_patch(out, names, patch)),
        Key::Classifications => out.some(change_key::CLASSIFICATIONS, bag.classifications, |out, all| {
            out.list(all, |out, one| encode_classification(out, names, one));
        }),
        Key::WithRelationships => {
            out.some(change_key::WITH_RELATIONSHIPS, bag.with_relationships, |out, with| _ = out.put(with));
        }
        Key::Type => out.some(change_key::TYPE, bag.definition, encode_type),
        Key::Status => out.some_str(change_key::STATUS, bag.status),
        Key::Text => out.some_str(change_key::TEXT, bag.text),
        Key::Provenance => out.some(change_key::PROVENANCE, bag.provenance, encode_provenance),
        Key::Origin => out.some(change_key::ORIGIN, bag.origin, |out, (version, created, updated)| {
            encode_origin(out, version, created, updated);
        }),
        Key::Copied | Key::CopiedOne => out.some(change_key::COPIED, bag.copied, |out, all| {
            out.list(all, |out, copy| encode_copied(out, names, copy));
        }),
        Key::Instances => out.some(change_key::INSTANCES, bag.instances, |out, instances| {
            out.list(instances, encode_instance);
        }),
    }
}

// Shape: name, properties, provenance, origin.
fn encode_copied<'a>(out: &mut Sink, names: &mut Names<'a>, copy: &'a ClassificationCopy) {
    out.array(4).put(names.number(&copy.name));
    encode_properties(out, names, &copy.properties);
    encode_provenance(out, &copy.provenance);
    encode_origin(out, copy.version, &copy.created, &copy.updated);
}

// Shape: 0 for an entity or 1 for a relationship, and its id.
fn encode_instance(out: &mut Sink, instance: &InstanceId) {
    let is_relationship = matches!(instance, InstanceId::Relationship(_));
    encode_id(out.array(2).put(u32::from(is_relationship)), instance.id());
}

fn encode_properties<'a>(out: &mut Sink, names: &mut Names<'a>, properties: &'a [(Arc<str>, Value)]) {
    out.map(properties.len());
    for (name, value) in properties {
        encode_value(out.put(names.number(name)), value);
    }
}

fn encode_classification<'a>(out: &mut Sink, names: &mut Names<'a>, known: &'a ClassificationContent) {
    out.array(2 + usize::from(known.provenance.is_some())).put(names.number(&known.name));
    encode_properties(out, names, &known.properties);
    known.provenance.iter().for_each(|provenance| encode_provenance(out, provenance));
}

fn encode_anchor<'a>(out: &mut Sink, names: &mut Names<'a>, anchor: &'a Anchor) {
    out.array(2);
    encode_properties(out, names, &anchor.properties);
    out.list(
        &anchor.classifications,
        |out, AnchoredClassification { content, version, created, updated }| {
            let length = 7 + usize::from(content.provenance.is_some());
            out.array(length).put(names.number(&content.name)).put(*version);
            for stamp in [created, updated] {
                out.put(stamp.instant.micros()).put(names.number(&stamp.author));
            }
            encode_properties(out, names, &content.properties);
            content.provenance.iter().for_each(|provenance| encode_provenance(out, provenance));
        },
    );
}

fn encode_patch<'a>(out: &mut Sink, names: &mut Names<'a>, patch: &'a Patch) {
    out.list(&patch.steps, |out, step| {
        let (code, name, value) = match step {
            PatchStep::Set(name, value) => (step_code::SET, Some(name), Some(value)),
            PatchStep::Unset(name) => (step_code::UNSET, Some(name), None),
            PatchStep::Add(name, value) => (step_code::ADD, Some(name), Some(value)),
            PatchStep::Remove(name, value) => (step_code::REMOVE, Some(name), Some(value)),
            PatchStep::Clear => (step_code::CLEAR, None, None),
        };
        let length = 1 + usize::from(name.is_some()) + usize::from(value.is_some());
        out.array(length).put(code);
        name.into_iter().for_each(|name| _ = out.put(names.number(name)));
        value.into_iter().for_each(|value| encode_value(out, value));
    });
}
