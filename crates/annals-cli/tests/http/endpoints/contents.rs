//! Contents over HTTP: stored while they arrive, sent in parts and under conditions.

use std::io::Write;

use serde_json::json;

use crate::support::{Server, server};

const TEXT: &str = "0123456789abcdef";
const PATH: &str = "/v1/content/page";

fn put(server: &Server, path: &str, headers: &[(&str, &str)]) -> u16 {
    server.request("PUT", path, headers, Some(TEXT)).status
}

#[test]
fn a_content_is_stored_with_its_headers_and_read_back() {
    let (_folder, server) = server(&[]);
    assert_eq!(put(&server, PATH, &[]), 404, "without a type no entity is created");
    let headers = [
        ("content-type", "image/tiff"),
        ("content-disposition", "attachment; filename*=UTF-8''Seite%201.tif"),
        ("digest", "sha-512=zz"),
    ];
    assert_eq!(put(&server, "/v1/content/page?type=page", &headers), 409, "no digest of any bytes");
    let md5 = [("digest", "md5=4032af8d61035123906e58e067140cc5")];
    let all = [&headers[..2], &md5].concat();
    let written = server.request("PUT", "/v1/content/page?type=page", &all, Some(TEXT));
    assert_eq!(written.status, 201, "{}", written.body);
    assert_eq!(written.header("location"), Some("/v1/content/page"));
    let receipt = written.json();
    assert_eq!(
        (&receipt["size"], &receipt["isNew"], &receipt["mediaType"]),
        (&json!(16), &json!(true), &json!("image/tiff"))
    );
    let read = server.request("GET", PATH, &[("want-digest", "md5")], None);
    assert_eq!((read.status, &*read.body), (200, TEXT));
    assert_eq!(read.header("content-type"), Some("image/tiff"));
    assert_eq!(read.header("content-disposition"), Some("attachment; filename*=UTF-8''Seite%201.tif"));
    assert_eq!(read.header("digest"), Some("md5=QDKvjWEDUSOQbljgZxQMxQ=="));
    assert_eq!(read.header("etag"), Some(&*format!("\"{}\"", receipt["sha256"].as_str().unwrap())));
    let head = server.request("HEAD", PATH, &[], None);
    assert_eq!((head.status, head.header("content-length"), &*head.body), (200, Some("16"), ""));
    let gzip = server.request("GET", PATH, &[("accept-encoding", "gzip")], None);
    assert_eq!((gzip.header("content-encoding"), &*gzip.body), (None, TEXT), "parts are parts of the bytes");
}

#[test]
fn a_lying_digest_or_a_broken_body_leaves_nothing() {
    let (folder, server) = server(&[]);
    let lies = [
        ("digest", "md5=00000000000000000000000000000000"),
        ("repr-digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"),
        ("content-digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:"),
    ];
    for lie in lies {
        let refused = server.request("PUT", "/v1/content/page?type=page", &[lie], Some(TEXT));
        assert_eq!((refused.status, &*refused.problem()), (409, "digest-mismatch"), "{}", refused.body);
    }
    let mut socket = server.connect();
    let head =
        "PUT /v1/content/page?type=page HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(&[b'x'; 5_000]).unwrap();
    drop(socket);
    assert_eq!(server.get(PATH).status, 404);
    let contents = folder.path().join("repository/content");
    let is_empty = || std::fs::read_dir(&contents).map_or(0, |names| names.count()) == 0;
    let start = std::time::Instant::now();
    while !is_empty() {
        assert!(start.elapsed().as_secs() < 20, "the remains of the broken body stay");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn ranges_and_conditions_are_those_of_rfc_9110() {
    let (_folder, server) = server(&[]);
    assert_eq!(put(&server, "/v1/content/page?type=page", &[]), 201);
    let whole = server.get(PATH);
    let tag = whole.header("etag").unwrap().to_owned();
    let date = whole.header("last-modified").unwrap().to_owned();
    let get = |headers: &[(&str, &str)]| {
        let answer = server.request("GET", PATH, headers, None);
        (answer.status, answer.body.clone(), answer.header("content-range").map(str::to_owned))
    };
    let part = |text: &str, range: &str| (206, text.to_owned(), Some(format!("bytes {range}/16")));
    assert_eq!(get(&[("range", "bytes=0-3")]), part("0123", "0-3"));
    assert_eq!(get(&[("range", "bytes=12-")]), part("cdef", "12-15"));
    assert_eq!(get(&[("range", "bytes=-2")]), part("ef", "14-15"));
    assert_eq!(get(&[("range", "bytes=10-99")]), part("abcdef", "10-15"));
    assert_eq!(get(&[("range", "bytes=0-1,4-5")]).0, 200, "several parts are answered with the whole");
    assert_eq!(get(&[("range", "lines=1-2")]).0, 200);
    let (status, _, range) = get(&[("range", "bytes=16-")]);
    assert_eq!((status, range.as_deref()), (416, Some("bytes */16")));
    assert_eq!(get(&[("range", "bytes=0-3"), ("if-range", &tag)]).0, 206);
    assert_eq!(get(&[("range", "bytes=0-3"), ("if-range", "\"other\"")]).0, 200);
    assert_eq!(get(&[("if-none-match", &tag)]).0, 304);
    assert_eq!(get(&[("if-none-match", "\"other\"")]).0, 200);
    assert_eq!(get(&[("if-modified-since", &date)]).0, 304);
    assert_eq!(get(&[("if-unmodified-since", "Sat, 01 Jan 2000 00:00:00 GMT")]).0, 412);
    assert_eq!(get(&[("if-match", "\"other\"")]).0, 412);

    assert_eq!(put(&server, PATH, &[("if-none-match", "*")]), 412);
    assert_eq!(put(&server, PATH, &[("if-match", "\"other\"")]), 412);
    assert_eq!(put(&server, PATH, &[("if-match", &tag)]), 200);
    assert_eq!(server.request("DELETE", PATH, &[("if-match", "\"other\"")], None).status, 412);
    assert_eq!(server.request("DELETE", PATH, &[], None).status, 200);
    assert_eq!(server.get(PATH).status, 404);
    assert_eq!(server.get("/v1/content/page?atPosition=1").body, TEXT, "the version before keeps it");
    server.request("DELETE", "/v1/entities/page", &[], None);
    assert_eq!(put(&server, "/v1/content/page?type=page", &[]), 410, "a deleted entity is not created again");
}

#[test]
fn a_property_holds_a_content_beside_others() {
    let (_folder, server) = server(&[]);
    assert_eq!(put(&server, "/v1/content/page?type=page", &[]), 201);
    let thumb = server.request("PUT", "/v1/content/page?property=thumb", &[], Some("small"));
    assert_eq!((thumb.status, &thumb.json()["property"]), (200, &json!("thumb")));
    assert_eq!(server.get("/v1/content/page?property=thumb").body, "small");
    assert_eq!(server.get(PATH).body, TEXT);
    assert_eq!(server.get("/v1/content/page?property=none").status, 404);
}

#[test]
fn a_lost_or_damaged_content_is_a_damage_and_comes_back_with_the_next_put_of_its_bytes() {
    let (folder, server) = server(&[]);
    assert_eq!(put(&server, "/v1/content/page?type=page", &[]), 201);
    let receipt = server.request("PUT", PATH, &[], Some(TEXT)).json();
    let file = folder.path().join("repository/content").join(receipt["sha256"].as_str().unwrap());
    std::fs::write(&file, "damaged at rest!").unwrap();
    assert_eq!(server.get(PATH).body, "damaged at rest!", "only a re-reading finds it");
    let again = server.request("PUT", PATH, &[], Some(TEXT));
    assert_eq!((again.status, &again.json()["isNew"]), (200, &json!(false)));
    assert_eq!(server.get(PATH).body, TEXT, "what was answered with success is there");
    std::fs::remove_file(&file).unwrap();
    let lost = server.get(PATH);
    assert_eq!((lost.status, &*lost.problem()), (500, "corrupted"), "{}", lost.body);
    assert_eq!(put(&server, PATH, &[]), 200);
    assert_eq!(server.get(PATH).body, TEXT);
}

#[test]
fn a_wrong_size_of_a_named_content_is_a_mistake_of_the_client() {
    let (_folder, server) = server(&[]);
    assert_eq!(put(&server, "/v1/content/page?type=page", &[]), 201);
    let sha256 = server.request("PUT", PATH, &[], Some(TEXT)).json()["sha256"].clone();
    let content = json!({"$content": sha256, "size": 17, "mediaType": "text/plain"});
    let order = json!({"id": "other", "type": "page", "properties": {"content": content}});
    let refused = server.send("POST", "/v1/entities", &order);
    assert_eq!((refused.status, &*refused.problem()), (400, "invalid-argument"), "{}", refused.body);
}
