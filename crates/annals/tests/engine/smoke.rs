//! The main path through the engine.

use annals::*;

#[test]
fn a_repository_keeps_what_it_was_told() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path())?;
    let ((a, b, r), _) = repository.transact(|t| {
        t.author("ada").message("first");
        let a = t.create_entity(NewEntity::new("person").property("name", "a").property("age", 3))?;
        let b = t.create_entity(NewEntity::new("person").property("name", "b").property("age", 4))?;
        let r = t.create_relationship(NewRelationship::new("knows", a.clone(), b.clone()))?;
        Ok((a, b, r))
    })?;
    let ea = InstanceId::Entity(a.clone());
    for age in 5..40 {
        repository.transact(|t| t.update(&ea, Patch::new().set("age", age)))?;
    }
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entity(&a)?.unwrap().property("age"), Some(Value::Integer(39)));
    for position in 2..=36u64 {
        let past = snapshot.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() })?;
        let age = i64::try_from(position).unwrap() + 3;
        assert_eq!(past.entity(&a)?.unwrap().property("age"), Some(Value::Integer(age)));
        let found = past.find_entities(&Find::of("person").matching("age", Operator::Equal, age))?;
        assert!(found.items.iter().any(|found| *found.id() == a));
    }
    assert_eq!(snapshot.versions(&ea, 0, 100)?.len(), 36);
    repository.transact(|t| t.delete(&InstanceId::Entity(b.clone())))?;
    assert_eq!(repository.snapshot().degree(&a, Direction::Out, None)?, 0);
    assert!(repository.snapshot().relationship(&r)?.is_none());
    assert_eq!(snapshot.degree(&a, Direction::Out, Some("knows"))?, 1);
    repository.transact(|t| t.undo(&InstanceId::Entity(b.clone())))?;
    assert_eq!(repository.snapshot().degree(&a, Direction::Out, None)?, 1);
    repository.close()?;
    let repository = Repository::open(folder.path())?;
    assert_eq!(repository.snapshot().degree(&a, Direction::Out, None)?, 1);
    assert_eq!(repository.snapshot().position(), Position(38));
    Ok(())
}
