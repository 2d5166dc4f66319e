//! A server that follows a writer, and whose memory budget has no room for two graphs, gets over compactions.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::beside_a_writer::{create, until};
use crate::http::access::tokens::annals;
use crate::support::{Server, try_request};

/// One graph of [`filled`] takes more than half of it.
const BUDGET: &str = "96MiB";

/// A repository that a follower with [`BUDGET`] opens.
fn filled(parent: &Path) -> PathBuf {
    let (repository, lines) = (parent.join("repository"), parent.join("lines.jsonl"));
    let entities = (0..100_000).map(|number| {
        let text = format!("{number} {}", "x".repeat(60));
        json!({"entity": {"type": "t", "id": format!("e{number}"), "properties": {"v": text}}}).to_string()
            + "\n"
    });
    std::fs::write(&lines, entities.collect::<String>()).unwrap();
    let [repository_text, lines] = [&repository, &lines].map(|path| path.to_str().unwrap().to_owned());
    assert!(annals(&["-r", &repository_text, "import", &lines]).status.success());
    repository
}

fn purge_and_compact(writer: &Server, id: &str) {
    let purged = writer.send(
        "POST",
        "/v1/transactions",
        &json!({"operations": [{"action": "purge", "kind": "entity", "id": id}]}),
    );
    assert_eq!(purged.status, 200, "{purged:?}");
    let compacted = writer.request("POST", "/v1/compactions", &[], None);
    assert_eq!(compacted.status, 200, "{compacted:?}");
    assert!(compacted.json()["changes"].as_u64().unwrap() > 0, "{compacted:?}");
}

/// It stayed at the old position for ever, and said that it was ready.
#[test]
fn a_follower_that_has_applied_the_purges_goes_on_with_its_graph() {
    let parent = tempfile::tempdir().unwrap();
    let repository = filled(parent.path());
    let writer = Server::start(&repository, &[]);
    let follower = Server::start(&repository, &["--read-only", "--memory", BUDGET]);
    for round in 0..2 {
        let id = format!("e{round}");
        purge_and_compact(&writer, &id);
        let late = format!("late{round}");
        assert_eq!(create(&writer, &late).status, 201);
        let found = until(&follower, &format!("/v1/entities/{late}"), |answer| answer.status != 404);
        assert_eq!(found.status, 200, "{found:?}");
        assert_eq!(follower.get(&format!("/v1/entities/{id}")).status, 404);
        assert_eq!(
            follower.get("/v1/entities/e7777/history").status,
            200,
            "its past is in the rewritten log"
        );
    }
    let ready = follower.get("/health/ready").json();
    assert!(ready["ageSeconds"].as_f64().unwrap() < 10.0 && ready.get("problem").is_none(), "{ready}");
    assert!(follower.get("/metrics").body.contains("annals_follower_opening 0"));
}

/// It showed what was purged, for ever.
#[test]
fn a_follower_that_missed_the_purges_answers_opening_until_it_has_read_the_log() {
    let parent = tempfile::tempdir().unwrap();
    let repository = filled(parent.path());
    let writer = Server::start(&repository, &[]);
    let follower = Server::start(&repository, &["--read-only", "--memory", BUDGET]);
    let known = follower.get("/health/ready").json()["position"].as_u64().unwrap();
    follower.stand_still();
    purge_and_compact(&writer, "e7");
    let position: u64 = create(&writer, "late").header("annals-position").unwrap().parse().unwrap();
    follower.go_on();

    let (start, mut refused) = (Instant::now(), 0);
    loop {
        let Some(answer) = try_request(follower.address, "GET", "/v1/entities/e8", &[], None) else {
            continue;
        };
        let at = |answer: &crate::support::Answer| {
            answer.header("annals-position").map(|text| text.parse().unwrap())
        };
        match answer.status {
            503 => {
                refused += 1;
                let problem = answer.json();
                assert_eq!((answer.problem().as_str(), answer.header("retry-after")), ("opening", Some("1")));
                assert!(problem["records"].as_u64() >= problem["replayed"].as_u64(), "{problem}");
                assert_eq!(at(&answer), None, "{answer:?}");
                for path in ["/health/ready", "/v1/feed?limit=1", "/v1/entities?limit=1", "/v1/candidates"] {
                    let other = follower.get(path);
                    assert!(matches!(other.status, 200 | 503), "{path}: {other:?}");
                }
                assert_eq!(follower.get("/health/live").status, 200);
            }
            200 if at(&answer) >= Some(position) => break,
            // It has not looked at the log yet.
            200 => assert!(
                refused == 0 && at(&answer) == Some(known),
                "an old graph after {refused} refusals: {answer:?}"
            ),
            other => panic!("an empty graph: {other} {answer:?}"),
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not get over it: {answer:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(refused > 0, "it dropped nothing");
    assert_eq!(follower.get("/v1/entities/e7").status, 404);
    assert_eq!(follower.get("/v1/entities/late").status, 200);
    let count = |server: &Server| server.send("POST", "/v1/count", &json!({"type": "t"})).json();
    assert_eq!(count(&follower), count(&writer));
    assert!(follower.get("/metrics").body.contains("annals_follower_opening 0"));
}
