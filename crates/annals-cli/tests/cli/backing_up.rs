//! Backups of a server: the files of a backup of its folder, or a clear refusal.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use crate::server::Server;
use crate::support::{Done, Place, command_in};

/// A place whose repository has a content of this length.
fn with_content(length: usize) -> Place {
    let place = Place::with_people();
    let bytes: Vec<u8> = (0..length).map(|index| (index * index % 251) as u8).collect();
    std::fs::write(place.path("scan"), bytes).unwrap();
    place.ok(&["put", "ada", "scan"]);
    place
}

/// The lengths of files by their paths, and the bytes of contents.
fn files(folder: &Path) -> BTreeMap<String, (u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for part in std::fs::read_dir(folder).unwrap().flatten() {
        let part_name = part.file_name().into_string().unwrap();
        for file in std::fs::read_dir(part.path()).unwrap().flatten() {
            let bytes = std::fs::read(file.path()).unwrap();
            let name = format!("{part_name}/{}", file.file_name().to_string_lossy());
            // Each copy of a log has an id of its own, which enters all sums.
            let kept = if part_name == "content" { bytes.clone() } else { Vec::new() };
            found.insert(name, (bytes.len() as u64, kept));
        }
    }
    found
}

/// A relay to a server. After so many bytes of an answer it calls `at_end`; then the answer ends, or goes on.
fn relay(
    server: SocketAddr,
    bytes_max: usize,
    goes_on: bool,
    at_end: impl Fn() + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let at_end = Arc::new(at_end);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let at_end = Arc::clone(&at_end);
            std::thread::spawn(move || {
                let upstream = TcpStream::connect(server).unwrap();
                let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let mut answer = upstream.take(bytes_max as u64);
                let _ = std::io::copy(&mut answer, &mut client);
                if answer.limit() == 0 {
                    at_end();
                    if goes_on {
                        let _ = std::io::copy(answer.get_mut(), &mut client);
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
            });
        }
    });
    format!("http://{address}")
}

/// A server that answers every request with the first bytes of a backup, as if they were all.
fn short_server(bytes: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4_096]);
            let _ = write!(client, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bytes.len());
            let _ = client.write_all(&bytes);
        }
    });
    format!("http://{address}")
}

/// True if a folder is a repository that opens.
fn opens(place: &Place, folder: &str) -> bool {
    Done::of(command_in(&place.path(""), &["-r", folder, "stats", "--local"])).code == 0
}

fn backup(place: &Place, url: &str, folder: &str) -> Done {
    Done::of(command_in(&place.path(""), &["--server", url, "backup", folder]))
}

#[test]
fn a_backup_of_a_server_has_the_files_of_one_of_its_folder() {
    let place = with_content(300_000);
    let made = place.ok(&["backup", "made", "--local"]);
    let server = Server::start(&place.path("annals-data"), &[]);
    let url = format!("http://{}", server.address);
    let done = backup(&place, &url, "sent");
    assert_eq!((done.code, &*done.err), (0, ""), "{done:?}");
    assert_eq!(done.out, made.replace("made", "sent"));
    assert_eq!(files(&place.path("sent")), files(&place.path("made")));
    for command in [&["check"][..], &["fixity"], &["export", "--history"]] {
        let of = |folder: &str| Done::of(command_in(&place.path(""), &[&["-r", folder], command].concat()));
        let (sent, made) = (of("sent"), of("made"));
        assert_eq!((sent.code, sent.out), (0, made.out), "{command:?}");
    }
    place.ok(&["restore", "sent", "again"]);
    let again = backup(&place, &url, "sent");
    assert_eq!((again.code, again.err.contains("expected an empty folder")), (1, true), "{again:?}");
}

#[test]
fn a_backup_of_a_server_with_a_damaged_content_has_all_others_and_says_so() {
    let place = with_content(300_000);
    place.ok(&["put", "charles", "people.jsonl"]);
    let contents = place.path("annals-data/content");
    let all = std::fs::read_dir(contents).unwrap().flatten().map(|file| file.path());
    let large = all.max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&large).unwrap();
    bytes[200_000] ^= 1;
    std::fs::write(&large, bytes).unwrap();
    let made = place.run(&["backup", "made", "--local"]);
    let server = Server::start(&place.path("annals-data"), &[]);
    let sent = backup(&place, &format!("http://{}", server.address), "sent");
    assert_eq!((sent.code, made.code), (5, 5), "{sent:?} {made:?}");
    let without_path = |text: &str| text.split(" in ").next().unwrap().replace("made", "sent");
    assert_eq!(without_path(&sent.out), without_path(&made.out));
    assert!(sent.out.contains("not in the copy: 1 content that could not be read"), "{sent:?}");
    assert_eq!(files(&place.path("sent")), files(&place.path("made")));
}

#[test]
fn a_backup_that_is_cut_off_is_refused_wherever_it_is_cut() {
    let place = with_content(20_000);
    let server = Server::start(&place.path("annals-data"), &[]);
    let url = format!("http://{}", server.address);
    // With a proxy in between, a connection that breaks may look like the end of the answer.
    let tar = Done::of({
        let mut curl = std::process::Command::new("curl");
        curl.args(["-sfo", "tar", &format!("{url}/v1/backup")]).current_dir(place.path(""));
        curl
    });
    assert_eq!(tar.code, 0, "{tar:?}");
    let tar = std::fs::read(place.path("tar")).unwrap();
    let places = (0..tar.len()).step_by(3_000).chain([tar.len() - 1_600, tar.len() - 1_100]);
    for length in places {
        for (how, url) in [
            ("broken", relay(server.address, length + 200, false, || ())),
            ("short", short_server(tar[..length].to_vec())),
        ] {
            let cut = backup(&place, &url, "cut");
            assert_ne!(cut.code, 0, "{how} after {length}: {cut:?}");
            assert!(cut.err.contains("[io]") || cut.err.contains("[corrupted]"), "{length}: {cut:?}");
            assert!(!opens(&place, "cut"), "{how} after {length}: half a backup opens");
        }
    }
    let mut other = tar.clone();
    // In the last record: the end of the backup tells the sum of its segment.
    let last = other.windows(4).rposition(|bytes| bytes == b"\xa7anr").unwrap();
    other[last + 40] ^= 1;
    let changed = backup(&place, &short_server(other), "cut");
    assert_eq!((changed.code, opens(&place, "cut")), (5, false), "{changed:?}");
    let whole = backup(&place, &url, "cut");
    assert_eq!(whole.code, 0, "the next backup replaces it: {whole:?}");
    assert!(opens(&place, "cut"));
}

#[test]
fn a_server_that_is_killed_in_the_middle_leaves_no_backup_that_looks_whole() {
    let place = with_content(40_000_000);
    let server = Arc::new(Server::start(&place.path("annals-data"), &[]));
    let killed = Arc::clone(&server);
    let url = relay(server.address, 4_000_000, true, move || killed.kill());
    let done = backup(&place, &url, "cut");
    assert_eq!((done.code, done.err.contains("[io]")), (1, true), "{done:?}");
    assert!(!opens(&place, "cut"));
    drop(server);
    let server = Server::start(&place.path("annals-data"), &[]);
    let whole = backup(&place, &format!("http://{}", server.address), "cut");
    assert_eq!((whole.code, opens(&place, "cut")), (0, true), "{whole:?}");
}

#[test]
fn a_backup_needs_to_read_and_to_operate() {
    let place = with_content(10);
    let of = |name: &str, roles: &[&str]| {
        let mut arguments = vec!["token", "new", name, "--tokens", "tokens"];
        roles.iter().for_each(|role| arguments.extend(["--role", role]));
        place.json_one(&arguments)["token"].as_str().unwrap().to_owned()
    };
    let tokens: Vec<(String, i32)> = vec![
        (of("ada", &["read"]), 1),
        (of("bob", &["operate"]), 1),
        (of("kim", &["write"]), 1),
        (of("both", &["read", "operate"]), 0),
        (of("boss", &["admin"]), 0),
        // A role with grants sees a part.
        (of("part", &["curators", "operate"]), 1),
    ];
    let file = place.path("tokens");
    let server = Server::start_opening(&place.path("annals-data"), &["--tokens", file.to_str().unwrap()]);
    while server.get("/health/ready").status != 200 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let url = format!("http://{}", server.address);
    for (number, (token, code)) in tokens.iter().enumerate() {
        let folder = format!("copy-{number}");
        let mut command = command_in(&place.path(""), &["--server", &url, "backup", &folder]);
        command.env("ANNALS_TOKEN", token);
        let done = Done::of(command);
        assert_eq!(done.code, *code, "{number}: {done:?}");
        assert_eq!(done.err.contains("[forbidden]"), *code == 1, "{number}: {done:?}");
        assert_eq!(place.is_there(&folder), *code == 0, "{number}");
    }
}

/// A file of a tar: its header, and these bytes.
fn tar_file(name: &str, kind: tar::EntryType, size: u64, bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name).unwrap();
    header.set_mode(0o600);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_cksum();
    let padding = vec![0; (512 - bytes.len() % 512) % 512];
    [header.as_bytes(), bytes, &padding].concat()
}

/// A server announced files of any size, and a report that took as much memory.
#[test]
fn a_hostile_server_is_refused_before_its_bytes_come() {
    let place = Place::with_people();
    place.path("alone");
    let content = format!("content/{}", "ab".repeat(32));
    let regular = tar::EntryType::Regular;
    let endless = vec![b' '; 4 << 20];
    for (what, tar, expected) in [
        ("report", tar_file("backup.json", regular, 1 << 30, &endless), "[too-large]"),
        ("content", tar_file(&content, regular, 1 << 60, &endless), "[no-room]"),
        ("segment", tar_file("log/00000000000000000001.seg", regular, 1 << 60, &endless), "[no-room]"),
        ("empty segment", tar_file("log/00000000000000000001.seg", regular, 0, b""), "[corrupted]"),
        ("long name", tar_file("x", tar::EntryType::GNULongName, 1 << 20, &endless), "[invalid-argument]"),
        (
            "behind the end",
            [tar_file("backup.json", regular, 3, b"{}\n"), tar_file(&content, regular, 1, b"x")].concat(),
            "[corrupted]",
        ),
    ] {
        let done = backup(&place, &short_server(tar), "copy");
        assert!(done.code != 0 && done.err.contains(expected), "{what}: {done:?}");
        assert!(!opens(&place, "copy"), "{what}");
        std::fs::remove_dir_all(place.path("copy")).unwrap();
    }
}
