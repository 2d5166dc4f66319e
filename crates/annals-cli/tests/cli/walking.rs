//! Graph queries on the command line, for people and for programs.

use serde_json::json;

use crate::support::Place;

/// Towns a to d: a road from a to d by b (2 km) and by c (4 km), a direct one of 9 km, and a village behind d.
fn towns() -> Place {
    let place = Place::new();
    let entity = |id: &str, kind: &str| json!({"action": "create", "kind": "entity", "id": id, "type": kind});
    let road = |from: &str, to: &str, km: i64| {
        json!({
            "action": "create", "kind": "relationship", "id": format!("{from}{to}"), "type": "road",
            "from": from, "to": to, "properties": {"km": km},
        })
    };
    let mut operations: Vec<_> = ["a", "b", "c", "d"].map(|id| entity(id, "town")).into();
    operations.push(entity("v", "village"));
    let roads = [("a", "b", 1), ("b", "d", 1), ("a", "c", 2), ("c", "d", 2), ("a", "d", 9), ("d", "v", 1)];
    operations.extend(roads.map(|(from, to, km)| road(from, to, km)));
    place.write("towns.json", &json!(operations).to_string());
    place.ok(&["apply", "towns.json"]);
    place
}

#[test]
fn relationships_are_listed_in_any_order_page_by_page() {
    let place = towns();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let lines = place.json(&[&["relationships"], arguments].concat());
        lines.iter().filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(ids(&["d"]), ["bd", "cd", "ad", "dv"]);
    assert_eq!(ids(&["d", "--order-by", "-km", "-d", "in"]), ["ad", "cd", "bd"]);
    let page = place.json(&["relationships", "d", "--order-by", "@id", "--limit", "3"]);
    let next = page[3]["next"].as_str().unwrap();
    assert_eq!(ids(&["d", "--order-by", "@id", "--limit", "3", "--after", next]), ["dv"]);
    assert_eq!(place.json_one(&["relationships", "d", "--count"]), json!({"count": 4}));
    assert!(place.ok(&["relationships", "d", "--limit", "1"]).contains("more: --after"));
    assert_eq!(place.run(&["relationships", "d", "--type", "canal"]).code, 3);
    assert_eq!(place.run(&["relationships", "d", "--order-by", "@km"]).code, 2);
}

#[test]
fn neighbourhoods_and_what_links_two_are_entities_and_then_relationships() {
    let place = towns();
    let lines = place.json(&["neighborhood", "v", "--depth-max", "2"]);
    let distances: Vec<_> = lines.iter().filter_map(|line| line["distance"].as_u64()).collect();
    assert_eq!(distances, [0, 1, 2, 2, 2]);
    assert_eq!(lines.iter().filter(|line| line["relationship"].is_object()).count(), 4);
    let out = place.ok(&["neighborhood", "d", "--entity-type", "village"]);
    assert!(out.contains("2 entities, 1 relationship"), "{out}");
    let out = place.ok(&["linking", "a", "d"]);
    assert!(out.contains("4 entities, 5 relationships"), "{out}");
    assert_eq!(place.json(&["linking", "d", "a", "--direction", "out"]).len(), 0);
    assert_eq!(place.run(&["linking", "a", "nowhere"]).code, 3);
    assert_eq!(place.run(&["neighborhood", "a", "--depth-max", "3", "--visited-max", "2"]).code, 1);
}

#[test]
fn the_shortest_paths_come_by_steps_or_by_weight() {
    let place = towns();
    let lengths = |arguments: &[&str]| -> Vec<f64> {
        let lines = place.json(&[&["path", "a", "d"], arguments].concat());
        lines.iter().map(|line| line["length"].as_f64().unwrap()).collect()
    };
    assert_eq!(lengths(&[]), [1.0]);
    assert_eq!(lengths(&["--count", "5"]), [1.0, 2.0, 2.0]);
    assert_eq!(lengths(&["-k", "5", "--weight", "km"]), [2.0, 4.0, 9.0]);
    let out = place.ok(&["path", "a", "d", "--weight", "km"]);
    assert!(out.contains("-> road -> b") && out.contains("2 steps, km 2"), "{out}");
    assert_eq!(place.run(&["path", "v", "a", "--count", "2"]).code, 3);
    assert_eq!(place.run(&["path", "a", "d", "--weight", "km", "--depth-max", "2"]).code, 2);
}

#[test]
fn related_and_shared_entities_are_listed_as_of_any_time() {
    let place = towns();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let lines = place.json(arguments);
        lines.iter().filter_map(|line| line["entity"]["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(ids(&["related", "v", "--order-by", "@id"]), ["a", "b", "c", "d"]);
    assert_eq!(ids(&["related", "v", "--order-by", "-@id", "--limit", "2", "--skip", "1"]), ["c", "b"]);
    assert_eq!(place.json_one(&["related", "v", "--count"]), json!({"count": 4}));
    assert!(place.ok(&["related", "v", "--limit", "1"]).contains("more: --skip 1"));
    assert_eq!(ids(&["shared", "a", "d"]), ["b", "c"]);
    place.write("delete.json", r#"[{"action": "delete", "kind": "entity", "id": "b"}]"#);
    place.ok(&["apply", "delete.json"]);
    assert_eq!(ids(&["shared", "a", "d"]), ["c"]);
    assert_eq!(ids(&["shared", "a", "d", "--at-position", "1"]), ["b", "c"]);
    assert!(place.ok(&["shared", "a", "d"]).contains("1, 1"));
}

/// A table that a job reads, the table that it writes, and a job that reads that.
fn lineage() -> Place {
    let place = Place::new();
    place.write(
        "lineage.json",
        r#"[{"action": "create", "kind": "entity", "id": "raw", "type": "table", "properties": {"owner": "sales"}},
            {"action": "create", "kind": "entity", "id": "clean", "type": "table", "properties": {"owner": "sales"}},
            {"action": "create", "kind": "entity", "id": "load", "type": "job"},
            {"action": "create", "kind": "entity", "id": "sum", "type": "job", "properties": {"owner": "finance"}},
            {"action": "create", "kind": "relationship", "id": "r1", "type": "reads", "from": "load", "to": "raw"},
            {"action": "create", "kind": "relationship", "id": "w1", "type": "writes", "from": "load", "to": "clean"},
            {"action": "create", "kind": "relationship", "id": "r2", "type": "reads", "from": "sum", "to": "clean"}]"#,
    );
    place.ok(&["apply", "lineage.json"]);
    place
}

const DOWN: [&str; 4] = ["--type", "reads:in", "--type", "writes:out"];

#[test]
fn what_is_downstream_is_counted_by_value() {
    let place = lineage();
    let out = place.ok(&[&["reach", "raw"], &DOWN[..], &["--group-by", "owner"]].concat());
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines, ["VALUE    COUNT", "finance  1", "sales    1", "null     1", "3 within reach"]);
    let out = place.ok(&[&["reach", "raw"], &DOWN[..], &["--group-by", "@type", "--limit", "1"]].concat());
    assert!(out.ends_with("and 1 more value, together 1\n3 within reach\n"), "{out}");
    let lines = place.json(&[&["reach", "raw"], &DOWN[..], &["--group-by", "@type"]].concat());
    assert_eq!(lines[0], json!({"value": "job", "count": 2}));
    assert_eq!(lines[2], json!({"count": 3, "rest": {"groups": 0, "count": 0}}));
    let refused = place.run(&["reach", "raw", "--type", "reads:up"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("expected in, out or both behind reads:"), "{}", refused.err);
    let refused = place.run(&["reach", "raw", "--type", "raeds:in"]);
    assert_eq!(refused.code, 3);
    assert!(refused.err.contains("did you mean reads?"), "{}", refused.err);
    assert_eq!(place.run(&["reach", "raw", "--entity-where", "owner ="]).code, 2);
}

#[test]
fn a_walk_is_written_as_a_graph() {
    let place = lineage();
    let commands: [&[&str]; 4] = [
        &["reach", "raw"],
        &["neighborhood", "raw", "--depth-max", "9"],
        &["linking", "raw", "sum"],
        &["path", "raw", "sum"],
    ];
    for command in commands {
        let dot = place.ok(&[command, &DOWN[..], &["--format", "dot"]].concat());
        assert!(dot.starts_with("digraph annals {\n") && dot.ends_with("}\n"), "{dot}");
        assert_eq!(dot.matches(" -> ").count(), 3, "{dot}");
        let graphml = place.ok(&[command, &DOWN[..], &["--format", "graphml"]].concat());
        assert_eq!(
            (graphml.matches("<node ").count(), graphml.matches("<edge ").count()),
            (4, 3),
            "{graphml}"
        );
    }
    let all = place.ok(&["export", "--format", "graphml"]);
    assert_eq!((all.matches("<node ").count(), all.matches("<edge ").count()), (4, 3), "{all}");
    place.ok(&["export", "--format", "dot", "-o", "all.dot", "--type", "table"]);
    assert_eq!(place.read("all.dot").matches("label=").count(), 2);
    assert_eq!(place.run(&["export", "--format", "dot", "--history"]).code, 2);
    assert_eq!(place.run(&["reach", "raw", "--format", "dot", "--limit", "1"]).code, 2);
    assert_eq!(place.run(&["reach", "raw", "--format", "dot", "--json"]).code, 2);
    assert_eq!(place.run(&["path", "sum", "raw", "--type", "reads:in", "--format", "dot"]).code, 3);
}
