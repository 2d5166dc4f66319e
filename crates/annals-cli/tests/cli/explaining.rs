//! `annals access explain`.

use serde_json::json;

use crate::support::Place;

fn place() -> Place {
    let place = Place::new();
    let grant = |id: &str, verbs: &str, search: &str| {
        let verbs = format!("verbs=[\"read\",\"{verbs}\"]");
        place.ok(&[
            "create",
            "annals.Grant",
            "--id",
            id,
            "role=curators",
            &verbs,
            &format!("where={search}"),
        ]);
    };
    place.ok(&["create", "page", "plans", "team=own"]);
    place.ok(&["create", "page", "other", "team=other"]);
    grant("g1", "read", "page where not classified secret");
    grant("g2", "update", "page where team = own");
    place
}

#[test]
fn a_client_hears_which_grants_hold_and_held() {
    let place = place();
    let explain = |arguments: &[&str]| place.json_one(&[&["access", "explain", "ada"], arguments].concat());
    let verbs = |arguments: &[&str]| explain(arguments)["verbs"].to_string();
    assert_eq!(verbs(&["plans", "--role", "curators"]), "[\"read\",\"update\"]");
    assert_eq!(verbs(&["other", "--role", "curators"]), "[\"read\"]");
    assert_eq!(verbs(&["other", "--role", "readers"]), "[]");
    place.ok(&["classify", "other", "secret"]);
    place.ok(&["set", "plans", "team=other"]);
    assert_eq!(verbs(&["other", "--role", "curators"]), "[]");
    let before = ["plans", "--role", "curators", "--at-position", "4"];
    assert_eq!(verbs(&before), "[\"read\",\"update\"]", "by the page of then");
    assert_eq!(
        verbs(&["plans", "--role", "curators", "--at-position", "3"]),
        "[\"read\"]",
        "by the grants of then"
    );
    let text = place.ok(&["access", "explain", "ada", "plans", "--role", "curators", "--role", "operate"]);
    assert!(text.starts_with("ada may do this with entity plans: operate, read\n"), "{text}");
    assert!(
        text.lines().any(|line| line.split_whitespace().eq(["curators", "g2", "read", "update", "no"])),
        "{text}"
    );
}

#[test]
fn a_path_names_the_item_and_the_missing_grant_is_told() {
    let place = Place::new();
    place.ok(&["put", "/library/team/page/n", "--value", "1"]);
    let id = |path: &str| place.json_one(&["access", "explain", "ada", path, "--role", "team"])["id"].clone();
    let ids = ["/library", "/library/team", "/library/team/page"].map(id);
    let [library, team, page] = ids.each_ref().map(|id| id.as_str().unwrap());
    let under = format!("under={team}");
    place.ok(&["create", "annals.Grant", "--id", "g1", "role=team", &under, "verbs=[\"update\"]"]);
    let explain = |path: &str| place.ok(&["access", "explain", "ada", path, "--role", "team"]);
    let told = explain("/library/team/page");
    assert!(told.starts_with(&format!("ada may do this with entity {page}: read, update\n")), "{told}");
    let missing = json!({"role": "team", "under": page, "verbs": ["create", "delete", "classify"]});
    let missing = format!(
        "missing for create, delete, classify: a grant (annals.Grant) that admits it, such as {missing}"
    );
    assert!(told.contains(&missing), "{told}");
    let told = explain("/library");
    assert!(told.contains(&format!("entity {}: nothing", library)), "{told}");
    assert!(
        told.contains("leads to what it holds for") && told.contains("missing for read, create"),
        "{told}"
    );
    let json = place.json_one(&["access", "explain", "ada", "/", "--role", "team"]);
    assert_eq!((&json["reasons"][0]["admits"], &json["reasons"][0]["leads"]), (&false.into(), &true.into()));
    let told = place.ok(&["access", "explain", "ada", "/library", "--role", "admin"]);
    assert!(!told.contains("missing"), "{told}");
    for (asked, expected) in [("/nowhere", "path /nowhere"), ("/library[", "path"), ("", "id")] {
        let failed = place.run(&["access", "explain", "ada", asked, "--role", "team"]);
        assert!(failed.code != 0 && failed.err.contains(expected), "{asked}: {failed:?}");
    }
}

#[test]
fn roles_come_from_the_file_of_tokens() {
    let place = place();
    place.ok(&["token", "new", "ada", "--role", "curators", "--tokens", "tokens"]);
    let text = place.ok(&["access", "explain", "ada", "plans", "--tokens", "tokens"]);
    assert!(text.starts_with("ada may do this with entity plans: read, update\n"), "{text}");
    for (arguments, told) in [
        (&["access", "explain", "bob", "plans", "--tokens", "tokens"][..], "client bob"),
        (&["access", "explain", "ada", "nowhere", "--tokens", "tokens"], "entity nowhere"),
        (&["access", "explain", "ada", "plans", "--tokens", "missing"], "--tokens"),
    ] {
        let failed = place.run(arguments);
        assert!(failed.code != 0 && failed.err.contains(told), "{arguments:?}: {failed:?}");
    }
}
