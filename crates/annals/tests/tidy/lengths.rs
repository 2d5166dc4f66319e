//! Checks that functions are short, by their lines in formatted code.

use super::{File, files, report};

/// A longer function hides a step: move that out. Units: lines, from `fn` to the closing brace.
const FUNCTION_LINES_MAX: usize = 80;

/// The names of functions of several lines, with their lines. In formatted code a function ends with a brace below its
/// first letter.
fn functions(file: &File) -> Vec<(&str, usize)> {
    let mut open: Vec<(String, &str, usize)> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in file.code() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let name = code.split_once("fn ").and_then(|(before, after)| {
            let is_declared = before.split_whitespace().all(|word| {
                word.starts_with("pub")
                    || ["const", "async", "unsafe", "extern", "\"C\"", "\"system\""].contains(&word)
            });
            is_declared.then(|| after.split(['(', '<']).next()).flatten()
        });
        if let Some(name) = name
            && !line.ends_with(['}', ';'])
        {
            open.push((indent.to_owned(), name, number));
        } else if let Some((_, name, first)) = open.pop_if(|(known, ..)| known == indent && code == "}") {
            found.push((name, number + 1 - first));
        } else {
            // A function of a trait without a body.
            open.pop_if(|(known, ..)| known == indent && code.ends_with(';'));
        }
    }
    found
}

#[test]
fn no_function_is_too_long() {
    let files = files();
    let folders = ["crates/", "bindings/jvm/native/", "examples/", "lab/src/"];
    let is_product = |file: &&File| {
        file.is_source() && !file.is_test() && folders.iter().any(|folder| file.name.starts_with(folder))
    };
    let all: Vec<_> = files
        .iter()
        .filter(is_product)
        .flat_map(|file| functions(file).into_iter().map(move |function| (file, function)))
        .collect();
    assert!(all.len() > 3_000, "the functions were not found: {}", all.len());
    let too_long = all.into_iter().filter(|(_, (_, lines))| *lines > FUNCTION_LINES_MAX);
    let lines = too_long.map(|(file, (name, lines))| format!("{}: `{name}` has {lines} lines", file.name));
    report("at most 80 lines, or a step of the function is a function", lines.collect());
}

#[test]
fn the_lines_of_a_function_are_counted() {
    let text = "pub(crate) fn a<T>(\n    b: T,\n) {\n    if c {\n    }\n}\ntrait D {\n    fn e(\n        &self,\n    );\n    fn f(&self) {\n        g\n    }\n}\nfn h() {}\n";
    let file = File { name: "crates/x/src/a.rs".into(), text: text.into() };
    assert_eq!(functions(&file), [("a", 6), ("f", 3)]);
}
