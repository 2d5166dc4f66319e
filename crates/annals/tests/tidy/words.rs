//! Refuses sentences in comments and pages whose subject is no thing, or whose verb means another one.

use std::collections::BTreeMap;

use super::{File, files, report};

/// Files with sentences that are still to be rewritten. Shape: a count and a path on each line; the list only shrinks.
const LEFT: &str = include_str!("words_left.txt");

/// The marker of a comment behind code.
const AFTER_CODE: &str = "code //";

/// Begin a sentence only if it is a question.
const SUBJECTS: [&str; 3] = ["What", "Who", "Whoever"];

/// Prose between two blank lines, joined to one line.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Where the lines begin. Shape: `[(byte in the text, number of the line)]`, ascending.
    lines: Vec<(usize, usize)>,
}

impl Paragraph {
    fn push(&mut self, number: usize, text: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        self.text += text;
    }

    /// Refused sentences: the line where each begins, and its text.
    fn refused(&self) -> Vec<(usize, &str)> {
        let prose = without_code(&self.text);
        let line = |start: usize| {
            self.lines.iter().rev().find(|(begin, _)| *begin <= start).map_or(1, |(_, line)| *line)
        };
        let found = sentences(&prose).into_iter().filter(|(start, end)| is_refused(&prose[*start..*end]));
        found.map(|(start, end)| (line(start), self.text[start..end].trim())).collect()
    }
}

/// The text with the letters between backticks replaced, byte by byte.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let letter = |letter: char| {
        is_code ^= letter == '`';
        if is_code && letter != '`' { "x".repeat(letter.len_utf8()) } else { letter.to_string() }
    };
    text.chars().map(letter).collect()
}

/// The sentences of a paragraph. Shape: `[(start, end)]` in bytes.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for (end, _) in text.match_indices(' ') {
        if text[start..end].trim_end_matches(is_closing).ends_with(['.', '!', '?']) {
            found.push((start, end));
            start = end + 1;
        }
    }
    found.push((start, text.len()));
    found
}

/// True for signs that may follow the end of a sentence.
fn is_closing(letter: char) -> bool {
    matches!(letter, ')' | '"' | '”' | '\'' | '*' | '_')
}

/// True for `What …` that is no question, for `stands in` and `stands at`, and for `as far as … tells`.
fn is_refused(sentence: &str) -> bool {
    let is_sign = |letter: char| !letter.is_alphanumeric();
    let first = sentence.trim_start_matches(|letter| is_sign(letter) && letter != '`');
    let first = first.split(is_sign).next().unwrap_or_default();
    let is_question = sentence.trim_end_matches(is_closing).ends_with('?');
    let words: Vec<&str> = sentence.split_whitespace().map(|word| word.trim_matches(is_sign)).collect();
    let stands = |words: &[&str]| {
        let verb = ["stand", "stands", "Stands"].contains(&words[0]);
        verb && ["in", "at"].contains(&words[1]) && words.get(2) != Some(&"for")
    };
    let stands = (1..words.len()).any(|end| stands(&words[end - 1..words.len().min(end + 2)]));
    let far = words.windows(3).position(|words| matches!(words, ["as" | "As", "far", "as"]));
    let tells = far.is_some_and(|far| words[far..].iter().any(|word| ["tell", "tells"].contains(word)));
    (SUBJECTS.contains(&first) && !is_question) || stands || tells
}

/// The marker and the text of a comment on a line of Rust.
fn comment(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start();
    let marker = ["///", "//!", "//"].into_iter().find(|marker| trimmed.starts_with(marker));
    if let Some(marker) = marker {
        return Some((marker, trimmed[marker.len()..].trim()));
    }
    let (code, text) = line.split_once(" // ")?;
    code.matches('"').count().is_multiple_of(2).then_some((AFTER_CODE, text))
}

/// True for the sign of a heading, of an entry of a list, of a quotation or of a row of a table.
fn begins_item(sign: &str) -> bool {
    let number = sign.strip_suffix('.').is_some_and(|number| number.parse::<u8>().is_ok());
    ["-", "*", "|", ">"].contains(&sign) || sign.starts_with('#') || number
}

/// The paragraphs of a page, or of the comments of a source file, without blocks of code.
fn paragraphs(text: &str, is_source: bool) -> Vec<Paragraph> {
    let mut found = vec![Paragraph::default()];
    let mut marker = "";
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (next, text) = if is_source { comment(line).unwrap_or_default() } else { ("", line.trim()) };
        let sign = text.split(' ').next().unwrap_or_default();
        if next != marker || text.is_empty() || begins_item(sign) || next == AFTER_CODE {
            found.push(Paragraph::default());
            is_code &= next == marker;
            marker = next;
        }
        if text.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let text = if begins_item(sign) { &text[sign.len()..] } else { text };
            for cell in text.split(" | ") {
                found.last_mut().expect("there is one").push(number, cell.trim());
                if sign == "|" || sign.starts_with('#') {
                    found.push(Paragraph::default());
                }
            }
        }
    }
    found
}

fn refused(file: &File) -> Vec<String> {
    let all = paragraphs(&file.text, file.is_source());
    let found = all.iter().flat_map(Paragraph::refused);
    found.map(|(line, text)| format!("{}:{line}: {text}", file.name)).collect()
}

#[test]
fn sentences_have_a_thing_as_their_subject() {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for line in LEFT.lines().filter(|line| !line.starts_with('#')) {
        let (count, path) = line.split_once(' ').expect("a count and a path");
        left.insert(path, count.parse().expect("a count"));
    }
    let mut wrong = Vec::new();
    let files = files();
    for file in files.iter().filter(|file| file.is_source() || file.name.ends_with(".md")) {
        let found = refused(file);
        let expected = left.remove(&*file.name).unwrap_or_default();
        if found.len() < expected {
            let name = &file.name;
            wrong.push(format!(
                "{name}: {expected} in words_left.txt, found {}; lower the count",
                found.len()
            ));
        } else if found.len() > expected {
            wrong.extend(found);
        }
    }
    wrong.extend(left.keys().map(|path| format!("{path}: is not there; remove it from words_left.txt")));
    report(
        "a sentence has a thing as its subject, not What, Who or Whoever; a thing *is in* a place and does not stand there; \
         leave out `as far as … tells`",
        wrong,
    );
}

#[test]
fn the_rules_for_sentences_see_prose_and_not_code_or_questions() {
    let lines = |text: &str, is_source| {
        let all = paragraphs(text, is_source);
        all.iter().flat_map(Paragraph::refused).map(|(line, _)| line).collect::<Vec<_>>()
    };
    let source = "//! Holds a map. What\n//! is there stays.\nfn f() {\n    // Whoever asks, waits.\n    let a = 1; // Who writes.\n\
                  let b = \"a // What is b\";\n}\n/// It works as\n/// far as the log tells.\n/// ```\n/// // What is code\n\
                  \n/// The name stands\n/// in a file.\n";
    assert_eq!(lines(source, true), [1, 4, 5, 8, 13]);
    let page = "# What it is\n\nA page. (What it does.)\n- One.\n- Who acts.\n\n| a | b |\n| x | What y is |\n\n1. **Whoever** comes.\n\n\
                ```\nWhat is code\n```\nIt stands at 5.\n";
    assert_eq!(lines(page, false), [1, 3, 5, 8, 10, 15]);
    let right = "What is it? \"Who asks?\" A stand-in for MongoDB stands in for it. `What` acts. `a. What` too. Whatever comes \
                 is read, as far as it is there. Threads stand still. 2 What\n";
    assert!(lines(right, false).is_empty());
}
