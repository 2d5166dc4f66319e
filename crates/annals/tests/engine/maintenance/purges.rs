//! A purge leaves no value. [`KEEPERS`] lists everything that keeps values or ids of instances beside the graph: after a
//! purge no door answers a value of the purged instance through any of them, and after a compaction no file holds its bytes.
//! `docs/operations.md` states the rule.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use annals::*;

use crate::support::named::{entity, id};
use crate::support::trees::path;
use crate::support::{CheckedRepository, Random, seeds};

/// In every value of the instance that is purged; long enough for a spill file.
const SECRET: &str = "geheim-4711-geheim-4711-geheim-4711-geheim-4711";
const LONG: Duration = Duration::from_secs(600);

/// Asks a keeper.
type Ask = fn(&Kept) -> String;

/// Everything that keeps values or ids, and a question that it answers with [`SECRET`] before the purge.
///
/// Beside these keep: the folder, with the log, checkpoints, contents and spill files, whose bytes the tests look for; uploads, with
/// a test below; leases, which keep what their owners pushed and nothing of the running tree; the doors of the server
/// (`annals-cli/tests/http/endpoints/purges.rs`); and the event mapper of Egeria, in Java.
const KEEPERS: [(&str, Ask); 14] = [
    ("reads of the present", |kept| entity_text(&kept.snapshot())),
    ("reads as of before", |kept| entity_text(&kept.then(kept.written))),
    ("searches of the present and the past", |kept| {
        format!("{} {}", found(&kept.snapshot()), found(&kept.then(kept.written)))
    }),
    ("histories", |kept| {
        let snapshot = kept.snapshot();
        let versions = snapshot.versions(&entity("x"), 0, 100).unwrap_or_default();
        let content =
            |version: &VersionInfo| snapshot.entity_version(&id("x"), version.version).unwrap().map(text_of);
        versions.iter().filter_map(content).collect()
    }),
    ("the log with its values", |kept| {
        format!("{:?}", kept.snapshot().log(&LogQuery { limit: 1_000, ..LogQuery::default() }).unwrap())
    }),
    ("the feed of all records, and so the export of the history", |kept| {
        let mut follow = kept.repository.follow(Position::ZERO);
        format!("{:?}", std::iter::from_fn(|| follow.poll().unwrap()).collect::<Vec<_>>())
    }),
    ("watches, whose events subscriptions share", |kept| kept.events(|watch| watch.poll().unwrap())),
    ("watches and records of readers with grants, and their sights", |kept| {
        let seen = kept.snapshot().seen_by(&kept.sight).unwrap();
        let mut follow = kept.repository.follow(Position::ZERO);
        let records: Vec<_> = std::iter::from_fn(|| follow.poll_in(&seen).unwrap()).collect();
        format!("{records:?} {} {}", found(&seen), kept.events(|watch| watch.poll_in(&seen).unwrap()))
    }),
    ("edits of candidates", |kept| {
        let edits = kept.repository.candidates().edits("open").unwrap();
        assert_eq!(edits.len(), 2, "others stay, with their numbers");
        format!("{edits:?}")
    }),
    ("views and conflicts of candidates", |kept| {
        let candidates = kept.repository.candidates();
        let view = candidates.view("open").map(|view| found(&view)).unwrap_or_default();
        format!("{view} {:?}", candidates.conflicts("open").unwrap())
    }),
    ("candidates that wait for a confirmation", |kept| {
        format!("{:?}", kept.repository.candidates().edits("waiting").unwrap())
    }),
    ("walks that are kept", |kept| {
        let snapshot = kept.snapshot();
        let related = Related { limit: 1, is_counted: true, ..Related::by(Reach::both()) };
        walked(&snapshot.related(&id("hub"), &related).unwrap())
    }),
    ("earlier walks that are kept", |kept| {
        let snapshot = kept.then(kept.written);
        let related = Related { limit: 1, is_counted: true, ..Related::by(Reach::both()) };
        walked(&snapshot.related(&id("hub"), &related).unwrap())
    }),
    ("the operational view of the running tree", |kept| {
        format!("{:?}", kept.operational.get(&path("/x"), None).unwrap())
    }),
];

/// A repository with something to purge, and all its keepers in use.
struct Kept {
    repository: CheckedRepository,
    operational: Operational,
    sight: Arc<Sight>,
    /// The position at which the instance had all its values.
    written: Position,
}

fn text_of(found: Entity<'_>) -> String {
    format!("{} {:?}", found.id(), found.properties().collect::<Vec<_>>())
}

/// The names and values on a page of a walk, whose count leaves out what was purged.
fn walked(page: &RelatedPage<'_>) -> String {
    let names: String = page.items.iter().map(|item| text_of(item.entity().unwrap())).collect();
    assert_eq!(page.count, Some(if names.contains(SECRET) { 4 } else { 3 }));
    names
}

fn entity_text(snapshot: &Snapshot) -> String {
    snapshot.entity(&id("x")).unwrap().map_or_else(String::new, text_of)
}

fn found(snapshot: &Snapshot) -> String {
    let all = snapshot.find_entities(&Find::all().limit(1_000)).unwrap();
    all.items.into_iter().map(text_of).collect()
}

fn secret(number: usize) -> String {
    format!("{SECRET} {number}")
}

impl Kept {
    fn new(folder: &Path) -> Kept {
        let options = Options {
            // The other tests of this process take much of it.
            memory_bytes_max: Some(8 << 30),
            spilled_value_bytes_min: 16,
            segment_bytes: 4_096,
            ..Options::default()
        };
        let repository = CheckedRepository::open_with(folder, options);
        let stored =
            repository.contents().unwrap().put(&mut secret(0).as_bytes(), &NewContent::default()).unwrap();
        repository
            .transact(|t| {
                t.define_type(TypeDefinition::relationship("contains").containing())?;
                t.create_entity(NewEntity::new("node").id("root")?)?;
                t.create_entity(NewEntity::new("hub").id("hub")?)?;
                for name in ["x", "y", "z"] {
                    let text = if name == "x" { secret(1) } else { name.to_owned() };
                    t.create_entity(NewEntity::new("page").id(name)?.property("text", text))?;
                    let place = NewRelationship::new("contains", id("root"), id(name)).property("name", name);
                    t.create_relationship(place)?;
                    t.create_relationship(NewRelationship::new("to", id("hub"), id(name)))?;
                }
                t.classify(&id("x"), ClassificationContent::new("mark").property("why", secret(2)))?;
                t.update(&entity("x"), Patch::new().set("content", stored.value()))
            })
            .unwrap();
        drop(stored);
        for number in 3..6 {
            repository
                .transact(|t| t.update(&entity("x"), Patch::new().set("text", secret(number))))
                .unwrap();
        }
        let written = repository.snapshot().position();
        let candidates = repository.candidates();
        candidates.open("open", "ada").unwrap();
        candidates.edit("open", |t| t.update(&entity("x"), Patch::new().set("text", secret(7)))).unwrap();
        candidates.edit("open", |t| t.update(&entity("y"), Patch::new().set("text", "mine"))).unwrap();
        candidates.open("waiting", "ada").unwrap();
        candidates
            .edit("waiting", |t| {
                t.classify(&id("x"), ClassificationContent::new("late").property("why", secret(8)))
            })
            .unwrap();
        let how = CandidateCommit { confirm_within: Some(LONG), ..CandidateCommit::default() };
        candidates.commit("waiting", &how).unwrap();
        // As the first candidate is based on what was before, and edits the same instance.
        candidates.rebase("open", Some(Keep::Mine), "ada").unwrap();
        let operational = Operational::over(&repository).unwrap();
        let all: Find = "node, hub, page".parse().unwrap();
        let sight = Arc::new(Sight::new(vec![Grant { entities: all, ..Grant::default() }]).unwrap());
        repository.checkpoint().unwrap();
        Kept { repository, operational, sight, written }
    }

    fn snapshot(&self) -> Snapshot {
        self.repository.snapshot()
    }

    fn then(&self, position: Position) -> Snapshot {
        self.snapshot().as_of(AsOf { position: Some(position), ..AsOf::default() }).unwrap()
    }

    /// All events of all watches from the beginning.
    fn events(&self, poll: impl Fn(&mut Subscription) -> Option<Arc<Event>>) -> String {
        let by_condition = Find::parse("page where classified mark").unwrap();
        let watches = [
            Watch::tree("/").unwrap(),
            Watch::entities_of("page"),
            Watch::Search { kind: TypeKind::Entity, find: Box::new(by_condition) },
        ];
        let mut told = String::new();
        for watch in watches {
            let mut subscription = self.repository.subscribe(watch, Some(Position::ZERO)).unwrap();
            while let Some(event) = poll(&mut subscription) {
                told += &format!("{event:?}");
            }
        }
        told
    }

    /// The keepers that answer the secret.
    fn telling(&self) -> Vec<&'static str> {
        KEEPERS.iter().filter(|(_, ask)| ask(self).contains(SECRET)).map(|(name, _)| *name).collect()
    }
}

/// The files below a folder that hold the secret.
fn files_with_secret(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_secret(&path));
        } else if holds_secret(&std::fs::read(&path).unwrap_or_default()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
}

#[test]
fn no_door_answers_what_was_purged_and_after_a_compaction_no_file_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("repository");
    let kept = Kept::new(&place);
    let all: Vec<&str> = KEEPERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(kept.telling(), all, "each of them can tell it");
    let files = files_with_secret(&place);
    for folder in ["/log/", "/checkpoints/", "/content/"] {
        assert!(files.iter().any(|file| file.contains(folder)), "{folder} has it: {files:?}");
    }
    kept.repository.transact(|t| t.purge(&entity("x"))).unwrap();
    assert_eq!(kept.telling(), Vec::<&str>::new(), "after the purge");
    // Another instance has the id now.
    let other = NewEntity::new("page").id("x").unwrap().property("text", "another");
    kept.repository.transact(|t| t.create_entity(other.clone())).unwrap();
    assert_eq!(kept.telling(), Vec::<&str>::new(), "after another one has its id");
    kept.repository.compact().unwrap();
    assert_eq!(kept.telling(), Vec::<&str>::new(), "after the compaction");
    assert_eq!(files_with_secret(&place), Vec::<String>::new());
    // The owners of the candidates go on.
    let candidates = kept.repository.candidates();
    let dropped = candidates.rebase("open", Some(Keep::Theirs), "ada").unwrap();
    assert_eq!(dropped.iter().map(|edit| (edit.edit, edit.verb)).collect::<Vec<_>>(), [(0, "void")]);
    candidates.commit("open", &CandidateCommit::default()).unwrap();
    candidates.confirm("waiting", "ada").unwrap();
    let Kept { repository, operational, .. } = kept;
    drop(operational);
    repository.close();
    let repository = CheckedRepository::open(&place);
    let y = repository.snapshot().entity(&id("y")).unwrap().and_then(|y| y.property("text"));
    assert_eq!(y, Some(Value::from("mine")));
    assert_eq!(files_with_secret(&place), Vec::<String>::new());
}

#[test]
fn an_upload_that_is_open_keeps_its_content_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    let put = || repository.contents().unwrap().put(&mut SECRET.as_bytes(), &NewContent::default()).unwrap();
    let stored = put();
    let new = NewEntity::new("scan").id("x").unwrap().property("content", stored.value());
    repository.transact(|t| t.create_entity(new.clone())).unwrap();
    drop(stored);
    let again = put();
    repository.transact(|t| t.purge(&entity("x"))).unwrap();
    repository.compact().unwrap();
    assert_eq!(files_with_secret(folder.path()).len(), 1, "the client of the upload has these bytes");
    let update = repository.transact(|t| t.update(&entity("x"), Patch::new().set("content", again.value())));
    assert_eq!(update.unwrap_err().kind(), ErrorKind::NotFound);
    drop(again);
    repository.compact().unwrap();
    assert_eq!(files_with_secret(folder.path()), Vec::<String>::new());
}

/// A lease is the state of its owner: it keeps what the owner pushed, and nothing of the running tree.
#[test]
fn a_lease_keeps_only_what_its_owner_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::new(folder.path());
    kept.operational.open_lease("probe", LONG).unwrap();
    kept.operational.push("probe", |t| t.set(&path("/x/state"), "up")).unwrap();
    kept.repository.transact(|t| t.purge(&entity("x"))).unwrap();
    let left = format!("{:?}", kept.operational.get(&path("/x"), None).unwrap());
    assert!(left.contains("up") && !left.contains(SECRET), "{left}");
    kept.operational.end_lease("probe").unwrap();
    assert_eq!(kept.operational.get(&path("/x"), None).unwrap(), None);
}

/// The past of the records is the one after a compaction, with the purges.
#[test]
fn records_are_followed_as_a_compaction_leaves_them() {
    for seed in seeds("ANNALS_PURGED_SEED", 6) {
        let mut random = Random(seed);
        let repository = CheckedRepository::in_memory();
        repository
            .transact(|t| t.define_type(TypeDefinition::relationship("contains").containing()))
            .unwrap();
        for _ in 0..120 {
            let any = |random: &mut Random| format!("e{}", random.below(8));
            let (one, other) = (any(&mut random), any(&mut random));
            let link = InstanceId::Relationship(id(&format!("r{}", random.below(10))));
            let named = if random.one_in(3) { link.clone() } else { entity(&one) };
            let number = random.below(13);
            let _ = repository.transact(|t| match number {
                0..3 => t.create_entity(NewEntity::new("page").id(&one)?.property("n", 1)).map(drop),
                3..6 => {
                    let new =
                        NewRelationship::new("contains", id(&one), id(&other)).property("name", one.as_str());
                    t.create_relationship(NewRelationship { id: link.id().clone(), ..new }).map(drop)
                }
                6 => t.update(&named, Patch::new().set("n", 2)),
                7 | 8 => t.delete(&named),
                9 => t.restore(&named),
                10 => t.relink(link.id(), Some(&id(&other)), None),
                11 => t.reidentify(&named, &id(&other)),
                _ => t.purge(&named),
            });
        }
        let records = |is_without_purges: bool| {
            let mut follow = repository.follow(Position::ZERO);
            let mut records = Vec::new();
            while let Some((_, mut record)) = follow.poll().unwrap() {
                for change in &mut record.changes {
                    if is_without_purges && matches!(change.action, Action::Purge(_)) {
                        *change = Change::from(action::Void);
                    }
                }
                records.push(record);
            }
            records
        };
        let followed = records(true);
        repository.compact().unwrap();
        for (position, (found, expected)) in (1..).zip(followed.iter().zip(&records(false))) {
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "seed {seed} record {position}");
        }
    }
}
