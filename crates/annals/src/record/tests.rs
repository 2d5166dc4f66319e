//! Records decode to what was encoded, and any bytes are handled without a panic.

use crate::graph::actions as action;
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::{IndexedRecord, decode_record, encode_record};
use crate::Position;
use crate::model::*;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_map(Value::Float),
        (any::<i64>(), any::<u32>(), 0u32..28).prop_map(|(high, low, scale)| {
            let mantissa = i128::from(high) << 31 | i128::from(low);
            Value::Decimal(Decimal::from_i128_with_scale(mantissa, scale))
        }),
        ".{0,8}".prop_map(Value::from),
        ".{0,8}".prop_map(|text| Value::Iri(text.into())),
        proptest::collection::vec(any::<u8>(), 0..8).prop_map(|bytes| Value::Bytes(bytes.into())),
        (-9999i32..9999).prop_map(|days| Value::Date(Date::from_days(days).unwrap())),
        any::<i32>().prop_map(|n| Value::Timestamp(Instant::from_micros(i64::from(n) * 1_000_003).unwrap())),
        any::<i64>().prop_map(|n| Value::Duration(Duration::from_micros(n))),
        any::<[u8; 16]>().prop_map(Value::Uuid),
        (".{0,8}", "[a-z]{1,3}(-[A-Z0-9]{2})?").prop_map(|(text, language)| Literal::in_language(
            &text, &language
        )
        .unwrap()
        .into()),
        (".{0,8}", "[a-z]:[a-z#']{0,3}").prop_map(|(text, datatype)| Literal::with_datatype(
            &text, &datatype
        )
        .unwrap()
        .into()),
    ]
}

fn binary() -> impl Strategy<Value = Value> {
    let digests =
        proptest::sample::subsequence(DigestAlgorithm::ALL.to_vec(), 0..=DigestAlgorithm::ALL.len());
    let name = proptest::option::of("[a-z.]{1,8}");
    (any::<[u8; 32]>(), any::<u64>(), "[a-z]{1,3}/[a-z]{1,3}", name, digests).prop_map(
        |(sha256, size, media_type, name, digests)| {
            let digest = |algorithm: DigestAlgorithm| {
                Digest::new(algorithm, &vec![sha256[0]; algorithm.length()]).unwrap()
            };
            let digests = digests.into_iter().map(digest).collect();
            let (media_type, name) = (media_type.into(), name.map(Into::into));
            Content { sha256: Sha256(sha256), size, media_type, name, digests }.into()
        },
    )
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![9 => scalar(), 1 => binary()].prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|values| Value::List(values.into())),
            proptest::collection::btree_map("[a-z]{1,3}".prop_map(Into::into), inner, 0..4)
                .prop_map(|values| Value::Map(values.into())),
            proptest::collection::vec(scalar(), 0..40).prop_map(|values| Value::set(values).unwrap()),
        ]
    })
}

type Properties = Vec<(std::sync::Arc<str>, Value)>;

fn properties() -> impl Strategy<Value = Properties> {
    proptest::collection::btree_map("[a-z]{1,4}".prop_map(Into::into), value(), 0..20)
        .prop_map(|properties| properties.into_iter().collect())
}

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![
        any::<[u8; 16]>().prop_map(Id::from_uuid_bytes),
        "[a-z]{1,9}".prop_map(|text| Id::new(&text).unwrap())
    ]
}

fn instance() -> impl Strategy<Value = InstanceId> {
    prop_oneof![id().prop_map(InstanceId::Entity), id().prop_map(InstanceId::Relationship)]
}

fn content() -> impl Strategy<Value = ClassificationContent> {
    ("[a-z]{1,4}", properties()).prop_map(|(name, properties)| ClassificationContent {
        properties,
        ..ClassificationContent::new(&name)
    })
}

fn patch() -> impl Strategy<Value = Patch> {
    let name = || "[a-z]{1,4}".prop_map(std::sync::Arc::<str>::from);
    let step = prop_oneof![
        (name(), value()).prop_map(|(name, value)| PatchStep::Set(name, value)),
        name().prop_map(PatchStep::Unset),
        (name(), scalar()).prop_map(|(name, value)| PatchStep::Add(name, value)),
        (name(), scalar()).prop_map(|(name, value)| PatchStep::Remove(name, value)),
        Just(PatchStep::Clear),
    ];
    proptest::collection::vec(step, 0..5).prop_map(|steps| Patch { steps })
}

fn definition() -> impl Strategy<Value = TypeDefinition> {
    (0usize..14, any::<[bool; 5]>(), proptest::option::of(scalar())).prop_map(|(code, flags, default)| {
        let attribute = AttributeDefinition {
            is_many: flags[0],
            is_required: flags[1],
            is_unique: flags[2],
            is_indexed: flags[3],
            default,
            ..AttributeDefinition::new("a", ValueType::ALL[code])
        };
        let more = AttributeDefinition::of_enum("c", "colour").deprecated(flags[0].then_some("d"));
        let items = AttributeDefinition::new("l", ValueType::List).items(ValueType::ALL[code]);
        let key = AttributeDefinition::new("k", ValueType::String)
            .key()
            .within(1, 2)
            .matching("[a-z]")
            .referring_to("/a/b");
        let definition = TypeDefinition::relationship("r")
            .supertype("s")
            .attribute(attribute)
            .applicable_to("e")
            .attribute(key);
        let definition = if flags[0] { definition.containing_in_order() } else { definition };
        let definition =
            if flags[1] { definition.requiring_child("c").unique_together(&["a", "b"]) } else { definition };
        let definition =
            if flags[4] { definition.closed().attribute(more) } else { definition.attribute(items) };
        let definition =
            if flags[3] { definition.with_statuses(&["x", "y"]) } else { definition.deprecated(None) };
        let definition = TypeDefinition {
            is_propagatable: flags[0],
            is_advisory: flags[1],
            external_id: flags[2].then(|| "guid".into()),
            version: u32::from(flags[3]) + 1,
            ..definition.element(code as u32, "one")
        };
        definition.between(EndDefinition::one("e"), EndDefinition { is_many: flags[0], ..EndDefinition::ANY })
    })
}

fn provenance() -> impl Strategy<Value = Provenance> {
    (proptest::option::of("[a-z]{1,4}"), 0usize..7, any::<[bool; 5]>()).prop_map(|(home, kind, flags)| {
        let text = |is_there: bool| is_there.then(|| std::sync::Arc::<str>::from("x"));
        Provenance {
            home: home.map(Into::into),
            kind: ProvenanceKind::ALL[kind],
            replicated_by: text(flags[0]),
            license: text(flags[1]),
            maintained_by: text(flags[2]).into_iter().collect(),
            mappings: text(flags[3]).into_iter().map(|key| (key.clone(), key)).collect(),
            effective_from: flags[4].then(Instant::now),
            effective_to: None,
            propagated_from: flags[3].then(|| crate::model::Id::new("x").unwrap()),
        }
    })
}

/// Every action on headers and copies.
fn header_action() -> impl Strategy<Value = Action> {
    let stamp = || Stamp { instant: Instant::from_micros(1).unwrap(), author: "a".into() };
    let header = move |provenance: Provenance| CopyHeader {
        provenance,
        version: 7,
        status: Some("draft".into()),
        created: stamp(),
        updated: stamp(),
    };
    let copied = move |(name, properties, provenance): (String, _, Provenance)| ClassificationCopy {
        name: name.as_str().into(),
        properties,
        provenance,
        version: 3,
        created: stamp(),
        updated: stamp(),
    };
    let classification = move || ("[a-z]{1,4}", properties(), provenance()).prop_map(copied);
    prop_oneof![
        instance()
            .prop_map(|instance| Action::SetStatus(action::SetStatus { instance, status: "draft".into() })),
        (instance(), provenance()).prop_map(|(instance, given)| Action::SetProvenance(
            action::SetProvenance { instance, provenance: Box::new(given) }
        )),
        instance().prop_map(|instance| Action::Rehome(action::Rehome { instance, home: "h".into() })),
        (instance(), id()).prop_map(|(instance, id)| Action::Reidentify(action::Reidentify { instance, id })),
        instance().prop_map(|instance| Action::Retype(action::Retype { instance, type_name: "u".into() })),
        (id(), proptest::option::of(id()), proptest::option::of(id()))
            .prop_map(|(id, from, to)| Action::Relink(action::Relink { id, from, to })),
        (id(), properties(), provenance(), proptest::collection::vec(classification(), 0..3)).prop_map(
            move |(id, properties, given, classifications)| {
                let (type_name, header) = ("t".into(), header(given));
                Action::SaveEntity(Box::new(EntityCopy {
                    id,
                    type_name,
                    properties,
                    classifications,
                    header,
                }))
            }
        ),
        (id(), id(), properties(), provenance()).prop_map(move |(id, from, properties, given)| {
            let (to, type_name, header) = (id.clone(), "t".into(), header(given));
            let copy = RelationshipCopy { id, type_name, from, to, properties, header };
            Action::SaveRelationship(Box::new(copy))
        }),
        (id(), properties(), provenance(), classification(), any::<bool>()).prop_map(
            move |(id, properties, given, known, is_told)| {
                let told = header(given);
                let provenance = Provenance { home: Some("h".into()), ..told.provenance };
                let origin = is_told.then_some((told.version, told.created, told.updated));
                let (classifications, status) =
                    if is_told { (vec![known], told.status) } else { (vec![], None) };
                let proxy = EntityProxy::new(id, "t", "h");
                let proxy = EntityProxy { properties, classifications, provenance, status, origin, ..proxy };
                Action::SaveProxy(Box::new(proxy))
            }
        ),
        (id(), classification()).prop_map(|(id, copy)| Action::SaveClassification(
            action::SaveClassification { entity: id, copy: Box::new(copy) }
        )),
        instance().prop_map(|instance| Action::PurgeCopy(action::PurgeCopy { instance, home: "h".into() })),
        id().prop_map(|id| Action::PurgeClassificationCopy(action::PurgeClassificationCopy {
            entity: id,
            name: "c".into(),
            home: "h".into()
        })),
        Just(Action::NameCollection(action::NameCollection { name: "h".into() })),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (id(), properties(), proptest::collection::vec(content(), 0..3)).prop_map(
            |(id, properties, classifications)| Action::CreateEntity(NewEntity {
                id,
                type_name: "t".into(),
                properties,
                classifications,
                status: None,
                provenance: None,
            })
        ),
        (id(), id(), id(), properties()).prop_map(|(id, from, to, properties)| {
            Action::CreateRelationship(NewRelationship {
                id,
                properties,
                ..NewRelationship::new("t", from, to)
            })
        }),
        header_action(),
        (instance(), patch()).prop_map(|(instance, patch)| Action::Update(action::Update {
            instance,
            patch,
            provenance: None
        })),
        (instance(), properties(), proptest::option::of(proptest::collection::vec(content(), 0..3)))
            .prop_map(|(instance, properties, classes)| Action::Replace(action::Replace {
                instance,
                properties,
                classifications: classes,
                provenance: None
            })),
        instance().prop_map(|instance| Action::Delete(action::Delete { instance })),
        (instance(), any::<bool>()).prop_map(|(instance, with)| Action::Restore(action::Restore {
            instance,
            with_relationships: with
        })),
        instance().prop_map(|instance| Action::Purge(action::Purge { instance })),
        proptest::collection::vec(instance(), 0..3)
            .prop_map(|instances| Action::DeleteTaken(action::DeleteTaken { instances })),
        proptest::collection::vec(instance(), 0..3)
            .prop_map(|instances| Action::RestoreTaken(action::RestoreTaken { instances })),
        (id(), content())
            .prop_map(|(id, content)| Action::Classify(action::Classify { entity: id, content })),
        (id(), patch()).prop_map(|(id, patch)| Action::Reclassify(action::Reclassify {
            entity: id,
            name: "c".into(),
            patch,
            provenance: None
        })),
        id().prop_map(|id| Action::Declassify(action::Declassify { entity: id, name: "c".into() })),
        definition().prop_map(|definition| Action::DefineType(Box::new(definition))),
        Just(Action::Void(action::Void)),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let instant = || any::<i32>().prop_map(|n| Instant::from_micros(n.into()).unwrap());
    let stamp =
        (instant(), ".{0,4}").prop_map(|(instant, author)| Stamp { instant, author: author.as_str().into() });
    let anchored = (content(), any::<u32>(), stamp).prop_map(|(content, version, stamp)| {
        AnchoredClassification { content, version, created: stamp.clone(), updated: stamp }
    });
    let anchor = (properties(), proptest::collection::vec(anchored, 0..3))
        .prop_map(|(properties, classifications)| Anchor { properties, classifications });
    let change = (action(), proptest::option::of(instant()), proptest::option::of(anchor))
        .prop_map(|(action, valid_from, anchor)| Change { action, valid_from, anchor });
    let changes = proptest::collection::vec(change, 0..6);
    let key = proptest::option::of(any::<[u8; 24]>().prop_map(crate::IdempotencyKey));
    (instant(), ".{0,8}", ".{0,8}", proptest::option::of(instant()), key, changes).prop_map(
        |(instant, author, message, valid_from, idempotency_key, changes)| Record {
            instant,
            author: author.as_str().into(),
            message: message.as_str().into(),
            valid_from,
            idempotency_key,
            changes,
        },
    )
}

proptest! {
    #[test]
    fn a_record_reads_back_as_written(record in record()) {
        let bytes = encode_record(&record);
        prop_assert_eq!(&decode_record(Position(1), &bytes).unwrap(), &record);
        let indexed = IndexedRecord::new(Position(1), bytes).unwrap();
        for (index, change) in (0u32..).zip(&record.changes) {
            prop_assert_eq!(&indexed.change(index).unwrap(), change);
        }
    }

    #[test]
    fn cut_and_flipped_records_are_survived(record in record(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = encode_record(&record);
        let at = at.index(bytes.len());
        prop_assert!(decode_record(Position(1), &bytes[..at]).is_err());
        bytes[at] ^= 1 << bit;
        let _ = decode_record(Position(1), &bytes);
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_record(Position(1), &bytes);
    }
}

#[test]
fn an_unknown_action_is_a_newer_format() {
    let bytes = [0xA2, 0x04, 0x80, 0x05, 0x81, 0xA1, 0x00, 0x18, 99];
    let error = decode_record(Position(7), &bytes).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::NewerFormat);
    assert!(error.to_string().contains("record 7"), "{error}");
}

#[test]
fn unknown_keys_are_skipped() {
    let record = Record {
        instant: Instant::from_micros(5).unwrap(),
        changes: vec![Action::Void(action::Void).into()],
        ..Record::default()
    };
    // {0: 5, 4: [], 5: [{0: 0, 99: {"x": [1]}}], 99: "later"}
    let bytes = [
        &[0xA4, 0x00, 0x05, 0x04, 0x80, 0x05, 0x81, 0xA2, 0x00, 0x00][..],
        &[0x18, 99, 0xA1, 0x61, b'x', 0x81, 0x01, 0x18, 99, 0x65][..],
        b"later",
    ]
    .concat();
    assert_eq!(decode_record(Position(1), &bytes).unwrap(), record);
}

/// Later versions may write content versions and origins of classifications there: docs/formats.md, "Room".
#[test]
fn parts_and_keys_that_a_later_version_writes_are_read_over() {
    let cbor = |write: &dyn Fn(&mut minicbor::Encoder<&mut Vec<u8>>)| {
        let mut bytes = Vec::new();
        write(&mut minicbor::Encoder::new(&mut bytes));
        bytes
    };
    let origin = |out: &mut minicbor::Encoder<&mut Vec<u8>>| {
        // Version, created, author, updated, author; content version, content updated, author.
        out.array(8).unwrap().u32(3).unwrap().i64(1).unwrap().str("ada").unwrap();
        out.i64(2).unwrap().str("grace").unwrap().u32(2).unwrap().i64(1).unwrap().str("ada").unwrap();
    };
    let bytes = cbor(&|out| {
        out.map(4).unwrap().u32(0).unwrap().i64(5).unwrap().u32(6).unwrap().u32(9).unwrap();
        out.u32(4).unwrap().array(2).unwrap().str("t").unwrap().str("c").unwrap();
        out.u32(5).unwrap().array(3).unwrap();
        // An entity with a classification that was propagated from another one.
        out.map(4).unwrap().u32(0).unwrap().u32(1).unwrap().u32(1).unwrap().str("e").unwrap();
        out.u32(2).unwrap().u32(0).unwrap().u32(9).unwrap().array(1).unwrap();
        out.array(4).unwrap().u32(1).unwrap().map(0).unwrap().null().unwrap();
        out.array(2).unwrap().u32(1).unwrap().str("other").unwrap();
        // A copy with a content version, and a classification with an origin after its known parts.
        out.map(6).unwrap().u32(0).unwrap().u32(28).unwrap().u32(1).unwrap().str("f").unwrap();
        out.u32(2)
            .unwrap()
            .u32(0)
            .unwrap()
            .u32(13)
            .unwrap()
            .map(1)
            .unwrap()
            .u32(0)
            .unwrap()
            .str("h")
            .unwrap();
        out.u32(16).unwrap();
        origin(out);
        out.u32(17).unwrap().array(1).unwrap().array(5).unwrap().u32(1).unwrap().map(0).unwrap();
        out.map(0).unwrap();
        origin(out);
        out.array(1).unwrap().u32(0).unwrap();
        // A proxy with a header.
        out.map(6).unwrap().u32(0).unwrap().u32(35).unwrap().u32(1).unwrap().str("g").unwrap();
        out.u32(2).unwrap().u32(0).unwrap().u32(15).unwrap().str("h").unwrap();
        out.u32(12).unwrap().str("draft").unwrap().u32(16).unwrap();
        origin(out);
    });
    let changes = decode_record(Position(1), &bytes).unwrap().changes;
    let Action::CreateEntity(created) = &changes[0].action else { panic!("{changes:?}") };
    assert_eq!((created.classifications.len(), &created.classifications[0].provenance), (1, &None));
    let Action::SaveEntity(copy) = &changes[1].action else { panic!("{changes:?}") };
    assert_eq!((copy.header.version, copy.classifications[0].version), (3, 3));
    let Action::SaveProxy(proxy) = &changes[2].action else { panic!("{changes:?}") };
    assert_eq!((&proxy.id, proxy.status.as_deref()), (&Id::new("g").unwrap(), Some("draft")));
    assert_eq!(proxy.origin.as_ref().map(|(version, ..)| *version), Some(3));
}
