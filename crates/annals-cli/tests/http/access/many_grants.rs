//! Grants whose comparison with all instances takes longer than a request may: the next requests find it done.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::tokens::Guarded;

/// Instances, and conditions that the role asks of each: more than a second of work.
const PAGES: usize = 4_000;
const GRANTS: usize = 400;

/// Story: a role with many conditions got 504 after half a minute, each time and for ever, because each request began the
/// work again.
#[test]
fn a_role_with_many_conditions_reads_as_soon_as_its_sight_is_made() {
    let guarded = Guarded::start(&["--request-time-ms", "300"]);
    let admin = guarded.token("chief", &["--role", "admin"]);
    let [many, few] =
        [("ada", "many"), ("bob", "few")].map(|(name, role)| guarded.token(name, &["--role", role]));
    let commit = |operations: Vec<Json>| {
        for part in operations.chunks(500) {
            let body = json!({ "operations": part });
            let answer = guarded.ask(&admin, "POST", "/v1/transactions", Some(&body));
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    };
    let page = |number| {
        let id = format!("p{number}");
        json!({"action": "create", "kind": "entity", "id": id, "type": "page", "properties": {"n": number}})
    };
    let grant = |role: &str, search: &str| {
        json!({"action": "create", "kind": "entity", "type": "annals.Grant",
               "properties": {"role": role, "where": search}})
    };
    commit((0..PAGES).map(page).collect());
    commit(vec![grant("few", "page where n = 1")]);
    let read = |token: &str| {
        let begin = Instant::now();
        (guarded.ask(token, "GET", "/v1/entities/p1", None).status, begin.elapsed())
    };
    assert_eq!(read(&few).0, 200);
    // Conditions on different properties do not become one.
    let asked = |number: usize| grant("many", &format!("page where f{number} = 1 or n = {number}"));
    commit((0..GRANTS).map(asked).collect());
    let (mut refused, end) = (0, Instant::now() + Duration::from_secs(100));
    loop {
        match read(&many) {
            (200, _) => break,
            (status, taken) => {
                assert_eq!(status, 503);
                assert!(taken < Duration::from_secs(5), "{taken:?}");
                refused += 1;
                // Meanwhile the role whose grants stayed the same reads, and the door answers.
                assert_eq!(read(&few).0, 200);
                assert_eq!(guarded.ask(&few, "GET", "/health/live", None).status, 200);
            }
        }
        assert!(Instant::now() < end, "after {refused} refusals");
    }
    assert!(refused > 0, "the work takes longer than a request");
}
