//! `annals man`: the pages of the manual and the completions of all commands, for packages.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use annals::Error;
use annals::storage::private_files;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::context::Context;
use crate::stop::Outcome;

/// The shells of which packages have completions, and the file that each of them looks for.
const SHELLS: [(Shell, &str); 3] =
    [(Shell::Bash, "annals.bash"), (Shell::Zsh, "_annals"), (Shell::Fish, "annals.fish")];
/// The name of the program.
const PROGRAM: &str = "annals";

/// Write the pages of the manual and the completions of all commands, for packages
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  annals man build && man -l build/man1/annals-find.1")]
pub struct Arguments {
    /// Folder for man1/annals.1, man1/annals-COMMAND.1 … and completions/
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes the files.
pub fn run(context: &mut Context, arguments: &Arguments, root: &Command) -> Outcome {
    let (pages, completions) = (arguments.folder.join("man1"), arguments.folder.join("completions"));
    for folder in [&pages, &completions] {
        private_files::create_folder(folder)
            .map_err(|error| Error::io("create the folder", error).with("path", folder.display()))?;
    }
    let mut written = 0;
    for (name, page) in manual(root) {
        write(&pages.join(format!("{name}.1")), page.as_bytes())?;
        written += 1;
    }
    for (shell, name) in SHELLS {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut root.clone(), PROGRAM, &mut script);
        write(&completions.join(name), &script)?;
    }
    match context.output.is_json() {
        true => context.output.json(&json!({ "pages": written, "completions": SHELLS.len() })),
        false => context.output.line(format!("wrote {written} pages and {} completions", SHELLS.len())),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes).map_err(|error| Error::io("write", error).with("path", path.display()).into())
}

/// The pages of a command and of all below it. Shape: `[(name, text)]`.
fn manual(root: &Command) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    let mut waiting = vec![(PROGRAM.to_owned(), root.clone())];
    while let Some((called, command)) = waiting.pop() {
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        waiting.extend(below.map(|below| (format!("{called} {}", below.get_name()), below.clone())));
        let name = called.replace(' ', "-");
        let text = page(&name, called, command);
        pages.push((name, text));
    }
    pages.sort_unstable();
    pages
}

/// One page. The options of every command are on the first one only.
fn page(name: &str, called: String, command: Command) -> String {
    let help = command.get_after_help().map(ToString::to_string);
    let command = command.bin_name(called).display_name(name).disable_help_subcommand(true);
    let man = Man::new(command.after_help("")).title(name).section("1").date("").manual("Annals");
    let man = man.source(concat!("annals ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    let rendered = man
        .render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| man.render_synopsis_section(&mut page))
        .and_then(|()| man.render_description_section(&mut page))
        .and_then(|()| man.render_options_section(&mut page))
        .and_then(|()| man.render_subcommands_section(&mut page));
    rendered.expect("memory takes every byte");
    let mut page = String::from_utf8(page).expect("names and help are UTF-8");
    if let Some(help) = help {
        add_help(&mut page, &help);
    }
    if name != PROGRAM {
        page.push_str(
            ".SH \"SEE ALSO\"\n\\fBannals\\fR(1) has the options of every command, and the exit codes.\n",
        );
    }
    in_ascii(&page)
}

/// The same text, in which readers of any locale find the other letters.
fn in_ascii(page: &str) -> String {
    let letter = |letter: char| match letter.is_ascii() {
        true => letter.to_string(),
        false => format!("\\[u{:04X}]", u32::from(letter)),
    };
    page.chars().map(letter).collect()
}

/// The text behind the help, line by line as it is.
fn add_help(page: &mut String, help: &str) {
    let (mut title, mut notes, mut examples) = ("NOTES", Vec::new(), Vec::new());
    for line in help.lines() {
        match line {
            "Example:" | "Examples:" => title = "EXAMPLES",
            _ if title == "NOTES" => notes.push(line),
            _ => examples.push(line),
        }
    }
    for (title, lines) in [("NOTES", notes), ("EXAMPLES", examples)] {
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(page, ".SH {title}\n.nf");
        for line in lines {
            let _ = writeln!(page, "{}", escaped(line));
        }
        page.push_str(".fi\n");
    }
}

/// A line of text as a line of roff.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\(rs").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_line_of_text_is_taken_for_a_request() {
        assert_eq!(escaped(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(escaped("'a' \\d --x"), "\\(aqa\\(aq \\(rsd \\-\\-x");
        assert_eq!(in_ascii("a … b"), "a \\[u2026] b");
    }

    #[test]
    fn each_command_that_help_shows_has_a_page_and_no_other_one() {
        let pages = manual(&super::super::Arguments::command());
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert!(
            ["annals", "annals-find", "annals-token-new"].iter().all(|name| names.contains(name)),
            "{names:?}"
        );
        assert!(!names.contains(&"annals-man"), "it is hidden");
        let find = &pages.iter().find(|(name, _)| name == "annals-find").expect("a page").1;
        let back = &pages.iter().find(|(name, _)| name == "annals-take-back").expect("a page").1;
        assert!(back.contains("annals take\\-back"), "{back}");
        assert!(find.contains(".SH EXAMPLES\n.nf\n") && !find.contains("\\-\\-repository"), "{find}");
    }
}
