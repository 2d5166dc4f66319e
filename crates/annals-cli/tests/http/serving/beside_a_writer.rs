//! A server that follows the log of a writer: what it answers when it is behind, cut off, or at another log.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::access::tokens::{Guarded, annals};
use crate::support::{Answer, Server, try_request};

pub(super) fn create(server: &Server, id: &str) -> Answer {
    server.send("POST", "/v1/entities", &json!({"id": id, "type": "thing"}))
}

/// Asks again until `is_right`, or for long enough.
pub(super) fn until(server: &Server, path: &str, is_right: impl Fn(&Answer) -> bool) -> Answer {
    let start = Instant::now();
    loop {
        let answer = server.get(path);
        if is_right(&answer) || start.elapsed() > Duration::from_secs(20) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// It showed the state of the old folder for ever, and said that it was ready.
#[test]
fn a_follower_of_a_folder_that_was_restored_from_a_backup_answers_nothing_of_the_old_one() {
    let parent = tempfile::tempdir().unwrap();
    let place = |name: &str| parent.path().join(name);
    let writer = Server::start(&place("repository"), &[]);
    create(&writer, "before");
    let follower = Server::start(&place("repository"), &["--read-only"]);
    assert_eq!(follower.get("/v1/entities/before").status, 200);
    assert!(follower.get("/metrics").body.contains("annals_follower_of_other_log 0"));
    let ready = follower.get("/health/ready").json();
    assert!(ready["ageSeconds"].as_f64().unwrap() < 10.0 && ready.get("problem").is_none(), "{ready}");

    writer.terminate();
    assert!(writer.ended_well());
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let [repository, backup] = ["repository", "backup"].map(|name| text(&place(name)));
    assert!(annals(&["-r", &repository, "backup", &backup]).status.success());
    std::fs::rename(place("repository"), place("away")).unwrap();
    assert!(annals(&["restore", &backup, &repository]).status.success());
    let writer = Server::start(&place("repository"), &[]);
    create(&writer, "after");

    let refused = until(&follower, "/v1/entities/before", |answer| answer.status == 503);
    assert_eq!((refused.status, refused.problem().as_str()), (503, "unavailable"), "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().contains("it is not the log"), "{refused:?}");
    for path in ["/health/ready", "/v1/entities/after", "/v1/feed?limit=1", "/ldp/"] {
        assert_eq!(follower.get(path).status, 503, "{path}");
    }
    assert_eq!(follower.get("/health/live").status, 200);
    let metrics = follower.get("/metrics").body;
    for line in ["annals_follower_of_other_log 1", "annals_follower_failing 1"] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let anew = Server::start(&place("repository"), &["--read-only"]);
    assert_eq!(anew.get("/v1/entities/after").status, 200);
}

/// A client that had read the latest change at the writer was told that there is no such position, and read everything
/// anew.
#[test]
fn a_feed_begins_at_a_position_that_the_follower_reads_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let writer = Server::start(&path, &[]);
    let follower = Server::start(&path, &["--read-only", "--visible-time-ms", "3000"]);
    for number in 0..20 {
        let position: u64 =
            create(&writer, &format!("e{number}")).header("annals-position").unwrap().parse().unwrap();
        let feed = follower.get(&format!("/v1/feed?after={position}&limit=0"));
        assert_eq!(feed.status, 200, "{feed:?}");
    }
    let far = writer.get("/v1/feed?after=1000&limit=0");
    assert_eq!((far.status, far.problem().as_str()), (404, "not-found"));
}

/// Each server named its own folder as the source, so a consumer that went to another one took each event twice.
#[test]
fn events_name_the_same_source_at_every_server_of_a_log_and_another_one_at_a_copy() {
    let parent = tempfile::tempdir().unwrap();
    let text = |name: &str| parent.path().join(name).to_str().unwrap().to_owned();
    let writer = Server::start(&parent.path().join("repository"), &[]);
    create(&writer, "one");
    std::os::unix::fs::symlink(parent.path().join("repository"), parent.path().join("elsewhere")).unwrap();
    let follower = Server::start(&parent.path().join("elsewhere"), &["--read-only"]);
    let source = |server: &Server| {
        let feed = server.get("/v1/feed?limit=1").body;
        let data =
            feed.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_else(|| panic!("{feed}"));
        serde_json::from_str::<serde_json::Value>(data).unwrap()["source"].as_str().unwrap().to_owned()
    };
    assert_eq!(source(&follower), source(&writer));
    assert!(annals(&["-r", &text("repository"), "backup", &text("backup")]).status.success());
    assert!(annals(&["restore", &text("backup"), &text("restored")]).status.success());
    let restored = Server::start(&parent.path().join("restored"), &[]);
    assert_ne!(source(&restored), source(&writer), "its next events are others, with the same ids");
}

/// The next page came from a server that was behind the first one, and had less than that.
#[test]
fn the_next_page_is_not_older_than_the_one_before() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("repository");
    let writer = Server::start(&path, &[]);
    create(&writer, "a");
    let follower = Server::start(&path, &["--read-only", "--visible-time-ms", "300"]);
    assert_eq!(follower.get("/v1/entities/a").status, 200);
    // Cut off: the folder is not there.
    let away = parent.path().join("away");
    std::fs::rename(&path, &away).unwrap();
    for id in ["b", "c", "d"] {
        create(&writer, id);
    }
    let next = |page: &Answer| page.json()["next"].as_str().unwrap_or_default().to_owned();
    let present = next(&writer.get("/v1/entities?limit=2"));
    let then = next(&writer.get("/v1/entities?limit=2&atPosition=3"));
    let asked = |after: &str| json!({"limit": 2, "after": after});
    let behind = [
        follower.get(&format!("/v1/entities?limit=2&after={present}")),
        follower.send("POST", "/v1/find", &asked(&present)),
    ];
    for refused in behind {
        assert_eq!((refused.status, refused.problem().as_str()), (503, "not-visible"), "{refused:?}");
    }
    std::fs::rename(&away, &path).unwrap();
    let ids = |page: &Answer| {
        let items = page.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let page =
        until(&follower, &format!("/v1/entities?limit=2&after={present}"), |answer| answer.status == 200);
    assert_eq!(ids(&page), ["c", "d"], "{page:?}");
    assert_eq!(ids(&follower.send("POST", "/v1/find", &asked(&present))), ["c", "d"]);
    // A page as of the past stays what it is, and waits for no more than its position.
    assert_eq!(ids(&follower.get(&format!("/v1/entities?limit=2&after={then}&atPosition=3"))), ["c"]);
    // A cursor that no server gave.
    let far = present.chars().enumerate().map(|(at, digit)| if (16..32).contains(&at) { 'f' } else { digit });
    let far = writer.get(&format!("/v1/entities?after={}", far.collect::<String>()));
    assert_eq!((far.status, far.problem().as_str()), (503, "not-visible"), "{far:?}");
}

/// It went on with grants that may have been revoked long ago.
#[test]
fn a_follower_that_is_cut_off_answers_no_client_with_grants() {
    let guarded = Guarded::start(&[]);
    let admin = guarded.token("chief", &["--role", "admin"]);
    let reader = guarded.token("reader", &["--role", "public"]);
    let operations = json!([
        {"action": "create", "kind": "entity", "id": "open", "type": "page", "properties": {"public": true}},
        {"action": "create", "kind": "entity", "id": "grant", "type": "annals.Grant", "properties": {
            "role": "public", "verbs": ["read"], "where": "page where public = true",
        }},
    ]);
    let body = json!({"operations": operations});
    assert_eq!(guarded.ask(&admin, "POST", "/v1/transactions", Some(&body)).status, 200);
    let path = guarded.folder.path().join("repository");
    let follower = Server::start(&path, &["--read-only", "--tokens", guarded.file().to_str().unwrap()]);
    let ask = |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        try_request(follower.address, "GET", "/v1/entities/open", &headers, None).unwrap()
    };
    assert_eq!((ask(&reader).status, ask(&admin).status), (200, 200));

    // Cut off: the folder is not there.
    let away = guarded.folder.path().join("away");
    std::fs::rename(&path, &away).unwrap();
    let start = Instant::now();
    while ask(&reader).status == 200 {
        assert!(start.elapsed() < Duration::from_secs(30), "it answers for ever");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(start.elapsed() > Duration::from_secs(5), "a short pause is none of a client's business");
    let refused = ask(&reader);
    assert_eq!((refused.status, refused.problem().as_str()), (503, "not-visible"), "{refused:?}");
    assert_eq!(ask(&admin).status, 200, "who reads everything reads what was");
    std::fs::rename(&away, &path).unwrap();
    let start = Instant::now();
    while ask(&reader).status != 200 {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not come back");
        std::thread::sleep(Duration::from_millis(20));
    }
}
