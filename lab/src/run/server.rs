//! Servers and load generators as child processes: `annals serve`, nginx and wrk.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::Child;
use super::client::{Client, Place, Request};
use crate::outcome::Outcome;

/// Longest time a server may take to listen.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);
/// Longest time a server may take to end.
const STOP_TIME_MAX: Duration = Duration::from_secs(2);
/// How often a server that does not listen yet is tried.
const TRY_INTERVAL: Duration = Duration::from_millis(10);

/// A server on this machine. It ends when this is dropped.
pub struct Server {
    pub address: SocketAddr,
    child: Child,
    /// The command that ends it, if killing is not enough.
    stop: Option<Command>,
}

/// The counts of wrk.
pub struct Load {
    pub requests: u64,
    pub elapsed: Duration,
}

impl Server {
    /// `annals serve` on a repository, on a free port.
    pub fn annals(repository: &Path) -> Outcome<Server> {
        Server::annals_with(repository, &[])
    }

    /// The same with further arguments. The repository is created if it does not exist.
    pub fn annals_with(repository: &Path, arguments: &[&str]) -> Outcome<Server> {
        let mut command = Command::new(annals_program()?);
        command.env("ANNALS_LOG", "warn").arg("serve").arg(repository);
        command.args(["--create", "--listen", "127.0.0.1:0"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = Child::start("annals serve", &mut command)?;
        let output = child.process().stdout.take().ok_or("annals serve: its output is not there")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let (_, address) = line
            .trim()
            .split_once("http://")
            .ok_or_else(|| format!("annals serve: expected its address, found {line:?}"))?;
        let server = Server { address: address.parse()?, child, stop: None };
        server.ready("/health/ready")
    }

    /// nginx, serving one file.
    pub fn nginx(folder: &Path, name: &str, content: &[u8]) -> Outcome<Server> {
        Server::nginx_with(folder, name, content, "on")
    }

    /// The same, but nginx reads the file into its memory before it sends it.
    pub fn nginx_reading(folder: &Path, name: &str, content: &[u8]) -> Outcome<Server> {
        Server::nginx_with(folder, name, content, "off")
    }

    fn nginx_with(folder: &Path, name: &str, content: &[u8], sendfile: &str) -> Outcome<Server> {
        let folder = folder.canonicalize()?;
        std::fs::create_dir_all(folder.join("files"))?;
        std::fs::write(folder.join("files").join(name), content)?;
        let address = free_address()?;
        std::fs::write(folder.join("nginx.conf"), nginx_config(&folder, address, sendfile))?;
        let mut start = nginx(&folder);
        let child = Child::start("nginx (apt-get install nginx-light)", start.stdin(Stdio::null()))?;
        // Killing the parent would leave its workers running.
        let mut stop = nginx(&folder);
        stop.args(["-s", "stop"]).stdin(Stdio::null());
        Server { address, child, stop: Some(stop) }.ready(&format!("/{name}"))
    }

    fn ready(mut self, path: &str) -> Outcome<Server> {
        let start = Instant::now();
        loop {
            let answer = Client::new(&Place::at(self.address)).send(&Request::json("GET", path, ""));
            let Err(found) = answer else { return Ok(self) };
            self.child.check_running()?;
            if start.elapsed() > ANSWER_TIME_MAX {
                return Err(format!("not ready: {found}").into());
            }
            std::thread::sleep(TRY_INTERVAL);
        }
    }

    /// The number of its process.
    pub fn id(&mut self) -> u32 {
        self.child.process().id()
    }

    /// Loads a path with GET, or with POST of a JSON body, over connections that stay open.
    pub fn load(
        &self,
        folder: &Path,
        path: &str,
        body: Option<&str>,
        connections: u64,
        seconds: u64,
    ) -> Outcome<Load> {
        self.load_by(folder, path, &wrk_script(body), connections, seconds)
    }

    /// The same reads with a token.
    pub fn load_as(
        &self,
        token: &str,
        folder: &Path,
        path: &str,
        connections: u64,
        seconds: u64,
    ) -> Outcome<Load> {
        let script = format!("wrk.headers[\"Authorization\"] = \"Bearer {token}\"\n{}", wrk_script(None));
        self.load_by(folder, path, &script, connections, seconds)
    }

    fn load_by(
        &self,
        folder: &Path,
        path: &str,
        text: &str,
        connections: u64,
        seconds: u64,
    ) -> Outcome<Load> {
        let script = folder.join("load.lua");
        std::fs::write(&script, text)?;
        let mut command = Command::new("wrk");
        command.args(["--threads", "1", "--connections", &connections.to_string()]);
        command.args(["--duration", &format!("{seconds}s"), "--timeout", "10s", "--script"]).arg(&script);
        command.arg(format!("http://{}{path}", self.address));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = Child::start("wrk (apt-get install wrk)", &mut command)?;
        let status = child.wait(Duration::from_secs(seconds) + ANSWER_TIME_MAX)?;
        let mut text = String::new();
        child.process().stdout.take().ok_or("wrk: its output is not there")?.read_to_string(&mut text)?;
        if !status.success() {
            return Err(format!("wrk: {status}: {text}").into());
        }
        read_load(&text)
    }
}

/// Makes a token for a client with a role of its own.
pub fn new_token(file: &Path, role: &str) -> Outcome<String> {
    let mut command = Command::new(annals_program()?);
    command.args(["token", "new", "reader", "--role", role, "--tokens"]).arg(file).stdin(Stdio::null());
    let output = command.output()?;
    if !output.status.success() {
        return Err(
            format!("annals token: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = &mut self.stop
            && stop.status().is_ok()
        {
            // A process that still runs is killed.
            let _ = self.child.wait(STOP_TIME_MAX);
        }
    }
}

/// The program `annals` beside this one. Under cargo it is built first, once, because it may be out of date.
fn annals_program() -> Outcome<PathBuf> {
    static IS_BUILT: AtomicBool = AtomicBool::new(false);
    let program = std::env::current_exe()?.with_file_name("annals");
    let profile = super::machine::profile();
    if !IS_BUILT.load(Ordering::Relaxed)
        && let Some(cargo) = std::env::var_os("CARGO")
    {
        // Cargo keeps programs in a folder for each profile.
        let target = program.ancestors().nth(2).ok_or("annals serve: the lab is not in a folder of cargo")?;
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--locked", "--package", "annals-cli", "--profile", &profile]);
        build
            .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"), "--target-dir"])
            .arg(target);
        if !build.status()?.success() {
            return Err("annals serve: it could not be built".into());
        }
        IS_BUILT.store(true, Ordering::Relaxed);
    }
    if !program.exists() {
        let build = format!("cargo build --profile {profile} -p annals-cli");
        return Err(format!("{}: it is not there; run `{build}`", program.display()).into());
    }
    Ok(program)
}

fn nginx(folder: &Path) -> Command {
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command.arg("-e").arg(folder.join("error.log"));
    command
}

/// Free at this moment. If another program takes it before the server does, the server reports it.
pub fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn nginx_config(folder: &Path, address: SocketAddr, sendfile: &str) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("    {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    format!(
        "user root;\ndaemon off;\nworker_processes auto;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n\
         worker_rlimit_nofile 65536;\n\
         events {{ worker_connections 32768; }}\n\
         http {{\n{temporary}    access_log off;\n    sendfile {sendfile};\n    tcp_nopush on;\n    \
         keepalive_requests 100000000;\n    open_file_cache max=16;\n    default_type application/json;\n    \
         server {{ listen {address}; root {folder}/files; }}\n}}\n"
    )
}

/// Counts right and wrong answers, and prints the text that [`read_load`] reads.
fn wrk_script(body: Option<&str>) -> String {
    let request = body.map_or(String::new(), |body| {
        format!(
            "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\nwrk.body = [==[{body}]==]\n"
        )
    });
    format!(
        "{request}function done(summary, latency, requests)\n  \
         local e = summary.errors\n  \
         print(string.format(\"COUNTED %d %d %d\", summary.requests, summary.duration,\n    \
         e.connect + e.read + e.write + e.status + e.timeout))\nend\n"
    )
}

/// Errors: if any request failed.
fn read_load(text: &str) -> Outcome<Load> {
    let counted = text.lines().find_map(|line| line.strip_prefix("COUNTED "));
    let counted = counted.ok_or_else(|| format!("wrk: expected its counts, found {text}"))?;
    let numbers: Vec<u64> = counted.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    match numbers[..] {
        [requests, micros, 0] if requests > 0 => {
            Ok(Load { requests, elapsed: Duration::from_micros(micros) })
        }
        _ => Err(format!("wrk: expected answers without errors, found {text}").into()),
    }
}
