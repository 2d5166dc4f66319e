//! Bounds: what is too long, too deep, too many, too early or too late is refused, and nothing is left of it.

use annals::action;
use std::sync::Arc;

use crate::support::typed::kind_of;
use crate::support::{self, CheckedRepository};
use annals::log::{Log, MemoryLog, ReadLimit};
use annals::*;

fn create(repository: &Repository, entity: &NewEntity) -> Result<Receipt> {
    repository.transact(|t| t.create_entity(entity.clone())).map(|(_, receipt)| receipt)
}

fn with_value(value: Value) -> NewEntity {
    NewEntity::new("t").id("a").unwrap().property("p", value)
}

fn nested(depth: usize, innermost: Value) -> Value {
    (0..depth).fold(innermost, |value, _| Value::List([value].into()))
}

#[test]
fn names_are_bounded_everywhere() {
    let repository = CheckedRepository::in_memory();
    let long = "n".repeat(NAME_BYTES_MAX + 1);
    for name in ["", &long, "a\nb"] {
        let entities = [
            NewEntity::new(name),
            NewEntity::new("t").property(name, 1),
            NewEntity::new("t").classified(ClassificationContent::new(name)),
            NewEntity::new("t").classified(ClassificationContent::new("c").property(name, 1)),
        ];
        for entity in entities {
            assert_eq!(kind_of(create(&repository, &entity)), ErrorKind::InvalidArgument, "{entity:?}");
        }
        let defined = repository.transact(|t| t.define_type(TypeDefinition::entity(name)));
        assert_eq!(kind_of(defined), ErrorKind::InvalidArgument);
        let attribute = AttributeDefinition::new(name, ValueType::Any);
        let defined =
            repository.transact(|t| t.define_type(TypeDefinition::entity("t").attribute(attribute.clone())));
        assert_eq!(kind_of(defined), ErrorKind::InvalidArgument);
    }
    assert_eq!(repository.snapshot().position(), Position::ZERO);
    create(&repository, &NewEntity::new(&"n".repeat(NAME_BYTES_MAX))).unwrap();
    let id = repository.snapshot().find_entities(&Find::all()).unwrap().items[0].instance_id();
    for name in ["", &long] {
        let patched = repository.transact(|t| t.update(&id, Patch::new().set(name, 1)));
        assert_eq!(kind_of(patched), ErrorKind::InvalidArgument);
    }
}

fn named(id: &str, prefix: &str, count: usize) -> NewEntity {
    (0..count)
        .fold(NewEntity::new("t").id(id).unwrap(), |entity, n| entity.property(&format!("{prefix}{n}"), 1))
}

fn properties_of(repository: &Repository, id: &str) -> usize {
    let snapshot = repository.snapshot();
    let entity = snapshot.entity(&Id::new(id).unwrap()).unwrap().expect("it is there");
    entity.properties().count()
}

/// Each name of a property has indexes of its own: one body of 6 MB with 400,000 took 750 MiB.
#[test]
fn an_instance_and_a_classification_have_a_bounded_number_of_properties() {
    let repository = CheckedRepository::in_memory();
    let refused = |outcome: Result<()>| {
        let error = outcome.expect_err("it should be refused");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.text().contains("expected at most 32768 properties, found 32769"), "{error}");
    };
    let properties = named("a", "p", PROPERTIES_MAX).properties;
    let more = named("a", "p", PROPERTIES_MAX + 1).properties;
    let content = |properties: &Vec<(Arc<str>, Value)>| ClassificationContent {
        properties: properties.clone(),
        ..ClassificationContent::new("c")
    };
    let create = |entity: NewEntity| repository.transact(|t| t.create_entity(entity.clone())).map(drop);
    refused(create(named("a", "p", PROPERTIES_MAX + 1)));
    refused(create(NewEntity::new("t").classified(content(&more))));
    create(named("a", "p", PROPERTIES_MAX).classified(content(&properties))).unwrap();
    let (id, a) = (Id::new("a").unwrap(), InstanceId::Entity(Id::new("a").unwrap()));
    let another = Patch::new().set("another", 1);
    refused(repository.transact(|t| t.update(&a, another.clone())).map(drop));
    refused(repository.transact(|t| t.reclassify(&id, "c", another.clone())).map(drop));
    refused(repository.transact(|t| t.replace(&a, more.clone())).map(drop));
    let patch = (0..=PROPERTIES_MAX).fold(Patch::new(), |patch, n| patch.set(&format!("q{n}"), 1));
    refused(repository.transact(|t| t.update(&a, patch.clone())).map(drop));
    let mut transaction = repository.transaction();
    transaction.update(&a, another.clone()).unwrap();
    refused(transaction.dry_run().map(drop));
    // Two that each keep the bound, of which neither knows the other.
    repository.transact(|t| t.update(&a, Patch::new().unset("p0"))).unwrap();
    let mut both = repository.transaction();
    both.update(&a, another.clone()).unwrap();
    both.update(&a, Patch::new().set("p0", 1)).unwrap();
    refused(both.commit().map(drop));
    repository.transact(|t| t.update(&a, another.clone())).unwrap();
    assert_eq!(properties_of(&repository, "a"), PROPERTIES_MAX);
    // Many steps about few properties are no more.
    let members = (0..=PROPERTIES_MAX as i64).fold(Patch::new(), |patch, n| patch.add("another", n));
    repository.transact(|t| t.update(&a, members.clone())).unwrap();
}

/// A repository on the records of `log` with `from` replaced by `to` in the last.
fn with_last_record_changed(log: &MemoryLog, from: &[u8], to: &[u8]) -> Repository {
    let old = Arc::new(MemoryLog::new());
    let tail = log.tail().unwrap();
    for position in (1..=tail.0).map(Position) {
        let mut record =
            log.read(position, ReadLimit { records: 1, ..ReadLimit::default() }).unwrap().remove(0);
        if position == tail {
            let at = record.windows(from.len()).position(|bytes| bytes == from).unwrap();
            record[at..at + to.len()].copy_from_slice(to);
        }
        old.append(position, &[&record]).unwrap();
    }
    Repository::with_log(old, Options::default()).unwrap()
}

#[test]
fn an_instance_with_more_properties_from_before_the_bound_is_read_and_written() {
    let log = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    let (wide, a) =
        (InstanceId::Entity(Id::new("wide").unwrap()), InstanceId::Entity(Id::new("aaaa").unwrap()));
    create(&repository, &named("wide", "p", PROPERTIES_MAX)).unwrap();
    create(&repository, &NewEntity::new("t").id("aaaa").unwrap()).unwrap();
    repository.transact(|t| t.update(&a, Patch::new().set("q", 1))).unwrap();
    drop(repository);
    let repository = with_last_record_changed(&log, b"aaaa", b"wide");
    assert_eq!(properties_of(&repository, "wide"), PROPERTIES_MAX + 1);
    repository.transact(|t| t.update(&wide, Patch::new().set("p0", 2))).unwrap();
    let all = named("wide", "p", PROPERTIES_MAX).property("q", 2).properties;
    repository.transact(|t| t.replace(&wide, all.clone())).unwrap();
    let more = repository.transact(|t| t.update(&wide, Patch::new().set("r", 1)));
    assert_eq!(kind_of(more), ErrorKind::TooLarge);
    repository.transact(|t| t.update(&wide, Patch::new().unset("q"))).unwrap();
    assert_eq!(properties_of(&repository, "wide"), PROPERTIES_MAX);
}

/// A million names, the type among them.
fn fill_names(repository: &Repository, left: usize) {
    let count = NAMES_MAX - 1 - left;
    for (number, start) in (0..count).step_by(PROPERTIES_MAX).enumerate() {
        let names =
            (start..count.min(start + PROPERTIES_MAX)).map(|n| (Arc::from(format!("p{n}")), 1.into()));
        let entity = NewEntity { properties: names.collect(), ..NewEntity::new("t") };
        create(repository, &entity.id(&format!("e{number}")).unwrap()).unwrap();
    }
}

#[test]
fn a_repository_has_a_bounded_number_of_names_and_keeps_none_of_what_it_refuses() {
    let log = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    fill_names(&repository, 2);
    let refused = |outcome: Result<()>| {
        let error = outcome.expect_err("it should be refused");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(
            error.text().contains("at most 1000000 names") && error.text().contains("into values"),
            "{error}"
        );
    };
    let try_create = |entity: NewEntity| repository.transact(|t| t.create_entity(entity.clone())).map(drop);
    refused(try_create(named("n", "n", 3)));
    refused(try_create(NewEntity::new("u").id("u").unwrap().property("v", 1).property("w", 1)));
    let classified = ["x", "y", "z"].map(ClassificationContent::new);
    refused(try_create(NewEntity { classifications: classified.into(), ..NewEntity::new("t") }));
    let attributes = |names: &[&str]| {
        let declared = TypeDefinition::entity("declared");
        let definition = names.iter().fold(declared, |definition, name| {
            definition.attribute(AttributeDefinition::new(name, ValueType::Any))
        });
        repository.transact(|t| t.define_type(definition.clone())).map(drop)
    };
    refused(attributes(&["a1", "a2"]));
    // Refused names do not count: the two places that are left are still free.
    attributes(&["last"]).unwrap();
    refused(try_create(named("n", "n", 1)));
    create(&repository, &NewEntity::new("t").id("known").unwrap()).unwrap();
    let known = InstanceId::Entity(Id::new("known").unwrap());
    repository.transact(|t| t.update(&known, Patch::new().set("last", 7).set("p999990", 2))).unwrap();
    refused(repository.transact(|t| t.update(&known, Patch::new().set("more", 1))).map(drop));
    drop(repository);
    // A record with one more, from before the bound.
    let repository = with_last_record_changed(&log, b"p999990", b"q999990");
    let value = |name: &str| {
        let snapshot = repository.snapshot();
        let entity = snapshot.entity(known.id()).unwrap().unwrap();
        entity.property(name).and_then(|value| value.as_integer())
    };
    assert_eq!((value("q999990"), value("last")), (Some(2), Some(7)));
    repository.transact(|t| t.update(&known, Patch::new().set("q999990", 3))).unwrap();
    assert_eq!(value("q999990"), Some(3));
    let more = repository.transact(|t| t.update(&known, Patch::new().set("more", 1)));
    assert_eq!(kind_of(more), ErrorKind::TooLarge);
}

/// Clients that resolve paths take `/v1/entities/..` for `/v1`, so such an instance could not be reached over HTTP.
#[test]
fn dots_are_no_ids_for_what_is_new() {
    let repository = CheckedRepository::in_memory();
    let ada = InstanceId::Entity(Id::new("ada").unwrap());
    create(&repository, &NewEntity::new("t").id("ada").unwrap()).unwrap();
    for dots in [".", ".."] {
        let id = Id::new(dots).unwrap();
        let header = CopyHeader {
            version: 1,
            status: None,
            created: Stamp { instant: Instant::now(), author: "".into() },
            updated: Stamp { instant: Instant::now(), author: "".into() },
            provenance: Provenance::of_home("there"),
        };
        let copy = EntityCopy {
            id: id.clone(),
            type_name: "t".into(),
            properties: Vec::new(),
            classifications: Vec::new(),
            header,
        };
        let proxy = EntityProxy::new(id.clone(), "t", "there");
        let relationship = NewRelationship {
            id: id.clone(),
            ..NewRelationship::new("t", ada.id().clone(), ada.id().clone())
        };
        let refused = [
            repository.transact(|t| t.create_entity(NewEntity::new("t").id(dots)?)).map(drop),
            repository.transact(|t| t.create_relationship(relationship.clone())).map(drop),
            repository.transact(|t| t.reidentify(&ada, &id)).map(drop),
            repository.transact(|t| t.save_entity_copy(copy.clone())).map(drop),
            repository.transact(|t| t.push_action(Action::SaveProxy(Box::new(proxy.clone())))).map(drop),
        ];
        for result in refused {
            let error = result.expect_err("it should be refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.text().contains("choose another id"), "{error}");
        }
    }
    create(&repository, &NewEntity::new("t").id("...").unwrap()).unwrap();
    create(&repository, &NewEntity::new("t").id("../a").unwrap()).unwrap();
    assert_eq!(repository.snapshot().entities_count(), 3);
}

/// Records from before the rule.
#[test]
fn dots_that_are_ids_in_a_log_are_read_and_written() {
    let written = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(written.clone(), Options::default()).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("t").id("~~").unwrap())).unwrap();
    drop(repository);
    let mut record = written.read(Position(1), ReadLimit::default()).unwrap().remove(0);
    let at = record.windows(2).position(|bytes| bytes == b"~~").unwrap();
    record[at..at + 2].copy_from_slice(b"..");
    let old = Arc::new(MemoryLog::new());
    old.append(Position(1), &[&record]).unwrap();
    let repository = Repository::with_log(old, Options::default()).unwrap();
    let dots = InstanceId::Entity(Id::new("..").unwrap());
    repository.transact(|t| t.update(&dots, Patch::new().set("n", 1))).unwrap();
    repository.transact(|t| t.delete(&dots)).unwrap();
    repository.transact(|t| t.restore(&dots)).unwrap();
    let again = repository.transact(|t| t.create_entity(NewEntity::new("t").id("..").unwrap()));
    assert_eq!(kind_of(again), ErrorKind::AlreadyExists);
    repository.transact(|t| t.reidentify(&dots, &Id::new("reachable").unwrap())).unwrap();
    // It may have its own id again.
    repository.transact(|t| t.undo(&InstanceId::Entity(Id::new("reachable").unwrap()))).unwrap();
    assert_eq!(repository.snapshot().entity(dots.id()).unwrap().unwrap().latest_version(), 6);
}

#[test]
fn the_longest_id_is_kept_and_found() {
    let repository = CheckedRepository::in_memory();
    let id = "ä".repeat(ID_BYTES_MAX / 2);
    create(&repository, &NewEntity::new("t").id(&id).unwrap()).unwrap();
    assert!(repository.snapshot().entity(&Id::new(&id).unwrap()).unwrap().is_some());
    assert_eq!(kind_of(Id::new(&"i".repeat(ID_BYTES_MAX + 1))), ErrorKind::InvalidArgument);
}

#[test]
fn values_are_bounded_wherever_they_are() {
    let repository = CheckedRepository::in_memory();
    let long = Value::from("v".repeat(VALUE_BYTES_MAX + 1));
    let values = [
        long.clone(),
        Value::Bytes(vec![0; VALUE_BYTES_MAX + 1].into()),
        Value::List([long.clone()].into()),
        Value::Map(Arc::new([("k".into(), long.clone())].into())),
        // Members of sets were not looked at.
        Value::set([long.clone()]).unwrap(),
    ];
    for value in values {
        assert_eq!(kind_of(create(&repository, &with_value(value.clone()))), ErrorKind::TooLarge);
    }
    create(&repository, &with_value(Value::from("v".repeat(VALUE_BYTES_MAX)))).unwrap();
    let id = InstanceId::Entity(Id::new("a").unwrap());
    let added = repository.transact(|t| t.update(&id, Patch::new().add("p", long.clone())));
    assert_eq!(kind_of(added), ErrorKind::TooLarge);
}

/// A set in the deepest list was accepted, and its record could not be read again: the repository did not open.
#[test]
fn the_deepest_nesting_that_is_accepted_is_read_back() {
    let repository = CheckedRepository::in_memory();
    let set = || Value::set([Value::from(1)]).unwrap();
    for (depth, innermost) in [(NESTING_MAX + 1, Value::from(1)), (NESTING_MAX, set())] {
        let refused = create(&repository, &with_value(nested(depth, innermost)));
        assert_eq!(kind_of(refused), ErrorKind::TooLarge);
    }
    create(&repository, &with_value(nested(NESTING_MAX, Value::from(1)))).unwrap();
    let other = NewEntity::new("t").id("b").unwrap().property("p", nested(NESTING_MAX - 1, set()));
    create(&repository, &other).unwrap();
}

/// The seconds of the most negative durations do not fit 64 bits of microseconds; such a record did not decode.
#[test]
fn extreme_values_are_read_back() {
    let repository = CheckedRepository::in_memory();
    let values = [
        Value::Duration(Duration::from_micros(i64::MIN)),
        Value::Duration(Duration::from_micros(i64::MAX)),
        Value::Integer(i64::MIN),
        Value::Decimal(rust_decimal::Decimal::MAX),
        Value::Decimal(rust_decimal::Decimal::MIN),
        Value::Decimal(rust_decimal::Decimal::new(1, 28)),
        Value::Float(f64::from_bits(0xFFF8_0000_0000_0001)),
        Value::Float(f64::MIN_POSITIVE),
        Value::set([]).unwrap(),
        Value::List([].into()),
    ];
    for (number, value) in values.into_iter().enumerate() {
        let entity = NewEntity::new("t").id(&format!("e{number}")).unwrap().property("p", value);
        create(&repository, &entity).unwrap();
    }
}

#[test]
fn a_transaction_takes_a_bounded_number_of_changes() {
    let repository = CheckedRepository::in_memory();
    let mut transaction = repository.transaction();
    let mut accepted = 0;
    let error = loop {
        match transaction.push_action(Action::Void(action::Void)) {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted <= 1 << 20);
    };
    assert_eq!((accepted, error.kind()), (1 << 20, ErrorKind::TooLarge));
}

#[test]
fn a_transaction_larger_than_a_record_is_refused() {
    let repository = CheckedRepository::in_memory();
    let value = Value::from("v".repeat(VALUE_BYTES_MAX));
    let mut transaction = repository.transaction();
    for _ in 0..=TRANSACTION_BYTES_MAX / VALUE_BYTES_MAX {
        transaction.create_entity(NewEntity::new("t").property("p", value.clone())).unwrap();
    }
    assert_eq!(kind_of(transaction.commit()), ErrorKind::TooLarge);
    assert_eq!(repository.snapshot().position(), Position::ZERO);
}

fn at(micros: i64) -> Instant {
    Instant::from_micros(micros).unwrap()
}

#[test]
fn the_future_cannot_be_claimed_or_read() {
    let repository = CheckedRepository::in_memory();
    let future = at(Instant::now().micros() + 3_600_000_000);
    let mut transaction = repository.transaction();
    transaction.valid_from(Some(future)).create_entity(NewEntity::new("t")).unwrap();
    assert_eq!(kind_of(transaction.view()), ErrorKind::FutureInstant);
    assert_eq!(kind_of(transaction.commit()), ErrorKind::FutureInstant);
    let mut transaction = repository.transaction();
    transaction.committed_at(future).create_entity(NewEntity::new("t")).unwrap();
    assert_eq!(kind_of(transaction.commit()), ErrorKind::FutureInstant);
    let snapshot = repository.snapshot();
    for as_of in
        [AsOf { valid: Some(future), ..AsOf::default() }, AsOf { instant: Some(future), ..AsOf::default() }]
    {
        assert_eq!(kind_of(snapshot.as_of(as_of)), ErrorKind::FutureInstant);
    }
    let beyond = AsOf { position: Some(Position(1)), ..AsOf::default() };
    assert_eq!(kind_of(snapshot.as_of(beyond)), ErrorKind::NotFound);
    let both = AsOf { position: Some(Position(0)), instant: Some(at(0)), valid: None };
    assert_eq!(kind_of(snapshot.as_of(both)), ErrorKind::InvalidArgument);
}

/// Reading one's own writes, or a dry run, with an instant before the last record's told of a corrupted record.
#[test]
fn commit_instants_never_go_backwards() {
    let repository = CheckedRepository::in_memory();
    let transaction = |micros: i64| {
        let mut transaction = repository.transaction();
        transaction.committed_at(at(micros)).create_entity(NewEntity::new("t")).unwrap();
        transaction
    };
    transaction(2_000).commit().unwrap();
    assert_eq!(kind_of(transaction(1_999).commit()), ErrorKind::InvalidArgument);
    assert_eq!(kind_of(transaction(1_999).dry_run().map(drop)), ErrorKind::InvalidArgument);
    assert_eq!(kind_of(transaction(1_999).view()), ErrorKind::InvalidArgument);
    let receipt = transaction(2_000).commit().unwrap();
    assert_eq!(receipt, Receipt { position: Position(2), instant: at(2_000) });
    let snapshot = repository.snapshot();
    let past = snapshot.as_of(AsOf { instant: Some(at(2_000)), ..AsOf::default() }).unwrap();
    assert_eq!(past.position(), Position(2));
    let before = snapshot.as_of(AsOf { instant: Some(at(1_999)), ..AsOf::default() }).unwrap();
    assert_eq!((before.position(), before.instant_of(Position(1))), (Position::ZERO, None));
}

/// A cursor of fewer bytes than a key has made the search panic.
#[test]
fn garbage_in_place_of_a_cursor_is_refused_or_finds_nothing_wrong() {
    let repository = CheckedRepository::in_memory();
    for number in 0..20 {
        let id = format!("e{number}");
        let entity = NewEntity::new("t").id(&id).unwrap().property("n", number);
        create(&repository, &entity.classified(ClassificationContent::new("c"))).unwrap();
    }
    let snapshot = repository.snapshot();
    let finds = [
        Find::all(),
        Find::of("t"),
        Find::all().classified("c"),
        Find::all().order_by("n"),
        Find::all().order_by_descending("n"),
        Find::all().matching("n", Operator::Greater, 3),
        Find::of("t").order_by_header(Header::UpdatedAt, Order::Descending),
        Find::of("t").order_by_header(Header::Id, Order::Ascending).order_by("n"),
    ];
    let mut random = support::Random(11);
    for find in finds {
        for text in ["", "0", "05", "0500", "0100", "zz", "ä", "050000000g", &"05".repeat(3000)] {
            let found = snapshot.find_entities(&find.clone().after(text));
            assert_eq!(kind_of(found.map(|page| page.items.len())), ErrorKind::InvalidPage, "{text:?}");
        }
        // The beginning of a cursor tells the order; what follows is the place in it.
        let first = snapshot.find_entities(&find.clone().limit(1)).unwrap();
        let order = first.next.unwrap()[..8].to_owned();
        for _ in 0..2_000 {
            let length = 4 + random.below(24);
            let kind = random.below(4) as u8;
            let bytes = std::iter::once(kind).chain((1..length).map(|_| random.next() as u8));
            let text = bytes.fold(order.clone(), |text, byte| text + &format!("{byte:02x}"));
            if let Ok(page) = snapshot.find_entities(&find.clone().after(text)) {
                assert!(page.items.len() <= 20);
            }
        }
    }
}

#[test]
fn page_sizes_and_conditions_are_bounded() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &NewEntity::new("t")).unwrap();
    let snapshot = repository.snapshot();
    for limit in [0, 100_001] {
        let found = snapshot.find_entities(&Find::all().limit(limit));
        assert_eq!(kind_of(found.map(|page| page.items.len())), ErrorKind::InvalidPage);
    }
    let many = (0..=CONDITIONS_MAX).fold(Find::all(), |find, _| find.matching("n", Operator::Exists, 0));
    assert_eq!(kind_of(snapshot.find_entities(&many)), ErrorKind::TooLarge);
    let number = Find::all().matching("n", Operator::Prefix, 1);
    assert_eq!(kind_of(snapshot.find_entities(&number)), ErrorKind::InvalidExpression);
    let second = Find { visited_max: 1, ..Find::all().matching("n", Operator::Missing, 0) };
    create(&repository, &NewEntity::new("t")).unwrap();
    assert_eq!(kind_of(repository.snapshot().find_entities(&second)), ErrorKind::TooLarge);
}

#[test]
fn adding_a_list_to_a_set_is_refused() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &with_value(Value::from(1))).unwrap();
    let id = InstanceId::Entity(Id::new("a").unwrap());
    let list = Value::List([Value::from(1)].into());
    let added = repository.transact(|t| t.update(&id, Patch::new().add("p", list.clone())));
    assert_eq!(kind_of(added), ErrorKind::InvalidArgument);
    repository.transact(|t| t.update(&id, Patch::new().set("p", list.clone()))).unwrap();
    let added = repository.transact(|t| t.update(&id, Patch::new().add("p", 1)));
    assert_eq!(kind_of(added), ErrorKind::InvalidArgument);
}

/// The last day of the calendar stands for "for ever" in many a data set.
#[test]
fn the_last_and_first_days_of_the_calendar_are_dates() {
    for text in ["9999-12-31", "-009999-01-01"] {
        let date: Date = text.parse().unwrap();
        assert_eq!(date.to_string(), text);
        assert_eq!(Date::from_days(date.days()).unwrap(), date);
    }
}
