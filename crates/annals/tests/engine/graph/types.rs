//! Declared types: what they refuse, what they inherit, how they are extended, what they were earlier.

use crate::support::CheckedRepository;
use crate::support::typed::kind_of;
use annals::*;

fn define(repository: &Repository, definition: TypeDefinition) -> Result<Receipt> {
    repository.transact(|t| t.define_type(definition.clone())).map(|(_, receipt)| receipt)
}

fn create(repository: &Repository, entity: &NewEntity) -> Result<Id> {
    repository.transact(|t| t.create_entity(entity.clone())).map(|(id, _)| id)
}

fn entity(type_name: &str, id: &str) -> NewEntity {
    NewEntity::new(type_name).id(id).unwrap()
}

fn relate(repository: &Repository, type_name: &str, from: &str, to: &str) -> Result<Id> {
    let (from, to) = (Id::new(from).unwrap(), Id::new(to).unwrap());
    repository
        .transact(|t| t.create_relationship(NewRelationship::new(type_name, from.clone(), to.clone())))
        .map(|(id, _)| id)
}

fn attribute(name: &str, value_type: ValueType) -> AttributeDefinition {
    AttributeDefinition::new(name, value_type)
}

fn person() -> TypeDefinition {
    TypeDefinition::entity("person").attribute(attribute("name", ValueType::String).required())
}

fn update(repository: &Repository, id: &str, patch: Patch) -> Result<Receipt> {
    let id = InstanceId::Entity(Id::new(id).unwrap());
    repository.transact(|t| t.update(&id, patch.clone())).map(|(_, receipt)| receipt)
}

#[test]
fn a_required_attribute_is_required_at_creation_and_ever_after() {
    let repository = CheckedRepository::in_memory();
    define(&repository, person()).unwrap();
    assert_eq!(kind_of(create(&repository, &entity("person", "a"))), ErrorKind::InvalidProperty);
    create(&repository, &entity("person", "a").property("name", "Ada")).unwrap();
    assert_eq!(kind_of(update(&repository, "a", Patch::new().unset("name"))), ErrorKind::InvalidProperty);
    assert_eq!(kind_of(update(&repository, "a", Patch::new().clear())), ErrorKind::InvalidProperty);
    let id = InstanceId::Entity(Id::new("a").unwrap());
    assert_eq!(kind_of(repository.transact(|t| t.replace(&id, Vec::new()))), ErrorKind::InvalidProperty);
    update(&repository, "a", Patch::new().unset("name").set("name", "Grace")).unwrap();
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    let repository = CheckedRepository::in_memory();
    define(&repository, person()).unwrap();
    assert_eq!(
        kind_of(create(&repository, &entity("person", "a").property("name", 7))),
        ErrorKind::InvalidProperty
    );
    let set = Value::set([Value::from("Ada")]).unwrap();
    assert_eq!(
        kind_of(create(&repository, &entity("person", "a").property("name", set))),
        ErrorKind::InvalidProperty
    );
}

/// Adding the value that a single-valued attribute already has turned it into a set behind the type's back.
/// The added value was no change, so nobody looked at the type.
#[test]
fn adding_the_same_value_to_a_single_valued_attribute_is_refused() {
    let repository = CheckedRepository::in_memory();
    define(&repository, person()).unwrap();
    create(&repository, &entity("person", "a").property("name", "Ada")).unwrap();
    let added = update(&repository, "a", Patch::new().add("name", "Ada"));
    assert_eq!(kind_of(added), ErrorKind::InvalidProperty);
}

#[test]
fn a_closed_type_and_its_subtypes_refuse_unknown_properties() {
    let repository = CheckedRepository::in_memory();
    define(&repository, person().closed()).unwrap();
    define(&repository, TypeDefinition::entity("author").supertype("person")).unwrap();
    for type_name in ["person", "author"] {
        let new = entity(type_name, type_name).property("name", "Ada");
        let unknown = new.clone().property("age", 36);
        assert_eq!(kind_of(create(&repository, &unknown)), ErrorKind::InvalidProperty);
        create(&repository, &new).unwrap();
        let updated = update(&repository, type_name, Patch::new().set("age", 36));
        assert_eq!(kind_of(updated), ErrorKind::InvalidProperty);
    }
}

#[test]
fn a_many_valued_attribute_takes_sets_only() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("t").attribute(attribute("n", ValueType::Integer).many()))
        .unwrap();
    assert_eq!(kind_of(create(&repository, &entity("t", "a").property("n", 1))), ErrorKind::InvalidProperty);
    let mixed = Value::set([Value::from(1), Value::from("one")]).unwrap();
    assert_eq!(
        kind_of(create(&repository, &entity("t", "a").property("n", mixed))),
        ErrorKind::InvalidProperty
    );
    create(&repository, &entity("t", "a")).unwrap();
    update(&repository, "a", Patch::new().add("n", 1).add("n", 2)).unwrap();
    assert_eq!(kind_of(update(&repository, "a", Patch::new().add("n", "x"))), ErrorKind::InvalidProperty);
    let snapshot = repository.snapshot();
    let expected = Value::set([Value::from(1), Value::from(2)]).unwrap();
    assert_eq!(snapshot.entity(&Id::new("a").unwrap()).unwrap().unwrap().property("n"), Some(expected));
}

#[test]
fn no_set_of_contents_is_declared() {
    let repository = CheckedRepository::in_memory();
    let scans = || attribute("scans", ValueType::Content);
    let refused =
        define(&repository, TypeDefinition::entity("book").attribute(scans().many())).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::TypeViolation);
    assert!(refused.text().contains("attribute scans: a set holds no contents"), "{refused}");
    define(&repository, TypeDefinition::entity("book").attribute(scans())).unwrap();
    let list = attribute("list", ValueType::List).items(ValueType::Content);
    define(&repository, TypeDefinition::entity("shelf").attribute(list)).unwrap();
}

#[test]
fn a_default_fills_what_is_not_given() {
    let repository = CheckedRepository::in_memory();
    let status = attribute("status", ValueType::String).required().default_value("draft");
    define(&repository, TypeDefinition::entity("page").attribute(status)).unwrap();
    define(&repository, TypeDefinition::entity("post").supertype("page")).unwrap();
    create(&repository, &entity("post", "a")).unwrap();
    create(&repository, &entity("post", "b").property("status", "final")).unwrap();
    let snapshot = repository.snapshot();
    let status =
        |id: &str| snapshot.entity(&Id::new(id).unwrap()).unwrap().unwrap().property("status").unwrap();
    assert_eq!([status("a"), status("b")], [Value::from("draft"), Value::from("final")]);
}

#[test]
fn a_default_of_the_wrong_type_is_refused() {
    let repository = CheckedRepository::in_memory();
    let wrong = TypeDefinition::entity("t").attribute(attribute("n", ValueType::Integer).default_value("x"));
    assert_eq!(kind_of(define(&repository, wrong)), ErrorKind::TypeViolation);
}

#[test]
fn a_unique_value_occurs_once_among_a_type_and_its_subtypes() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("t").attribute(attribute("key", ValueType::Any).unique()))
        .unwrap();
    define(&repository, TypeDefinition::entity("s").supertype("t")).unwrap();
    create(&repository, &entity("t", "a").property("key", 1)).unwrap();
    assert_eq!(kind_of(create(&repository, &entity("s", "b").property("key", 1))), ErrorKind::NotUnique);
    create(&repository, &entity("s", "b").property("key", 2)).unwrap();
    assert_eq!(kind_of(update(&repository, "a", Patch::new().set("key", 2))), ErrorKind::NotUnique);
    // Another kind of number is another value, and another type is not concerned.
    create(&repository, &entity("s", "c").property("key", 1.0)).unwrap();
    create(&repository, &entity("other", "d").property("key", 1)).unwrap();
    // An instance does not conflict with its own value.
    update(&repository, "a", Patch::new().set("key", 1).set("more", true)).unwrap();
}

// Two hosts that exchanged their addresses could not be written at all: each change was checked alone.
#[test]
fn two_instances_may_exchange_unique_values_in_one_transaction() -> Result<()> {
    let repository = Repository::in_memory();
    let host = TypeDefinition::entity("host").attribute(attribute("ip", ValueType::String).unique());
    define(&repository, host).unwrap();
    let ids = ["a", "b", "c"].map(|id| InstanceId::Entity(Id::new(id).unwrap()));
    repository.transact(|t| {
        ["a", "b", "c"]
            .into_iter()
            .try_for_each(|id| t.create_entity(NewEntity::new("host").id(id)?.property("ip", id)).map(drop))
    })?;
    let set = |t: &mut Transaction, of: usize, ip: &str| t.update(&ids[of], Patch::new().set("ip", ip));
    repository.transact(|t| {
        set(t, 0, "b")?;
        set(t, 1, "c")?;
        set(t, 2, "a")
    })?;
    let held = |snapshot: &Snapshot| {
        ids.clone().map(|id| snapshot.entity(id.id()).unwrap().unwrap().property("ip").unwrap())
    };
    assert_eq!(held(&repository.snapshot()), ["b", "c", "a"].map(Value::from));
    // At the end each value has one holder, also among new, restored and retyped ones.
    let refused = repository.transact(|t| {
        set(t, 0, "c")?;
        set(t, 1, "a")
    });
    assert_eq!(
        refused.unwrap_err().text(),
        "type host, attribute ip: expected a unique value, found \"a\" also in c"
    );
    repository.transact(|t| t.delete(&ids[2]))?;
    repository.transact(|t| set(t, 0, "a"))?;
    assert_eq!(kind_of(repository.transact(|t| t.restore(&ids[2]))), ErrorKind::NotUnique);
    repository.transact(|t| {
        t.restore(&ids[2])?;
        set(t, 0, "b")
    })?;
    let new = |t: &mut Transaction| t.create_entity(NewEntity::new("host").property("ip", "new")).map(drop);
    assert_eq!(kind_of(repository.transact(|t| new(t).and_then(|()| new(t)))), ErrorKind::NotUnique);
    Ok(())
}

#[test]
fn a_value_is_unique_also_after_a_checkpoint_that_has_no_instance() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path().join("repository"))?;
    define(
        &repository,
        TypeDefinition::entity("t").attribute(AttributeDefinition::new("key", ValueType::Integer).unique()),
    )?;
    repository.checkpoint()?;
    repository.close()?;
    let repository = CheckedRepository::open_with(folder.path().join("repository"), Options::default());
    create(&repository, &entity("t", "a").property("key", 1))?;
    assert_eq!(kind_of(create(&repository, &entity("t", "b").property("key", 1))), ErrorKind::NotUnique);
    Ok(())
}

/// A subtype that declared an inherited unique attribute again was checked within itself only, and one that declared
/// it without "unique" not at all.
#[test]
fn a_subtype_cannot_loosen_what_it_inherits() {
    let repository = CheckedRepository::in_memory();
    let key = attribute("key", ValueType::String);
    define(&repository, TypeDefinition::entity("t").attribute(key.clone().unique().required())).unwrap();
    define(&repository, TypeDefinition::entity("again").supertype("t").attribute(key.clone().unique()))
        .unwrap();
    define(&repository, TypeDefinition::entity("loose").supertype("t").attribute(key.clone())).unwrap();
    create(&repository, &entity("t", "a").property("key", "k")).unwrap();
    for type_name in ["again", "loose"] {
        let taken = entity(type_name, "b").property("key", "k");
        assert_eq!(kind_of(create(&repository, &taken)), ErrorKind::NotUnique, "{type_name}");
        assert_eq!(
            kind_of(create(&repository, &entity(type_name, "b"))),
            ErrorKind::InvalidProperty,
            "{type_name}"
        );
    }
    let other =
        TypeDefinition::entity("other").supertype("t").attribute(attribute("key", ValueType::Integer));
    assert_eq!(kind_of(define(&repository, other)), ErrorKind::TypeViolation);
    let plain = TypeDefinition::entity("plain").supertype("t").attribute(key.unindexed());
    assert_eq!(kind_of(define(&repository, plain)), ErrorKind::TypeViolation);
}

#[test]
fn a_deleted_instance_frees_its_unique_value_and_cannot_come_back_when_it_is_taken() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("t").attribute(attribute("key", ValueType::Any).unique()))
        .unwrap();
    create(&repository, &entity("t", "a").property("key", 1)).unwrap();
    let a = InstanceId::Entity(Id::new("a").unwrap());
    repository.transact(|t| t.delete(&a)).unwrap();
    create(&repository, &entity("t", "b").property("key", 1)).unwrap();
    assert_eq!(kind_of(repository.transact(|t| t.restore(&a))), ErrorKind::NotUnique);
    update(&repository, "b", Patch::new().set("key", 2)).unwrap();
    repository.transact(|t| t.restore(&a)).unwrap();
}

#[test]
fn a_unique_many_valued_attribute_shares_no_member() {
    let repository = CheckedRepository::in_memory();
    let names = attribute("names", ValueType::String).many().unique();
    define(&repository, TypeDefinition::entity("t").attribute(names)).unwrap();
    let long = "x".repeat(200);
    let set = |names: &[&str]| Value::set(names.iter().map(|name| Value::from(*name))).unwrap();
    create(&repository, &entity("t", "a").property("names", set(&["one", &long]))).unwrap();
    let other = format!("{long}y");
    create(&repository, &entity("t", "b").property("names", set(&["two", &other]))).unwrap();
    let taken = update(&repository, "b", Patch::new().add("names", long.as_str()));
    assert_eq!(kind_of(taken), ErrorKind::NotUnique);
    update(&repository, "a", Patch::new().remove("names", "one")).unwrap();
    update(&repository, "b", Patch::new().add("names", "one")).unwrap();
}

#[test]
fn attributes_of_classifications_cannot_be_unique() {
    let repository = CheckedRepository::in_memory();
    let wrong = TypeDefinition::classification("c").attribute(attribute("key", ValueType::Any).unique());
    assert_eq!(kind_of(define(&repository, wrong)), ErrorKind::TypeViolation);
}

#[test]
fn a_type_may_grow_and_not_shrink() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("thing")).unwrap();
    define(&repository, person().supertype("thing")).unwrap();
    let name = || attribute("name", ValueType::String);
    for smaller in [
        TypeDefinition::entity("person").supertype("thing"),
        TypeDefinition::entity("person").attribute(name()),
        TypeDefinition::entity("person").supertype("thing").attribute(name().many()),
        TypeDefinition::entity("person").supertype("thing").attribute(attribute("name", ValueType::Any)),
        person().supertype("thing").supertype("nothing"),
        person().supertype("thing").attribute(name()),
    ] {
        assert_eq!(kind_of(define(&repository, smaller.clone())), ErrorKind::TypeViolation, "{smaller:?}");
    }
    let cycle = TypeDefinition::entity("thing").supertype("person");
    assert_eq!(kind_of(define(&repository, cycle)), ErrorKind::TypeViolation);
    assert_eq!(
        kind_of(define(&repository, TypeDefinition::entity("x").supertype("x"))),
        ErrorKind::TypeViolation
    );
    define(&repository, person().supertype("thing").attribute(attribute("age", ValueType::Integer))).unwrap();
}

#[test]
fn what_is_there_and_breaks_a_new_definition_is_refused() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &entity("person", "a").property("age", 1)).unwrap();
    create(&repository, &entity("person", "b").property("age", 1)).unwrap();
    let age = || attribute("age", ValueType::Integer);
    for refused in [
        person(),
        TypeDefinition::entity("person").closed(),
        TypeDefinition::entity("person").attribute(attribute("age", ValueType::String)),
        TypeDefinition::entity("person").attribute(age().many()),
    ] {
        assert_eq!(kind_of(define(&repository, refused.clone())), ErrorKind::TypeViolation, "{refused:?}");
    }
    let unique = TypeDefinition::entity("person").attribute(age().unique());
    assert_eq!(kind_of(define(&repository, unique)), ErrorKind::NotUnique);
    assert!(repository.snapshot().types().is_empty());
    define(&repository, TypeDefinition::entity("person").attribute(age())).unwrap();
}

/// Relationships that were there were not looked at when their type got ends or a cardinality.
#[test]
fn relationships_that_are_there_and_break_new_ends_are_refused() {
    let repository = CheckedRepository::in_memory();
    for id in ["a", "b", "c"] {
        create(&repository, &entity("person", id)).unwrap();
    }
    relate(&repository, "knows", "a", "b").unwrap();
    relate(&repository, "knows", "a", "c").unwrap();
    let machine = TypeDefinition::relationship("knows")
        .between(EndDefinition::many("person"), EndDefinition::many("machine"));
    assert_eq!(kind_of(define(&repository, machine)), ErrorKind::InvalidEnds);
    let one = TypeDefinition::relationship("knows")
        .between(EndDefinition::many("person"), EndDefinition::one("person"));
    assert_eq!(kind_of(define(&repository, one)), ErrorKind::Cardinality);
    let other_one = TypeDefinition::relationship("knows")
        .between(EndDefinition::one("person"), EndDefinition::many("person"));
    define(&repository, other_one).unwrap();
    assert_eq!(kind_of(relate(&repository, "knows", "b", "c")), ErrorKind::Cardinality);
}

#[test]
fn ends_take_the_declared_types_with_their_subtypes() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("person")).unwrap();
    define(&repository, TypeDefinition::entity("author").supertype("person")).unwrap();
    let wrote =
        TypeDefinition::relationship("wrote").between(EndDefinition::many("person"), EndDefinition::ANY);
    define(&repository, wrote).unwrap();
    define(&repository, TypeDefinition::relationship("edited").supertype("wrote")).unwrap();
    create(&repository, &entity("author", "a")).unwrap();
    create(&repository, &entity("book", "b")).unwrap();
    for type_name in ["wrote", "edited"] {
        relate(&repository, type_name, "a", "b").unwrap();
        assert_eq!(kind_of(relate(&repository, type_name, "b", "a")), ErrorKind::InvalidEnds);
    }
    let snapshot = repository.snapshot();
    let a = Id::new("a").unwrap();
    assert_eq!(snapshot.degree(&a, Direction::Out, Some("wrote")).unwrap(), 2);
    assert_eq!(snapshot.degree(&a, Direction::Out, Some("edited")).unwrap(), 1);
}

#[test]
fn a_cardinality_counts_subtypes_and_live_relationships() {
    let repository = CheckedRepository::in_memory();
    let any = |is_many| EndDefinition { is_many, ..EndDefinition::ANY };
    define(&repository, TypeDefinition::relationship("in").between(any(true), any(false))).unwrap();
    define(&repository, TypeDefinition::relationship("deep-in").supertype("in")).unwrap();
    for id in ["a", "b", "c"] {
        create(&repository, &entity("t", id)).unwrap();
    }
    let first = relate(&repository, "in", "a", "b").unwrap();
    assert_eq!(kind_of(relate(&repository, "deep-in", "a", "c")), ErrorKind::Cardinality);
    relate(&repository, "in", "c", "b").unwrap();
    let first = InstanceId::Relationship(first);
    repository.transact(|t| t.delete(&first)).unwrap();
    relate(&repository, "deep-in", "a", "c").unwrap();
    assert_eq!(kind_of(repository.transact(|t| t.restore(&first))), ErrorKind::Cardinality);
}

#[test]
fn a_classification_fits_the_declared_types_only() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("file")).unwrap();
    define(&repository, TypeDefinition::entity("text").supertype("file")).unwrap();
    define(&repository, TypeDefinition::classification("secret").applicable_to("file")).unwrap();
    define(&repository, TypeDefinition::classification("top-secret").supertype("secret")).unwrap();
    create(&repository, &entity("text", "a")).unwrap();
    create(&repository, &entity("person", "p")).unwrap();
    for name in ["secret", "top-secret"] {
        let classify = |id: &str| {
            let id = Id::new(id).unwrap();
            repository.transact(|t| t.classify(&id, ClassificationContent::new(name)))
        };
        classify("a").unwrap();
        assert_eq!(kind_of(classify("p")), ErrorKind::InvalidClassification);
    }
    let found = repository.snapshot();
    let found = found.find_entities(&Find::all().classified("secret")).unwrap();
    assert_eq!(found.items.len(), 1);
    let narrower = TypeDefinition::classification("secret").applicable_to("image");
    assert_eq!(kind_of(define(&repository, narrower)), ErrorKind::InvalidClassification);
}

/// An entity could be created with the same classification twice, and only the first was ever seen.
#[test]
fn a_classification_is_carried_once() {
    let repository = CheckedRepository::in_memory();
    let twice = entity("t", "a")
        .classified(ClassificationContent::new("c").property("n", 1))
        .classified(ClassificationContent::new("c").property("n", 2));
    assert_eq!(kind_of(create(&repository, &twice)), ErrorKind::AlreadyExists);
    assert_eq!(repository.snapshot().position(), Position::ZERO);
}

/// A classification type that was closed while an entity was deleted did not keep the entity from coming back.
#[test]
fn restoring_checks_classifications_by_the_types_of_now() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &entity("t", "a").classified(ClassificationContent::new("c").property("n", 1)))
        .unwrap();
    let a = InstanceId::Entity(Id::new("a").unwrap());
    repository.transact(|t| t.delete(&a)).unwrap();
    define(&repository, TypeDefinition::classification("c").closed()).unwrap();
    assert_eq!(kind_of(repository.transact(|t| t.restore(&a))), ErrorKind::InvalidProperty);
}

#[test]
fn a_property_is_found_before_and_after_it_leaves_the_index() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &entity("t", "a").property("n", 1)).unwrap();
    let found = |repository: &Repository| {
        let snapshot = repository.snapshot();
        let page = snapshot.find_entities(&Find::of("t").matching("n", Operator::Equal, 1)).unwrap();
        page.items.len()
    };
    assert_eq!(found(&repository), 1);
    let n = attribute("n", ValueType::Integer);
    define(&repository, TypeDefinition::entity("t").attribute(n.clone().unindexed())).unwrap();
    create(&repository, &entity("t", "b").property("n", 1)).unwrap();
    assert_eq!(found(&repository), 2);
    assert_eq!(repository.snapshot().find_entities(&Find::of("t").order_by("n")).unwrap().items.len(), 2);
    define(&repository, TypeDefinition::entity("t").attribute(n.clone())).unwrap();
    create(&repository, &entity("t", "c").property("n", 1)).unwrap();
    assert_eq!(found(&repository), 3);
    let unique = TypeDefinition::entity("t").attribute(n.unique());
    assert_eq!(kind_of(define(&repository, unique)), ErrorKind::NotUnique);
}

/// A subtype was found below its supertype also as of a time when it was not yet a subtype.
#[test]
fn types_are_what_they_were_at_an_earlier_position() {
    let repository = CheckedRepository::in_memory();
    create(&repository, &entity("s", "a")).unwrap();
    define(&repository, TypeDefinition::entity("t")).unwrap();
    define(&repository, TypeDefinition::entity("s")).unwrap();
    define(&repository, TypeDefinition::entity("s").supertype("t")).unwrap();
    let snapshot = repository.snapshot();
    let seen: Vec<(usize, usize)> = (1..=4)
        .map(|position| {
            let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
            let past = snapshot.as_of(as_of).unwrap();
            (past.types().len(), past.find_entities(&Find::of("t")).unwrap().items.len())
        })
        .collect();
    assert_eq!(seen, [(0, 0), (1, 0), (2, 0), (2, 1)]);
    let first = snapshot.as_of(AsOf { position: Some(Position(3)), ..AsOf::default() }).unwrap();
    assert!(first.type_definition(TypeKind::Entity, "s").unwrap().supertypes.is_empty());
}

#[test]
fn kinds_of_types_have_separate_names() {
    let repository = CheckedRepository::in_memory();
    define(&repository, TypeDefinition::entity("x").attribute(attribute("n", ValueType::Any).required()))
        .unwrap();
    define(&repository, TypeDefinition::classification("x")).unwrap();
    define(&repository, TypeDefinition::relationship("x")).unwrap();
    create(&repository, &entity("y", "a").classified(ClassificationContent::new("x"))).unwrap();
    relate(&repository, "x", "a", "a").unwrap();
    let wrong = TypeDefinition::entity("z").between(EndDefinition::many("x"), EndDefinition::many("x"));
    assert_eq!(kind_of(define(&repository, wrong)), ErrorKind::TypeViolation);
}

/// Corrections of the past were not checked against the declared types, and could make a version nobody can read.
#[test]
fn a_correction_of_the_past_obeys_the_declared_types() {
    let repository = CheckedRepository::in_memory();
    define(&repository, person().closed()).unwrap();
    let at = |text: &str| Some(text.parse::<Instant>().unwrap());
    repository
        .transact(|t| {
            t.valid_from(at("2020-01-01"));
            t.create_entity(entity("person", "a").property("name", "Ada"))
        })
        .unwrap();
    let correct = |patch: Patch| {
        let a = InstanceId::Entity(Id::new("a").unwrap());
        repository.transact(|t| t.valid_from(at("2020-06-01")).update(&a, patch.clone()))
    };
    update(&repository, "a", Patch::new().set("name", "Grace")).unwrap();
    assert_eq!(kind_of(correct(Patch::new().set("age", 1))), ErrorKind::InvalidProperty);
    assert_eq!(kind_of(correct(Patch::new().unset("name"))), ErrorKind::InvalidProperty);
    correct(Patch::new().set("name", "Countess")).unwrap();
    let snapshot = repository.snapshot();
    let past = snapshot.as_of(AsOf { valid: at("2020-07-01"), ..AsOf::default() }).unwrap();
    let name = past.entity(&Id::new("a").unwrap()).unwrap().unwrap().property("name");
    assert_eq!(name, Some(Value::from("Countess")));
}

/// An entity of a type with a property that is kept out of the index.
fn unindexed() -> Result<CheckedRepository> {
    let repository = CheckedRepository::in_memory();
    define(
        &repository,
        TypeDefinition::entity("t").attribute(attribute("text", ValueType::String).unindexed()),
    )?;
    create(&repository, &entity("t", "a"))?;
    Ok(repository)
}

/// A patch set a property and unset it again. The index got the value, though the instance does not have the property.
#[test]
fn a_property_that_is_not_indexed_stays_out_of_the_index_when_a_patch_sets_and_unsets_it() -> Result<()> {
    let repository = unindexed()?;
    update(&repository, "a", Patch::new().set("text", "before"))?;
    update(&repository, "a", Patch::new().set("text", "on the way").unset("text"))?;
    repository.assert_consistent();
    assert!(repository.check()?.is_clean());
    Ok(())
}

/// Set twice in one patch, the first of two long texts that begin alike was taken out of an index that never had it, and the second
/// was put there in its place.
#[test]
fn a_property_that_is_not_indexed_stays_out_of_the_index_when_it_is_set_twice() -> Result<()> {
    let repository = unindexed()?;
    let long = "y".repeat(300);
    let twice = Patch::new().set("text", format!("{long}1")).set("text", format!("{long}2"));
    update(&repository, "a", twice)?;
    repository.assert_consistent();
    assert!(repository.check()?.is_clean());
    Ok(())
}

/// A copy came with a value that an instance has. Then its type could no longer be declared with anything new.
#[test]
fn a_copy_with_a_value_that_is_taken_keeps_no_type_from_being_extended() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    let code = AttributeDefinition::new("code", ValueType::Integer).unique();
    let coded = TypeDefinition::entity("coded").attribute(code);
    repository.transact(|t| {
        t.define_type(coded.clone())?;
        t.create_entity(NewEntity::new("coded").property("code", 1))
    })?;
    let there = Provenance { home: Some("there".into()), ..Provenance::default() };
    let stamp = Stamp { instant: "2020-01-01T00:00:00Z".parse()?, author: "bob".into() };
    let header =
        CopyHeader { provenance: there, version: 1, status: None, created: stamp.clone(), updated: stamp };
    let copy = EntityCopy {
        id: Id::new("far")?,
        type_name: "coded".into(),
        properties: vec![("code".into(), Value::from(1))],
        classifications: Vec::new(),
        header,
    };
    repository.transact(|t| t.save_entity_copy(copy.clone()))?;
    let more = coded.attribute(AttributeDefinition::new("text", ValueType::String));
    repository.transact(|t| t.define_type(more.clone()))?;
    let text = AttributeDefinition::new("text", ValueType::String).unique();
    let (mut unique, last) = (more.clone(), more.attributes.len() - 1);
    unique.attributes[last] = text;
    repository.transact(|t| t.define_type(unique.clone()))?;
    Ok(())
}
