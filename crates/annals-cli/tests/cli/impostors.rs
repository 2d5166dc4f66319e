//! Processes that are not the server of a folder: none gets the token of a command, and none keeps it waiting.

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::server::Server;
use crate::support::{Done, Place, command_in};

const CHANGE: &[&str] = &["-r", "annals-data", "create", "person", "eve", "name=Eve"];

/// A process that listens in place of a server, and all that it hears.
struct Impostor {
    heard: Arc<Mutex<String>>,
}

impl Impostor {
    /// One that gives each connection the next of these answers to all its requests.
    fn at(address: &str, answers: &[Json]) -> Impostor {
        let listener = TcpListener::bind(address).unwrap();
        let heard = Arc::<Mutex<String>>::default();
        let kept = Arc::clone(&heard);
        let answers: Vec<String> = answers.iter().map(Json::to_string).collect();
        std::thread::spawn(move || {
            for (stream, body) in listener.incoming().flatten().zip(answers.into_iter().cycle()) {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || answer_all(stream, &kept, &body));
            }
        });
        Impostor { heard }
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().to_lowercase()
    }
}

fn answer_all(mut stream: TcpStream, heard: &Mutex<String>, body: &str) {
    let mut part = [0; 4_096];
    while let Ok(count @ 1..) = stream.read(&mut part) {
        heard.lock().unwrap().push_str(&String::from_utf8_lossy(&part[..count]));
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Passes on what comes to it to a server.
fn relay(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut upstream = TcpStream::connect(server).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || std::io::copy(&mut upstream, &mut client));
        }
    });
    address
}

/// A place with a server that takes tokens. Shape: it, the server, and a token.
fn guarded() -> (Place, Server, String) {
    let place = Place::with_people();
    let told = place.json_one(&["token", "new", "ada", "--role", "write", "--tokens", "tokens"]);
    let tokens = place.path("tokens");
    let server = Server::start_opening(&place.path("annals-data"), &["--tokens", tokens.to_str().unwrap()]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !place.is_there("annals-data/server.json") {
        assert!(Instant::now() < deadline, "the server does not open");
        std::thread::sleep(Duration::from_millis(5));
    }
    (place, server, told["token"].as_str().unwrap().to_owned())
}

fn run(place: &Place, arguments: &[&str], token: &str) -> Done {
    let mut command = command_in(&place.path(""), arguments);
    command.env("ANNALS_TOKEN", token).env_remove("ANNALS_AUTHOR");
    let began = Instant::now();
    let done = Done::of(command);
    assert!(began.elapsed() < Duration::from_secs(20), "{arguments:?} took {:?}: {done:?}", began.elapsed());
    assert!(!done.err.contains(token), "{done:?}");
    done
}

fn told_by(place: &Place) -> Json {
    serde_json::from_str(&place.read("annals-data/server.json")).unwrap()
}

fn write_private(path: &Path, text: &str) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// A server was killed, which leaves its file. Another user locked its lock, listened at its port, told its id, which
/// `/health/live` shows to all, and got the token of the next command.
#[test]
fn a_process_in_place_of_a_killed_server_gets_no_token() {
    let (place, server, token) = guarded();
    assert_eq!(run(&place, CHANGE, &token).code, 0, "the server itself gets it");
    let id = server.get("/health/live").json()["id"].clone();
    assert_eq!(told_by(&place)["id"], id);
    let address = server.address;
    server.kill();
    drop(server);
    let lock = File::open(place.path("annals-data/log/lock")).unwrap();
    lock.try_lock().unwrap();
    let proofs = [json!(null), json!("00".repeat(32)), json!("x"), json!(7)];
    let answer = |proof| json!({ "live": true, "id": id, "proof": proof, "position": 7, "items": [] });
    let impostor = Impostor::at(&address.to_string(), &proofs.map(answer));
    for arguments in [CHANGE, &["import", "people.jsonl", "--merge"], &["compact"], CHANGE] {
        let done = run(&place, arguments, &token);
        assert_eq!(done.code, 4, "{done:?}");
        assert!(done.err.contains("[locked]") && done.err.contains("expected the server that"), "{done:?}");
    }
    let heard = impostor.heard();
    assert!(heard.matches("/health/live").count() == 4 && !heard.contains("annals_"), "{heard}");
    assert!(!heard.contains("authorization"), "{heard}");
}

/// The owner of a folder chose address and id in it, and the commands of others sent there what they had for another
/// server.
#[test]
fn a_token_for_another_server_does_not_go_to_the_server_of_a_folder() {
    let (place, server, token) = guarded();
    let with_server = |url: &str, arguments: &[&str]| {
        let mut command = command_in(&place.path(""), arguments);
        command.env("ANNALS_SERVER", url).env("ANNALS_TOKEN", &token);
        command.env_remove("ANNALS_AUTHOR");
        Done::of(command)
    };
    let done = with_server("https://annals.example", CHANGE);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("https://annals.example") && done.err.contains("--token-file"), "{done:?}");
    assert!(!done.err.contains(&token), "{done:?}");
    place.write("secret", &token);
    let named = [CHANGE, &["--token-file", "secret"]].concat();
    assert_eq!(with_server("https://annals.example", &named).code, 0);
    let same = format!("http://localhost:{}", server.address.port());
    let again = &["-r", "annals-data", "set", "eve", "n=1"];
    assert_eq!(with_server(&same, again).code, 0, "the same server");
    // The shell gives it to no other process either.
    let mut command = command_in(&place.path(""), &["shell", "annals-data"]);
    command.env("ANNALS_SERVER", "https://annals.example").env("ANNALS_TOKEN", &token);
    let mut shell =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(b"import people.jsonl --merge\n").unwrap();
    let output = shell.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.contains("https://annals.example"), "{err}");
}

/// A relay cannot use the answer of the server: it is for the address that the server was reached at.
#[test]
fn a_relay_to_the_server_proves_nothing() {
    let (place, server, token) = guarded();
    let mut told = told_by(&place);
    told["url"] = format!("http://{}", relay(server.address)).into();
    write_private(&place.path("annals-data/server.json"), &told.to_string());
    let done = run(&place, CHANGE, &token);
    assert_eq!((done.code, done.err.contains("has another address")), (4, true), "{done:?}");
    told["url"] = format!("http://{}", server.address).into();
    write_private(&place.path("annals-data/server.json"), &told.to_string());
    assert_eq!(run(&place, CHANGE, &token).code, 0);
}

/// A shell keeps its connection, and makes a new one when the server has gone.
#[test]
fn a_shell_asks_for_the_proof_on_each_connection() {
    let (place, server, token) = guarded();
    let mut command = command_in(&place.path(""), &["shell", "annals-data", "--keep-going"]);
    command.env("ANNALS_TOKEN", &token).env_remove("ANNALS_AUTHOR");
    let mut shell =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = shell.stdin.take().unwrap();
    lines.write_all(b"create person eve name=Eve\n").unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while run(&place, &["--local", "get", "eve"], &token).code != 0 {
        assert!(Instant::now() < deadline, "the shell does not write");
    }
    let (address, id) = (server.address, told_by(&place)["id"].clone());
    server.kill();
    drop(server);
    let impostor = Impostor::at(&address.to_string(), &[json!({ "live": true, "id": id, "position": 9 })]);
    lines.write_all(b"create person bob name=Bob\n").unwrap();
    drop(lines);
    let output = shell.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("expected the server that"), "{err}");
    let heard = impostor.heard();
    assert!(heard.contains("challenge=") && !heard.contains("annals_"), "{heard}");
}

#[test]
fn files_of_others_and_pipes_links_and_devices_name_no_server() {
    let (place, server, token) = guarded();
    let (folder, path) = (place.path("annals-data"), place.path("annals-data/server.json"));
    let told = place.read("annals-data/server.json");
    let refused = |expected: &str| {
        let done = run(&place, CHANGE, &token);
        assert_eq!(done.code, 4, "{expected}: {done:?}");
        assert!(done.err.contains("[locked]") && done.err.contains(expected), "{expected}: {done:?}");
    };
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    refused("mode 0640");
    write_private(&place.path("elsewhere"), &told);
    for (target, expected) in [("/dev/zero", "found a link"), ("../elsewhere", "found a link")] {
        std::fs::remove_file(&path).unwrap();
        symlink(target, &path).unwrap();
        refused(expected);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("found a pipe");
    write_private(&path, &format!("{told}{}", " ".repeat(1 << 20)));
    refused("expected at most 16384 bytes");
    write_private(&path, &told.replace("secret", "sacred"));
    refused("expected the url, id and secret");
    write_private(&path, "no JSON");
    refused("expected JSON");
    write_private(&path, &told);
    std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    refused("a folder of this user");
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&place, CHANGE, &token).code, 0);
    // A server that finds a pipe in place of its file ends all the same.
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    server.terminate();
    assert!(server.ended_well());
}

/// A link under the name of the file that a server is about to write had it write over any file of its user.
#[test]
fn a_server_writes_its_file_through_no_link() {
    let place = Place::with_people();
    place.write("mine", "mine");
    for name in ["server.new", "server.json"] {
        symlink("../mine", place.path("annals-data").join(name)).unwrap();
    }
    let server = Server::start(&place.path("annals-data"), &[]);
    assert_eq!(place.read("mine"), "mine");
    assert_eq!(told_by(&place)["url"], format!("http://{}", server.address));
    assert_eq!(run(&place, CHANGE, "none").code, 0);
}

/// The command line followed the umask, so that every user of the machine could read, and lock, what it made.
#[test]
fn all_that_commands_and_servers_make_is_for_its_owner_only() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let place = Place::with_people();
    std::fs::write(place.path("scan"), "x".repeat(100_000)).unwrap();
    let before = seen_by_others(&place.path(""));
    assert_eq!(before.len(), 3, "{before:?}");
    place.ok(&["put", "ada", "scan"]);
    let server = Server::start(&place.path("annals-data"), &[]);
    place.ok(&["create", "person", "eve", "name=Eve"]);
    place.ok(&["--server", &format!("http://{}", server.address), "backup", "received"]);
    server.terminate();
    assert!(server.ended_well());
    place.ok(&["import", "people.jsonl", "--merge", "--memory", "64MiB"]);
    place.ok(&["compact"]);
    place.ok(&["backup", "copies/copy"]);
    place.ok(&["restore", "copies/copy", "restored"]);
    place.ok(&["export", "-o", "all.jsonl"]);
    place.ok(&["export", "--format", "csv", "-o", "csv/all"]);
    place.ok(&["token", "new", "ada", "--role", "read", "--tokens", "tokens"]);
    for made in
        ["annals-data/log/lock", "received/log", "copies/copy/content", "csv/all", "tokens", "all.jsonl"]
    {
        assert!(place.is_there(made), "{made}");
    }
    assert_eq!(seen_by_others(&place.path("")), before);
}

/// The files and folders below a folder that others have a right to.
fn seen_by_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let known = entry.metadata().unwrap();
        if known.permissions().mode() & 0o077 != 0 {
            found.push(entry.path().display().to_string());
        }
        if known.is_dir() {
            found.extend(seen_by_others(&entry.path()));
        }
    }
    found.sort();
    found
}
