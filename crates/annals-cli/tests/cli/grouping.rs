//! Groups of what a search finds, on the command line.

use serde_json::json;

use crate::support::Place;

/// Tables of two owners, with rows and a note that is no number.
fn tables() -> Place {
    let place = Place::new();
    let table = |id: &str, owner: &str, rows: i64| {
        json!({
            "action": "create", "kind": "entity", "id": id, "type": "table",
            "properties": {"owner": owner, "rows": rows, "a,b": "x"},
        })
    };
    let mut operations = vec![table("a", "sales", 3), table("b", "finance", 5), table("c", "sales", 4)];
    operations.push(json!({"action": "create", "kind": "entity", "id": "j", "type": "job", "properties": {"rows": "many"}}));
    place.write("tables.json", &json!(operations).to_string());
    place.ok(&["apply", "tables.json"]);
    place
}

#[test]
fn groups_are_counted_and_summed_in_every_format() {
    let place = tables();
    let table = place.ok(&[
        "find",
        "table",
        "--group-by",
        "owner,@type",
        "--sum",
        "rows",
        "--max",
        "rows,@version",
        "--count",
    ]);
    let expected = [
        "owner    @type  count  sum(rows)  max(rows)  max(@version)",
        "sales    table  2      7          4          1",
        "finance  table  1      5          5          1",
        "3 found",
    ];
    assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    let csv = place.ok(&["find", "--group-by", "\"a,b\"", "--format", "csv"]);
    assert_eq!(csv, "\"a,b\",count\r\nx,3\r\n,1\r\n");
    let done = place.run(&["find", "--group-by", "@type", "--limit", "1", "--format", "tsv"]);
    assert_eq!(done.out, "@type\tcount\ntable\t3\n");
    assert!(done.err.contains("and 1 more value, together 1"), "{done:?}");
    let json = place.json(&["find", "table", "--group-by", "owner", "--min", "rows"]);
    let expected = [
        json!({"values": {"owner": "sales"}, "count": 2, "min": {"rows": 3}}),
        json!({"values": {"owner": "finance"}, "count": 1, "min": {"rows": 5}}),
        json!({"count": 3, "rest": {"groups": 0, "count": 0}}),
    ];
    assert_eq!(json, expected);
    assert!(place.ok(&["find", "--group-by", "owner"]).contains("null     1"));
    // Without a grouping it is one group; so are relationships.
    assert_eq!(place.ok(&["find", "table", "--sum", "rows", "--format", "tsv"]), "count\tsum(rows)\n3\t12\n");
    assert_eq!(
        place.ok(&["find", "--relationships", "--max", "@version", "--format", "tsv"]),
        "count\tmax(@version)\n0\t\n"
    );
}

#[test]
fn groups_are_as_of_a_time_and_of_a_candidate() {
    let place = tables();
    place.ok(&["candidate", "open", "night"]);
    place.ok(&["--candidate", "night", "set", "b", "owner=sales"]);
    let by_owner = ["find", "table", "--group-by", "owner", "--format", "tsv"];
    assert_eq!(place.ok(&[&["--candidate", "night"], &by_owner[..]].concat()), "owner\tcount\nsales\t3\n");
    assert_eq!(place.ok(&by_owner), "owner\tcount\nsales\t2\nfinance\t1\n");
    place.ok(&["delete", "a"]);
    assert_eq!(place.ok(&by_owner), "owner\tcount\nfinance\t1\nsales\t1\n");
    assert_eq!(
        place.ok(&[&by_owner[..], &["--at-position", "1"]].concat()),
        "owner\tcount\nsales\t2\nfinance\t1\n"
    );
    let deleted = ["find", "table", "--group-by", "@status,owner", "--deleted", "only", "--format", "tsv"];
    assert_eq!(place.ok(&deleted), "@status\towner\tcount\ndeleted\tsales\t1\n");
}

#[test]
fn wrong_groups_are_refused() {
    let place = tables();
    for (arguments, code, expected) in [
        (&["find", "--group-by", "@nothing"][..], 2, "expected one of"),
        (&["find", "--group-by", "owner,owner"], 2, "twice"),
        (&["find", "--group-by", "owner", "--columns", "owner"], 2, "--columns"),
        (&["find", "--group-by", "owner", "--order-by", "owner"], 2, "cannot be used with"),
        (&["find", "table order by owner", "--group-by", "owner"], 2, "expected no order"),
        (&["find", "--sum", "rows"], 2, "sum(rows): expected numbers, found string of the entity j"),
        (&["find", "--max", "rows"], 2, "compare with each other"),
        (&["find", "--group-by", ""], 2, "empty"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {done:?}");
    }
    // A property that nothing has is a group of its own, with a hint.
    let done = place.run(&["find", "table", "--group-by", "ownr"]);
    assert_eq!((done.code, done.out.as_str()), (0, "ownr  count\nnull  3\n3 found\n"));
    assert!(done.err.contains("hint: column ownr: it is empty"), "{done:?}");
}
