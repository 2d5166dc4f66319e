//! Tests all that types say beyond attributes: enums, items, statuses, deprecation, external ids; patches and
//! verification.

use crate::support::CheckedRepository;
use annals::*;

fn declare(repository: &Repository, definition: TypeDefinition) -> Result<()> {
    repository.transact(|t| t.define_type(definition.clone())).map(drop)
}

fn create(repository: &Repository, new: NewEntity) -> Result<Id> {
    repository.transact(|t| t.create_entity(new.clone())).map(|(id, _)| id)
}

fn kind_of<T>(outcome: Result<T>) -> ErrorKind {
    outcome.map(drop).unwrap_err().kind()
}

#[test]
fn an_attribute_of_an_enum_takes_its_elements_only() {
    let repository = CheckedRepository::in_memory();
    let colour = TypeDefinition::enumeration("Colour").element(0, "red").element(99, "green");
    let car = TypeDefinition::entity("car").attribute(AttributeDefinition::of_enum("colour", "Colour"));
    assert_eq!(kind_of(declare(&repository, car.clone())), ErrorKind::TypeViolation, "enums come first");
    declare(&repository, colour.clone()).unwrap();
    declare(&repository, car.clone()).unwrap();
    create(&repository, NewEntity::new("car").property("colour", "green")).unwrap();
    for value in [Value::from("blue"), Value::from(0), Value::from("")] {
        let refused = create(&repository, NewEntity::new("car").property("colour", value));
        assert!(refused.unwrap_err().text().contains("attribute colour"));
    }
    declare(&repository, colour.clone().element(1, "blue")).unwrap();
    create(&repository, NewEntity::new("car").property("colour", "blue")).unwrap();
    // Elements stay, and so do their numbers.
    assert_eq!(kind_of(declare(&repository, colour.clone())), ErrorKind::TypeViolation);
    let other =
        TypeDefinition::enumeration("Colour").element(0, "green").element(1, "blue").element(2, "red");
    assert_eq!(kind_of(declare(&repository, other)), ErrorKind::TypeViolation);
    let twice = TypeDefinition::enumeration("Twice").element(0, "a").element(1, "a");
    assert_eq!(kind_of(declare(&repository, twice)), ErrorKind::TypeViolation);
    let unknown_default = AttributeDefinition::of_enum("c", "Colour").default_value("pink");
    let refused = declare(&repository, TypeDefinition::entity("van").attribute(unknown_default));
    assert_eq!(kind_of(refused), ErrorKind::TypeViolation);
}

#[test]
fn lists_and_maps_hold_items_of_their_type() {
    let repository = CheckedRepository::in_memory();
    let tags = AttributeDefinition::new("tags", ValueType::List).items(ValueType::String);
    let sizes = AttributeDefinition::new("sizes", ValueType::Map).items(ValueType::Integer);
    declare(&repository, TypeDefinition::entity("thing").attribute(tags).attribute(sizes)).unwrap();
    let list = |items: Vec<Value>| NewEntity::new("thing").property("tags", Value::List(items.into()));
    create(&repository, list(vec!["a".into(), "b".into()])).unwrap();
    assert!(
        create(&repository, list(vec!["a".into(), 1.into()])).unwrap_err().text().contains("list of string")
    );
    let map = |value: Value| {
        let map = std::sync::Arc::new([("a".into(), value)].into());
        NewEntity::new("thing").property("sizes", Value::Map(map))
    };
    create(&repository, map(1.into())).unwrap();
    assert!(create(&repository, map("1".into())).is_err());
    let wrong = AttributeDefinition::new("x", ValueType::Integer).items(ValueType::String);
    assert_eq!(
        kind_of(declare(&repository, TypeDefinition::entity("odd").attribute(wrong))),
        ErrorKind::TypeViolation
    );
}

#[test]
fn a_patch_adds_and_instances_keep_working() {
    let repository = CheckedRepository::in_memory();
    let table = TypeDefinition::entity("table").closed().with_statuses(&["draft", "active"]);
    declare(&repository, table.attribute(AttributeDefinition::new("label", ValueType::String))).unwrap();
    let id = create(&repository, NewEntity::new("table").property("label", "a")).unwrap();
    let mut patch = TypePatch::new(TypeKind::Entity, "table");
    patch.attributes = vec![
        AttributeDefinition::new("name", ValueType::String),
        AttributeDefinition::new("label", ValueType::String).deprecated(Some("name")),
    ];
    patch.statuses = vec!["retired".into()];
    patch.deprecation = Some(Deprecation { replaced_by: Some("relation".into()) });
    repository.transact(|t| t.patch_type(&patch)).unwrap();
    let snapshot = repository.snapshot();
    let after = snapshot.type_definition(TypeKind::Entity, "table").unwrap();
    assert_eq!(after.version, 2);
    assert_eq!(
        after.statuses.iter().map(|status| &**status).collect::<Vec<_>>(),
        ["draft", "active", "retired"]
    );
    assert_eq!(after.attributes[0].deprecation.as_ref().unwrap().replaced_by.as_deref(), Some("name"));
    let instance = InstanceId::Entity(id.clone());
    repository.transact(|t| t.update(&instance, Patch::new().set("name", "b").set("label", "c"))).unwrap();
    // As of then, the type was what it was.
    let then = snapshot.as_of(AsOf { position: Some(Position(1)), ..AsOf::default() }).unwrap();
    assert_eq!(then.type_definition(TypeKind::Entity, "table").unwrap().attributes.len(), 1);

    patch.attributes = vec![AttributeDefinition::new("label", ValueType::Integer)];
    assert_eq!(kind_of(repository.transact(|t| t.patch_type(&patch))), ErrorKind::TypeViolation);
    patch.name = "chair".into();
    assert_eq!(kind_of(repository.transact(|t| t.patch_type(&patch))), ErrorKind::NotFound);
}

#[test]
fn verifying_says_where_a_type_differs() {
    let repository = CheckedRepository::in_memory();
    let person =
        || TypeDefinition::entity("person").attribute(AttributeDefinition::new("name", ValueType::String));
    declare(&repository, person()).unwrap();
    let verify = |given: TypeDefinition| {
        let (outcome, differences) = repository.snapshot().verify_type(&given);
        (outcome, differences.into_iter().map(|found| found.place).collect::<Vec<_>>())
    };
    assert_eq!(verify(person()), (TypeMatch::Equal, vec![]));
    assert_eq!(verify(TypeDefinition::entity("place")), (TypeMatch::Unknown, vec![]));
    let more = person().attribute(AttributeDefinition::new("born", ValueType::Date));
    assert_eq!(verify(more), (TypeMatch::Compatible, vec!["attribute born".to_owned()]));
    assert_eq!(
        verify(TypeDefinition::entity("person")),
        (TypeMatch::Compatible, vec!["attribute name".to_owned()])
    );
    let other =
        TypeDefinition::entity("person").attribute(AttributeDefinition::new("name", ValueType::Integer));
    assert_eq!(verify(other), (TypeMatch::Conflicting, vec!["attribute name: value type".to_owned()]));
}

#[test]
fn an_external_id_is_one_types() {
    let repository = CheckedRepository::in_memory();
    let known_as =
        |definition: TypeDefinition| TypeDefinition { external_id: Some("guid-1".into()), ..definition };
    declare(&repository, known_as(TypeDefinition::entity("a"))).unwrap();
    assert_eq!(
        kind_of(declare(&repository, known_as(TypeDefinition::enumeration("b")))),
        ErrorKind::TypeViolation
    );
    assert_eq!(&*repository.snapshot().type_with_external_id("guid-1").unwrap().name, "a");
    assert!(repository.snapshot().type_with_external_id("guid-2").is_none());
    // It stays what it is.
    assert_eq!(kind_of(declare(&repository, TypeDefinition::entity("a"))), ErrorKind::TypeViolation);
}

#[test]
fn an_advisory_type_tells_uniqueness_and_cardinalities_and_does_not_enforce_them() {
    let repository = CheckedRepository::in_memory();
    let advisory = |definition: TypeDefinition| TypeDefinition { is_advisory: true, ..definition };
    let key = || AttributeDefinition::new("key", ValueType::String).unique();
    declare(&repository, advisory(TypeDefinition::entity("loose").attribute(key()))).unwrap();
    let ends = [EndDefinition::one("loose"), EndDefinition::one("loose")];
    let [from, to] = ends;
    declare(&repository, advisory(TypeDefinition::relationship("links").between(from, to))).unwrap();
    let new = || create(&repository, NewEntity::new("loose").property("key", "same")).unwrap();
    let (a, b) = (new(), new());
    for _ in 0..2 {
        let new = NewRelationship::new("links", a.clone(), b.clone());
        repository.transact(|t| t.create_relationship(new.clone())).unwrap();
        repository
            .transact(|t| t.create_relationship(NewRelationship { id: Id::random(), ..new.clone() }))
            .unwrap();
    }
}

#[test]
fn many_types_are_declared_in_any_order() {
    let repository = CheckedRepository::in_memory();
    let subtype = |name: &str, above: &str| TypeDefinition::entity(name).supertype(above);
    let colour = TypeDefinition::enumeration("Colour").element(0, "red");
    let a = TypeDefinition::entity("a").attribute(AttributeDefinition::of_enum("colour", "Colour"));
    let types = vec![subtype("c", "b"), subtype("b", "a"), a, colour];
    repository.transact(|t| t.define_types(types.clone())).unwrap();
    assert_eq!(repository.snapshot().types_of(TypeKind::Entity).len(), 3);
    create(&repository, NewEntity::new("c").property("colour", "red")).unwrap();
    assert!(create(&repository, NewEntity::new("c").property("colour", "blue")).is_err());
    let found = repository.snapshot().find_entities(&Find::of("a")).unwrap().items.len();
    assert_eq!(found, 1, "a type declared last is found below its supertypes");
    let circle = vec![subtype("x", "y"), subtype("y", "x")];
    assert_eq!(kind_of(repository.transact(|t| t.define_types(circle.clone()))), ErrorKind::TypeViolation);
}
