//! Fixity of binaries of the LDP door: digests that clients state and want, and what the server says about a binary.

use super::resources::Door;

const TEXT: (&str, &str) = ("content-type", "text/plain");
const TURTLE: (&str, &str) = ("content-type", "text/turtle");
const SHA_256: &str = "sha-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
const MD5: &str = "md5=kAFQmDzST7DWlj99KOF/cg==";
const SHA_1: &str = "sha=qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";

#[test]
fn wanted_digests_are_computed_from_the_bytes() {
    let door = Door::open();
    assert_eq!(door.request("PUT", "/file", &[TEXT], Some("abc")).status, 201);
    for (wanted, expected) in [
        ("sha-256", Some(SHA_256.to_owned())),
        ("md5", Some(MD5.to_owned())),
        ("sha;q=0.1, md5", Some(format!("{MD5}, {SHA_1}"))),
        ("md2, sha-256;q=0.5", Some(SHA_256.to_owned())),
        ("md5;q=0", None),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = door.request(method, "/file", &[("want-digest", wanted)], None);
            assert_eq!(
                (answer.status, answer.header("digest")),
                (200, expected.as_deref()),
                "{method} {wanted}"
            );
        }
    }
    let long = door.request("HEAD", "/file", &[("want-digest", "sha-512")], None);
    assert!(
        long.header("digest").is_some_and(|digest| digest.starts_with("sha-512=3a81oZNherrMQXNJ")),
        "{long:?}"
    );
    assert_eq!(door.request("GET", "/file", &[], None).header("digest"), None);
}

#[test]
fn a_digest_that_lies_is_refused_and_an_unknown_one_too() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    let lie = ("digest", "md5=00000000000000000000000000000000");
    for (method, path) in [("POST", "/a"), ("PUT", "/a/file")] {
        let answer = door.request(method, path, &[TEXT, lie], Some("abc"));
        assert_eq!((answer.status, &*answer.problem()), (409, "digest-mismatch"), "{answer:?}");
        let unknown = door.request(method, path, &[TEXT, ("digest", "md2=00")], Some("abc"));
        assert_eq!(unknown.status, 400, "{unknown:?}");
        let link = unknown.headers.iter().find(|(name, _)| name == "link").map(|(_, value)| value);
        assert!(link.is_some_and(|link| link.contains("ldp#constrainedBy")), "{unknown:?}");
        // A known one among unknown ones counts.
        assert_eq!(
            door.request(method, path, &[TEXT, ("digest", "md2=00, sha=00")], Some("abc")).status,
            409
        );
    }
    assert_eq!(door.request("PUT", "/a/file", &[TEXT, ("digest", SHA_1)], Some("abc")).status, 201);
    assert!(!door.get("/a").body.contains("md2"));
}

#[test]
fn digests_of_graphs_and_updates_are_checked_too() {
    let door = Door::open();
    let update = ("content-type", "application/sparql-update");
    let (graph, insert) = ("<> <urn:p> \"1\" .", "INSERT DATA { <> <urn:p> \"2\" }");
    assert_eq!(door.request("PUT", "/a", &[TURTLE], Some(graph)).status, 201);
    let long = format!("{graph}{}", " ".repeat(100_000));
    for (method, path, media_type, body) in [
        ("PUT", "/a", TURTLE, graph),
        ("PUT", "/a", TURTLE, &long),
        ("POST", "/a", TURTLE, graph),
        ("POST", "/a", update, insert),
        ("PATCH", "/a", update, insert),
    ] {
        let before = (door.own("/a"), door.get("/a").header("etag").map(str::to_owned));
        for (header, value) in [
            ("digest", "md5=00000000000000000000000000000000"),
            ("content-digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"),
            ("repr-digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"),
        ] {
            let lie = door.request(method, path, &[media_type, (header, value)], Some(body));
            assert_eq!((lie.status, &*lie.problem()), (409, "digest-mismatch"), "{method} {header}: {lie:?}");
        }
        for (value, status) in [("md2=00", 400), ("md5=zz", 409)] {
            let answer = door.request(method, path, &[media_type, ("digest", value)], Some(body));
            assert_eq!(answer.status, status, "{answer:?}");
        }
        assert_eq!((door.own("/a"), door.get("/a").header("etag").map(str::to_owned)), before);
        let digest = format!("sha={}", sha_1(body));
        let right = door.request(method, path, &[media_type, ("digest", &digest)], Some(body));
        assert!([201, 204].contains(&right.status), "{method}: {right:?}");
    }
}

/// The SHA-1 of a text, in hexadecimal digits.
fn sha_1(text: &str) -> String {
    let mut hashing = annals::Hashing::of(&[annals::DigestAlgorithm::Sha1]);
    hashing.update(text.as_bytes());
    hashing.finish()[0].to_string()
}

#[test]
fn a_description_has_size_media_type_file_name_and_digests() {
    let door = Door::open();
    let named = ("content-disposition", "attachment; filename=\"letters.txt\"");
    door.request("PUT", "/file", &[TEXT, named, ("digest", SHA_1)], Some("abc"));
    let description = door.get("/file/fcr:metadata").body;
    let (premis, ebucore) =
        ("http://www.loc.gov/premis/rdf/v1#", "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#");
    let file = format!("{}/file", door.root);
    for line in [
        format!("<{file}> <{premis}hasSize> \"3\"^^<http://www.w3.org/2001/XMLSchema#long> ."),
        format!("<{file}> <{ebucore}hasMimeType> \"text/plain\" ."),
        format!("<{file}> <{ebucore}filename> \"letters.txt\" ."),
        format!(
            "<{file}> <{premis}hasMessageDigest> \
             <urn:sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad> ."
        ),
        format!("<{file}> <{premis}hasMessageDigest> <urn:sha1:a9993e364706816aba3e25717850c26c9cd0d89d> ."),
    ] {
        assert!(description.contains(&line), "{line} in {description}");
    }
    // The published scripts count lines with these words.
    for word in ["title", "relation", "hasMember", "memberOf"] {
        assert!(!description.contains(word), "{word} in {description}");
    }
    // A description that was read can be written back with more statements.
    let read = door.request("GET", "/file/fcr:metadata", &[], None).body;
    let more = format!("{read}\n<{file}> <urn:p> \"mine\" .");
    assert_eq!(door.request("PUT", "/file/fcr:metadata", &[TURTLE], Some(&more)).status, 204);
    let now = door.get("/file/fcr:metadata").body;
    assert!(now.contains("\"mine\"") && now.matches("hasSize").count() == 1, "{now}");
    let lie = format!("<> <{premis}hasSize> 4 .");
    let refused = door.request("PUT", "/file/fcr:metadata", &[TURTLE], Some(&lie));
    assert!(refused.status == 409 && refused.body.contains("hasSize"), "{refused:?}");
    // On what is no binary these are statements of clients.
    assert_eq!(door.request("PUT", "/other", &[TURTLE], Some(&lie)).status, 201);
    assert!(door.get("/other").body.contains("hasSize"));
    let without = "return=representation; omit=\"http://fedora.info/definitions/fcrepo#ServerManaged\"";
    let answer = door.request("GET", "/file/fcr:metadata", &[("prefer", without)], None);
    assert!(!answer.body.contains("hasSize"), "{answer:?}");
}
