//! Failures have a clear text, the kind, and the exit code of docs/cli.md.

use std::process::Stdio;

use serde_json::Value as Json;

use crate::support::Place;

#[test]
fn a_malformed_command_line_exits_with_2() {
    let place = Place::with_people();
    for arguments in [
        &["nope"][..],
        &["find", "--direction", "up"],
        &["neighbors", "ada", "--direction", "up"],
        &["find", "--limit", "0"],
        &["find", "person", "second-type"],
        &["get", "ada", "--at", "last week"],
        &["get", "ada", "--valid-at", "9000-01-01"],
        &["import", "noformat.bin"],
        &["import", "csv"],
        &["apply", "people.jsonl"],
        &["export", "--format", "csv"],
        &["diff", "ada"],
        &["stats", "--memory", "lots"],
        &["stats", "--memory", "1GiBs"],
        &["stats", "--memory", "1MiB"],
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.starts_with("error: "), "{arguments:?}: {done:?}");
    }
}

#[test]
fn what_is_not_there_exits_with_3() {
    let place = Place::with_people();
    for arguments in [
        &["get", "nobody"][..],
        &["get", "ada", "--version", "9"],
        &["neighbors", "nobody"],
        &["history", "nobody"],
        &["find", "--at-position", "99"],
        &["diff", "--positions", "1", "99"],
        &["import", "nothing.jsonl"],
        &["apply", "nothing.json"],
        &["-r", "nowhere", "stats"],
        &["-r", "nowhere", "compact"],
        &["restore", "nowhere", "somewhere"],
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 3, "{arguments:?}: {done:?}");
        assert!(done.err.contains("[not-found]"), "{arguments:?}: {done:?}");
    }
    assert!(!place.path("nowhere").exists());
}

#[test]
fn a_missing_input_creates_no_repository() {
    let place = Place::new();
    assert_eq!(place.run(&["import", "nothing.jsonl"]).code, 3);
    assert!(!place.path("annals-data").exists());
}

#[test]
fn with_json_errors_are_json() {
    let place = Place::with_people();
    for (arguments, kind) in [
        (&["--json", "get", "nobody"][..], "not-found"),
        (&["find", "--limit", "0", "--json"], "invalid-page"),
        (&["--json", "nope"], "usage"),
    ] {
        let done = place.run(arguments);
        let error: Json = serde_json::from_str(&done.err).unwrap();
        assert_eq!(error["error"]["kind"], kind, "{arguments:?}");
    }
}

#[test]
fn damage_in_the_log_exits_with_5() {
    let place = Place::with_people();
    let segment = std::fs::read_dir(place.path("annals-data/log"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "seg"))
        .unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    // In the first record: damage before the tail, no torn write.
    let at = bytes.windows(6).position(|window| window == b"person").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    for arguments in [&["check"][..], &["stats"], &["apply", "change.json"], &["backup", "copy"]] {
        let done = place.run(arguments);
        assert_eq!(done.code, 5, "{arguments:?}: {done:?}");
        assert!(done.err.contains("[corrupted]"), "{arguments:?}: {done:?}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_people();
    let commands = [
        &["export"][..],
        &["find", "person"],
        &["--json", "find", "person"],
        &["follow", "--once"],
        &["--help"],
        &["completions", "bash"],
    ];
    for arguments in commands {
        let mut child =
            place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn an_import_of_history_that_fails_counts_what_it_committed_and_names_the_file() {
    let place = Place::with_people();
    let all = place.ok(&["export", "--history"]);
    let lines: Vec<&str> = all.lines().collect();
    let gap = lines[2].replace("\"position\":3", "\"position\":9");
    for bad in ["no record", lines[0], &gap] {
        place.write("bad.jsonl", &format!("{}\n{}\n{bad}\n", lines[0], lines[1]));
        let done = place.run(&["--json", "-r", "copy", "import", "bad.jsonl"]);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains("bad.jsonl"), "{done:?}");
        let summary: Json = serde_json::from_str(&done.out).unwrap();
        assert_eq!(summary["records"], summary["position"], "{done:?}");
        let stats = place.json_one(&["-r", "copy", "stats"]);
        assert_eq!(stats["position"], summary["records"]);
        std::fs::remove_dir_all(place.path("copy")).unwrap();
    }
}

#[test]
fn an_import_whose_input_breaks_names_the_file() {
    let place = Place::with_people();
    for (name, format) in [("cut.jsonl.gz", "jsonl"), ("cut.csv.gz", "csv")] {
        // The head of a gzip stream, and nothing behind it.
        std::fs::write(place.path(name), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]).unwrap();
        let done = place.run(&["import", format, name]);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.err.contains(name), "{done:?}");
    }
}

/// After a power cut the file `durable` lags behind the log. Reading commands stopped there: `export` wrote less than was
/// acknowledged, `check` said that all is well, and `backup` copied a part. They open the log for writing now, which brings
/// everything back.
#[test]
fn reading_commands_show_everything_acknowledged_after_a_power_cut() {
    for command in [&["check"][..], &["export"], &["get", "charles"], &["backup", "copy"]] {
        let place = Place::with_people();
        let mark = place.path("annals-data/log/durable");
        let expected = place.ok(&["export", "--history"]);
        // The mark of a repository that was just created, which knows of no record.
        let mut empty = std::fs::read(&mark).unwrap();
        empty[8..16].fill(0);
        let checksum = crc32c(&empty[8..]);
        empty[4..8].copy_from_slice(&checksum.to_le_bytes());
        std::fs::write(&mark, empty).unwrap();
        place.ok(command);
        assert_eq!(place.ok(&["export", "--history"]), expected, "{command:?}");
        if command[0] == "backup" {
            assert_eq!(place.ok(&["-r", "copy", "export", "--history"]), expected);
        }
    }
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 })
    })
}
