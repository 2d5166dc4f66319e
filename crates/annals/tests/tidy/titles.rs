//! Checks the hook that refuses titles of commits which say too much or nothing.

use std::fs;
use std::process::Command;

use super::root;

/// The answer of the hook to a message: `Ok` if it lets the commit pass.
fn check(message: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("COMMIT_EDITMSG");
    fs::write(&file, message).expect("a message");
    let output =
        Command::new(root().join("tools/hooks/commit-msg")).arg(&file).output().expect("the hook runs");
    let text = String::from_utf8(output.stderr).expect("text");
    if output.status.success() { Ok(()) } else { Err(text.trim_end().to_owned()) }
}

#[test]
fn a_title_of_a_commit_is_one_line_that_names_the_change() {
    let long = "é".repeat(72);
    for message in [&*long, "Add a map\n\nIt is short. wip\n", "\n# comment\nWipe old files\n", "fixup! wip."]
    {
        assert_eq!(check(message), Ok(()), "{message}");
    }
    let refused = [
        (format!("{long}e\n"), "expected at most 72 characters, found 73; move the reason into the body"),
        ("Add a map.\n".into(), "expected no full stop at the end, found \"Add a map.\"; leave it out"),
        ("WIP: a map".into(), "expected a title that names the change, found \"WIP: a map\"; name it"),
        ("wip\n".into(), "expected a title that names the change, found \"wip\"; name it"),
        ("\n# comment\n".into(), "expected a title that names the change, found \"\"; name it"),
    ];
    for (message, text) in refused {
        assert_eq!(check(&message), Err(format!("title of the commit: {text}")));
    }
}
