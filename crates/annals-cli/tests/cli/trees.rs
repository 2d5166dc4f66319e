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
    let tree = "/config  hostname=r1\n  clock  zones={UTC}\n  interface[]  mtu=1500, name=eth0\n  interface[]  name=eth1\n";
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
fn what_is_not_there_and_what_is_no_tree_have_their_exit_codes() {
    let place = router();
    place.write("broken.json", "{\"a\": {\"b\": null}}");
    place.write("no.json", "{");
    for (arguments, code, text) in [
        (&["cat", "/none"][..], 3, "path /none: there is nothing"),
        (&["rm", "/none"], 3, "there is nothing"),
        (&["rm", "--force", "/none"], 0, ""),
        (&["ls", "config"], 2, "expected / before each step"),
        (&["put", "/config", "broken.json"], 2, "member: a/b"),
        (&["put", "/config", "no.json"], 2, "no.json: expected JSON"),
        (&["put", "/config", "none.json"], 3, "no such file"),
        (&["put", "/config", "config.json", "--create"], 1, "there is an item already"),
        (&["put", "/config", "config.json", "--create", "--merge"], 2, "cannot be used with"),
        (&["put", "/none", "config.json", "--replace"], 3, "there is nothing"),
        (&["insert", "/config/interface[name='x']", "--first"], 2, "ordered by their keys"),
        (&["insert", "/config/interface[name='x']"], 2, "expected \"insert\""),
        (&["mv", "/config", "/config/clock/x"], 1, "it cannot move into itself"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.contains(text), "{arguments:?}: {done:?}");
    }
}
