//! Starts PostgreSQL in a temporary folder as another user than root, and ends it whatever becomes of the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longest time until the server answers.
const START_MAX: Duration = Duration::from_secs(60);

/// A server. Dropping it ends the server and removes its folder, and so does the end of the test.
pub struct Server {
    folder: PathBuf,
    pub port: u16,
    options: Vec<String>,
    process: Option<Child>,
    /// Waits until this process closes its input, or ends; then it ends the server and removes the folder.
    keeper: Child,
}

/// The server that the tests of this program share.
pub fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&[]))
}

/// The folder of the programs of the latest version.
fn programs() -> PathBuf {
    let folder = |entry: fs::DirEntry| entry.path().join("bin");
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(folder);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> =
        debian.chain(std::env::split_paths(&path)).filter(|folder| folder.join("initdb").exists()).collect();
    let version = |folder: &PathBuf| {
        folder.to_string_lossy().split('/').filter_map(|part| part.parse::<u32>().ok()).next()
    };
    found.sort_by_key(version);
    found.pop().expect("PostgreSQL is missing: install it, on Debian with: apt-get install postgresql")
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id");
    String::from_utf8_lossy(&id.stdout).trim() == "0"
}

/// The user that owns the server if this is root: PostgreSQL does not run as root.
fn owner() -> Option<&'static str> {
    static OWNER: OnceLock<Option<&str>> = OnceLock::new();
    *OWNER.get_or_init(|| {
        let is_user = |name: &&str| Command::new("id").arg(name).output().is_ok_and(|id| id.status.success());
        is_root().then(|| ["postgres", "nobody"].into_iter().find(is_user).expect("a user to run PostgreSQL"))
    })
}

/// A program of PostgreSQL, as its owner.
fn program(name: &str) -> Command {
    let path = programs().join(name);
    let mut command = match owner() {
        None => Command::new(path),
        Some(user) => {
            let mut command = Command::new("setpriv");
            // It may read folders of root, so that the folder can be below one that only root enters.
            let rights = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--init-groups"];
            command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).args(rights).arg(path);
            command
        }
    };
    command.env("TMPDIR", "/tmp").env_remove("PGPASSWORD").stdin(Stdio::null());
    command
}

/// Gives a file or a folder to the user of the server.
pub fn give(path: &Path) {
    if let Some(user) = owner() {
        let given = Command::new("chown").arg("-R").arg(format!("{user}:")).arg(path).status();
        assert!(given.expect("chown").success(), "chown {}", path.display());
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

impl Server {
    /// Starts a server with more options, as `-c`. Its databases are `postgres` and `library`. The user `annals` makes
    /// schemas in it, `reader` has no rights yet, `locked` needs the password `hunter2`; `lab` may do anything.
    pub fn start(options: &[&str]) -> Server {
        let server = Server::make(options);
        server.sql("create database library");
        server.sql(
            "create role annals login; create role reader login; create role locked login password 'hunter2'",
        );
        server.sql("grant create on database library to annals, locked");
        server
    }

    fn make(options: &[&str]) -> Server {
        let folder = tempfile::Builder::new().prefix("annals-postgres-").tempdir().expect("a folder").keep();
        let script = "cat >/dev/null; pid=$(head -n 1 \"$1/data/postmaster.pid\" 2>/dev/null); \
                      [ -z \"$pid\" ] || { kill -CONT $pid; kill -QUIT $pid; } 2>/dev/null; \
                      for i in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done; \
                      umount \"$1/small\" 2>/dev/null; rm -rf \"$1\"";
        let keeper =
            Command::new("sh").args(["-c", script, "keeper"]).arg(&folder).stdin(Stdio::piped()).spawn();
        let keeper = keeper.expect("a shell");
        let data = folder.join("data");
        fs::create_dir(&data).expect("a folder of data");
        give(&folder);
        let made = program("initdb")
            .args(["-U", "lab", "--auth=trust", "--no-locale", "--encoding=UTF8", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .expect("initdb");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let access = "host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
        fs::write(data.join("pg_hba.conf"), access).expect("pg_hba.conf");
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut server = Server { folder, port: free_port(), options, process: None, keeper };
        server.run();
        server
    }

    /// Starts the process, and waits until it answers.
    pub fn run(&mut self) {
        let log = fs::File::create(self.folder.join("log")).expect("a file for its log");
        let mut command = program("postgres");
        command.arg("-D").arg(self.folder.join("data")).arg("-p").arg(self.port.to_string());
        let settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
        for setting in settings.into_iter().chain(self.options.iter().map(String::as_str)) {
            command.arg("-c").arg(setting);
        }
        command.stdout(log.try_clone().expect("a file")).stderr(log);
        self.process = Some(command.spawn().expect("postgres"));
        let end = Instant::now() + START_MAX;
        let port = self.port.to_string();
        let ready =
            || program("pg_isready").args(["-q", "-h", "127.0.0.1", "-d", "postgres", "-p", &port]).status();
        while !ready().expect("pg_isready").success() {
            let ended = self.process.as_mut().and_then(|process| process.try_wait().expect("its status"));
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < end, "PostgreSQL does not start: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Where the server keeps its files.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The folder of everything of this server.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs statements as `lab` in the database `library`, or in `postgres` before that is there. Shape: the rows, with `|`
    /// between columns.
    pub fn sql(&self, statements: &str) -> String {
        self.try_sql(statements).unwrap_or_else(|error| panic!("{statements}: {error}"))
    }

    pub fn try_sql(&self, statements: &str) -> Result<String, String> {
        let database = if statements.starts_with("create database") { "postgres" } else { "library" };
        let port = self.port.to_string();
        let answer = program("psql")
            .args(["-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", &port, "-U", "lab", "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-c", statements])
            .output()
            .expect("psql");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if answer.status.success() { Ok(text(&answer.stdout)) } else { Err(text(&answer.stderr)) }
    }

    fn pid(&self) -> String {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).expect("postmaster.pid");
        file.lines().next().expect("a process").trim().to_owned()
    }

    /// Kills the server without a word to anybody. The processes of its connections end with it.
    pub fn kill(&mut self) {
        signal("-KILL", &[self.pid()]);
        if let Some(mut process) = self.process.take() {
            process.wait().expect("the end of the server");
        }
        // Until then a new one does not start.
        let end = Instant::now() + START_MAX;
        while fs::metadata(self.data().join("postmaster.pid")).is_ok() && self.has_children() {
            assert!(Instant::now() < end, "processes of the killed server are left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// True while a process of the killed server is there: each has the data folder as its own.
    fn has_children(&self) -> bool {
        let data = fs::canonicalize(self.data()).expect("the data");
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .map(|entry| entry.path().join("cwd"))
            .any(|link| fs::read_link(link).is_ok_and(|cwd| cwd == data))
    }

    /// Stops or continues all its processes.
    pub fn pause(&self, is_paused: bool) {
        let pid = self.pid();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let mut all: Vec<String> = children.split_whitespace().map(str::to_owned).collect();
        all.push(pid);
        signal(if is_paused { "-STOP" } else { "-CONT" }, &all);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        if let Some(mut process) = self.process.take() {
            let _ = process.wait();
        }
        let _ = self.keeper.wait();
    }
}

fn signal(name: &str, processes: &[String]) {
    // One may have ended meanwhile.
    let _ = Command::new("kill").arg(name).args(processes).stderr(Stdio::null()).status();
}
