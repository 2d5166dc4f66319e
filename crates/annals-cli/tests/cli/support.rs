//! A temporary folder, and the binary run in it.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

use crate::twin::{Twin, is_of_one_folder};

/// A temporary folder that commands run in; their repository is `annals-data` there.
pub struct Place {
    folder: tempfile::TempDir,
    /// The same files, with the repository behind a server; once a command asked it.
    twin: OnceCell<Twin>,
    /// True once the folders differ, because a test changed one of them without a command.
    is_alone: Cell<bool>,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Done {
    pub fn of(mut command: Command) -> Done {
        let Output { status, stdout, stderr } = command.output().unwrap();
        Done {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap(), twin: OnceCell::new(), is_alone: Cell::new(false) }
    }

    /// A place whose repository has two people who know each other, in four records.
    pub fn with_people() -> Place {
        let place = Place::new();
        place.write(
            "people.jsonl",
            r#"{"type": {"kind": "entity", "name": "person", "attributes": [{"name": "name", "type": "string", "required": true}]}}
{"entity": {"id": "ada", "type": "person", "properties": {"name": "Ada", "born": {"$date": "1815-12-10"}}, "classifications": [{"name": "famous", "properties": {"rank": 1}}], "validFrom": "1815-12-10"}}
{"entity": {"id": "charles", "type": "person", "properties": {"name": "Charles", "langs": {"$set": ["en", "fr"]}}, "validFrom": "1791-12-26"}}
{"relationship": {"id": "met", "type": "knows", "from": "ada", "to": "charles", "properties": {"since": 1833}, "validFrom": "1833-06-05"}}
"#,
        );
        place.ok(&["import", "people.jsonl", "--author", "test"]);
        place.write(
            "change.json",
            r#"[{"action": "update", "kind": "entity", "id": "ada", "patch": {"name": "Ada Lovelace"}, "validFrom": "1838-06-30"}]"#,
        );
        place.ok(&["apply", "change.json", "--message", "married", "--author", "william"]);
        place
    }

    pub fn is_there(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }

    /// The path of a file that the test may change.
    pub fn path(&self, name: &str) -> PathBuf {
        self.is_alone.set(true);
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        if is_of_one_folder(text) {
            self.is_alone.set(true);
        }
        if let Some(twin) = self.twin.get() {
            std::fs::write(twin.folder.path().join(name), text).unwrap();
        }
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// A command that the test runs itself, so that no server has its changes.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.is_alone.set(true);
        self.make_command(arguments)
    }

    fn make_command(&self, arguments: &[&str]) -> Command {
        command_in(self.folder.path(), arguments)
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        if arguments.iter().any(|argument| is_of_one_folder(argument)) {
            self.is_alone.set(true);
        }
        let twin = (!self.is_alone.get()).then(|| self.twin.get_or_init(|| Twin::of(self.folder.path())));
        let done = Done::of(self.make_command(arguments));
        if let Some(twin) = twin {
            twin.compare(arguments, &done);
        }
        done
    }

    /// The output of a command that must succeed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.out
    }

    /// The output of a command that must succeed, as JSON lines.
    pub fn json(&self, arguments: &[&str]) -> Vec<Json> {
        let out = self.ok(&[&["--json"], arguments].concat());
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one JSON line of a command that must succeed.
    pub fn json_one(&self, arguments: &[&str]) -> Json {
        let mut lines = self.json(arguments);
        assert_eq!(lines.len(), 1, "{arguments:?}: {lines:?}");
        lines.remove(0)
    }
}

/// The binary, run in a folder.
pub fn command_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("ANNALS_REPOSITORY").env_remove("ANNALS_SERVER").env_remove("ANNALS_OBJECTS");
    command.env("ANNALS_AUTHOR", "");
    command
}
