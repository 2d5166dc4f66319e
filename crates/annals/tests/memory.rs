//! A repository with a memory budget answers as one without, survives damage to its spill files, and refuses what does
//! not fit instead of being killed.

mod support;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use annals::*;
use support::dump::assert_same;
use support::{CheckedRepository, dump};

fn budget(spilled_value_bytes_min: usize) -> Options {
    Options { memory_bytes_max: Some(64 << 30), spilled_value_bytes_min, ..Options::default() }
}

/// A text that differs from others at its end only.
fn text(name: &str, length: usize) -> String {
    format!("{}{name}", "x".repeat(length - name.len()))
}

fn instance(id: &str) -> InstanceId {
    InstanceId::Entity(Id::new(id).unwrap())
}

fn document(id: &str, length: usize) -> NewEntity {
    NewEntity::new("document").id(id).unwrap().property("short", id).property("long", text(id, length))
}

/// More properties than a page of rows holds, short ones and long ones, and a set of many values.
fn wide(id: &str) -> Result<NewEntity> {
    let numbers = Value::set((0..100).map(Value::Integer))?;
    let value =
        |n: usize| if n.is_multiple_of(3) { Value::from(n as i64) } else { "x".repeat(n % 400).into() };
    let entity = NewEntity::new("wide").id(id)?.property("numbers", numbers);
    Ok((0..300).fold(entity, |entity, n| entity.property(&format!("p{n}"), value(n))))
}

/// Everything that can be long, in the present and in the past.
fn fill(repository: &Repository) -> Result<()> {
    let values = [
        ("bytes", Value::Bytes(vec![7; 5_000].into())),
        ("iri", Value::Iri(format!("urn:{}", text("iri", 696)).into())),
        ("list", Value::List(vec![Value::from(text("in list", 400)), Value::Integer(1)].into())),
        ("map", Value::Map(Arc::new([("key".into(), Value::from(text("in map", 1_500)))].into()))),
        ("few", Value::set((0..20).map(|n| Value::from(format!("member {n}"))))?),
        ("many", Value::set((0..500).map(|n| Value::from(format!("member {n}"))))?),
    ];
    repository.transact(|t| {
        let mut entity = document("a", 300_000);
        for (name, value) in &values {
            entity = entity.property(name, value.clone());
        }
        t.create_entity(entity)?;
        (0..100).try_for_each(|n| t.create_entity(document(&format!("d{n}"), 20 + 20 * n)).map(drop))?;
        let properties = vec![("note".into(), Value::from(text("note", 2_000)))];
        let classification = ClassificationContent { properties, ..ClassificationContent::new("reviewed") };
        t.classify(&Id::new("d7").unwrap(), classification)?;
        let relationship =
            NewRelationship::new("cites", Id::new("a").unwrap(), Id::new("d1").unwrap()).id("r").unwrap();
        t.create_relationship(relationship.property("why", text("because", 1_200)))?;
        ["wide", "shrinks", "goes"].iter().try_for_each(|id| t.create_entity(wide(id)?).map(drop))?;
        t.create_entity(NewEntity::new("wide").id("grows")?).map(drop)
    })?;
    for n in 0..100 {
        let id = instance(&format!("d{n}"));
        repository.transact(|t| match n % 5 {
            0 => t.update(&id, Patch::new().set("long", text("later", 500))),
            1 => t.update(&id, Patch::new().set("short", n)),
            2 => t.update(&id, Patch::new().unset("long").set("else", text("else", 1_100))),
            3 => t.delete(&id),
            _ => t.purge(&id),
        })?;
    }
    let longer = Patch::new().set("note", text("another note", 900));
    repository.transact(|t| t.reclassify(&Id::new("d7")?, "reviewed", longer.clone()))?;
    let more = Patch::new().set("p7", "later").unset("p8").add("numbers", 100);
    repository.transact(|t| t.update(&instance("wide"), more.clone()))?;
    repository.transact(|t| t.update(&instance("shrinks"), Patch::new().clear().set("p3", 1)))?;
    let all =
        wide("grows")?.properties.into_iter().fold(Patch::new(), |all, (name, value)| all.set(&name, value));
    repository.transact(|t| t.update(&instance("grows"), all.clone()))?;
    repository.transact(|t| t.purge(&instance("goes")))?;
    Ok(())
}

#[test]
fn a_checkpoint_opens_with_any_budget_whoever_wrote_it() -> Result<()> {
    let modes = [Options::default(), budget(1), budget(128), budget(10_000)];
    for writer in &modes {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::open_with(folder.path(), writer.clone())?;
        fill(&repository)?;
        let expected = dump(&repository.snapshot());
        let earlier = AsOf { position: Some(Position(50)), ..AsOf::default() };
        let expected_earlier = dump(&repository.snapshot().as_of(earlier)?);
        repository.checkpoint()?;
        repository.close()?;
        // Each opens the checkpoint of the one before and leaves another.
        for reader in modes.iter().chain(&modes) {
            let repository = CheckedRepository::open_with(folder.path(), reader.clone());
            assert_eq!(repository.warnings(), Vec::<String>::new());
            let snapshot = repository.snapshot();
            assert_same("now", &expected, &dump(&snapshot));
            assert_same("earlier", &expected_earlier, &dump(&snapshot.as_of(earlier)?));
            repository.checkpoint()?;
            repository.close();
        }
    }
    Ok(())
}

#[test]
fn long_values_are_found_walked_to_and_compared_as_short_ones() -> Result<()> {
    for options in [Options::default(), budget(1), budget(128)] {
        let repository = CheckedRepository::on_with(Arc::new(log::MemoryLog::new()), options)?;
        fill(&repository)?;
        let snapshot = repository.snapshot();
        let find = |find: Find| -> Result<Vec<String>> {
            let page = snapshot.find_entities(&find)?;
            Ok(page.items.iter().map(|found| found.id().to_string()).collect())
        };
        let found = find(Find::of("document").matching("long", Operator::Equal, text("d11", 240)))?;
        assert_eq!(found, ["d11"]);
        let begins = Find::of("document").matching("long", Operator::Prefix, "xxx");
        assert!(find(begins.clone())?.len() > 40);
        assert_eq!(find(begins.matching("short", Operator::Equal, "d0"))?, ["d0"]);
        let ends = Find::of("document").matching("long", Operator::Contains, "xlater");
        assert_eq!(find(ends.limit(3).order_by("long"))?, ["d0", "d5", "d10"]);
        let a = Id::new("a").unwrap();
        let neighbor = snapshot.neighbors(&a, Direction::Out, None)?.next().expect("it cites")?;
        assert_eq!(neighbor.relationship.property("why"), Some(text("because", 1_200).into()));
        assert_eq!(neighbor.entity.property("long"), Some(text("d1", 40).into()));
        let ends = snapshot.expand(&[snapshot.entity(&a)?.unwrap()], Direction::Out, None)?;
        assert_eq!(ends[0].property("long"), Some(text("d1", 40).into()));
        let difference = snapshot.difference(&instance("d10"), 1, 2)?;
        assert_eq!(difference.properties[0].before, Some(text("d10", 220).into()));
        assert_eq!(difference.properties[0].after, Some(text("later", 500).into()));
    }
    Ok(())
}

/// The spill files that this process holds below `folder`.
fn spill_files(folder: &Path) -> Vec<File> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let is_ours = |path: &Path| {
        let target = std::fs::read_link(path).unwrap_or_default();
        target.starts_with(folder) && target.to_string_lossy().contains(".spill")
    };
    // All are listed before one is opened: what is opened would be listed, too.
    let paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_ours(path)).collect();
    paths.iter().map(|path| File::options().read(true).write(true).open(path).unwrap()).collect()
}

#[test]
fn a_damaged_spill_file_is_an_error_and_reopening_mends_it() -> Result<()> {
    type Damage = fn(&File) -> std::io::Result<()>;
    let damages: [Damage; 2] = [|file| file.write_all_at(b"y", 1_000_000), |file| file.set_len(1_000_000)];
    for damage in damages {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::open_with(folder.path(), budget(128))?;
        repository.transact(|t| {
            t.create_entity(document("long", 3_000_000))?;
            t.create_entity(NewEntity::new("document").id("short")?.property("long", "short"))?;
            t.create_relationship(NewRelationship::new("cites", Id::new("long")?, Id::new("short")?))
        })?;
        let files = spill_files(folder.path());
        assert_eq!(files.len(), 1, "the value is in a file");
        damage(&files[0]).unwrap();
        let snapshot = repository.snapshot();
        let long = Id::new("long").unwrap();
        let error = snapshot.entity(&long).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupted);
        assert!(error.text().contains("spill file") && error.text().contains("reopen"), "{error}");
        let found = snapshot.find_entities(&Find::of("document").matching("long", Operator::Prefix, "x"));
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Corrupted);
        // Everything in memory still works: ids, links, short values, other writes.
        assert_eq!(snapshot.degree(&long, Direction::Out, None)?, 1);
        // As soon as the indexes know of the damaged one, searches for others do not look at it.
        let short = Find::all().matching("long", Operator::Equal, "short");
        let count = || repository.snapshot().find_entities(&short).map(|page| page.items.len());
        let is_found = || count().is_ok_and(|count| count == 1);
        assert!((0..500).any(|_| is_found() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }));
        let update = repository.transact(|t| t.update(&instance("long"), Patch::new().set("short", 1)));
        assert_eq!(update.unwrap_err().kind(), ErrorKind::Corrupted);
        repository.transact(|t| t.update(&instance("short"), Patch::new().set("short", 1)))?;
        assert_eq!(repository.checkpoint().unwrap_err().kind(), ErrorKind::Io);
        repository.close()?;
        let repository = Repository::open_with(folder.path(), budget(128))?;
        let found = repository.snapshot().entity(&long)?.unwrap().property("long");
        assert_eq!(found, Some(text("long", 3_000_000).into()));
    }
    Ok(())
}

#[test]
fn a_spent_budget_refuses_writes_and_not_reads_until_there_is_room() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { memory_bytes_max: Some(512 << 20), ..Options::default() };
    let repository = Repository::open_with(folder.path(), options)?;
    repository.transact(|t| t.create_entity(document("a", 1_000)))?;
    let ballast = vec![1u8; 600 << 20];
    // The resident set is looked at now and then: some writes may still be admitted.
    let outcomes =
        (0..10_000).map(|n| repository.transact(|t| t.create_entity(document(&format!("b{n}"), 1_000))));
    let refused = outcomes.filter_map(std::result::Result::err).next().expect("a refusal");
    assert_eq!(refused.kind(), ErrorKind::NoRoom);
    assert!(refused.text().contains("512.0 MiB"), "{refused}");
    assert_eq!(repository.refusal().map(|error| error.kind()), Some(ErrorKind::NoRoom));
    assert!(repository.snapshot().entity(&Id::new("a").unwrap())?.is_some());
    assert_eq!(repository.check().unwrap_err().kind(), ErrorKind::TooLarge);
    assert_eq!(ballast.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 600 << 20);
    drop(ballast);
    assert_eq!(repository.refusal(), None, "asking looks again, so that it is known before anybody writes");
    repository.transact(|t| t.create_entity(document("c", 1_000)))?;
    repository.close()?;
    Ok(())
}

#[test]
fn a_budget_that_nothing_fits_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { memory_bytes_max: Some(1 << 20), ..Options::default() };
    let error = Repository::open_with(folder.path(), options.clone()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = Repository::with_log(Arc::new(log::MemoryLog::new()), options).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_follower_with_a_budget_follows_a_writer_without_and_the_other_way_round() -> Result<()> {
    for (writer, reader) in [(Options::default(), budget(1)), (budget(1), Options::default())] {
        let folder = tempfile::tempdir().unwrap();
        let writer = Repository::open_with(folder.path(), writer)?;
        writer.transact(|t| t.create_entity(document("first", 1_000)))?;
        let reader = Repository::open_with(folder.path(), Options { is_read_only: true, ..reader })?;
        fill(&writer)?;
        assert!(reader.wait_for(writer.snapshot().position(), Duration::from_secs(20)));
        assert_same("followed", &dump(&writer.snapshot()), &dump(&reader.snapshot()));
        assert_eq!(reader.check()?.differences, Vec::<String>::new());
    }
    Ok(())
}

#[test]
fn no_spill_file_has_a_name_and_what_a_crash_left_is_removed() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let spilled = folder.path().join("spilled");
    std::fs::create_dir_all(&spilled).unwrap();
    std::fs::write(spilled.join("1-1.spill"), "left").unwrap();
    let repository = Repository::open_with(folder.path(), budget(1))?;
    fill(&repository)?;
    assert_eq!(std::fs::read_dir(&spilled).unwrap().count(), 0);
    repository.close()
}

#[test]
fn a_snapshot_keeps_the_values_it_saw_while_they_are_replaced_and_purged() -> Result<()> {
    let repository = CheckedRepository::on_with(Arc::new(log::MemoryLog::new()), budget(100))?;
    repository.transact(|t| t.create_entity(document("a", 500)))?;
    let snapshot = repository.snapshot();
    repository.transact(|t| t.update(&instance("a"), Patch::new().set("long", text("b", 600))))?;
    let later = repository.snapshot();
    repository.transact(|t| t.purge(&instance("a")))?;
    let long =
        |snapshot: &Snapshot| Ok::<_, Error>(snapshot.entity(&Id::new("a")?)?.unwrap().property("long"));
    assert_eq!(long(&snapshot)?, Some(text("a", 500).into()));
    assert_eq!(long(&later)?, Some(text("b", 600).into()));
    assert!(repository.snapshot().entity(&Id::new("a").unwrap())?.is_none());
    Ok(())
}

#[test]
fn what_a_transaction_tries_is_seen_by_itself_and_spills_nothing() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open_with(folder.path(), budget(100))?;
    let mut transaction = repository.transaction();
    transaction.create_entity(document("a", 2_000_000))?;
    let seen = transaction.entity(&Id::new("a")?)?.unwrap().property("long");
    assert_eq!(seen, Some(text("a", 2_000_000).into()));
    assert!(transaction.dry_run()?.entity(&Id::new("a")?)?.is_some());
    assert!(spill_files(folder.path()).is_empty());
    Ok(())
}

#[test]
fn long_values_among_creations_that_are_applied_together_are_spilled() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open_with(folder.path(), budget(128))?;
    let length = |number: usize| if number % 10 == 9 { 400_000 } else { 100 };
    let names: Vec<String> = (0..100).map(|number| format!("d{number}")).collect();
    repository.transact(|t| {
        names
            .iter()
            .enumerate()
            .try_for_each(|(number, name)| t.create_entity(document(name, length(number))).map(drop))
    })?;
    let spilled: u64 = spill_files(folder.path()).iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(spilled > 3_000_000, "{spilled} bytes of ten values are in files");
    let check = |repository: &Repository| -> Result<()> {
        let snapshot = repository.snapshot();
        for (number, name) in names.iter().enumerate() {
            let found = snapshot.entity(&Id::new(name)?)?.unwrap().property("long");
            assert_eq!(found, Some(text(name, length(number)).into()), "{name}");
        }
        Ok(())
    };
    check(&repository)?;
    repository.close()?;
    check(&Repository::open_with(folder.path(), budget(128))?)
}
