//! Two small Debian releases, one on top of the other.

use serde_json::{Value as Json, json};

use crate::support::Place;

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

fn place() -> Place {
    let place = Place::new();
    place.write("old.Packages", OLD);
    place.write("new.Packages", NEW);
    let done = place.run(&["import", "debian", "2023-06-10=old.Packages", "2025-08-09=new.Packages"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("libnew: keeping version 2.0-1, skipping 2.0~rc1-1"), "{done:?}");
    place
}

fn targets(place: &Place, arguments: &[&str]) -> Vec<String> {
    let lines =
        place.json(&[&["neighbors", "package:app", "-d", "out", "-t", "dependency"], arguments].concat());
    lines.iter().map(|line| line["entity"]["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_release_becomes_packages_and_relations() {
    let place = place();
    let app = place.json_one(&["get", "package:app", "--valid-at", "2024-01-01"]);
    assert_eq!(app["properties"]["version"], "1.0-1");
    assert_eq!(app["validFrom"], "2023-06-10T00:00:00Z");
    assert_eq!(
        targets(&place, &["--valid-at", "2024-01-01"]),
        ["package:libold", "package:libold", "virtual:mta", "package:editor"]
    );
    let second = place.json_one(&["get", "app/depends/package:libold/2", "--valid-at", "2024-01-01"]);
    assert_eq!(second["properties"], json!({"constraint": "<< 2"}));
    let choice = place.json_one(&["get", "app/depends/package:editor"]);
    assert_eq!(choice["properties"], json!({"group": "mta", "alternative": 1}));
    let essential = place.json(&["find", "--classified", "essential", "--valid-at", "2024-01-01"]);
    assert_eq!(essential[0]["id"], "package:libold");
    assert_eq!(place.json(&["find", "--classified", "priority"]).len(), 3);
    let types = |id: &str| -> Vec<Json> {
        place
            .json(&["neighbors", id, "-d", "out"])
            .iter()
            .map(|line| line["relationship"]["type"].clone())
            .collect()
    };
    let mut found: Vec<String> =
        types("package:editor").iter().map(|name| name.as_str().unwrap().into()).collect();
    found.sort();
    assert_eq!(found, ["built-from", "in-section", "maintained-by", "provides"]);
}

#[test]
fn a_second_release_updates_adds_and_deletes() {
    let place = place();
    assert_eq!(targets(&place, &[]), ["virtual:mta", "package:editor", "package:libnew"]);
    let history = place.json(&["history", "package:app"]);
    assert_eq!(history.len(), 2);
    assert_eq!(history[0]["validFrom"], "2025-08-09T00:00:00Z");
    let difference = place.json_one(&["diff", "package:app", "1", "2"]);
    assert_eq!(difference["properties"], json!({"version": {"before": "1.0-1", "after": "2.0-1"}}));
    assert_eq!(place.json(&["history", "package:editor"]).len(), 1, "what did not change has no new version");
    assert_eq!(place.run(&["get", "package:libold"]).code, 3);
    assert_eq!(place.json_one(&["get", "package:libnew"])["properties"]["version"], "2.0-1");
    assert_eq!(place.run(&["get", "package:libnew", "--valid-at", "2024-01-01"]).code, 3);
    assert!(place.ok(&["check"]).contains("all is well"));
}

#[test]
fn the_same_release_again_changes_nothing() {
    let place = place();
    let before = place.json_one(&["stats"]);
    let summary = place.json_one(&["import", "debian", "2025-08-09=new.Packages"]);
    assert_eq!(summary["changes"], 0);
    assert_eq!(place.json_one(&["stats"]), before);
}

#[test]
fn what_comes_back_in_a_third_release_is_restored() {
    let place = place();
    place.ok(&["import", "debian", "--valid-from", "2026-01-01", "old.Packages"]);
    let history = place.json(&["history", "package:libold"]);
    let actions: Vec<_> = history.iter().map(|version| version["action"].clone()).collect();
    assert_eq!(actions, ["restore", "delete", "create"]);
    assert_eq!(targets(&place, &[]).len(), 4);
    assert!(place.ok(&["check"]).contains("all is well"));
}

#[test]
fn a_bad_stanza_is_told_once_and_standard_input_is_refused() {
    let place = Place::new();
    place.write("bad.Packages", &OLD.replace("Version: 1.5-1\n", ""));
    let done = place.run(&["import", "debian", "bad.Packages"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert_eq!(done.err.lines().count(), 2, "{done:?}");
    assert!(done.err.contains("1 refused, so nothing"), "{done:?}");
    assert!(done.err.contains("bad.Packages:12: "), "{done:?}");
    assert_eq!(place.run(&["import", "debian", "-"]).code, 2);
}

/// A release of packages with these names, each depending on the one before.
fn release(names: &[&str]) -> String {
    let stanza = |(at, name): (usize, &&str)| {
        let depends = at.checked_sub(1).map(|before| format!("Depends: {}\n", names[before]));
        format!("Package: {name}\nVersion: 1-1\nArchitecture: all\n{}\n", depends.unwrap_or_default())
    };
    names.iter().enumerate().map(stanza).collect()
}

fn position(place: &Place) -> Json {
    place.json_one(&["stats"])["position"].clone()
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
        place.ok(&["import", "debian", "2020-01-01=whole"]);
        let done = place.run(&["import", "debian", "2021-01-01=bad"]);
        assert_eq!(done.code, 6, "{done:?}");
        assert!(
            done.err.contains("1 refused, so nothing that this release does not name is deleted"),
            "{done:?}"
        );
        assert_eq!(place.json(&["find", "package"]).len(), 4, "{bad}");
        for id in ["b/depends/package:a", "c/depends/package:b", "d/depends/package:c"] {
            place.ok(&["get", id]);
        }
        // Once it is mended, the same date counts again.
        place.write("bad", &release(&["a", "b", "d"]));
        place.ok(&["import", "debian", "2021-01-01=bad"]);
        assert_eq!(place.json(&["find", "package"]).len(), 3);
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
        let done = place.run(&["import", "debian", "2020-01-01=whole", &format!("2021-01-01={bad}")]);
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
    place.ok(&["import", "debian", "2020-01-01=four"]);
    let before = position(&place);
    let done = place.run(&["import", "debian", "2021-01-01=one"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("delete 3 of 4 packages") && done.err.contains("--allow-shrink"), "{done:?}");
    assert_eq!(position(&place), before);
    place.ok(&["import", "debian", "--allow-shrink", "2021-01-01=one"]);
    assert_eq!(place.json(&["find", "package"]).len(), 1);
}

#[test]
fn releases_come_in_the_order_of_their_dates() {
    let place = place();
    let before = position(&place);
    place.write("other", &OLD.replace("1.0-1", "1.1-1"));
    for (arguments, text) in [
        (&["9000-01-01=new.Packages"][..], "not in the future"),
        (&["2025-08-10=old.Packages", "2025-08-09=new.Packages"], "in the order of their dates"),
        (&["2026-01-01=old.Packages", "2026-01-01=new.Packages"], "in the order of their dates"),
        (&["2024-01-01=other"], "not older than the latest that is there"),
        (&["2023-06-10=other"], "not older than the latest that is there"),
    ] {
        let done = place.run(&[&["import", "debian"], arguments].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(text) && done.err.lines().count() == 1, "{done:?}");
        assert_eq!(position(&place), before);
    }
}

#[test]
fn the_same_command_again_writes_nothing() {
    let place = place();
    let before = position(&place);
    let again = place.run(&["import", "debian", "2023-06-10=old.Packages", "2025-08-09=new.Packages"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(again.err.matches("already imported").count(), 2, "{again:?}");
    assert_eq!(position(&place), before);
}

#[test]
fn an_import_that_was_killed_goes_on() {
    let names: Vec<String> = (0..400).map(|number| format!("package{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let import = ["import", "debian", "--batch", "1", "2023-06-10=old", "2025-08-09=new"];
    let prepare = || {
        let place = Place::new();
        place.write("old", &release(&names[..300]));
        place.write("new", &release(&names[100..]).replace("1-1", "2-1"));
        place
    };
    let whole = prepare();
    whole.ok(&import);
    let last = position(&whole).as_u64().unwrap();
    let entities = |place: &Place| {
        place
            .json(&["export"])
            .into_iter()
            .map(|mut line| {
                for name in ["entity", "relationship"] {
                    if let Some(thing) = line[name].as_object_mut() {
                        thing.retain(|name, _| name != "recordedFrom" && name != "position");
                    }
                }
                line.to_string()
            })
            .collect::<std::collections::BTreeSet<_>>()
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
        assert!(position(&place).as_u64().unwrap() >= last);
        let history = place.json(&["history", "package:package150"]);
        assert_eq!(history.len(), 2, "killed after {wait_ms} ms");
        assert!(place.ok(&["check"]).contains("all is well"));
    }
}
