//! The packed form of values and elements: what crosses between Java and Rust in one array.
//!
//! `bindings/jvm/README.md` describes it.

use std::sync::Arc;

use annals::{
    ClassificationRef, Entity, Error, ErrorKind, Id, Instant, Provenance, ProvenanceKind, Relationship,
    Result, StampRef, Status, Value, ValueRef, ValueSet,
};
use annals_json::{json_from_slice, value_from_json, value_to_json};

/// Most nesting of lists and maps that is read.
const DEPTH_MAX: usize = 128;

mod tag {
    pub const FALSE: u8 = 1;
    pub const TRUE: u8 = 2;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const STRING: u8 = 5;
    pub const BYTES: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const UUID: u8 = 8;
    pub const LIST: u8 = 9;
    pub const MAP: u8 = 10;
    pub const SET: u8 = 11;
    pub const JSON: u8 = 12;
}

/// The parts of a provenance that follow its flags.
mod part {
    pub const KIND: u16 = 1;
    pub const HOME: u16 = 1 << 1;
    pub const HOME_VERSION: u16 = 1 << 2;
    pub const REPLICATED_BY: u16 = 1 << 3;
    pub const LICENSE: u16 = 1 << 4;
    pub const MAINTAINED_BY: u16 = 1 << 5;
    pub const MAPPINGS: u16 = 1 << 6;
    pub const EFFECTIVE_FROM: u16 = 1 << 7;
    pub const EFFECTIVE_TO: u16 = 1 << 8;
    pub const PROPAGATED_FROM: u16 = 1 << 9;
    pub const REIDENTIFIED_FROM: u16 = 1 << 10;
    pub const STATUS_ON_DELETE: u16 = 1 << 11;
    pub const IS_PROXY: u16 = 1 << 12;
}

/// The headers beside the provenance that few instances have.
#[derive(Default)]
struct Rare<'i> {
    home_version: Option<u64>,
    reidentified_from: Option<&'i Id>,
    status_on_delete: Option<&'i str>,
    is_proxy: bool,
}

/// Writes the fields that entities and relationships have after their properties.
macro_rules! header {
    ($out:expr, $instance:expr, $is_proxy:expr) => {{
        let (out, instance): (&mut Writer, _) = (&mut *$out, $instance);
        out.u32(instance.version());
        out.u32(instance.latest_version());
        out.u32(instance.content_version());
        out.i64(i64::try_from(instance.position().0).unwrap_or(i64::MAX));
        let revision = instance.revision();
        out.i64(i64::try_from(revision.birth.0).unwrap_or(i64::MAX));
        out.u32(revision.log.number());
        out.stamp(&instance.created());
        out.stamp(&instance.updated());
        out.i64(instance.valid_from().micros());
        out.text(instance.status_name());
        out.u8(u8::from(instance.status() == Status::Deleted));
        let home_version = instance.home_version();
        let has_own = instance.home().is_some() || home_version != u64::from(instance.version());
        let rare = Rare {
            home_version: has_own.then_some(home_version),
            reidentified_from: instance.reidentified_from(),
            status_on_delete: instance.status_on_delete(),
            is_proxy: $is_proxy,
        };
        out.provenance(instance.provenance(), &rare);
    }};
}

/// Writes the packed form.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    pub fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn i64(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn id(&mut self, id: &Id) {
        match id.text() {
            Some(text) => self.text(text),
            None => self.text(&id.to_string()),
        }
    }

    /// Writes a count that is known only after `write` has written as many things.
    pub fn counted<E>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> std::result::Result<usize, E>,
    ) -> std::result::Result<(), E> {
        let at = self.0.len();
        self.u32(0);
        let count = write(self)?;
        let count = u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
        self.0[at..at + 4].copy_from_slice(&count);
        Ok(())
    }

    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Boolean(false) => self.u8(tag::FALSE),
            Value::Boolean(true) => self.u8(tag::TRUE),
            Value::Integer(number) => {
                self.u8(tag::INTEGER);
                self.i64(*number);
            }
            Value::Float(number) => {
                self.u8(tag::FLOAT);
                self.0.extend_from_slice(&number.to_bits().to_le_bytes());
            }
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => {
                self.u8(tag::BYTES);
                self.bytes(bytes);
            }
            Value::Timestamp(instant) => {
                self.u8(tag::TIMESTAMP);
                self.i64(instant.micros());
            }
            Value::Uuid(bytes) => {
                self.u8(tag::UUID);
                self.0.extend_from_slice(bytes);
            }
            Value::List(values) => {
                self.u8(tag::LIST);
                self.count(values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Map(entries) => {
                self.u8(tag::MAP);
                self.count(entries.len());
                for (name, value) in &**entries {
                    self.text(name);
                    self.value(value);
                }
            }
            Value::Set(values) => {
                self.u8(tag::SET);
                self.count(values.len());
                values.iter().for_each(|value| self.value(&value));
            }
            other => {
                self.u8(tag::JSON);
                self.text(&value_to_json(other).to_string());
            }
        }
    }

    fn string(&mut self, text: &str) {
        self.u8(tag::STRING);
        self.text(text);
    }

    fn properties<'v>(&mut self, properties: impl Iterator<Item = (&'v str, ValueRef<'v>)>) {
        let written = self.counted::<std::convert::Infallible>(|out| {
            let mut count = 0;
            for (name, value) in properties {
                out.text(name);
                match value {
                    ValueRef::String(text) => out.string(text),
                    ValueRef::Other(value) => out.value(&value),
                }
                count += 1;
            }
            Ok(count)
        });
        written.unwrap_or_else(|never| match never {});
    }

    fn stamp(&mut self, stamp: &StampRef<'_>) {
        self.i64(stamp.instant.micros());
        self.text(stamp.author);
    }

    /// Writes flags, and behind them the parts that are there.
    fn provenance(&mut self, provenance: Option<&Provenance>, rare: &Rare<'_>) {
        let at = self.0.len();
        self.0.extend_from_slice(&[0, 0]);
        let mut flags = 0;
        if let Some(known) = provenance {
            if known.kind != ProvenanceKind::Local {
                flags |= part::KIND;
                self.text(known.kind.name());
            }
            self.part(&mut flags, part::HOME, known.home.as_deref(), Writer::text);
        }
        self.part(&mut flags, part::HOME_VERSION, rare.home_version, |out, number| {
            out.i64(i64::try_from(number).unwrap_or(i64::MAX));
        });
        if let Some(known) = provenance {
            self.part(&mut flags, part::REPLICATED_BY, known.replicated_by.as_deref(), Writer::text);
            self.part(&mut flags, part::LICENSE, known.license.as_deref(), Writer::text);
            if !known.maintained_by.is_empty() {
                flags |= part::MAINTAINED_BY;
                self.count(known.maintained_by.len());
                known.maintained_by.iter().for_each(|name| self.text(name));
            }
            if !known.mappings.is_empty() {
                flags |= part::MAPPINGS;
                self.count(known.mappings.len());
                for (name, text) in &known.mappings {
                    self.text(name);
                    self.text(text);
                }
            }
            let instant = |out: &mut Writer, instant: Instant| out.i64(instant.micros());
            self.part(&mut flags, part::EFFECTIVE_FROM, known.effective_from, instant);
            self.part(&mut flags, part::EFFECTIVE_TO, known.effective_to, instant);
            self.part(&mut flags, part::PROPAGATED_FROM, known.propagated_from.as_ref(), Writer::id);
        }
        self.part(&mut flags, part::REIDENTIFIED_FROM, rare.reidentified_from, Writer::id);
        self.part(&mut flags, part::STATUS_ON_DELETE, rare.status_on_delete, Writer::text);
        if rare.is_proxy {
            flags |= part::IS_PROXY;
        }
        self.0[at..at + 2].copy_from_slice(&flags.to_le_bytes());
    }

    fn part<T>(&mut self, flags: &mut u16, flag: u16, part: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        if let Some(part) = part {
            *flags |= flag;
            write(self, part);
        }
    }

    /// Writes the length of the bytes that `write` writes before them, so that a reader can skip them.
    fn measured(&mut self, write: impl FnOnce(&mut Writer)) {
        let at = self.0.len();
        self.u32(0);
        write(self);
        let length = u32::try_from(self.0.len() - at - 4).unwrap_or(u32::MAX).to_le_bytes();
        self.0[at..at + 4].copy_from_slice(&length);
    }

    pub fn entity(&mut self, entity: &Entity<'_>) {
        self.u8(0);
        self.id(entity.id());
        self.text(entity.type_name());
        self.properties(entity.property_refs());
        self.measured(|out| {
            header!(out, entity, entity.is_proxy());
            let written = out.counted::<std::convert::Infallible>(|out| {
                let mut count = 0;
                for classification in entity.classifications() {
                    out.classification(&classification);
                    count += 1;
                }
                Ok(count)
            });
            written.unwrap_or_else(|never| match never {});
        });
    }

    fn classification(&mut self, classification: &ClassificationRef<'_>) {
        self.text(classification.name());
        self.u32(classification.version());
        self.stamp(&classification.created());
        self.stamp(&classification.updated());
        self.properties(classification.property_refs());
        self.provenance(classification.provenance(), &Rare::default());
    }

    pub fn relationship(&mut self, relationship: &Relationship<'_>) {
        self.u8(1);
        self.id(relationship.id());
        self.text(relationship.type_name());
        self.id(relationship.from());
        self.id(relationship.to());
        self.properties(relationship.property_refs());
        self.measured(|out| header!(out, relationship, false));
    }
}

/// Reads the packed form that Java wrote.
pub struct Reader<'b> {
    rest: &'b [u8],
    depth: usize,
}

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes, depth: 0 }
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        if count > self.rest.len() {
            return Err(malformed("it ends too early"));
        }
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| malformed("it ends too early"))
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// A count of things of at least one byte each.
    pub fn count(&mut self) -> Result<usize> {
        let count = self.u32()? as usize;
        if count > self.rest.len() { Err(malformed("it counts more than it has")) } else { Ok(count) }
    }

    pub fn bytes(&mut self) -> Result<&'b [u8]> {
        let count = self.count()?;
        self.take(count)
    }

    pub fn text(&mut self) -> Result<&'b str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| malformed("a text is not UTF-8"))
    }

    pub fn texts(&mut self) -> Result<Vec<&'b str>> {
        (0..self.count()?).map(|_| self.text()).collect()
    }

    pub fn ids(&mut self) -> Result<Vec<Id>> {
        (0..self.count()?).map(|_| Id::new(self.text()?)).collect()
    }

    pub fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(malformed("it has more than expected")) }
    }

    pub fn properties(&mut self) -> Result<Vec<(Arc<str>, Value)>> {
        (0..self.count()?).map(|_| Ok((self.text()?.into(), self.value()?))).collect()
    }

    pub fn value(&mut self) -> Result<Value> {
        Ok(match self.u8()? {
            tag::FALSE => Value::Boolean(false),
            tag::TRUE => Value::Boolean(true),
            tag::INTEGER => Value::Integer(self.i64()?),
            tag::FLOAT => Value::Float(f64::from_bits(self.array().map(u64::from_le_bytes)?)),
            tag::STRING => Value::String(self.text()?.into()),
            tag::BYTES => Value::Bytes(self.bytes()?.into()),
            tag::TIMESTAMP => Value::Timestamp(instant(self.i64()?)?),
            tag::UUID => Value::Uuid(self.array()?),
            tag::LIST => self.nested(|input| {
                let values: Result<Arc<[Value]>> = (0..input.count()?).map(|_| input.value()).collect();
                values.map(Value::List)
            })?,
            tag::MAP => {
                self.nested(|input| Ok(Value::Map(Arc::new(input.properties()?.into_iter().collect()))))?
            }
            tag::SET => self.nested(|input| {
                let mut values = ValueSet::new();
                for _ in 0..input.count()? {
                    values.insert(&input.value()?)?;
                }
                Ok(Value::Set(values))
            })?,
            tag::JSON => {
                let json = json_from_slice(self.bytes()?).map_err(|fault| malformed(&fault.to_string()))?;
                value_from_json(&json)?
            }
            other => return Err(malformed(&format!("it has no value of kind {other}"))),
        })
    }

    fn nested(&mut self, read: impl FnOnce(&mut Reader<'b>) -> Result<Value>) -> Result<Value> {
        if self.depth >= DEPTH_MAX {
            let text = format!("value: expected lists and maps nested at most {DEPTH_MAX} deep, found more");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }
}

/// An instant.
///
/// Errors: `InvalidArgument` for one outside the range of instants.
pub fn instant(micros: i64) -> Result<Instant> {
    Instant::from_micros(micros)
}

fn malformed(why: &str) -> Error {
    let text = format!("packed argument: {why}; the Java classes and the library must be of one version");
    Error::new(ErrorKind::InvalidArgument, text)
}
