//! Two figures of an embedded repository, for `bindings/jvm/speed`, which compares them with those of the Java API: a read by id
//! with four properties, and commits by a hundred threads.
//!
//! Prints `get NANOSECONDS` and `commits PER_SECOND`. Usage: speed FOLDER

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::{Id, NewEntity, Repository, Result};

const ENTITIES: u64 = 200_000;
const READS: u64 = 1_000_000;
const THREADS: u64 = 100;
const COMMITTING: Duration = Duration::from_secs(4);

fn new(id: &str, number: u64) -> Result<NewEntity> {
    Ok(NewEntity::new("person")
        .id(id)?
        .property("name", format!("Name of {number}").as_str())
        .property("age", i64::try_from(number).unwrap_or(0))
        .property("city", format!("some city {}", number % 100).as_str())
        .property("score", number as f64 / 3.0))
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).expect("a folder");
    let repository = Repository::open(Path::new(&folder))?;
    repository.transact(|t| {
        (0..ENTITIES).try_for_each(|number| t.create_entity(new(&format!("p{number}"), number)?).map(drop))
    })?;
    let snapshot = repository.snapshot();
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (mut number, mut found) = (1u64, 0);
        let begin = Instant::now();
        for _ in 0..READS {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = Id::new(&format!("p{}", (number >> 33) % ENTITIES))?;
            let entity = snapshot.entity(&id)?.expect("it is there");
            for name in ["name", "age", "city", "score"] {
                found += usize::from(entity.property(name).is_some());
            }
        }
        best = best.min(begin.elapsed());
        assert_eq!(found as u64, 4 * READS);
    }
    println!("get {}", best.as_nanos() / u128::from(READS));
    let count = AtomicU64::new(0);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (repository, count) = (&repository, &count);
            scope.spawn(move || {
                for number in 0.. {
                    if begin.elapsed() >= COMMITTING {
                        break;
                    }
                    let entity = new(&format!("c{thread}-{number}"), number).expect("an id");
                    repository.transact(|t| t.create_entity(entity.clone())).expect("it commits");
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    println!("commits {}", count.into_inner() / COMMITTING.as_secs());
    Ok(())
}
