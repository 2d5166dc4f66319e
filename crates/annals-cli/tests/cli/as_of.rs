//! Reads as of a time: how instants are written, and answers of times at which nothing was known yet.

use annals::Instant;
use serde_json::json;

use crate::support::Place;

#[test]
fn instants_may_be_months_years_and_words() {
    let place = Place::with_people();
    let name = |valid_at: &str| {
        place.json_one(&["get", "ada", "--valid-at", valid_at])["properties"]["name"].clone()
    };
    assert_eq!(name("1838"), "Ada", "its first instant");
    assert_eq!(name("1838-06"), "Ada");
    assert_eq!(name("1838-07"), "Ada Lovelace");
    assert_eq!(name("1839"), "Ada Lovelace");
    for word in ["now", "today", "yesterday"] {
        assert_eq!(name(word), "Ada Lovelace", "{word}");
    }
    assert_eq!(place.json(&["find", "person", "--at", "now"]).len(), 2);
    assert_eq!(place.json(&["history", "ada", "--to", "yesterday"]).len(), 0);
    assert_eq!(place.json(&["history", "ada", "--from", "yesterday"]).len(), 2);
    place.write("born.json", r#"[{"action": "create", "kind": "entity", "id": "eve", "type": "person", "properties": {"name": "Eve"}}]"#);
    place.ok(&["apply", "born.json", "--valid-from", "yesterday"]);
    let yesterday = Instant::now().micros() / 86_400_000_000 * 86_400_000_000 - 86_400_000_000;
    let since: Instant = place.json_one(&["get", "eve"])["validFrom"].as_str().unwrap().parse().unwrap();
    // Midnight may have passed between the two.
    assert!((since.micros() - yesterday) % 86_400_000_000 == 0 && since.micros() >= yesterday);
}

#[test]
fn what_is_no_instant_is_told_which_forms_there_are() {
    let place = Place::with_people();
    for text in ["gestern", "2026-13", "202", "2026-10-", "10/2026"] {
        let done = place.run(&["get", "ada", "--at", text]);
        assert_eq!(done.code, 2, "{text}: {done:?}");
        for form in ["2025-08-09T12:00:00Z", "2025-08-09", "2025-08", "2025", "now", "today", "yesterday"] {
            assert!(done.err.contains(form), "{form} in {done:?}");
        }
        assert!(!done.err.contains("failed to parse") && !done.err.contains("digit"), "{done:?}");
    }
}

#[test]
fn an_instance_that_became_known_later_says_since_when() {
    let place = Place::with_people();
    let since = place.json(&["history", "ada"])[1]["instant"].as_str().unwrap().to_owned();
    for time in [["--at", "2020"], ["--at-position", "1"]] {
        for arguments in [
            &["get", "ada"][..],
            &["history", "ada"],
            &["neighbors", "ada"],
            &["relationships", "ada"],
            &["reach", "ada"],
            &["path", "ada", "charles"],
        ] {
            let done = place.run(&[arguments, &time].concat());
            assert_eq!(done.code, 3, "{done:?}");
            for part in [
                format!("entity ada is known since {since}"),
                "; try --valid-at 1815-12-10T00:00:00Z or later [not-found]".to_owned(),
            ] {
                assert!(done.err.contains(&part), "{part} in {done:?}");
            }
        }
    }
    let done = place.run(&["get", "ada", "--at-position", "1", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&done.err).unwrap();
    assert_eq!(error["error"]["context"], json!({"validAt": "1815-12-10T00:00:00Z"}));
    assert!(
        error["error"]["text"].as_str().unwrap().ends_with("try --valid-at 1815-12-10T00:00:00Z or later")
    );
    // An entity that never existed gets another message.
    assert!(place.run(&["get", "bob", "--at-position", "1"]).err.contains("entity bob does not exist"));
}

#[test]
fn a_read_of_a_time_before_the_first_record_warns() {
    let place = Place::with_people();
    let first = place.json(&["follow", "--once", "--limit", "1"])[0]["instant"].as_str().unwrap().to_owned();
    let warning = format!(
        "warning: nothing was known at 2020-01-01T00:00:00Z: the first record is of {first}; --valid-at reads what \
         was true then\n"
    );
    for arguments in [&["export"][..], &["find", "person", "--json"], &["stats"]] {
        let done = place.run(&[arguments, &["--at", "2020"]].concat());
        assert_eq!((done.code, &done.err), (0, &warning), "{arguments:?}");
    }
    let done = place.run(&["find", "person", "--at", "2020"]);
    assert_eq!(done.err, format!("{warning}nothing found\n"));
    assert_eq!(place.run(&["find", "person", "--at", "now"]).err, "");
    assert_eq!(place.run(&["find", "person", "--valid-at", "1800"]).err, "");
}

#[test]
fn stats_as_of_a_time_count_then_and_say_that_the_log_is_that_of_now() {
    let place = Place::with_people();
    place.ok(&["classify", "charles", "famous"]);
    let of = |arguments: &[&str]| {
        let stats = place.json_one(&[&["stats"], arguments].concat());
        (stats["classifications"]["total"].clone(), stats["logBytes"].clone())
    };
    let now = of(&[]);
    assert_eq!(now.0, 2);
    assert_eq!(of(&["--at-position", "2"]), (json!(1), now.1.clone()));
    assert_eq!(of(&["--valid-at", "1900"]), (json!(1), now.1));
    let log =
        |arguments: &[&str]| place.ok(&[&["stats"], arguments].concat()).lines().next().unwrap().to_owned();
    assert!(log(&["--at-position", "2"]).ends_with(" now"), "{}", log(&["--at-position", "2"]));
    assert!(!log(&[]).ends_with(" now"));
}
