//! Servers on one log whose contents are in S3: any of them gives them, also after the one that took them is gone.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::standby::{new_place, start, writes};
use crate::support::{Server, try_request};

/// A place in a new bucket of the shared service. The file with the key is in the folder.
fn objects(bucket: &str, folder: &Path) -> String {
    let moto = crate::moto::shared();
    moto.make_bucket(bucket);
    let key = folder.join("key");
    std::fs::write(&key, "[default]\naws_access_key_id=annals\naws_secret_access_key=hunter2\n").unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let port = moto.port;
    format!("s3://{bucket}/annals?endpoint=http://127.0.0.1:{port}&credentials-file={}", key.display())
}

/// Puts a content. Shape: the position of its record.
fn put(server: &Server, id: &str, bytes: &str) -> String {
    let path = format!("/v1/content/{id}?type=book");
    let headers = [("content-type", "text/plain")];
    let answer = try_request(server.address, "PUT", &path, &headers, Some(bytes)).unwrap();
    assert!(answer.status < 300, "{answer:?}");
    answer.header("annals-position").unwrap().to_owned()
}

/// The server has the content once it has a position.
fn has(server: &Server, id: &str, bytes: &str, position: &str) {
    let (headers, path) = ([("annals-wait-position", position)], format!("/v1/content/{id}"));
    let answer = try_request(server.address, "GET", &path, &headers, None).unwrap();
    assert!(answer.status == 200 && answer.body == bytes, "{} of {} bytes", answer.status, answer.body.len());
}

#[test]
fn contents_in_s3_outlive_the_server_that_took_them() {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let objects = objects("served", folder.path());
    let first = start(&place, &["--objects", &objects]);
    let second = start(&place, &["--standby", "--objects", &objects]);
    let bytes = "of a book ".repeat(100_000);
    let position = put(&first, "a", &bytes);
    has(&second, "a", &bytes, &position);
    first.kill();
    writes(&second, "after");
    has(&second, "a", &bytes, "0");
    put(&second, "b", &bytes);
    let third = start(&place, &["--read-only", "--objects", &objects]);
    has(&third, "b", &bytes, "0");
    let without = Command::new(env!("CARGO_BIN_EXE_annals"))
        .args(["serve", folder.path().to_str().unwrap(), "--create", "--objects", &objects])
        .output()
        .unwrap();
    let said = String::from_utf8(without.stderr).unwrap();
    assert!(said.contains("objects: expected a log in a store") && !said.contains("hunter"), "{said}");
}

/// Each server has checkpoints in a folder of its own, and contents in S3: it is killed, starts again from its folder, and
/// takes over in its turn.
#[test]
fn servers_with_caches_of_their_own_share_contents_in_s3() {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let objects = objects("cached", folder.path());
    let cache = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let run = |name: &str| {
        let server = start(&place, &["--standby", "--objects", &objects, "--cache", &cache(name)]);
        assert_eq!(server.get("/health/ready").json()["warnings"], json!([]), "{name}");
        server
    };
    let checkpoints = |name: &str| {
        let of_log = std::fs::read_dir(cache(name)).into_iter().flatten().flatten();
        let files = of_log.flat_map(|log| std::fs::read_dir(log.path()).into_iter().flatten().flatten());
        files.filter(|file| file.file_name().to_string_lossy().ends_with(".checkpoint")).count()
    };
    let (mut first, mut second) = (run("one"), run("two"));
    writes(&first, "begun");
    let bytes = "of a book ".repeat(10_000);
    put(&first, "a", &bytes);
    let text = "x".repeat(200);
    let many: Vec<Json> = (0..4_000)
        .map(|number| {
            let id = format!("e{number}");
            json!({"action": "create", "kind": "entity", "id": id, "type": "t", "properties": {"text": text}})
        })
        .collect();
    first.commit(&many);
    first.terminate();
    assert!(first.ended_well());
    assert!(checkpoints("one") > 0, "a checkpoint at its end");
    writes(&second, "second-writes");
    first = run("one");
    let position = put(&second, "b", &bytes);
    second.kill_and_wait();
    writes(&first, "first-writes");
    has(&first, "b", &bytes, &position);
    first.kill_and_wait();
    // Both begin with what they have, and one writes once the lease of the killed one has ended.
    (first, second) = (run("one"), run("two"));
    let begun = std::time::Instant::now();
    let position = loop {
        let written =
            [&first, &second].into_iter().map(|server| super::beside_a_writer::create(server, "again"));
        if let Some(written) = written.into_iter().find(|answer| answer.status == 201) {
            break written.header("annals-position").unwrap().to_owned();
        }
        assert!(begun.elapsed() < super::standby::TAKEOVER_MAX, "nobody writes");
    };
    for server in [&first, &second] {
        has(server, "a", &bytes, &position);
        has(server, "b", &bytes, &position);
        assert_eq!(server.get("/v1/entities/e3999").status, 200);
        assert_eq!(server.get("/v1/entities/first-writes").status, 200);
    }
}
