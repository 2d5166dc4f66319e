//! Two small Debian releases, one on top of the other.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use annals::{AsOf, Direction, Id, InstanceId, Instant, Repository, Snapshot, Value};
use annals_exchange::export::{Selection, export_jsonl};

const OLD: &str = "\
Package: app
Version: 1.0-1
Architecture: amd64
Maintainer: Ada <ada@example.org>
Section: utils
Priority: optional
Installed-Size: 10
Depends: libold (>= 1.0), libold (<< 2), mta | editor
Tag: role::program
Description: an application

Package: libold
Version: 1.5-1
Architecture: amd64
Maintainer: Ada <ada@example.org>
Section: libs
Priority: required
Essential: yes
Description: a library

Package: editor
Version: 1-1
Architecture: all
Maintainer: Charles <charles@example.org>
Section: editors
Priority: optional
Source: editor-src (1-0)
Provides: mta (= 3)

";

const NEW: &str = "\
Package: app
Version: 2.0-1
Architecture: amd64
Maintainer: Ada <ada@example.org>
Section: utils
Priority: optional
Installed-Size: 10
Depends: libnew, mta | editor
Tag: role::program
Description: an application

Package: libnew
Version: 2.0~rc1-1
Architecture: amd64
Maintainer: Ada <ada@example.org>
Section: libs
Priority: required
Essential: yes

Package: libnew
Version: 2.0-1
Architecture: amd64
Maintainer: Ada <ada@example.org>
Section: libs
Priority: required
Essential: yes

Package: editor
Version: 1-1
Architecture: all
Maintainer: Charles <charles@example.org>
Section: editors
Priority: optional
Source: editor-src (1-0)
Provides: mta (= 3)

";

/// A temporary folder that the program runs in; its repository is `annals-data` there.
struct Place {
    folder: tempfile::TempDir,
}

/// The outcome of a run of the program.
#[derive(Debug)]
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// A place with two releases.
    fn with_releases() -> Place {
        let place = Place::new();
        place.write("old.Packages", OLD);
        place.write("new.Packages", NEW);
        let done = place.run(&["2023-06-10=old.Packages", "2025-08-09=new.Packages"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.err.contains("libnew: keeping version 2.0-1, skipping 2.0~rc1-1"), "{done:?}");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals-debian"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("ANNALS_REPOSITORY").env("ANNALS_AUTHOR", "");
        command
    }

    fn run(&self, arguments: &[&str]) -> Done {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs what must succeed.
    fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.out
    }

    fn repository(&self) -> Repository {
        Repository::open(self.path("annals-data")).unwrap()
    }

    fn snapshot(&self) -> Snapshot {
        self.repository().snapshot()
    }

    /// The snapshot as valid at this time.
    fn valid_at(&self, time: &str) -> Snapshot {
        let as_of = AsOf { valid: Some(instant(time)), ..AsOf::default() };
        self.snapshot().as_of(as_of).unwrap()
    }

    fn position(&self) -> u64 {
        self.snapshot().position().0
    }

    fn packages_count(&self) -> usize {
        self.snapshot().find_entities(&annals::Find::of("package")).unwrap().items.len()
    }

    fn assert_sound(&self) {
        let report = self.repository().check().unwrap();
        assert!(report.is_clean(), "{:?}", report.differences);
    }
}

fn instant(text: &str) -> Instant {
    text.parse().unwrap()
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn package(name: &str) -> InstanceId {
    InstanceId::Entity(id(&format!("package:{name}")))
}

/// The properties of a relationship, by name.
fn properties(snapshot: &Snapshot, relationship: &str) -> Vec<(String, Value)> {
    let relationship = snapshot.relationship(&id(relationship)).unwrap().unwrap();
    let mut found: Vec<_> = relationship.properties().map(|(name, value)| (name.to_owned(), value)).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// The dependencies of the package `app`.
fn targets(snapshot: &Snapshot) -> Vec<String> {
    let found = snapshot.neighbors(&id("package:app"), Direction::Out, Some("dependency")).unwrap();
    found.map(|neighbor| neighbor.unwrap().entity.id().to_string()).collect()
}

fn classified(snapshot: &Snapshot, classification: &str) -> Vec<String> {
    let find = annals::Find::all().classified(classification);
    snapshot.find_entities(&find).unwrap().items.iter().map(|entity| entity.id().to_string()).collect()
}

#[test]
fn a_release_becomes_packages_and_relations() {
    let place = Place::with_releases();
    let then = place.valid_at("2024-01-01");
    let app = then.entity(&id("package:app")).unwrap().unwrap();
    assert_eq!(app.property("version"), Some("1.0-1".into()));
    assert_eq!(app.valid_from(), instant("2023-06-10"));
    assert_eq!(targets(&then), ["package:libold", "package:libold", "virtual:mta", "package:editor"]);
    let second = properties(&then, "app/depends/package:libold/2");
    assert_eq!(second, [("constraint".to_owned(), "<< 2".into())]);
    let now = place.snapshot();
    let choice = properties(&now, "app/depends/package:editor");
    assert_eq!(choice, [("alternative".to_owned(), Value::Integer(1)), ("group".to_owned(), "mta".into())]);
    assert_eq!(classified(&then, "essential"), ["package:libold"]);
    assert_eq!(classified(&now, "priority").len(), 3);
    let found = now.neighbors(&id("package:editor"), Direction::Out, None).unwrap();
    let mut found: Vec<String> =
        found.map(|neighbor| neighbor.unwrap().relationship.type_name().to_owned()).collect();
    found.sort();
    assert_eq!(found, ["built-from", "in-section", "maintained-by", "provides"]);
}

#[test]
fn a_second_release_updates_adds_and_deletes() {
    let place = Place::with_releases();
    let (now, then) = (place.snapshot(), place.valid_at("2024-01-01"));
    assert_eq!(targets(&now), ["virtual:mta", "package:editor", "package:libnew"]);
    let history = now.versions(&package("app"), 0, 10).unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(history[0].valid_from, instant("2025-08-09"));
    let difference = now.difference(&package("app"), 1, 2).unwrap();
    let names: Vec<&str> = difference.properties.iter().map(|change| &*change.name).collect();
    assert_eq!(names, ["version"]);
    let editor = now.versions(&package("editor"), 0, 10).unwrap();
    assert_eq!(editor.len(), 1, "what did not change has no new version");
    assert!(now.entity(&id("package:libold")).unwrap().is_none());
    let libnew = now.entity(&id("package:libnew")).unwrap().unwrap();
    assert_eq!(libnew.property("version"), Some("2.0-1".into()));
    assert!(then.entity(&id("package:libnew")).unwrap().is_none());
    drop((libnew, then));
    place.assert_sound();
}

#[test]
fn the_same_release_again_changes_nothing() {
    let place = Place::with_releases();
    let before = place.position();
    let told = place.ok(&["2025-08-09=new.Packages"]);
    assert!(told.starts_with("imported 0 changes in 0 records"), "{told}");
    assert_eq!(place.position(), before);
}

#[test]
fn what_comes_back_in_a_third_release_is_restored() {
    let place = Place::with_releases();
    place.ok(&["--valid-from", "2026-01-01", "old.Packages"]);
    let now = place.snapshot();
    let history = now.versions(&package("libold"), 0, 10).unwrap();
    let verbs: Vec<&str> = history.iter().map(|version| version.verb).collect();
    assert_eq!(verbs, ["restore", "delete", "create"]);
    assert_eq!(targets(&now).len(), 4);
    place.assert_sound();
}

#[test]
fn a_bad_stanza_is_told_once_and_standard_input_is_refused() {
    let place = Place::new();
    place.write("bad.Packages", &OLD.replace("Version: 1.5-1\n", ""));
    let done = place.run(&["bad.Packages"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert_eq!(done.err.lines().count(), 2, "{done:?}");
    assert!(done.err.contains("1 refused, so nothing"), "{done:?}");
    assert!(done.err.contains("bad.Packages:12: "), "{done:?}");
    assert_eq!(place.run(&["-"]).code, 2);
}

#[test]
fn a_file_that_breaks_is_named() {
    let place = Place::new();
    // The head of a gzip stream, and nothing behind it.
    std::fs::write(place.path("cut.Packages.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]).unwrap();
    let done = place.run(&["cut.Packages.gz"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("cut.Packages.gz"), "{done:?}");
}

/// A release of packages with these names, each depending on the one before.
fn release(names: &[&str]) -> String {
    let stanza = |(at, name): (usize, &&str)| {
        let depends = at.checked_sub(1).map(|before| format!("Depends: {}\n", names[before]));
        format!("Package: {name}\nVersion: 1-1\nArchitecture: all\n{}\n", depends.unwrap_or_default())
    };
    names.iter().enumerate().map(stanza).collect()
}

#[test]
fn a_release_that_is_not_whole_deletes_nothing() {
    let whole = release(&["a", "b", "c", "d"]);
    let damaged = whole.replacen("Package: b\nVersion: 1-1\n", "Package: b\n", 1);
    let cut_in_a_line = &whole[..whole.find("Package: c").unwrap() + 30];
    let cut_behind_a_line = whole[..whole.find("Depends: b").unwrap()].to_owned();
    for bad in [&damaged, cut_in_a_line, &cut_behind_a_line] {
        let place = Place::new();
        place.write("whole", &whole);
        place.write("bad", bad);
        place.ok(&["2020-01-01=whole"]);
        let done = place.run(&["2021-01-01=bad"]);
        assert_eq!(done.code, 6, "{done:?}");
        assert!(
            done.err.contains("1 refused, so nothing that this release does not name is deleted"),
            "{done:?}"
        );
        assert_eq!(place.packages_count(), 4, "{bad}");
        for name in ["b/depends/package:a", "c/depends/package:b", "d/depends/package:c"] {
            assert!(place.snapshot().relationship(&id(name)).unwrap().is_some(), "{name}");
        }
        // Once it is mended, the same date counts again.
        place.write("bad", &release(&["a", "b", "d"]));
        place.ok(&["2021-01-01=bad"]);
        assert_eq!(place.packages_count(), 3);
    }
}

#[test]
fn a_release_without_packages_is_refused_before_anything_is_written() {
    let place = Place::new();
    place.write("whole", &release(&["a"]));
    place.write("empty", "");
    place.write("blank", "\n\n");
    place.write("other", "not a release\n\n");
    for bad in ["empty", "blank", "other"] {
        let done = place.run(&["2020-01-01=whole", &format!("2021-01-01={bad}")]);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.err.contains(&format!("{bad}: expected packages, found none")), "{done:?}");
        assert!(!place.path("annals-data").exists());
    }
}

#[test]
fn a_release_that_deletes_most_packages_needs_leave() {
    let place = Place::new();
    place.write("four", &release(&["a", "b", "c", "d"]));
    place.write("one", &release(&["a"]));
    place.ok(&["2020-01-01=four"]);
    let before = place.position();
    let done = place.run(&["2021-01-01=one"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("delete 3 of 4 packages") && done.err.contains("--allow-shrink"), "{done:?}");
    assert_eq!(place.position(), before);
    place.ok(&["--allow-shrink", "2021-01-01=one"]);
    assert_eq!(place.packages_count(), 1);
}

#[test]
fn releases_come_in_the_order_of_their_dates() {
    let place = Place::with_releases();
    let before = place.position();
    place.write("other", &OLD.replace("1.0-1", "1.1-1"));
    for (arguments, text) in [
        (&["9000-01-01=new.Packages"][..], "not in the future"),
        (&["2025-08-10=old.Packages", "2025-08-09=new.Packages"], "in the order of their dates"),
        (&["2026-01-01=old.Packages", "2026-01-01=new.Packages"], "in the order of their dates"),
        (&["2024-01-01=other"], "not older than the latest that is there"),
        (&["2023-06-10=other"], "not older than the latest that is there"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(text) && done.err.lines().count() == 1, "{done:?}");
        assert_eq!(place.position(), before);
    }
}

#[test]
fn the_same_command_again_writes_nothing() {
    let place = Place::with_releases();
    let before = place.position();
    let again = place.run(&["2023-06-10=old.Packages", "2025-08-09=new.Packages"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(again.err.matches("already imported").count(), 2, "{again:?}");
    assert_eq!(place.position(), before);
}

#[test]
fn an_import_that_was_killed_goes_on() {
    let names: Vec<String> = (0..400).map(|number| format!("package{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let import = ["--batch", "1", "2023-06-10=old", "2025-08-09=new"];
    let prepare = || {
        let place = Place::new();
        place.write("old", &release(&names[..300]));
        place.write("new", &release(&names[100..]).replace("1-1", "2-1"));
        place
    };
    let whole = prepare();
    whole.ok(&import);
    let last = whole.position();
    let entities = |place: &Place| {
        let mut lines = Vec::new();
        export_jsonl(&place.snapshot(), &Selection::default(), &mut lines, &()).unwrap();
        let lines: std::collections::BTreeSet<String> =
            String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect();
        assert!(lines.len() > names.len(), "{}", lines.len());
        lines
    };
    let expected = entities(&whole);
    for wait_ms in [60, 150, 300, 500, 800] {
        let place = prepare();
        let mut child = place.command(&import).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        place.ok(&import);
        assert_eq!(entities(&place), expected, "killed after {wait_ms} ms");
        assert!(place.position() >= last);
        let history = place.snapshot().versions(&package("package150"), 0, 10).unwrap();
        assert_eq!(history.len(), 2, "killed after {wait_ms} ms");
        place.assert_sound();
    }
}
