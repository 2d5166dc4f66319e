//! Commands on a log in S3: alone, and beside the server that writes.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::moto::shared;
use crate::server::Server;
use crate::support::{Done, Place, command_in};

/// A folder with a file to import and a key, and a command in it on a log.
struct InBucket {
    place: Place,
    log: String,
}

impl InBucket {
    fn new() -> InBucket {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let bucket = format!("commands-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        shared().make_bucket(&bucket);
        let place = Place::new();
        place.write("people.jsonl", "{\"entity\": {\"id\": \"ada\", \"type\": \"person\"}}\n");
        place.write("key", "[default]\naws_access_key_id=annals\naws_secret_access_key=hunter2\n");
        let key = place.path("key");
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let (port, key) = (shared().port, key.display());
        let log = format!("s3://{bucket}/annals?endpoint=http://127.0.0.1:{port}&credentials-file={key}");
        InBucket { place, log }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        command_in(&self.place.path(""), &[&["-r", &self.log], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments))
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.out
    }
}

#[test]
fn commands_write_and_read_a_log_alone_and_a_server_writes_beside_them() {
    let on = InBucket::new();
    let missing = on.run(&["get", "ada"]);
    assert!(missing.code == 3 && missing.err.contains("annals import"), "{missing:?}");
    on.ok(&["import", "people.jsonl"]);
    on.ok(&["set", "ada", "n=1"]);
    assert!(on.ok(&["get", "ada"]).contains('n'));
    on.ok(&["check"]);
    on.ok(&["backup", "copy"]);
    let copied = Done::of(command_in(&on.place.path(""), &["-r", "copy", "get", "ada"]));
    assert_eq!(copied.code, 0, "{copied:?}");
    let server = Server::start(Path::new(&on.log), &[]);
    on.ok(&["set", "ada", "n=2"]);
    assert_eq!(server.get("/v1/entities/ada").json()["properties"]["n"], 2);
    assert!(on.ok(&["--local", "get", "ada"]).contains('2'));
    let refused = on.run(&["--local", "set", "ada", "n=3"]);
    assert!(refused.code == 4 && refused.err.contains("[locked]"), "{refused:?}");
    assert!(refused.err.contains(&format!("http://{}", server.address)), "{refused:?}");
}

#[test]
fn storage_shows_a_log_in_s3_and_adopts_it() {
    let on = InBucket::new();
    let missing = on.run(&["storage", "status"]);
    assert_eq!(missing.code, 3, "{missing:?}");
    on.ok(&["import", "people.jsonl"]);
    let told =
        || -> serde_json::Value { serde_json::from_str(&on.ok(&["storage", "status", "--json"])).unwrap() };
    let before = told();
    assert_eq!(before["position"], 1, "{before}");
    assert!(before["durability"].as_str().unwrap().contains("acknowledged"), "{before}");
    on.ok(&["storage", "adopt"]);
    let after = told();
    assert!(after["id"] != before["id"] && after["position"] == 1, "{after}");
    on.ok(&["set", "ada", "n=1"]);
    assert!(!format!("{:?}", on.run(&["storage", "status"])).contains("hunter"));
}

#[test]
fn what_is_wrong_with_a_place_is_one_sentence_and_no_key_is_shown() {
    let on = InBucket::new();
    let cases = [
        ("s3://hunter:hunter2@books/a".to_owned(), "expected no key"),
        ("s3://books/a?secret=hunter2".to_owned(), "expected no key"),
        ("s3://books/a?regoin=x".to_owned(), "found 'regoin'"),
        (on.log.replace("commands-", "nowhere-"), "create it"),
        (on.log.replace("/annals?", "/other?interval=1&"), "such as 100ms"),
    ];
    for (log, expected) in &cases {
        for arguments in [&["get", "ada"][..], &["set", "ada", "n=1"], &["serve", "--log", "off"]] {
            let done = Done::of(command_in(&on.place.path(""), &[&["-r", log], arguments].concat()));
            assert!(done.code != 0 && done.err.contains(expected), "{log} {arguments:?}: {done:?}");
            assert!(done.err.lines().count() == 1 && !format!("{done:?}").contains("hunter"), "{done:?}");
        }
    }
}
