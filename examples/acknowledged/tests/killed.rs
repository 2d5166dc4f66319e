//! The program finds what it wrote before it was killed, and misses what it never wrote.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_acknowledged"))
}

#[test]
fn what_was_acknowledged_before_kill_9_is_found_and_another_id_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("repository");
    let mut writing = program().arg("write").arg(&repository).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(writing.stdout.take().unwrap()).lines();
    let acknowledged: Vec<String> = lines.take(100).map(Result::unwrap).collect();
    writing.kill().unwrap();
    writing.wait().unwrap();

    let list = folder.path().join("list");
    let verify = || program().arg("verify").arg(&repository).arg(&list).output().unwrap();
    std::fs::write(&list, acknowledged.join("\n") + "\n").unwrap();
    let found = verify();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));

    let mut file = std::fs::OpenOptions::new().append(true).open(&list).unwrap();
    writeln!(file, "01a21cbf-e3b4-7bc9-8672-fae0912dbd4c").unwrap();
    let missed = verify();
    assert_eq!(missed.status.code(), Some(1), "{}", String::from_utf8_lossy(&missed.stdout));
}
