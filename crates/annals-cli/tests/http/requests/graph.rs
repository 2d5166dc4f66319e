//! Parameters of the relationships of one entity: its list, its neighbours and their count.

use serde_json::Value as Json;

use super::door::{Door, Request, ids, items};
use super::walks::{build, has};

pub fn check(door: &mut Door) {
    build(door);
    let of_s = Request::get("/v1/entities/s/relationships");
    for (name, value, expected) in [
        ("direction", "in", &[][..]),
        ("type", "rail", &["q1"]),
        ("status", "stable", &["r1"]),
        ("orderBy", "km", &["q1", "r1"]),
        ("skip", "1", &["q1"]),
    ] {
        door.compare(&of_s, name, value, |without, with| {
            ids(without) == ["r1", "q1"] && with.status == 200 && ids(with) == expected
        });
    }
    door.compare(&of_s, "count", "true", |without, with| {
        without.json().get("count").is_none_or(Json::is_null) && with.json()["count"] == 2
    });
    door.pages(&of_s);
    let of_x = Request::get("/v1/entities/x/neighbors");
    door.compare(&of_x, "direction", "in", |out, into| {
        has(out, "t") && !has(out, "s") && has(into, "s") && !has(into, "t")
    });
    let neighbors = Request::get("/v1/entities/s/neighbors");
    door.compare(&neighbors, "type", "rail", |all, rail| {
        items(all).len() == 2 && !has(rail, "x") && has(rail, "y")
    });
    door.pages(&neighbors);
    let degree = Request::get("/v1/entities/s/degree");
    for (name, value, expected) in [("direction", "in", 0), ("type", "rail", 1)] {
        door.compare(&degree, name, value, |without, with| {
            without.json()["degree"] == 2 && with.json()["degree"] == expected
        });
    }
}
