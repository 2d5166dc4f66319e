//! The real binary as a server, and a small blocking client that can also misbehave.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod described;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// Longest time any single step of a test takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program that scenarios run: the one of this build, or one that `ANNALS_PROGRAM` names, such as that of a package.
pub fn program() -> std::ffi::OsString {
    std::env::var_os("ANNALS_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_annals").into())
}

/// `annals serve`, killed when it is dropped.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// A server of a repository in a folder, which is deleted with the first value.
/// The tag of a revision without a log, such as `1.1`, in the log that another tag names.
pub fn tag_beside(known: &str, revision: &str) -> String {
    let at = known.find('@').unwrap_or_else(|| panic!("{known} names a log"));
    format!("\"{revision}{}\"", &known[at..at + 9])
}

pub fn server(arguments: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("repository"), arguments);
    (folder, server)
}

impl Server {
    /// Starts it on a free port and waits until it is ready.
    pub fn start(folder: &Path, arguments: &[&str]) -> Server {
        let server = Server::start_opening(folder, arguments);
        server.wait_until_ready();
        server
    }

    /// Starts it on a free port and waits until it listens.
    pub fn start_opening(folder: &Path, arguments: &[&str]) -> Server {
        Server::spawn(&mut Command::new(program()), folder, arguments)
    }

    /// Starts it with a limit on the size of files, and waits until it is ready. Units: blocks of 512 bytes.
    pub fn start_limited(folder: &Path, blocks_max: u64) -> Server {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -f {blocks_max}; exec \"$0\" \"$@\"");
        let server = Server::spawn(shell.args(["-c", &script, env!("CARGO_BIN_EXE_annals")]), folder, &[]);
        server.wait_until_ready();
        server
    }

    /// Starts it behind a command of the shell that limits its open files, such as `ulimit -n 400`, and waits until it is
    /// ready.
    pub fn start_with_files(folder: &Path, limit: &str, arguments: &[&str]) -> Server {
        let mut shell = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" \"$@\"");
        let server =
            Server::spawn(shell.args(["-c", &script, env!("CARGO_BIN_EXE_annals")]), folder, arguments);
        server.wait_until_ready();
        server
    }

    /// Starts it with standard error in a file, and waits until it is ready.
    pub fn start_told(folder: &Path, errors: &Path) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.stderr(std::fs::File::create(errors).unwrap());
        let server = Server::spawn(&mut command, folder, &[]);
        server.wait_until_ready();
        server
    }

    /// Starts it with a pipe as standard error, and waits until it is ready. Nobody reads the pipe until the caller
    /// does.
    pub fn start_piped(folder: &Path, arguments: &[&str]) -> (Server, ChildStderr) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.stderr(Stdio::piped());
        let mut server = Server::spawn(&mut command, folder, arguments);
        let pipe = server.child.stderr.take().expect("it is piped");
        server.wait_until_ready();
        (server, pipe)
    }

    /// Waits until it is ready.
    pub fn wait_until_ready(&self) {
        let deadline = Instant::now() + PATIENCE;
        while self.get("/health/ready").status != 200 {
            assert!(Instant::now() < deadline, "the server does not become ready");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn spawn(command: &mut Command, folder: &Path, arguments: &[&str]) -> Server {
        described::prepare();
        let mut child = command
            .env("ANNALS_LOG", "warn")
            .arg("serve")
            .arg(folder)
            .args(if arguments.contains(&"--listen") { &[][..] } else { &["--listen", "127.0.0.1:0"] })
            .args((!arguments.contains(&"--read-only")).then_some("--create"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("expected a line with the address, found {line:?}"));
        Server { child, address }
    }

    /// The process ends at once, as in a crash.
    pub fn kill(&self) {
        self.signal("-KILL");
    }

    /// The same, and waits until the system has taken its files and locks from it.
    pub fn kill_and_wait(&mut self) {
        self.kill();
        self.child.wait().expect("a child can be waited for");
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Tells it that its terminal is gone, as logrotate does to have files opened again.
    pub fn hang_up(&self) {
        self.signal("-HUP");
    }

    /// It stands still until [`Server::go_on`], as in a machine that is paused.
    pub fn stand_still(&self) {
        self.signal("-STOP");
    }

    /// Ends [`Server::stand_still`].
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Bounds the size of its files from now on; false if the system has no `prlimit`. Units: bytes, or `unlimited`.
    pub fn limit_files(&self, bytes_max: &str) -> bool {
        let id = self.child.id().to_string();
        let soft = format!("--fsize={bytes_max}:");
        Command::new("prlimit").args(["--pid", &id, &soft]).status().is_ok_and(|status| status.success())
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").arg(signal).arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Waits for its end; true if it ended well.
    pub fn ended_well(mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The resident memory of the server. Units: bytes.
    pub fn resident_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kibibytes: usize = line.trim().trim_end_matches("kB").trim().parse().unwrap();
        kibibytes << 10
    }

    /// A connection to it.
    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Sends a request without body.
    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], None)
    }

    /// Sends a request with JSON.
    pub fn send(&self, method: &str, path: &str, body: &Json) -> Answer {
        self.request(method, path, &[], Some(&body.to_string()))
    }

    /// Commits operations.
    pub fn commit(&self, operations: &[Json]) {
        let answer = self.send("POST", "/v1/transactions", &serde_json::json!({ "operations": operations }));
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    /// Sends a request, and checks that the answer is as it is described.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        let answer = try_request(self.address, method, path, headers, body).expect("the server answers");
        described::check_described(method, path, body, &answer);
        answer
    }

    /// Sends any bytes and reads what comes back until the connection is closed.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request on a connection of its own; `None` if the server closes it without an answer.
pub fn try_request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> Option<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        request.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(body) = body {
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request.push_str("content-type: application/json\r\n");
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    } else {
        request.push_str("\r\n");
    }
    let _ = stream.write_all(request.as_bytes());
    read_answer(&mut BufReader::new(stream), method == "HEAD")
}

/// Reads one answer.
pub fn read_answer(stream: &mut impl BufRead, is_head: bool) -> Option<Answer> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.trim().parse().ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut answer = Answer { status, headers, body: String::new() };
    if is_head || status == 304 {
        return Some(answer);
    }
    let mut body = Vec::new();
    if answer.header("transfer-encoding") == Some("chunked") {
        loop {
            line.clear();
            stream.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).ok()?;
            if length == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    } else {
        let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        body.resize(length, 0);
        stream.read_exact(&mut body).ok()?;
    }
    // A backup is no text.
    answer.body = String::from_utf8_lossy(&body).into_owned();
    Some(answer)
}

impl Answer {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The kind of the problem it tells; checks that it is a whole problem document.
    pub fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let json = self.json();
        assert_eq!(json["status"], self.status, "{self:?}");
        let kind = json["kind"].as_str().unwrap();
        assert_eq!(json["type"], format!("/errors/{kind}"), "{self:?}");
        assert!(json["title"].is_string() && json["detail"].is_string(), "{self:?}");
        kind.to_owned()
    }
}
