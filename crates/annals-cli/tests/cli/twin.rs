//! Runs each command of a test a second time, in a folder of its own and through a server: with equal bytes on both
//! outputs, and the same exit code.

use std::cell::RefCell;
use std::path::Path;

use tempfile::TempDir;

use crate::server::Server;
use crate::support::{Done, command_in};

/// The commands that work on a folder only.
pub const ON_FOLDERS: [&str; 10] = [
    "quickstart",
    "tree",
    "fixity",
    "restore",
    "storage",
    "serve",
    "doctor",
    "token",
    "access",
    "completions",
];

/// A folder with the files of a test. Its repository is behind a server while commands ask it.
pub struct Twin {
    pub folder: TempDir,
    server: RefCell<Option<Server>>,
}

impl Twin {
    /// A copy of a folder.
    pub fn of(folder: &Path) -> Twin {
        let twin = tempfile::tempdir().unwrap();
        copy(folder, twin.path());
        Twin { folder: twin, server: RefCell::new(None) }
    }

    /// Runs a command through the server, or else in the folder, and compares the outcome.
    pub fn compare(&self, arguments: &[&str], expected: &Done) {
        let folder = self.folder.path();
        let command =
            arguments.iter().find(|argument| !argument.starts_with('-')).copied().unwrap_or_default();
        let is_elsewhere = ["-r", "--repository", "--server", "--local", "--memory"];
        // With one name it restores an instance, or an item.
        let is_of_backup = arguments.get(2).is_some_and(|second| !second.starts_with('-'));
        let is_on_folder = ON_FOLDERS.contains(&command) && (command != "restore" || is_of_backup)
            || arguments.iter().any(|argument| is_elsewhere.contains(argument))
            || !folder.join("annals-data").exists()
            || command == "import" && arguments.contains(&"ldp")
            // The shell runs in another test.
            || command == "shell"
            || arguments.contains(&"--content")
            || arguments.contains(&"edits");
        let mut command = command_in(folder, arguments);
        if is_on_folder {
            self.stop();
        } else {
            let mut server = self.server.borrow_mut();
            let server = server.get_or_insert_with(|| Server::start(&folder.join("annals-data"), &[]));
            command.env("ANNALS_SERVER", format!("http://{}", server.address));
        }
        let found = Done::of(command);
        if is_on_folder {
            return;
        }
        assert_eq!(
            found.code, expected.code,
            "{arguments:?} through a server: {found:?}, expected {expected:?}"
        );
        for (found, expected) in [(&found.out, &expected.out), (&found.err, &expected.err)] {
            assert_eq!(comparable(found), comparable(expected), "{arguments:?} through a server");
        }
    }

    fn stop(&self) {
        if let Some(server) = self.server.borrow_mut().take() {
            server.terminate();
            assert!(server.ended_well());
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The words of an output, without those that the clock, chance and the size of files decide.
pub fn comparable(output: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = output;
    while !rest.is_empty() {
        let (word, length) = if let Some(length) = instant_length(rest) {
            ("INSTANT", length)
        } else if is_uuid(rest) {
            ("UUID", UUID_LENGTH)
        } else if is_log_of_tag(rest) {
            ("@LOG", 1 + LOG_DIGITS)
        } else if rest.starts_with("\"logBytes\":") {
            ("SIZE", rest.find('}').unwrap_or(rest.len()).min(rest.find(',').unwrap_or(rest.len())))
        } else if rest.starts_with("\"$bytes\":\"") {
            // The edits of a candidate, in which instants are.
            ("BYTES", rest.find('}').unwrap_or(rest.len()))
        } else if let Some(end) = seconds_length(rest) {
            ("SECONDS", end)
        } else if rest.starts_with("log of ") {
            ("SIZE", rest.find('B').map_or(rest.len(), |end| end + 1))
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            (&rest[..length], length)
        };
        text.push_str(word);
        rest = &rest[length..];
    }
    // Columns are as wide as instants are long.
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The length of an instant at the beginning of a text.
fn instant_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let bytes = &bytes[..bytes.len().min(27)];
    let is_instant = bytes.len() > 16
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && [bytes[4], bytes[7], bytes[10], bytes[13]] == *b"--T:";
    is_instant.then(|| bytes.iter().position(|byte| *byte == b'Z')).flatten().map(|end| end + 1)
}

/// The length of the time that a command took.
fn seconds_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('(').or_else(|| text.strip_prefix("\"seconds\":"))?;
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || b".-e".contains(byte)).count();
    let is_time = digits > 0 && (rest[digits..].starts_with(" s)") || rest[digits..].starts_with([',', '}']));
    is_time.then_some(text.len() - rest.len() + digits)
}

/// The digits by which a tag names its log.
const LOG_DIGITS: usize = 8;

fn is_log_of_tag(text: &str) -> bool {
    let digits = text.strip_prefix('@').and_then(|rest| rest.as_bytes().get(..LOG_DIGITS));
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

const UUID_LENGTH: usize = 36;

fn is_uuid(text: &str) -> bool {
    let Some(head) = text.as_bytes().get(..UUID_LENGTH) else { return false };
    head.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// True if a text names an id or an instant that chance or the clock gave: the other folder has another one.
pub fn is_of_one_folder(text: &str) -> bool {
    text.char_indices().any(|(at, _)| {
        let rest = &text[at..];
        is_uuid(rest) || instant_length(rest).is_some_and(|length| rest[..length].contains('.'))
    })
}
