//! History: long chains of versions, anchors, corrections of the past, undo and restore.

use annals::action;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::named::{entity, id, relationship};
use crate::support::{CheckedRepository, Random};
use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::*;

/// A log that counts how often it is read.
struct CountedLog {
    inner: MemoryLog,
    reads_count: AtomicUsize,
}

impl CountedLog {
    fn new() -> Arc<CountedLog> {
        Arc::new(CountedLog { inner: MemoryLog::new(), reads_count: AtomicUsize::new(0) })
    }

    /// Units: bytes of the record at `position`.
    fn record_bytes(&self, position: Position) -> usize {
        self.inner.read(position, ReadLimit::ONE).unwrap()[0].len()
    }
}

impl Log for CountedLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.reads_count.fetch_add(1, Ordering::SeqCst);
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "counted log".into()
    }
}

fn new(text: &str) -> NewEntity {
    NewEntity::new("t").id(text).unwrap()
}

fn at(micros: i64) -> Instant {
    Instant::from_micros(1_700_000_000_000_000 + micros).unwrap()
}

fn as_of_position(snapshot: &Snapshot, position: u64) -> Snapshot {
    snapshot.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() }).unwrap()
}

fn as_of_valid(snapshot: &Snapshot, valid: Instant) -> Snapshot {
    snapshot.as_of(AsOf { valid: Some(valid), ..AsOf::default() }).unwrap()
}

fn number(snapshot: &Snapshot, name: &str) -> Option<i64> {
    let entity = snapshot.entity(&id("a")).unwrap()?;
    entity.property(name).and_then(|value| value.as_integer())
}

/// Commits `change` for 1..=count without waiting in between.
fn commit_all(repository: &Repository, count: i64, change: impl Fn(&mut Transaction, i64) -> Result<()>) {
    for number in 1..=count {
        let mut transaction = repository.transaction();
        change(&mut transaction, number).unwrap();
        transaction.commit().unwrap();
    }
}

/// Reads versions of `a` at random positions and checks that each takes few reads of the log.
fn check_reads(repository: &Repository, log: &CountedLog, reads_max: usize) {
    // Writing keeps nothing in memory that reading history would use.
    let seed = 5;
    let mut random = Random(seed);
    let last = repository.snapshot().position().0;
    for _ in 0..40 {
        let position = 2 + random.below(last as usize - 1) as u64;
        let past = as_of_position(&repository.snapshot(), position);
        let before = log.reads_count.load(Ordering::SeqCst);
        assert_eq!(number(&past, "n"), Some(position as i64 - 1), "seed {seed}, as of {position}");
        let reads = log.reads_count.load(Ordering::SeqCst) - before;
        assert!(reads <= reads_max, "as of {position}: {reads} reads of the log");
    }
}

#[test]
fn one_of_ten_thousand_versions_is_read_with_few_looks_at_the_log() {
    let log = CountedLog::new();
    // Looking at every one of 10,000 versions takes too long: the graph alone is checked.
    let repository = CheckedRepository::on(log.clone()).unchecked();
    repository.transact(|t| t.create_entity(new("a").property("text", "x".repeat(500)))).unwrap();
    commit_all(&repository, 10_000, |t, n| t.update(&entity("a"), Patch::new().set("n", n)));
    check_reads(&repository, &log, 12);
    let versions = repository.snapshot().versions(&entity("a"), 0, 1).unwrap();
    assert_eq!(versions[0].version, 10_001);
    assert!(repository.check().unwrap().is_clean());
}

/// Replacing the whole content again and again never made an anchor, so that every look at the past read all that
/// was replaced before.
#[test]
fn versions_that_replace_all_content_are_read_with_few_looks_at_the_log() {
    let log = CountedLog::new();
    let repository = CheckedRepository::on(log.clone());
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    commit_all(&repository, 1_000, |t, n| {
        t.replace(&entity("a"), vec![("n".into(), n.into()), ("text".into(), "x".repeat(200).into())])
    });
    check_reads(&repository, &log, 12);
}

/// Two changes of one instance in each transaction never made an anchor either.
#[test]
fn versions_written_two_by_two_are_read_with_few_looks_at_the_log() {
    let log = CountedLog::new();
    let repository = CheckedRepository::on(log.clone());
    repository.transact(|t| t.create_entity(new("a").property("text", "x".repeat(200)))).unwrap();
    commit_all(&repository, 1_000, |t, n| {
        t.update(&entity("a"), Patch::new().set("m", n))?;
        t.update(&entity("a"), Patch::new().set("n", n))
    });
    check_reads(&repository, &log, 12);
}

/// Units: bytes of the records from the second on.
fn record_bytes(log: &CountedLog, count: u64) -> Vec<usize> {
    (2..=count + 1).map(|position| log.record_bytes(Position(position))).collect()
}

#[test]
fn the_ten_thousandth_value_of_a_property_costs_what_the_tenth_did() {
    let log = CountedLog::new();
    let repository = CheckedRepository::on(log.clone()).unchecked();
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    commit_all(&repository, 10_000, |t, n| t.update(&entity("a"), Patch::new().add("values", n)));
    let bytes = record_bytes(&log, 10_000);
    let anchored = bytes.iter().filter(|bytes| **bytes > 500).count();
    assert!(anchored < 200, "{anchored} records with the whole content");
    let mean = bytes[5_000..].iter().sum::<usize>() / 5_000;
    assert!(mean < 200, "{mean} bytes per added value");
    let snapshot = repository.snapshot();
    for position in [2, 25, 26, 1_000, 9_999] {
        let past = as_of_position(&snapshot, position);
        let found = past.entity(&id("a")).unwrap().unwrap();
        let expected = Value::set((1..position as i64).map(Value::from)).unwrap();
        assert_eq!(found.property("values"), Some(expected), "as of {position}");
    }
}

#[test]
fn the_ten_thousandth_property_costs_what_the_tenth_did() {
    let log = CountedLog::new();
    let repository = CheckedRepository::on(log.clone()).unchecked();
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    commit_all(&repository, 10_000, |t, n| t.update(&entity("a"), Patch::new().set(&format!("p{n}"), n)));
    let bytes = record_bytes(&log, 10_000);
    let mean = bytes[5_000..].iter().sum::<usize>() / 5_000;
    assert!(mean < 200, "{mean} bytes per added property");
    let snapshot = repository.snapshot();
    for position in [2, 65, 66, 5_000, 9_999] {
        let past = as_of_position(&snapshot, position);
        let found = past.entity(&id("a")).unwrap().unwrap();
        assert_eq!(found.properties().count(), position as usize - 1, "as of {position}");
        assert_eq!(number(&past, &format!("p{}", position - 1)), Some(position as i64 - 1));
        assert_eq!(number(&past, &format!("p{position}")), None);
    }
}

/// Whether to write the whole content was decided by its size before the change, so a long text was written twice.
#[test]
fn setting_a_long_text_writes_it_once() {
    let log = CountedLog::new();
    let repository = CheckedRepository::on(log.clone());
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("text", "x".repeat(1 << 20)))).unwrap();
    let bytes = log.record_bytes(Position(2));
    assert!(bytes < (1 << 20) + 200, "{bytes} bytes");
}

/// The content in the log is written before the commit instant is known, and told the past another one.
#[test]
fn a_classification_of_the_past_has_the_stamp_it_had_when_it_was_present() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    let mut stamps = Vec::new();
    for number in 0..5 {
        repository
            .transact(|t| {
                t.author("ada");
                match number {
                    0 => t.classify(&id("a"), ClassificationContent::new("c")),
                    _ => t.reclassify(&id("a"), "c", Patch::new().set("n", number)),
                }
            })
            .unwrap();
        let snapshot = repository.snapshot();
        let found = snapshot.entity(&id("a")).unwrap().unwrap();
        let known = found.classification("c").unwrap();
        stamps.push((snapshot.position(), known.created().to_stamp(), known.updated().to_stamp()));
    }
    for (position, created, updated) in stamps {
        let past = as_of_position(&repository.snapshot(), position.0);
        let found = past.entity(&id("a")).unwrap().unwrap();
        let known = found.classification("c").unwrap();
        assert_eq!(
            (known.created().to_stamp(), known.updated().to_stamp()),
            (created, updated),
            "as of {position}"
        );
    }
}

/// `a` with n = 1 from 10, n = 2 from 20 and n = 3 from 30, each written when it became true.
fn three_versions() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    for number in 1..=3 {
        repository
            .transact(|t| {
                t.committed_at(at(number * 10));
                match number {
                    1 => t.create_entity(new("a").property("n", number)).map(drop),
                    _ => t.update(&entity("a"), Patch::new().set("n", number)),
                }
            })
            .unwrap();
    }
    repository
}

#[test]
fn a_correction_changes_the_past_it_is_about_and_nothing_else() {
    let repository = three_versions();
    let corrected = repository.transact(|t| {
        t.valid_from(Some(at(15))).update(&entity("a"), Patch::new().set("n", 10).set("note", "corrected"))
    });
    assert_eq!(corrected.unwrap().1.position, Position(4));
    let snapshot = repository.snapshot();
    let seen = |snapshot: &Snapshot| -> Vec<Option<i64>> {
        [9, 10, 14, 15, 19, 20, 30, 40]
            .iter()
            .map(|valid| number(&as_of_valid(snapshot, at(*valid)), "n"))
            .collect()
    };
    assert_eq!(seen(&snapshot), [None, Some(1), Some(1), Some(10), Some(10), Some(2), Some(3), Some(3)]);
    let before = as_of_position(&snapshot, 3);
    let unknowing = |valid: i64| {
        let as_of = AsOf { position: Some(Position(3)), valid: Some(at(valid)), ..AsOf::default() };
        number(&snapshot.as_of(as_of).unwrap(), "n")
    };
    assert_eq!([unknowing(15), unknowing(25)], [Some(1), Some(2)]);
    assert_eq!(number(&before, "n"), Some(3));
    assert_eq!(number(&snapshot, "n"), Some(3));
    // A search as of that time finds the corrected value, and the present does not.
    let find = Find::all().matching("n", Operator::Equal, 10);
    assert_eq!(as_of_valid(&snapshot, at(15)).find_entities(&find).unwrap().items.len(), 1);
    assert!(snapshot.find_entities(&find).unwrap().items.is_empty());
    let versions = snapshot.versions(&entity("a"), 0, 10).unwrap();
    let told: Vec<_> =
        versions.iter().map(|version| (version.version, version.base, version.is_in_force)).collect();
    assert_eq!(told, [(4, 1, false), (3, 2, true), (2, 1, false), (1, 0, false)]);
}

/// A patch that does not fit what was there then was committed, and reading that time failed for ever.
#[test]
fn a_correction_that_does_not_fit_what_was_there_is_refused() {
    let repository = CheckedRepository::in_memory();
    let list = Value::List([Value::from(1)].into());
    repository
        .transact(|t| {
            t.committed_at(at(10));
            t.create_entity(new("a").property("p", list.clone()))
        })
        .unwrap();
    repository
        .transact(|t| {
            t.committed_at(at(20));
            t.update(&entity("a"), Patch::new().set("p", 1))
        })
        .unwrap();
    let corrected =
        repository.transact(|t| t.valid_from(Some(at(15))).update(&entity("a"), Patch::new().add("p", 2)));
    assert_eq!(corrected.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(repository.snapshot().position(), Position(2));
}

/// Names that only a correction of a classification brought were not known when history was read.
#[test]
fn a_correction_of_a_classification_may_bring_new_names() {
    let repository = three_versions();
    let then = Some(at(15));
    repository
        .transact(|t| t.valid_from(then).classify(&id("a"), ClassificationContent::new("c").property("x", 1)))
        .unwrap();
    repository.transact(|t| t.valid_from(then).reclassify(&id("a"), "c", Patch::new().set("y", 2))).unwrap();
    let content = ClassificationContent::new("d").property("z", 3);
    let replaced = Action::Replace(action::Replace {
        instance: entity("a"),
        properties: Vec::new(),
        classifications: Some(vec![content]),
        provenance: None,
    });
    repository.transact(|t| t.valid_from(Some(at(25))).push_action(replaced.clone())).unwrap();
    let snapshot = repository.snapshot();
    let names = |valid: i64| -> Vec<String> {
        let past = as_of_valid(&snapshot, at(valid));
        let found = past.entity(&id("a")).unwrap().unwrap();
        found
            .classifications()
            .flat_map(|known| known.properties().map(|(name, _)| name.to_string()).collect::<Vec<_>>())
            .collect()
    };
    assert_eq!(
        (names(14), names(15), names(25), names(30)),
        (vec![], vec!["x".into(), "y".into()], vec!["z".into()], vec![])
    );
    for (valid, count) in [(14, 0), (15, 1), (25, 1), (30, 0)] {
        let counts = as_of_valid(&snapshot, at(valid)).counts(TypeKind::Classification).unwrap();
        assert_eq!(counts.len(), count, "valid {valid}");
    }
}

#[test]
fn undo_takes_back_and_undo_of_undo_brings_back() {
    let repository = three_versions();
    let undo = |id: &InstanceId| repository.transact(|t| t.undo(id));
    let mut seen = Vec::new();
    for _ in 0..3 {
        undo(&entity("a")).unwrap();
        seen.push(number(&repository.snapshot(), "n"));
    }
    assert_eq!(seen, [Some(2), Some(3), Some(2)]);
    repository.transact(|t| t.delete(&entity("a"))).unwrap();
    undo(&entity("a")).unwrap();
    assert_eq!(number(&repository.snapshot(), "n"), Some(2));
    undo(&entity("a")).unwrap();
    assert_eq!(number(&repository.snapshot(), "n"), None);
    repository.transact(|t| t.create_entity(new("b"))).unwrap();
    assert_eq!(undo(&entity("b")).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(undo(&entity("c")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn undo_gives_classifications_back() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| t.create_entity(new("a").classified(ClassificationContent::new("c").property("n", 1))))
        .unwrap();
    repository.transact(|t| t.declassify(&id("a"), "c")).unwrap();
    repository.transact(|t| t.undo(&entity("a"))).unwrap();
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&id("a")).unwrap().unwrap();
    assert_eq!(found.classification("c").unwrap().property("n"), Some(Value::from(1)));
    assert_eq!(snapshot.find_entities(&Find::all().classified("c")).unwrap().items.len(), 1);
}

/// Entities `a` and `b` with a relationship `r` between them.
fn related() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.committed_at(at(10));
            t.create_entity(new("a"))?;
            t.create_entity(new("b"))?;
            t.create_relationship(NewRelationship::new("r", id("a"), id("b")).id("r")?)
        })
        .unwrap();
    repository
}

#[test]
fn a_relationship_comes_back_with_the_entity_that_took_it_along() {
    let repository = related();
    let degree = || repository.snapshot().degree(&id("b"), Direction::In, None).unwrap();
    repository.transact(|t| t.delete(&entity("a"))).unwrap();
    assert_eq!(degree(), 0);
    assert_eq!(
        repository.transact(|t| t.restore(&relationship("r"))).unwrap_err().kind(),
        ErrorKind::MissingEnd
    );
    repository.transact(|t| t.restore_alone(&id("a"))).unwrap();
    assert_eq!(degree(), 0);
    repository.transact(|t| t.restore(&relationship("r"))).unwrap();
    assert_eq!(degree(), 1);
}

#[test]
fn after_deleting_both_ends_a_relationship_comes_back_when_both_are_there_again() {
    let repository = related();
    repository.transact(|t| t.delete(&entity("a"))).unwrap();
    repository.transact(|t| t.delete(&entity("b"))).unwrap();
    repository.transact(|t| t.restore(&entity("b"))).unwrap();
    repository.transact(|t| t.restore(&entity("a"))).unwrap();
    assert_eq!(repository.snapshot().degree(&id("b"), Direction::In, None).unwrap(), 1);
}

#[test]
fn a_relationship_is_never_true_before_its_ends() {
    let repository = related();
    let relate = |valid: i64| {
        repository.transact(|t| {
            t.valid_from(Some(at(valid)));
            t.create_relationship(NewRelationship::new("r", id("a"), id("b")))
        })
    };
    assert_eq!(relate(9).unwrap_err().kind(), ErrorKind::MissingEnd);
    let (id, _) = relate(10).unwrap();
    let snapshot = repository.snapshot();
    assert!(as_of_valid(&snapshot, at(10)).relationship(&id).unwrap().is_some());
    assert!(as_of_valid(&snapshot, at(9)).relationship(&id).unwrap().is_none());
}

/// A relationship deleted from 30 on is seen at 25, so its end cannot be gone from 20 on.
/// Found by the model, which saw a link without an entity behind it.
#[test]
fn an_entity_cannot_be_deleted_before_its_relationships_were() {
    let repository = related();
    repository.transact(|t| t.valid_from(Some(at(30))).delete(&relationship("r"))).unwrap();
    let delete = |valid: i64| repository.transact(|t| t.valid_from(Some(at(valid))).delete(&entity("a")));
    assert_eq!(delete(20).unwrap_err().kind(), ErrorKind::InvalidArgument);
    delete(30).unwrap();
    let past = as_of_valid(&repository.snapshot(), at(25));
    let neighbors: Result<Vec<_>> = past.neighbors(&id("a"), Direction::Out, None).unwrap().collect();
    assert_eq!(neighbors.unwrap().len(), 1);
}

#[test]
fn purge_leaves_no_trace_in_any_view() {
    let repository = related();
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("n", 1))).unwrap();
    repository.transact(|t| t.purge(&entity("a"))).unwrap();
    let snapshot = repository.snapshot();
    for position in 0..=3 {
        let past = as_of_position(&snapshot, position);
        assert!(past.entity(&id("a")).unwrap().is_none());
        assert!(past.relationship(&id("r")).unwrap().is_none());
        let find = Find::all().matching("n", Operator::Equal, 1);
        assert!(past.find_entities(&find).unwrap().items.is_empty());
    }
    assert_eq!(snapshot.versions(&entity("a"), 0, 9).unwrap_err().kind(), ErrorKind::NotFound);
    repository.transact(|t| t.create_entity(new("a").property("n", 2))).unwrap();
    assert_eq!(repository.snapshot().versions(&entity("a"), 0, 9).unwrap().len(), 1);
}

/// Story: a page of a history read the content of each version to ask grants of it.
#[test]
fn a_page_of_a_history_under_grants_reads_about_its_page() {
    let log = CountedLog::new();
    let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
    repository.transact(|t| t.create_entity(new("a").property("shown", true))).unwrap();
    commit_all(&repository, 600, |t, number| {
        t.update(&entity("a"), Patch::new().set("shown", number % 3 != 1).set("n", number))
    });
    let grant = Grant { entities: "t where shown = true".parse().unwrap(), ..Grant::default() };
    let seen = repository.snapshot().seen_by(&Arc::new(Sight::new(vec![grant]).unwrap())).unwrap();
    let numbers = |history: &History| -> Vec<u32> {
        seen.history(&entity("a"), history).unwrap().iter().map(|one| one.version).collect()
    };
    let all = numbers(&History { limit: usize::MAX, ..History::default() });
    assert_eq!(all.len(), 401);
    for is_oldest_first in [false, true] {
        let mut expected = all.clone();
        if is_oldest_first {
            expected.reverse();
        }
        for (skip, limit) in [(0, 5), (7, 1), (399, 5), (401, 5), (0, 0), (500, 2)] {
            let history = History { skip, limit, is_oldest_first, ..History::default() };
            let page: Vec<u32> = expected.iter().copied().skip(skip).take(limit).collect();
            assert_eq!(numbers(&history), page, "{history:?}");
        }
    }
    let before = log.reads_count.load(Ordering::SeqCst);
    numbers(&History { limit: 5, ..History::default() });
    let reads = log.reads_count.load(Ordering::SeqCst) - before;
    assert!(reads < 300, "{reads} reads of the log");
}
