//! The pages of the manual and the completions that packages have.

use std::process::{Command, Stdio};

use crate::support::{Done, Place};

/// True if a program is there.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn each_command_has_a_page_that_renders_without_warnings() {
    let place = Place::new();
    let done = Done::of(place.command(&["man", "made"]));
    assert!(done.code == 0 && done.out.starts_with("wrote "), "{done:?}");
    let help = Done::of(place.command(&["--help"])).out;
    let listed = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let is_first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = listed.lines().filter(is_first).filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        assert!(place.is_there(&format!("made/man1/annals-{name}.1")), "{name} has no page");
    }
    assert!(!place.is_there("made/man1/annals-man.1"), "it is hidden");
    let pages = std::fs::read_dir(place.path("made/man1")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages.collect();
    assert!(pages.len() > 60, "also commands below commands: {}", pages.len());
    if !has("groff") {
        return;
    }
    for page in pages {
        let mut groff = Command::new("groff");
        // The width of a terminal, and no page ends.
        let done = Done::of({
            groff.args(["-man", "-Tutf8", "-ww", "-rLL=80n"]).arg(&page);
            groff
        });
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", page.display());
    }
}

#[test]
fn shells_take_the_completions_of_packages() {
    let place = Place::new();
    assert_eq!(Done::of(place.command(&["man", "made"])).code, 0);
    for (shell, name) in [("bash", "annals.bash"), ("zsh", "_annals"), ("fish", "annals.fish")] {
        assert!(place.read(&format!("made/completions/{name}")).contains("neighbors"), "{name}");
        if has(shell) {
            let mut check = Command::new(shell);
            check.arg("-n").arg(place.path(&format!("made/completions/{name}")));
            let done = Done::of(check);
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{name}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let place = Place::new();
    place.write("file", "");
    let done = Done::of(place.command(&["man", "file"]));
    assert!(done.code == 1 && done.err.contains("file/man1"), "{done:?}");
}
