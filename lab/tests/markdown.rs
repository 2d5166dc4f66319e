//! The page of figures that `limits --markdown` prints.

// The program's own list, so that no line can be missing here that is there.
#[allow(dead_code)]
#[path = "../src/run/catalogue.rs"]
mod catalogue;

use std::path::Path;
use std::process::Command;

use catalogue::{LINES, Line};

/// The output of the program. Lines over HTTP are measured only if `annals` lies beside the program.
fn page(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals-lab"));
    command.args(arguments).arg("--folder").arg(folder.path()).env_remove("CARGO");
    let output = command.output().unwrap();
    let (page, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(page.starts_with("# ") && !errors.contains("panicked"), "expected a page, found {page}{errors}");
    page
}

/// The part of the page under the heading that begins so.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let found = page.split("\n## ").find_map(|section| section.strip_prefix(heading));
    found.unwrap_or_else(|| panic!("expected the heading {heading:?}, found {page}"))
}

/// The rows of the only table of a section, below its header. Each has as many cells as the header.
fn table<'p>(section: &'p str, header: &str) -> Vec<Vec<&'p str>> {
    let mut lines = section.lines().skip_while(|line| !line.starts_with('|'));
    assert_eq!(lines.next(), Some(header));
    let width = cells(header).len();
    assert_eq!(cells(lines.next().unwrap()), vec!["---"; width]);
    let rows: Vec<Vec<&str>> = lines.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(rows.iter().all(|row| row.len() == width), "{rows:#?}");
    assert_eq!(section.lines().filter(|line| line.starts_with('|')).count(), rows.len() + 2, "one table");
    rows
}

fn cells(line: &str) -> Vec<&str> {
    let inner = line.strip_prefix('|').unwrap().strip_suffix('|').unwrap();
    inner.split('|').map(str::trim).collect()
}

/// Checks the parts that every page has: the machine, the command to run it again, and the reasons why it is unfair.
fn check_surroundings(page: &str, command: &str) {
    let facts = table(section(page, "Machine"), "| what | found |");
    let names: Vec<&str> = facts.iter().map(|row| row[0]).collect();
    for name in ["processor", "memory", "disk", "kernel", "Annals", "compiler", "commit", "load before"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(facts.iter().all(|row| !row[1].is_empty()), "{facts:?}");
    assert!(section(page, "Distrust").contains("- all figures: this is a debug build"));
    assert!(section(page, "Run it again").contains(&format!("lab/annals-lab {command}")));
    assert!(
        section(page, "Limits of the comparison").lines().filter(|line| line.starts_with("- ")).count() > 3
    );
}

#[test]
fn a_quick_run_prints_every_line_of_the_catalogue_and_why_it_is_distrusted() {
    let page = page(&["limits", "--quick", "--markdown"]);
    check_surroundings(&page, "limits --quick --markdown");
    assert!(section(&page, "Distrust").contains("- all figures: a quick run"));
    let header = "| what | unit | ours | limit | ratio (95 %) | bar | holds | the limit is | distrust |";
    let mut rows = table(section(&page, "Lines"), header);
    let place = |name: &str| LINES.iter().position(|line| line.name == name).expect(name);
    rows.sort_by_key(|row| place(row[0]));
    let limits: Vec<String> = rows.iter().map(|row| row[7].replace("\\<", "<")).collect();
    let told: Vec<[&str; 3]> = rows.iter().zip(&limits).map(|(row, limit)| [row[0], row[1], limit]).collect();
    let expected: Vec<[&str; 3]> =
        LINES.iter().map(|Line { name, unit, limit, .. }| [*name, *unit, *limit]).collect();
    assert_eq!(told, expected);
    // ./test --all builds it before.
    let has_server = Path::new(env!("CARGO_BIN_EXE_annals-lab")).with_file_name("annals").exists();
    for (row, line) in rows.iter().zip(LINES) {
        let is_measured =
            row[8] == "a quick run" && row[2..5].iter().all(|figure| figure.starts_with(char::is_numeric));
        let is_excused =
            !has_server && line.name.starts_with("http-") && row[8].starts_with("not measured: ");
        assert!(is_measured || is_excused, "{row:?}");
        assert_eq!(row[5].is_empty(), line.bar.is_empty(), "{row:?}");
        assert_eq!(row[6], "", "a quick run judges nothing: {row:?}");
    }
}
