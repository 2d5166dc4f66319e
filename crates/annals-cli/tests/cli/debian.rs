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
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    assert!(done.err.contains("bad.Packages:12: "), "{done:?}");
    assert_eq!(place.run(&["import", "debian", "-"]).code, 2);
}
