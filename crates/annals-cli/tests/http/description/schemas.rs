//! How `/openapi.json` describes the feed. All other tests check their answers against it.

use serde_json::json;

use crate::support::described::{DESCRIPTION, fits};

#[test]
fn every_event_of_the_feed_has_a_schema() {
    let answer = &DESCRIPTION["paths"]["/v1/feed"]["get"]["responses"]["200"]["content"]["text/event-stream"];
    let feed = DESCRIPTION.pointer(&answer["schema"]["$ref"].as_str().unwrap()[1..]).unwrap();
    assert_eq!((&feed["type"], &feed["contentMediaType"]), (&json!("string"), &json!("text/event-stream")));
    let data = &feed["contentSchema"]["items"]["properties"]["data"];
    assert_eq!(data["contentMediaType"], "application/json");
    assert!(!fits(&data["contentSchema"], &json!({"specversion": "1.0"})));
}
