//! `annals shell`: commands from a pipe, and at a terminal.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::server::Server;
use crate::support::{Done, Place, command_in};

/// Types each text at a terminal once the text before it is shown, and prints what the program shows.
const TYPIST: &str = r#"
import json, os, pty, select, signal, sys, time
steps = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[2], sys.argv[2:])
shown, seen = b"", 0
def look(seconds, wanted):
    """Reads until the wanted text is shown behind the one before, or the program ends."""
    global shown, seen
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = shown.find(wanted.encode(), seen) if wanted else -1
        if found >= 0:
            seen = found + len(wanted.encode())
            return
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                return
            if not part:
                return
            shown += part
    if wanted:
        shown += f"(waited for {wanted!r})".encode()
for wanted, typed in steps:
    look(20, wanted)
    os.write(terminal, typed.encode())
look(20, None)
ended, status = os.waitpid(process, os.WNOHANG)
for _ in range(200):
    if ended:
        break
    time.sleep(0.05)
    ended, status = os.waitpid(process, os.WNOHANG)
if not ended:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    shown += b"(the shell did not end)"
code = os.waitstatus_to_exitcode(status) if ended else 99
sys.stdout.write(shown.decode(errors="replace"))
sys.exit(code)
"#;

/// Runs a shell that reads these lines from a pipe.
fn piped(place: &Place, arguments: &[&str], lines: &str) -> Done {
    let mut command = command_in(&place.path(""), &[&["shell"], arguments].concat());
    let mut running =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Types at a terminal: each text once the shell shows the text before it.
fn typed(place: &Place, arguments: &[&str], steps: &[(&str, &str)]) -> Done {
    let annals = command_in(&place.path(""), &[]);
    let mut command = std::process::Command::new("python3");
    command
        .args(["-c", TYPIST, &serde_json::json!(steps).to_string()])
        .arg(annals.get_program())
        .arg("shell");
    command.args(arguments).current_dir(place.path("")).env_remove("ANNALS_SERVER").env("TERM", "xterm");
    command.env_remove("ANNALS_REPOSITORY").env("ANNALS_HISTORY", place.path("kept/history"));
    let done = Done::of(command);
    assert!(!done.out.contains("(waited for"), "{done:?}");
    done
}

const LINES: &str = "\
# Comments and empty lines are left out.

get ada
annals create person eve name='Eve \"X\"' -m \"a new one\"
get eve --json
find person
put ada people.jsonl
import people.jsonl --merge
export --format csv -o csv
log --limit 1
";

#[test]
fn lines_of_a_pipe_do_what_commands_do_in_a_folder_and_on_a_server() {
    let place = Place::with_people();
    let local = piped(&place, &["annals-data"], LINES);
    assert_eq!(local.code, 0, "{local:?}");
    assert!(local.out.contains("Eve \"X\"") && local.out.contains("imported 1 change"), "{local:?}");
    assert!(place.is_there("csv/nodes-person.csv"));
    let place = Place::with_people();
    let server = Server::start(&place.path("annals-data"), &[]);
    let url = format!("http://{}", server.address);
    let lines = LINES.replace("export --format csv -o csv\n", "");
    let asked = piped(&place, &["--server", &url], &lines);
    assert_eq!((asked.code, &*asked.err), (0, ""), "{asked:?}");
    let words = |text: &str| {
        // Instants differ.
        let is_same = |word: &&str| !word.starts_with("20") && !word.contains(['.', ':']);
        text.split_whitespace().filter(is_same).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(&asked.out), words(&local.out));
}

#[test]
fn a_shell_without_a_terminal_stops_at_the_first_failure_unless_it_keeps_going() {
    let place = Place::with_people();
    let lines = "get nobody\nget ada\nfind 'open\nnothing\nshell\n";
    let stopped = piped(&place, &[], lines);
    assert_eq!((stopped.code, &*stopped.out), (3, ""), "{stopped:?}");
    let going = piped(&place, &["--keep-going"], lines);
    assert_eq!(going.code, 3, "the first failure counts: {going:?}");
    assert!(going.out.contains("Ada Lovelace"), "{going:?}");
    for told in ["entity nobody", "expected a quote", "unrecognized subcommand", "which runs already"] {
        assert!(going.err.contains(told), "{told}: {going:?}");
    }
    let json = piped(&place, &["--json"], "get nobody\n");
    assert!(json.err.starts_with("{\"error\":"), "{json:?}");
    assert_eq!(piped(&place, &[], "exit\nget nobody\n").code, 0);
    assert_eq!(piped(&place, &[], "").code, 0);
    let both = piped(&place, &["annals-data", "--server", "http://127.0.0.1:1"], "");
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn a_shell_takes_the_folder_with_its_first_write_and_others_see_it() {
    let place = Place::with_people();
    let lines = "get ada\nset ada n=1\nget ada\nput ada people.jsonl\nset ada n=2\nexit\n";
    let done = piped(&place, &[], lines);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(place.json_one(&["get", "ada", "--local"])["properties"]["n"], 2);
}

#[test]
fn a_terminal_completes_keeps_a_history_and_ends_commands_only() {
    let place = Place::with_people();
    let prompt = "annals-data> ";
    let done = typed(
        &place,
        &["annals-data"],
        &[
            (prompt, "relationsh\t"),
            ("relationships ", "ad\t"),
            ("ada ", "\r"),
            // Before the prompt the terminal keeps lines and ends of input for itself.
            ("charles", ""),
            (prompt, "find per\t"),
            ("person ", "\r"),
            ("Lovelace", ""),
            (prompt, "follow --after 0\r"),
            ("met", "\u{3}"),
            ("interrupted", ""),
            (prompt, " get charles\r"),
            ("Charles", ""),
            (prompt, "import ldp --source-user ada:hidden x y\r"),
            ("invalid-argument", ""),
            (prompt, "half a line\u{3}"),
            (prompt, "get nobody\r"),
            ("not-found", ""),
            (prompt, "types\r"),
            ("entity person", ""),
            (prompt, "\u{4}"),
        ],
    );
    assert_eq!(done.code, 0, "{done:?}");
    for shown in ["charles", "Ada Lovelace", "interrupted", "Charles", "entity person"] {
        assert!(done.out.contains(shown), "{shown}: {done:?}");
    }
    let history = place.path("kept/history");
    let lines = std::fs::read_to_string(&history).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).map(str::trim).collect();
    assert_eq!(lines, ["relationships ada", "find person", "follow --after 0", "get nobody", "types"]);
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    // The next shell has it, and takes the rights of others away.
    std::fs::set_permissions(&history, std::fs::Permissions::from_mode(0o644)).unwrap();
    let up = "\u{1b}[A";
    let again =
        typed(&place, &[], &[(prompt, up), ("types", "\r"), ("entity person", ""), (prompt, "\u{4}")]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("name: string, required"), "{again:?}");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_command_on_a_server_is_ended_and_the_shell_goes_on() {
    let place = Place::with_people();
    let server = Server::start(&place.path("annals-data"), &[]);
    let url = format!("http://{}", server.address);
    let done = typed(
        &place,
        &["--server", &url],
        &[
            (&*url, "follow --after 0\r"),
            ("met", "\u{3}"),
            ("interrupted", ""),
            (&*url, "get ada\r"),
            ("Lovelace", ""),
            (&*url, "exit\r"),
        ],
    );
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("Ada Lovelace"), "{done:?}");
}

/// A relay to a server, and the number of connections that it has taken.
fn counting_relay(server: SocketAddr) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let upstream = TcpStream::connect(server).unwrap();
            for (mut from, mut to) in [
                (client.try_clone().unwrap(), upstream.try_clone().unwrap()),
                (upstream.try_clone().unwrap(), client.try_clone().unwrap()),
            ] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    (format!("http://{address}"), count)
}

#[test]
fn the_commands_of_a_shell_share_a_connection_and_survive_its_end() {
    let place = Place::with_people();
    let server = Server::start(&place.path("annals-data"), &["--idle-time-ms", "500"]);
    let (url, count) = counting_relay(server.address);
    let mut command = command_in(&place.path(""), &["--server", &url, "shell"]);
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let mut input = running.stdin.take().unwrap();
    let mut ask = |line: &str, answer: &str| {
        input.write_all(line.as_bytes()).unwrap();
        assert!(lines.any(|found| found.unwrap().contains(answer)), "{line}");
    };
    ask("get ada\n", "Ada Lovelace");
    ask("set ada n=1\n", "applied 1");
    ask("history ada --limit 1\n", "update");
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // The server closes a connection that is idle for too long.
    std::thread::sleep(Duration::from_millis(1_500));
    ask("get charles\n", "Charles");
    assert_eq!(count.load(Ordering::SeqCst), 2);
    drop(input);
    assert!(running.wait().unwrap().success());
}
