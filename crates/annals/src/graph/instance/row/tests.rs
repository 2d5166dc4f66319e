//! Rows of any length: written, read, damaged, and saved by one repository for another.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{NO_EXTRA, OwnRow, Row};
use crate::Result;
use crate::graph::instance::deletions::Deletion;
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::row_check::{Ends, RowLimits, is_sound};
use crate::graph::instance::row_convert::SpilledValue;
use crate::graph::instance::row_pack::{Packing, pack};
use crate::graph::instance::unpacked::{Classification, Instance, NO_ENDS, RowStamp};
use crate::graph::structures::spill_file::SpillPlace;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Instant, Status, Value, ValueRef};

const NAMES: u32 = 10_000;

fn text(length: usize) -> Value {
    Value::from("ü".repeat(length / 2) + &"x".repeat(length % 2))
}

/// Values of every tag, with lengths near the limits of one byte, a page, and two bytes.
fn value() -> impl Strategy<Value = Value> {
    let lengths =
        prop_oneof![8 => 0usize..40, 4 => 250usize..260, 2 => 1_000usize..2_000, 1 => 65_530usize..65_540];
    let members = prop_oneof![8 => 0usize..30, 1 => 1_000usize..3_000];
    prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        any::<i32>().prop_map(|number| Value::Integer(number.into())),
        (-1e300..1e300f64).prop_map(Value::Float),
        (0i64..1 << 50).prop_map(|micros| Value::Timestamp(Instant::from_checked_micros(micros))),
        lengths.clone().prop_map(text),
        lengths.clone().prop_map(|length| Value::Bytes(vec![7; length].into())),
        lengths.prop_map(|length| Value::List(vec![text(length), Value::Integer(1)].into())),
        members.prop_map(|count| Value::set((0..count).map(|n| Value::from(format!("{n}")))).unwrap()),
    ]
}

fn properties() -> impl Strategy<Value = Properties> {
    let few = proptest::collection::vec((0..NAMES, value()), 0..40);
    let many = (30usize..4_000, any::<i64>(), 0usize..40).prop_map(|(count, number, length)| {
        let values = [Value::Integer(number), text(length), Value::Boolean(true)];
        (0..NAMES).zip(values.into_iter().cycle()).take(count).collect::<Vec<_>>()
    });
    let huge = (0usize..3, 0..NAMES).prop_map(|(more, name)| vec![(name, text((1 << 20) - 1 + more))]);
    prop_oneof![8 => few, 2 => many, 1 => huge].prop_map(|entries| {
        Properties::from_entries(entries.into_iter().map(|(name, value)| (Symbol(name), value)).collect())
    })
}

fn stamp() -> impl Strategy<Value = RowStamp> {
    (any::<i64>(), 0u32..9).prop_map(|(micros, author)| RowStamp { micros, author: Symbol(author) })
}

fn instance() -> impl Strategy<Value = Instance> {
    let classification = (0..NAMES, 1u32..9, 0u32..3, stamp(), properties());
    let classifications = proptest::collection::vec(classification, 0..3);
    let head = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..3, stamp(), stamp());
    (head, properties(), classifications).prop_map(|(head, properties, classifications)| {
        let (is_deleted, has_ends, is_later, header, created, updated) = head;
        let created = if is_later { created } else { updated };
        let mut instance = Instance {
            properties,
            type_name: Symbol(3),
            version: 1 + u32::from(is_later),
            versions: 1 + u32::from(is_later),
            status: if is_deleted { Status::Deleted } else { Status::Active },
            header: HeaderNumber(header),
            id: Id::new("instance").unwrap(),
            ends: if has_ends { [3, 4] } else { NO_ENDS },
            valid_from: updated.micros,
            place: ChangePlace { position: 7, change: 8 },
            past: None,
            classifications: None,
            created,
            updated,
            live_from: updated.micros,
            changed: 7,
            base: u32::from(is_later),
            since_anchor: 0,
        };
        let classifications =
            classifications.into_iter().map(|(name, version, header, stamp, properties)| {
                let (header, created, updated) = (HeaderNumber(header), stamp, stamp);
                Classification { name: Symbol(name), version, header, created, updated, properties }
            });
        instance.set_classifications(classifications.collect());
        instance
    })
}

/// A spill file in memory.
#[derive(Default)]
struct Spilled(HashMap<u32, Vec<u8>>);

impl Spilled {
    fn put(&mut self, content: &[u8]) -> Option<SpillPlace> {
        let number = self.0.len() as u32;
        self.0.insert(number, content.to_vec());
        Some(SpillPlace { file: number, ..SpillPlace::of(content) })
    }

    fn get(&self, place: SpillPlace) -> Vec<u8> {
        self.0[&place.file].clone()
    }
}

fn unpack(row: Row, spilled: &Spilled) -> Result<Instance> {
    row.unpack(&Id::new("instance").unwrap(), None, &mut |place| Ok(spilled.get(place)))
}

fn limits() -> RowLimits {
    RowLimits { names: NAMES as usize, authors: 9, headers: 3, ends: Ends::Unchecked }
}

/// Reads all fields of a row without spilled values.
fn read_all(row: Row) -> usize {
    let classified = row.classifications().map(|known| known.each_property().count() + known.head().len());
    let names = row.names();
    let found = names.iter().filter(|name| row.property(**name).is_some() || row.text(**name).is_some());
    found.count() + row.each_property().count() + row.short_properties().len() + classified.sum::<usize>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn numbers_that_only_damage_makes_are_read_without_a_panic(instance in instance()) {
        let instance = Instance { versions: u32::MAX, since_anchor: u32::MAX, ..instance };
        let own = OwnRow::of(&instance);
        let Instance { place, updated: stamp, valid_from, .. } = instance;
        let deletion = Deletion { place, stamp, valid_from };
        let row = own.row().deleted_by(Some(&deletion));
        prop_assert_eq!((row.versions(), row.since_anchor()), (u32::MAX, u32::MAX));
    }

    #[test]
    fn rows_of_any_length_read_back_what_was_put(instance in instance(), extra in prop_oneof![Just(NO_EXTRA), 0u32..5]) {
        let nowhere = Spilled::default();
        let mut bytes = Vec::new();
        let sets = pack(&instance, extra, Packing::new(usize::MAX, &mut |_| None), &mut bytes);
        let own = OwnRow::new(bytes, sets);
        let row = own.row();
        prop_assert!(unpack(row, &nowhere)?.is_same(&instance));
        prop_assert_eq!(row.extra(), (extra != NO_EXTRA).then_some(extra));
        prop_assert!(limits().fits_own(&own, |_| true));
        let names: Vec<Symbol> = instance.properties.iter().map(|(name, _)| name).collect();
        prop_assert_eq!(row.names(), names);
        for (name, value) in instance.properties.iter() {
            prop_assert_eq!(row.property(name), Some(value.clone()));
            prop_assert_eq!(row.text(name).map(Value::from), Some(value.clone()).filter(|value| matches!(value, Value::String(_))));
        }
        for absent in (0..NAMES).step_by(97).map(Symbol).filter(|name| instance.properties.get(*name).is_none()) {
            prop_assert_eq!(row.property(absent), None);
        }
        let each: Vec<(Symbol, Value)> =
            row.each_property().map(|(name, value): (Symbol, ValueRef)| (name, value.into_value())).collect();
        prop_assert!(instance.properties.iter().eq(each.iter().map(|(name, value)| (*name, value))));
    }

    #[test]
    fn a_row_goes_through_a_checkpoint_whatever_either_side_spills(instance in instance(), before in 0usize..300, after in 0usize..300) {
        let mut spilled = Spilled::default();
        let mut bytes = Vec::new();
        let sets = pack(&instance, NO_EXTRA, Packing::new(before, &mut |content| spilled.put(content)), &mut bytes);
        let own = OwnRow::new(bytes, sets);
        prop_assert!(unpack(own.row(), &spilled)?.is_same(&instance));
        let saved = own.row().inlined();
        prop_assert!(is_sound(&saved));
        let places = own.row().places();
        // Into memory, then into another spill file.
        let mut contents = places.iter().map(|place| SpilledValue::Content(spilled.get(*place)));
        let in_memory = Row::new(&saved).converted(Packing::new(usize::MAX, &mut |_| None), &mut || contents.next());
        let in_memory = in_memory.expect("it was written so");
        prop_assert!(unpack(in_memory.row(), &Spilled::default())?.is_same(&instance));
        prop_assert_eq!(in_memory.row().inlined(), OwnRow::of(&instance).row().inlined());
        let mut others = Spilled::default();
        let moved: Vec<SpillPlace> = places.iter().map(|place| others.put(&spilled.get(*place)).unwrap()).collect();
        let mut moved = moved.into_iter().map(SpilledValue::At);
        let converted = Row::new(&saved).converted(Packing::new(after, &mut |content| others.put(content)), &mut || moved.next());
        prop_assert!(unpack(converted.expect("it was written so").row(), &others)?.is_same(&instance));
    }

    #[test]
    fn a_damaged_row_is_refused_or_reads_without_a_panic(
        instance in instance(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut row = OwnRow::of(&instance).row().inlined();
        // Most of a long row is text: the offsets are in its beginning.
        let end = row.len().min(400);
        for (place, byte) in changes {
            row[place.index(end)] = byte;
        }
        if is_cut {
            row.truncate(cut.index(row.len()));
        }
        if limits().fits_in_page(&row, |_| None) && !row.is_empty() && !Row::new(&row).has_spilled() {
            prop_assert!(unpack(Row::new(&row), &Spilled::default()).is_ok());
            let mut none = || None;
            let converted = Row::new(&row).converted(Packing::new(usize::MAX, &mut |_| None), &mut none);
            let converted = converted.expect("nothing of it is spilled");
            prop_assert!(read_all(converted.row()) >= converted.row().names().len());
        }
    }
}
