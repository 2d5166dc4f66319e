//! A temporary folder, and the binary run in it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

/// A temporary folder that commands run in; their repository is `annals-data` there.
pub struct Place {
    folder: tempfile::TempDir,
}

/// The outcome of a command.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
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

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("ANNALS_REPOSITORY").env("ANNALS_AUTHOR", "");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Done {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
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
