//! Rows of CSV into a server, and out of it.

use super::importing::{counts, export, import, sorted};
use crate::support::server;

#[test]
fn rows_are_imported_and_exported() {
    let (_folder, server) = server(&[]);
    let send = |path: &str, body: &str| {
        server.request("POST", path, &[("content-type", "text/csv; charset=utf-8")], Some(body))
    };
    let nodes =
        "icao;name;elevation:long;open:date\nEDDF;Frankfurt;364;1936-07-08\nXXXX;;high;\nEDDB;;157;\n";
    let answer = send("/v1/import?id=icao&type=airport&merge", nodes);
    assert_eq!((answer.status, counts(&answer)), (200, [2, 0, 0, 0, 1]), "{answer:?}");
    let refused = &answer.json()["refusedLines"][0];
    assert_eq!(refused["line"], 3, "{answer:?}");
    assert!(refused["reason"].as_str().unwrap().starts_with("column `elevation:long`: "), "{answer:?}");
    let edges = "from,to,km:double\nEDDF,EDDB,423.5\nEDDF,NONE,1\n";
    let answer = send("/v1/import?from=from&to=to&type=route&merge", edges);
    assert_eq!((answer.status, counts(&answer)), (200, [1, 0, 0, 0, 1]), "{answer:?}");
    let again = send("/v1/import?from=from&to=to&type=route&merge", edges);
    assert_eq!(counts(&again), [0, 0, 1, 0, 1], "{again:?}");

    let accepted = server.request("GET", "/v1/export?type=airport", &[("accept", "text/csv")], None);
    assert_eq!((accepted.status, accepted.header("content-type")), (200, Some("text/csv")), "{accepted:?}");
    let expected = ":ID,:LABEL,@annals:IGNORE,elevation:long,icao:string,name:string,open:date\n";
    assert!(accepted.body.starts_with(expected), "{accepted:?}");
    assert_eq!(server.get("/v1/export?type=airport&format=csv").body, accepted.body);
    let routes = server.get("/v1/export?type=route&format=csv").body;
    assert!(
        routes.starts_with(":START_ID,:END_ID,:TYPE,@annals:IGNORE,km:double\nEDDF,EDDB,route,"),
        "{routes}"
    );
    let (_other_folder, other) = crate::support::server(&[]);
    for rows in [&accepted.body, &routes] {
        let loaded = other.request("POST", "/v1/import", &[("content-type", "text/csv")], Some(rows));
        assert_eq!((loaded.status, counts(&loaded)[4]), (200, 0), "{loaded:?}");
    }
    assert_eq!(sorted(&export(&other)), sorted(&export(&server)));

    for (path, body, text) in [
        ("/v1/import", "", "found an empty file"),
        ("/v1/import", "a,b\n", "if the header is plain, name its columns with parameter id"),
        ("/v1/import?id=x", "a,b\n", "parameter id: expected the title of a column"),
        ("/v1/import?id=x&from=a&to=b", "a,b\n", "expected id, or from and to"),
        ("/v1/import?from=a", "a,b\n", "expected id, or from and to"),
        ("/v1/import?delimiter=ab", "a,b\n", "parameter delimiter: expected one character or tab"),
        ("/v1/import?header=%3AID%0A1", "2\n", "expected nothing behind the header"),
    ] {
        let answer = send(path, body);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(text), "{path}: {answer:?}");
    }
    for path in [
        "/v1/import?label=a",
        "/v1/import?delimiter=%3B",
        "/v1/import?arrayDelimiter=%3B",
        "/v1/import?header=a",
    ] {
        assert_eq!(import(&server, path, b"{}").status, 400, "{path} is for CSV");
    }
    for path in [
        "/v1/export?format=csv",
        "/v1/export?format=csv&type=a&type=b",
        "/v1/export?format=csv&type=airport&history",
        "/v1/export?format=csv&type=airport&kind=enum",
        "/v1/export?type=airport&kind=entity",
        "/v1/export?type=airport&spreadsheet",
        "/v1/export?type=airport&format=xml",
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.problem().as_str()),
            (400, "invalid-argument"),
            "{path}: {answer:?}"
        );
    }
}

// Bodies of rows are bounded as lines are: a cell of labels was compared with itself for hours.
#[test]
fn rows_that_take_too_much_are_refused() {
    let (_folder, server) = server(&["--body-bytes-max", "1048576"]);
    let labels: String = (0..100_000).map(|number| format!("l{number};")).collect();
    let long = "x".repeat(2 << 20);
    let nested = format!("\"{}\"", "[".repeat(100_000));
    let commas = ",".repeat(900_000);
    for (head, cell, reason) in [
        (":ID,:LABEL", labels.as_str(), "labels, found more"),
        (":ID,text", long.as_str(), "bytes, found a longer one"),
        (":ID,@annals:IGNORE", nested.as_str(), "row"),
        (":ID,text", commas.as_str(), "delimiters in a record"),
    ] {
        let body = format!("{head}\na,{cell}\n{},\n", reason.len());
        let answer = server.request("POST", "/v1/import", &[("content-type", "text/csv")], Some(&body));
        assert_eq!((answer.status, counts(&answer)), (200, [1, 0, 0, 0, 1]), "{reason}: {answer:?}");
        let told = answer.json()["refusedLines"][0]["reason"].to_string();
        assert!(reason == "row" || told.contains(reason), "{told}");
    }
}
