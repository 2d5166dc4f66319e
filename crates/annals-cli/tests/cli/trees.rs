//! Trees of containers on the command line, as people see them.

use crate::support::Place;

fn router() -> Place {
    let place = Place::new();
    place.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "interface", "attributes": [{"name": "name", "type": "string", "key": true}]}}"#,
    );
    place.ok(&["import", "types.jsonl"]);
    place.write(
        "config.json",
        r#"{"hostname": "r1", "interface": [{"name": "eth1"}, {"name": "eth0", "mtu": 1500}], "clock": {"zones": ["UTC"]}}"#,
    );
    place.ok(&["put", "/config", "config.json"]);
    place
}

#[test]
fn an_item_is_shown_with_what_is_below_it() {
    let place = router();
    let tree = "/config  hostname=r1\n  clock  zones=[UTC]\n  interface[]  mtu=1500, name=eth0\n  interface[]  name=eth1\n";
    assert_eq!(place.ok(&["tree", "/config"]), tree);
    assert_eq!(place.ok(&["tree", "/config", "--depth", "0"]), "/config  hostname=r1\n");
    let json = "{\"hostname\":\"r1\",\"clock\":{\"zones\":[\"UTC\"]},\"interface\":[{\"mtu\":1500,\"name\":\"eth0\"},{\"name\":\"eth1\"}]}\n";
    assert_eq!(place.ok(&["cat", "/config"]), json);
    assert_eq!(place.ok(&["cat", "/config/hostname"]), "r1\n");
    assert_eq!(place.ok(&["--json", "cat", "/config/hostname"]), "\"r1\"\n");
    let list = place.ok(&["ls", "/config/interface", "--limit", "1"]);
    assert!(list.starts_with(
        "NAME                      TYPE       PROPERTIES\ninterface[name = 'eth0']  interface  mtu=1500"
    ));
    assert!(list.lines().last().unwrap().starts_with("more: --after "), "{list}");
    assert_eq!(place.ok(&["ls", "--count", "/config"]), "3\n");
    let found = place.ok(&["ls", "--find", "//interface[mtu > 1000]/mtu"]);
    assert!(
        found.lines().nth(1).unwrap().starts_with("/config/interface[name = 'eth0']/mtu  interface  1500")
    );
}

#[test]
fn what_was_read_can_be_put_again_and_a_value_is_json_or_a_text() {
    let place = router();
    place.write("read.json", &place.ok(&["cat", "/config", "--ids"]));
    assert!(place.ok(&["put", "/config", "read.json"]).starts_with("nothing to change"));
    for (value, kept) in
        [("9000", "9000"), ("\"9000\"", "\"9000\""), ("nine", "\"nine\""), ("[1,2]", "[1,2]")]
    {
        place.ok(&["put", "/config/clock/x", "--value", value]);
        assert_eq!(place.ok(&["--json", "cat", "/config/clock/x"]).trim(), kept);
    }
    place.ok(&["rm", "/config/clock/x"]);
    place.ok(&["mv", "/config/clock", "/clock"]);
    place.ok(&["cp", "/config/interface[name='eth0']", "/clock/interface[name='eth9']"]);
    let clock = "{\"zones\":[\"UTC\"],\"interface\":[{\"mtu\":1500,\"name\":\"eth9\"}]}\n";
    assert_eq!(place.ok(&["cat", "/clock"]), clock);
    assert_eq!(place.ok(&["cat", "/config/clock", "--at-position", "2"]), "{\"zones\":[\"UTC\"]}\n");
}

#[test]
fn what_became_of_a_tree_is_shown_and_taken_back() {
    let place = router();
    let list = r#"{"type": {"kind": "entity", "name": "rule", "attributes": [{"name": "n", "type": "integer", "key": true}]}}
{"type": {"kind": "relationship", "name": "orders", "containment": {"ordered": true}, "to": {"type": "rule", "many": true}}}"#;
    place.write("rules.jsonl", list);
    place.ok(&["import", "rules.jsonl"]);
    place.write("rules.json", r#"{"rule": [{"n": 1}, {"n": 2}]}"#);
    place.ok(&["put", "/config", "rules.json", "--merge"]);
    let position = place.json_one(&["stats"])["position"].to_string();
    let before = place.ok(&["cat", "/config", "--ids"]);
    place.ok(&["put", "/config/interface[name='eth0']/mtu", "--value", "9000"]);
    place.ok(&["rm", "/config/interface[name='eth1']"]);
    place.ok(&["mv", "/config/clock", "/clock"]);
    place.ok(&["insert", "/config/rule[n=2]", "--first"]);
    place.ok(&["put", "/config/new/deep/x", "--value", "true"]);
    let since = ["diff", "/config", "--from-position", &position];
    let told = "> /clock\n    @path: /config/clock -> /clock\n+ /config/new\n+ /config/new/deep\n~ /config/interface[name = 'eth0']\n    \
                mtu: 1500 -> 9000\n- /config/interface[name = 'eth1']\n> /config/rule[n = 2]\n    @previous: rule[n = 1] -> (none)\n";
    assert_eq!(place.ok(&since), told);
    assert_eq!(place.ok(&["diff", "/config", "--from-position", &position, "--to", "now"]), told);
    place.ok(&["restore", "/config/interface[name='eth1']", "--at-position", &position]);
    assert_eq!(place.ok(&["cat", "/config/interface[name='eth1']/name"]), "eth1\n");
    assert!(place.ok(&["revert", "/config", "--to-position", &position]).starts_with("applied "));
    assert_eq!(place.ok(&["cat", "/config", "--ids"]), before);
    let done = place.run(&since);
    assert_eq!((done.code, &*done.out, &*done.err), (0, "", "nothing found\n"));
    assert!(place.ok(&["revert", "/config", "--to-position", &position]).starts_with("nothing to change"));
    place.ok(&["rm", "/config"]);
    let log = place.ok(&["log", "--limit", "1", "--verb", "delete"]);
    assert!(log.contains("with 5 items below it and 6 relationships"), "{log}");
}

#[test]
fn a_candidate_is_edited_compared_and_committed() {
    let place = router();
    place.ok(&["candidate", "open", "night", "--author", "ada"]);
    place.ok(&["put", "/config/clock/zones", "--value", "[\"CET\"]", "--candidate", "night"]);
    assert_eq!(place.ok(&["cat", "/config/clock"]), "{\"zones\":[\"UTC\"]}\n");
    assert_eq!(place.ok(&["cat", "/config/clock", "--candidate", "night"]), "{\"zones\":[\"CET\"]}\n");
    let diff = place.ok(&["diff", "/", "--candidate", "night"]);
    assert!(diff.starts_with("~ /config/clock\n"), "{diff}");
    let listed = place.ok(&["candidate", "list"]);
    assert!(listed.starts_with("night: 1 edit, open, made of position "), "{listed}");
    let edits = place.ok(&["candidate", "edits", "night"]);
    assert!(edits.starts_with("edit 0, update /config/clock: {\"action\":\"update\""), "{edits}");
    let operations = place.ok(&["--json", "candidate", "edits", "night"]);
    assert!(operations.starts_with("{\"action\":\"update\""), "{operations}");
    let log = place.ok(&["log"]);
    assert!(!log.contains("annals-candidate"), "{log}");
    for asked in [&["log", "--all"][..], &["log", "--type", "annals-candidate"], &["--json", "log"]] {
        assert!(place.ok(asked).contains("annals-candidate:night"), "{asked:?}");
    }
    for (arguments, code, text) in [
        (&["cat", "/config", "--candidate", "none"][..], 3, "open it first"),
        (&["candidate", "open", "night"], 1, "there is one of this name"),
        (&["candidate", "confirm", "night"], 4, "nothing waits"),
        (&["candidate", "commit", "night", "--confirm-within", "soon"], 2, "expected 90s, 10m, 2h or PT10M"),
        (&["check", "--candidate", "night"], 2, "takes no candidate"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.contains(text), "{arguments:?}: {done:?}");
    }
    place.ok(&["candidate", "commit", "night", "--confirm-within", "10m"]);
    assert!(place.ok(&["candidate", "list"]).contains("waits for its confirmation until"));
    place.ok(&["candidate", "confirm", "night"]);
    assert_eq!(place.ok(&["cat", "/config/clock"]), "{\"zones\":[\"CET\"]}\n");
    assert_eq!(place.ok(&["candidate", "list"]), "");
}

#[test]
fn what_is_not_there_and_what_is_no_tree_have_their_exit_codes() {
    let place = router();
    place.write("broken.json", "{\"a\": {\"b\": null}}");
    place.write("no.json", "{");
    for (arguments, code, text) in [
        (&["cat", "/none"][..], 3, "path /none: not found"),
        (&["rm", "/none"], 3, "there is nothing"),
        (&["rm", "--force", "/none"], 0, ""),
        (&["ls", "config"], 2, "expected / before each step"),
        (&["put", "/config", "broken.json"], 2, "member: a/b"),
        (&["put", "/config", "no.json"], 2, "no.json: expected JSON"),
        (&["put", "/config", "none.json"], 3, "no such file"),
        (&["put", "/config", "config.json", "--create"], 1, "there is an item already"),
        (&["put", "/config", "config.json", "--create", "--merge"], 2, "cannot be used with"),
        (&["put", "/none", "config.json", "--replace"], 3, "there is nothing"),
        (
            &["insert", "/config/interface[name='x']", "--first"],
            2,
            "that \"contains\" contains are ordered by their keys",
        ),
        (&["insert", "/config/interface[name='x']"], 2, "expected \"insert\""),
        (&["mv", "/config", "/config/clock/x"], 1, "it cannot move into itself"),
        (&["diff", "/config"], 2, "expected a time as one of --from, --from-position"),
        (&["diff", "config", "--from", "2001"], 2, "or a path of a tree, which begins with /"),
        (&["diff", "/config/interface", "--from", "2001"], 2, "expected the path of one item"),
        (&["diff", "/config", "--from", "then"], 2, "or one of now, today and yesterday"),
        (&["diff", "/config", "--from", "2999"], 2, "expected an instant of the past"),
        (&["diff", "/config", "--from", "2001", "--from-position", "1"], 2, "found both"),
        (&["diff", "/config", "--from-position", "9"], 3, "expected at most 2"),
        (&["diff", "/none", "--from-position", "1"], 3, "expected an item at one of the two times"),
        (&["diff", "/config", "1"], 2, "<AFTER>"),
        (&["diff", "config", "1", "2", "--to", "now"], 2, "with the path of a tree only"),
        (&["diff", "--positions", "1", "2", "--from", "now"], 2, "with the path of a tree only"),
        (&["revert", "/config"], 2, "expected a time as one of --to, --to-position"),
        (&["revert", "/config/interface", "--to-position", "1"], 2, "expected the path of one item"),
        (&["revert", "/none", "--to-position", "1"], 3, "there is nothing"),
        (&["restore", "/config"], 3, "to restore the item at a path, give --at or --at-position, too"),
        (&["restore", "/config", "folder", "--at-position", "2"], 2, "and a new folder, or the path"),
        (&["restore", "backup", "folder", "-m", "why"], 2, "a backup takes none"),
        (&["restore", "/config", "--at-position", "2"], 1, "is not deleted; move it"),
        (&["restore", "/config", "--at-position", "1"], 3, "there is nothing"),
        (&["restore", "config", "--at-position", "1"], 2, "expected / before each step"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.contains(text), "{arguments:?}: {done:?}");
    }
}
