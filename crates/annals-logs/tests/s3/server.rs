//! Starts Moto, a service of S3 in memory, and ends it whatever becomes of the test; or takes a service that is there, which keeps
//! buckets as folders.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longest time until the service answers.
const START_MAX: Duration = Duration::from_secs(60);
/// The version that is installed if none is there.
const PACKAGE: &str = "moto[s3,server]==5.2.5";

/// A service.
pub struct Server {
    pub port: u16,
    /// Ends the service once this process closes its input, or ends.
    _keeper: Option<Child>,
    /// The folder of the buckets of another service than Moto.
    buckets: Option<PathBuf>,
}

/// The service that the tests of this program share.
pub fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::there().unwrap_or_else(Server::start))
}

/// The program: the one of the system, or one of an environment of its own.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &PathBuf| {
        Command::new(program).arg("--help").output().is_ok_and(|ran| ran.status.success())
    };
    let known = std::env::split_paths(&path).map(|folder| folder.join("moto_server"));
    if let Some(program) = known.filter(|program| program.exists()).find(is_there) {
        return program;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moto");
    let program = folder.join("bin/moto_server");
    if !is_there(&program) {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).status();
        assert!(
            made.is_ok_and(|made| made.success()),
            "no environment: on Debian, apt-get install python3-venv"
        );
        let installed = Command::new(folder.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check", PACKAGE])
            .status();
        assert!(installed.is_ok_and(|installed| installed.success()), "pip install {PACKAGE}");
    }
    program
}

impl Server {
    /// The service at the port `ANNALS_S3_PORT`, with its buckets in the folder `ANNALS_S3_BUCKETS`: `suites/services/run`.
    fn there() -> Option<Server> {
        let port = std::env::var("ANNALS_S3_PORT").ok()?.parse().expect("ANNALS_S3_PORT: a port");
        let buckets = Some(PathBuf::from(std::env::var_os("ANNALS_S3_BUCKETS").expect("ANNALS_S3_BUCKETS")));
        Some(Server { port, _keeper: None, buckets })
    }

    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        drop(listener);
        let script = "\"$0\" \"$@\" >/dev/null 2>&1 & pid=$!; cat >/dev/null; kill $pid";
        let mut keeper = Command::new("sh");
        keeper.args(["-c", script]).arg(program()).args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let keeper = keeper.stdin(Stdio::piped()).spawn().expect("a shell");
        let server = Server { port, _keeper: Some(keeper), buckets: None };
        let end = Instant::now() + START_MAX;
        while server.ask("GET", "/").is_none() {
            assert!(Instant::now() < end, "Moto does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Makes a bucket.
    pub fn make_bucket(&self, name: &str) {
        match &self.buckets {
            Some(folder) => std::fs::create_dir(folder.join(name)).expect("a folder"),
            None => assert_eq!(self.ask("PUT", &format!("/{name}")), Some(200), "a bucket"),
        }
    }

    /// The folder of a bucket, if the service keeps it as one.
    pub fn folder_of(&self, bucket: &str) -> Option<PathBuf> {
        self.buckets.as_ref().map(|buckets| buckets.join(bucket))
    }

    /// The status of an answer.
    pub fn ask(&self, method: &str, path: &str) -> Option<u16> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split_whitespace().nth(1)?.parse().ok()
    }
}
