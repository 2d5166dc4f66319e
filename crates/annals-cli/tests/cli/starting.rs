//! The first minute: a catalogue to try commands on.

use crate::support::Place;

#[test]
fn the_catalogue_has_a_past_and_every_printed_command_works() {
    let place = Place::new();
    let out = place.ok(&["quickstart"]);
    assert!(
        out.starts_with("annals-data has 8 entities and 6 relationships, made in 8 records. Try:\n"),
        "{out}"
    );
    let commands = out.lines().filter_map(|line| line.strip_prefix("  annals "));
    let commands: Vec<Vec<&str>> = commands.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(commands.len(), 5);
    for command in &commands {
        assert!(!place.ok(command).is_empty(), "{command:?}");
    }
    let rows = place.ok(&[
        "find",
        "table",
        "--group-by",
        "owner",
        "--sum",
        "rows",
        "--at",
        "2024-06-01",
        "--format",
        "tsv",
    ]);
    assert_eq!(rows, "owner\tcount\tsum(rows)\nsales\t2\t1985\ndata\t1\t1640\nfinance\t1\t13\n");
    assert!(place.ok(&["check"]).contains("all is well"));
    // It never writes into a repository that has something.
    let done = place.run(&["quickstart"]);
    assert!(done.err.contains("found one with 8 records") && done.code != 0, "{done:?}");
    assert!(place.ok(&["-r", "my demo", "quickstart"]).contains("  annals -r 'my demo' find table "));
    let json = place.json_one(&["-r", "third", "quickstart"]);
    assert_eq!(json, serde_json::json!({"position": 8, "entities": 8, "relationships": 6}));
}
