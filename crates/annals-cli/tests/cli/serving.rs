//! Tests the start of `serve`: it opens or creates a repository and prints two lines.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Done, Place};

/// A server, killed when it is dropped.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a server that is to end by itself.
fn refused(place: &Place, arguments: &[&str]) -> Done {
    let mut command = place.command(arguments);
    let mut serving = Serving(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(status) = serving.0.try_wait().unwrap() {
            let text = |pipe: &mut dyn std::io::Read| std::io::read_to_string(pipe).unwrap();
            let out = text(serving.0.stdout.as_mut().unwrap());
            let err = text(serving.0.stderr.as_mut().unwrap());
            return Done { code: status.code().unwrap(), out, err };
        }
        assert!(Instant::now() < deadline, "it serves");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server that is open, and its first two lines.
fn opened(place: &Place, arguments: &[&str]) -> (Serving, Vec<String>) {
    let mut command = place.command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
    let mut serving = Serving(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let output = BufReader::new(serving.0.stdout.take().unwrap());
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let lines =
        (0..2).map(|_| lines.recv_timeout(Duration::from_secs(30)).expect("it says two lines")).collect();
    (serving, lines)
}

/// The first two lines of a server, which is ended then.
fn first_lines(place: &Place, arguments: &[&str]) -> Vec<String> {
    opened(place, arguments).1
}

// A mistyped folder was created and served, ready and empty: it looked as if all data were lost.
/// Story: an address with a name was "invalid socket address syntax".
#[test]
fn the_address_may_have_a_name() {
    let place = Place::with_people();
    let check = |address: &str| {
        Done::of(place.command(&["serve", "annals-data", "--check-config", "--listen", address]))
    };
    assert_eq!(check("localhost:0").code, 0, "{:?}", check("localhost:0"));
    for (address, text) in
        [("localhost", "localhost:8280"), ("nowhere.invalid:1", "expected an address and a port")]
    {
        let done = check(address);
        assert!(done.code == 2 && done.err.contains(text), "{done:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_served_only_if_it_is_to_be_created() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    for folder in ["mistyped", "empty"] {
        let done = refused(&place, &["serve", folder, "--listen", "127.0.0.1:0"]);
        assert_eq!(done.code, 3, "{done:?}");
        assert!(
            done.out.is_empty() && done.err.contains(folder) && done.err.contains("--create"),
            "{done:?}"
        );
    }
    assert!(!place.path("mistyped").exists());
    assert_eq!(std::fs::read_dir(place.path("empty")).unwrap().count(), 0);
}

#[test]
fn a_server_says_what_it_opened_or_created() {
    let place = Place::with_people();
    let lines = first_lines(&place, &["annals-data"]);
    assert!(lines[0].starts_with("annals opens annals-data and listens on http://127.0.0.1:"), "{lines:?}");
    assert_eq!(lines[1], "annals opened annals-data at position 3: 2 entities, 1 relationship, 1 type");
    let lines = first_lines(&place, &["new", "--create"]);
    assert!(lines[0].starts_with("annals creates new and listens on http://127.0.0.1:"), "{lines:?}");
    assert_eq!(lines[1], "annals created new at position 0: 0 entities, 0 relationships, 0 types");
    // With the flag, an existing repository is opened too, so the flag can stay in a unit file.
    let lines = first_lines(&place, &["new", "--create"]);
    assert!(lines[0].starts_with("annals opens new "), "{lines:?}");
}
