//! Many entities at once give what one after the other does, now and as of earlier.

use annals::{AsOf, Direction, Id, InstanceId, NewEntity, NewRelationship, Position, Repository, Value};

fn id(number: usize) -> Id {
    Id::new(&format!("e{number}")).unwrap()
}

/// A hundred entities of two types with values of several kinds, a chain and a hub, and every seventh deleted later.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            for number in 0..100 {
                let value: Value = match number % 4 {
                    0 => (number as i64).into(),
                    1 => (number as f64 / 2.0).into(),
                    2 => format!("number {number}").into(),
                    _ => true.into(),
                };
                let name = if number % 3 == 0 { "fizz" } else { "other" };
                let mut entity = NewEntity::new(name).id(&format!("e{number}"))?;
                if number % 10 != 0 {
                    entity = entity.property("value", value);
                }
                t.create_entity(entity)?;
            }
            for number in 1..100 {
                t.create_relationship(NewRelationship::new("next", id(number - 1), id(number)))?;
                t.create_relationship(NewRelationship::new("spoke", id(0), id(number)))?;
            }
            Ok(())
        })
        .unwrap();
    let delete = |number: usize| {
        repository.transact(|t| t.delete(&InstanceId::Entity(id(number)))).unwrap();
    };
    (1..100).step_by(7).for_each(delete);
    repository
}

#[test]
fn many_at_once_are_what_one_by_one_are() {
    let repository = repository();
    let present = repository.snapshot();
    let past = present.as_of(AsOf { position: Some(Position(1)), ..AsOf::default() }).unwrap();
    for (snapshot, count) in [(&present, 85), (&past, 100)] {
        let ids: Vec<Id> = (0..110).map(id).collect();
        let found = snapshot.entities(&ids).unwrap();
        for (id, found) in ids.iter().zip(&found) {
            let alone = snapshot.entity(id).unwrap();
            assert_eq!(found.as_ref().map(|found| found.id()), alone.as_ref().map(|alone| alone.id()));
        }
        let entities: Vec<_> = found.into_iter().flatten().collect();
        assert_eq!(entities.len(), count);
        let value = snapshot.name("value").unwrap();
        for name in [None, Some("next"), Some("spoke"), Some("unknown")] {
            let ends: Vec<Id> = snapshot
                .expand(&entities, Direction::Out, name)
                .unwrap()
                .iter()
                .map(|end| end.id().clone())
                .collect();
            let one_by_one = entities.iter().flat_map(|entity| {
                entity.neighbors(Direction::Out, name).map(|neighbor| neighbor.unwrap().entity.id().clone())
            });
            assert_eq!(ends, one_by_one.collect::<Vec<_>>(), "over {name:?}");
            let values = entities.iter().flat_map(|entity| {
                let neighbors = entity.neighbors(Direction::Out, name);
                neighbors.map(|neighbor| neighbor.unwrap().entity.property("value"))
            });
            let mut together = Vec::new();
            let take = |value: Option<&Value>| together.push(value.cloned());
            snapshot.each_expanded_value(&entities, Direction::Out, name, value, take).unwrap();
            assert_eq!(together, values.collect::<Vec<_>>(), "over {name:?}");
        }
    }
}

#[test]
fn entities_of_a_type_come_by_age_as_the_snapshot_sees_them() {
    let repository = repository();
    let present = repository.snapshot();
    let past = present.as_of(AsOf { position: Some(Position(1)), ..AsOf::default() }).unwrap();
    let is_deleted = |number: &usize| number % 7 == 1;
    let names = |entities: &mut dyn Iterator<Item = annals::Result<annals::Entity<'_>>>| -> Vec<Id> {
        entities.map(|entity| entity.unwrap().id().clone()).collect()
    };
    let ids = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<Id> { numbers.map(id).collect() };
    assert_eq!(names(&mut past.entities_of(None)), ids(&mut (0..100)));
    assert_eq!(names(&mut past.entities_of(Some("fizz"))), ids(&mut (0..100).step_by(3)));
    let live = (0..100).filter(|number| !is_deleted(number));
    assert_eq!(names(&mut present.entities_of(None)), ids(&mut live.clone()));
    assert_eq!(
        names(&mut present.entities_of(Some("fizz"))),
        ids(&mut live.filter(|number| number % 3 == 0))
    );
    assert_eq!(present.entities_of(Some("unknown")).count(), 0);
}
