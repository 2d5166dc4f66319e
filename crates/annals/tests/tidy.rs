//! Checks what a program can check of STYLE.md, in every file of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use annals::ErrorKind;

#[cfg(unix)]
#[path = "tidy/titles.rs"]
mod titles;
#[path = "tidy/commits.rs"]
mod commits;
#[path = "tidy/folders.rs"]
mod folders;
#[path = "tidy/lengths.rs"]
mod lengths;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/questions.rs"]
mod questions;
#[path = "tidy/words.rs"]
mod words;

/// Past this, look for the second noun and move it out. Units: lines.
const LINES_MAX: usize = 600;

struct File {
    /// Shape: relative to the root, with slashes.
    name: String,
    text: String,
}

impl File {
    fn is_source(&self) -> bool {
        self.name.ends_with(".rs")
    }

    /// True for files that only tests compile.
    fn is_test(&self) -> bool {
        let parts: Vec<&str> = self.name.split('/').collect();
        parts.contains(&"tests")
            || parts.contains(&"benches")
            || self.name.ends_with("/tests.rs")
            || self.name.ends_with("/shuttle_tests.rs")
    }

    fn is_engine(&self) -> bool {
        self.name.starts_with("crates/annals/src/")
    }

    /// The lines, numbered from 1, without comments and without modules that only tests compile.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut skipped_until: Option<String> = None;
        let mut is_test_next = false;
        let lines = (1..).zip(self.text.lines()).filter(move |(_, line)| {
            if let Some(end) = &skipped_until {
                if line == end {
                    skipped_until = None;
                }
                return false;
            }
            let trimmed = line.trim_start();
            if trimmed.starts_with("#[cfg(test)]") {
                is_test_next = true;
                return false;
            }
            if is_test_next && !trimmed.starts_with("#[") {
                is_test_next = false;
                if trimmed.ends_with('{') {
                    let indent = &line[..line.len() - trimmed.len()];
                    skipped_until = Some(format!("{indent}}}"));
                }
                return false;
            }
            !trimmed.starts_with("//")
        });
        lines.collect::<Vec<_>>().into_iter()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root is there")
}

/// Every text file that is, or is about to be, part of the repository.
fn files() -> Vec<File> {
    let root = root();
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .ok()
        .filter(|output| output.status.success() && !output.stdout.is_empty());
    let mut names: Vec<String> = match listed {
        Some(output) => {
            String::from_utf8(output.stdout).expect("names are text").lines().map(str::to_owned).collect()
        }
        None => walk(&root),
    };
    names.sort();
    names.dedup();
    let text = |name: &String| fs::read_to_string(root.join(name)).ok();
    names.into_iter().filter_map(|name| text(&name).map(|text| File { name, text })).collect()
}

/// All files below `root`, where there is no git: what was built lies in `target`.
fn walk(root: &Path) -> Vec<String> {
    let mut folders = vec![root.to_path_buf()];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != ".git" && name != "demo-data" {
                    folders.push(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                names.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    names
}

/// Fails with all violations at once.
fn report(rule: &str, violations: Vec<String>) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}

/// Lines of code of the chosen files that `is_bad` objects to.
fn lines_of_code(choose: impl Fn(&File) -> bool, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let files = files();
    let chosen = files.iter().filter(|file| file.is_source() && choose(file));
    chosen
        .flat_map(|file| file.code().map(move |(number, line)| (file, number, line)))
        .filter(|(_, _, line)| is_bad(line))
        .map(|(file, number, line)| format!("{}:{number}: {}", file.name, line.trim()))
        .collect()
}

/// True if `line` calls or names `word` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |found: Option<char>| found.is_some_and(|found| found.is_alphanumeric() || found == '_');
    line.match_indices(word).any(|(at, _)| {
        !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
    })
}

#[test]
fn every_source_file_begins_with_a_sentence_that_says_what_it_is_for() {
    let files = files();
    assert!(files.iter().any(|file| file.name == "crates/annals/tests/tidy.rs"), "the files were not found");
    let is_wrong = |file: &&File| {
        let mut lines = file.text.lines();
        if !lines.next().is_some_and(|line| line.starts_with("//! ")) {
            return true;
        }
        let paragraph = file.text.lines().take_while(|line| line.starts_with("//! ")).last();
        !paragraph.is_some_and(|line| line.ends_with(['.', ':', '…', '`']))
    };
    let wrong = files.iter().filter(|file| file.is_source()).filter(is_wrong);
    report("the first line is `//! What it does.`", wrong.map(|file| file.name.clone()).collect());
}

#[test]
fn no_source_file_is_too_long() {
    let files = files();
    let is_code = |file: &&File| file.is_source() || file.name.ends_with(".py");
    let too_long = files.iter().filter(is_code).filter(|file| file.text.lines().count() > LINES_MAX);
    let lines = too_long.map(|file| format!("{}: {} lines", file.name, file.text.lines().count()));
    report("at most 600 lines, or a second noun is in there", lines.collect());
}

#[test]
fn nothing_is_left_undone_or_printed_by_the_engine() {
    let leftovers = ["todo!", "unimplemented!", "dbg!"];
    report(
        "no leftovers",
        lines_of_code(|_| true, |line| leftovers.iter().any(|word| has_macro(line, word))),
    );
    let prints = ["println!", "eprintln!", "print!", "eprint!"];
    let found = lines_of_code(
        |file| file.is_engine() && !file.is_test(),
        |line| prints.iter().any(|word| has_macro(line, word)),
    );
    report("the engine prints nothing", found);
}

/// True if `line` calls a macro; a string that only names it is not meant.
fn has_macro(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(|found| found.is_alphanumeric() || found == '_' || found == '"')
            && after.is_some_and(|found| matches!(found, '(' | '[' | '{'))
    })
}

#[test]
fn the_engine_is_safe_quiet_and_documented() {
    let files = files();
    let library = files.iter().find(|file| file.name == "crates/annals/src/lib.rs").expect("the engine");
    for attribute in ["#![forbid(unsafe_code)]", "#![deny(missing_docs)]"] {
        assert!(library.text.contains(attribute), "crates/annals/src/lib.rs: expected {attribute}");
    }
    for lint in
        ["unwrap_used", "expect_used", "cast_possible_truncation", "cast_possible_wrap", "cast_sign_loss"]
    {
        let lint = format!("clippy::{lint}");
        let mut denied = library.text.lines().filter(|line| line.starts_with("#![cfg_attr(not(test), deny("));
        assert!(
            denied.any(|line| line.contains(&lint)),
            "crates/annals/src/lib.rs: expected {lint} to be denied"
        );
        // An `expect` fails when the last place that needs it is gone; an `allow` stays.
        let is_allowed = |line: &str| line.contains("allow(") && line.contains(&lint);
        report("exceptions are expected, not allowed", lines_of_code(File::is_engine, is_allowed));
    }
    let is_unsafe = |line: &str| has_word(line, "unsafe");
    report("no unsafe code", lines_of_code(|file| file.name.starts_with("crates/annals/src"), is_unsafe));
    let sockets = lines_of_code(File::is_engine, |line| line.contains("std::net") || has_word(line, "async"));
    report("no sockets and no async in the engine", sockets);
    // The tests run the same code as users. A bound is small in tests, so that they reach what happens beyond it.
    let is_bound = |line: &str| line.contains("_MAX: ") || line.contains("_MIN: ");
    let differs = |line: &str| line.contains("cfg!(") && has_word(line, "test") && !is_bound(line);
    report(
        "no constant but a bound is another one in tests",
        lines_of_code(|file| file.name.contains("/src/"), differs),
    );
}

#[test]
fn files_are_named_for_the_noun_they_hold() {
    let vague = ["utils.rs", "util.rs", "common.rs", "helpers.rs", "misc.rs"];
    let files = files();
    let found = files.iter().filter(|file| vague.iter().any(|name| file.name.ends_with(&format!("/{name}"))));
    report("a file is named for its noun", found.map(|file| file.name.clone()).collect());
}

#[test]
fn functions_are_verbs_a_user_would_say() {
    let vague = ["do_", "handle_", "process_"].map(|prefix| format!("fn {prefix}"));
    report(
        "a function says what it does",
        lines_of_code(|_| true, |line| vague.iter().any(|v| line.contains(v))),
    );
}

#[test]
fn nothing_unwraps_outside_tests() {
    let found = lines_of_code(
        |file| file.name.starts_with("crates/") && file.name.contains("/src/") && !file.is_test(),
        |line| line.contains(".unwrap()"),
    );
    report("operating trouble is an `Error`, our own mistake an `expect` with a reason", found);
}

#[test]
fn a_todo_points_to_an_issue() {
    let files = files();
    let is_source = |file: &&File| file.is_source() && file.name != "crates/annals/tests/tidy.rs";
    let found = files.iter().filter(is_source).flat_map(|file| {
        let lines = (1..).zip(file.text.lines());
        let open =
            lines.filter(|(_, line)| line.replace("TODO(#", "").contains("TODO") || line.contains("FIXME"));
        open.map(|(number, line)| format!("{}:{number}: {}", file.name, line.trim())).collect::<Vec<_>>()
    });
    report("`TODO(#123):` points to an issue", found.collect());
}

#[test]
fn no_machine_path_is_in_any_file() {
    // Written in parts, so that this file passes its own check.
    let places = [["/ro", "ot/"], ["/wo", "rk/"], ["/ho", "me/"]].map(|parts| parts.concat());
    let files = files();
    let found = files.iter().flat_map(|file| {
        let lines = (1..).zip(file.text.lines());
        let bad = lines.filter(|(_, line)| places.iter().any(|place| line.contains(place)));
        bad.map(|(number, line)| format!("{}:{number}: {}", file.name, line.trim())).collect::<Vec<_>>()
    });
    report("no path of somebody's machine", found.collect());
}

/// True if `text` says how fast something is on some machine: a number of nanoseconds or microseconds, or of anything a second.
/// Bytes a second are the bound of a connection.
fn has_speed(text: &str) -> bool {
    let is_number = |word: &str| word.ends_with(|letter: char| letter.is_ascii_digit());
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .collect();
    let is_speed = |at: usize| {
        let (number, unit) = words[at]
            .split_at(words[at].rfind(|letter: char| letter.is_ascii_digit()).map_or(0, |end| end + 1));
        let before = &words[at.saturating_sub(2)..at];
        match unit {
            "ns" | "µs" => is_number(number) || before.last().is_some_and(|word| is_number(word)),
            _ if unit.ends_with("B/s") => false,
            _ => unit.ends_with("/s") && (is_number(number) || before.iter().any(|word| is_number(word))),
        }
    };
    (0..words.len()).any(is_speed)
}

#[test]
fn no_comment_and_no_page_on_speed_holds_a_figure_of_a_machine() {
    let pages = ["README.md", "docs/performance.md", "docs/metadata-methods.md"];
    let is_page =
        |file: &File| pages.contains(&file.name.as_str()) || file.name.starts_with("docs/decisions/");
    let files = files();
    let found = files.iter().filter(|file| file.is_source() || is_page(file)).flat_map(|file| {
        let told = |line: &str| {
            let start = if is_page(file) { Some(0) } else { line.find("//") };
            start.is_some_and(|start| has_speed(&line[start..]))
        };
        let lines = (1..).zip(file.text.lines()).filter(move |(_, line)| told(line));
        lines.map(|(number, line)| format!("{}:{number}: {}", file.name, line.trim())).collect::<Vec<_>>()
    });
    report("`annals-lab limits --markdown` prints figures of machines, no file holds them", found.collect());
}

#[test]
fn every_dependency_comes_from_the_public_registry() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock");
    let found = lock.lines().filter(|line| line.starts_with("source = "));
    let foreign =
        found.filter(|line| !line.contains("registry+https://github.com/rust-lang/crates.io-index"));
    report("dependencies come from crates.io", foreign.map(str::to_owned).collect());
}

/// The cells of a row of a table; `None` for other lines.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect())
}

#[test]
fn the_errors_page_lists_every_kind() {
    let page = fs::read_to_string(root().join("docs/errors.md")).expect("docs/errors.md");
    let rows: Vec<Vec<&str>> = page.lines().filter_map(cells).filter(|row| row[0].starts_with('`')).collect();
    let listed: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let kinds: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(listed, kinds, "docs/errors.md lists every kind, in the order of ErrorKind::ALL");
    for (row, kind) in rows.iter().zip(ErrorKind::ALL) {
        assert_eq!(row.len(), 7, "{kind:?}: a row has seven cells");
        assert_eq!(row[2], if kind.is_retryable() { "yes" } else { "no" }, "{kind:?}: retry");
        assert!(matches!(row[3].parse(), Ok(400..=599u16)), "{kind:?}: HTTP status {}", row[3]);
        assert_eq!(row[4], format!("`{kind:?}Error`"), "{kind:?}: Python name");
        assert_eq!(row[5], format!("`{kind:?}Exception`"), "{kind:?}: Java name");
        assert!(!row[1].is_empty() && !row[6].is_empty(), "{kind:?}: meaning and remedy");
    }
    let source = fs::read_to_string(root().join("crates/annals/src/error.rs")).expect("error.rs");
    let named = source.lines().filter(|line| line.contains("ErrorKind::") && line.contains(" => \"")).count();
    assert_eq!(named, ErrorKind::ALL.len(), "ErrorKind::ALL lists every kind that has a name");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let files = files();
    let mut broken = Vec::new();
    for file in files.iter().filter(|file| file.name.ends_with(".md")) {
        let folder = root().join(&file.name).parent().expect("a file is in a folder").to_path_buf();
        for link in file.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let is_elsewhere = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !is_elsewhere && !folder.join(target).exists() {
                broken.push(format!("{}: {link}", file.name));
            }
        }
    }
    report("a link leads to a file that is there", broken);
}

/// The commands in the code blocks of a document that are meant for a shell.
fn commands(text: &str) -> Vec<&str> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    let mut is_continued = false;
    for line in text.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            is_shell = !is_shell && matches!(language, "sh" | "bash" | "console");
            continue;
        }
        if is_shell && !is_continued && !line.is_empty() && !line.starts_with('#') {
            commands.push(line.strip_prefix("$ ").unwrap_or(line));
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

#[test]
fn documents_name_only_commands_that_are_there() {
    let files = files();
    let list = files.iter().find(|file| file.name == "crates/annals-cli/src/command/mod.rs");
    let list = list.and_then(|file| file.text.split_once("enum Command {")).expect("commands are listed").1;
    let variants = list.lines().map(str::trim).take_while(|line| *line != "}");
    // `TakeBack` is the command `take-back`.
    let verb = |variant: &str| {
        let words: String = variant
            .chars()
            .flat_map(|letter| letter.is_uppercase().then_some('-').into_iter().chain(letter.to_lowercase()))
            .collect();
        words.trim_start_matches('-').to_owned()
    };
    let verbs: BTreeSet<String> = variants.filter_map(|line| Some(verb(line.split_once('(')?.0))).collect();
    let mut unknown = Vec::new();
    for file in files.iter().filter(|file| file.name.ends_with(".md")) {
        for command in commands(&file.text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let is_known = match words[0] {
                program if program.starts_with("./") => root().join(program).exists(),
                "annals" => words.get(1).is_some_and(|verb| verbs.contains(*verb)),
                _ => true,
            };
            if !is_known {
                unknown.push(format!("{}: {command}", file.name));
            }
        }
    }
    report("a document names only files and commands that are there", unknown);
}

#[test]
fn the_rules_see_code_and_not_tests_or_comments() {
    let text = "//! A file.\n/// let a = b.unwrap();\nfn f() {\n    c.unwrap();\n}\n#[cfg(test)]\nmod more;\nfn g() {}\n\
                #[cfg(test)]\nmod tests {\n    fn h() {\n        d.unwrap();\n    }\n}\nfn i() {}\n";
    let file = File { name: "crates/x/src/a.rs".into(), text: text.into() };
    let numbers: Vec<usize> = file.code().map(|(number, _)| number).collect();
    assert_eq!(numbers, [3, 4, 5, 8, 15]);
    let (name, call) = (format!("{}!", "dbg"), format!("    {}!(x)", "dbg"));
    assert!(has_macro(&call, &name) && !has_macro(&format!("[{name:?}]"), &name));
    assert!(has_word("pub async fn", "async") && !has_word("is_async", "async"));
    assert_eq!(
        commands("```sh\n# why\n./a b \\\n  c\nannals d\n```\n```rust\nx\n```\n"),
        ["./a b \\", "annals d"]
    );
    let speeds = ["takes 200 ns.", "(35µs)", "5.7 M pages/s", "12,000/s", "of 1.5 µs:"];
    assert!(speeds.iter().all(|text| has_speed(text)));
    let others =
        ["Units: ns", "in µs or ms", "less than 16 KiB/s", "commits/s beside 3 walks", "500 ms", "/s/5"];
    assert!(others.iter().all(|text| !has_speed(text)));
    assert_eq!(cells("| a | `b` |"), Some(vec!["a", "`b`"]));
}
