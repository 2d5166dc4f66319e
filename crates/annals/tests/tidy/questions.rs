//! Follows ARCHITECTURE.md as a newcomer with a question does: the page names a file, and the file has the answer.

use super::files;

/// The page where all questions begin.
const PAGE: &str = "ARCHITECTURE.md";
/// Most steps to any answer: the page, and two files. Their mean is at most `MEAN_MAX`.
const STEPS_MAX: usize = 3;
const MEAN_MAX: usize = 2;

/// A question, and the way to its answer.
struct Question {
    asked: &'static str,
    /// One paragraph, row or entry of the page has all these words, and names the first file.
    words: &'static [&'static str],
    /// The files on the way. Each but the first is named in the one before it.
    way: &'static [File],
}

struct File {
    path: &'static str,
    /// How the page, or the file before, names it.
    named: &'static str,
    /// The names and phrases in it that answer, or lead on.
    answers: &'static [&'static str],
}

const QUESTIONS: [Question; 12] = [
    Question {
        asked: "Is the place of a child in an ordered container unique?",
        words: &["ordered container", "place", "unique"],
        way: &[File {
            path: "crates/annals/src/graph/containment.rs",
            named: "`annals/src/graph/containment.rs`",
            answers: &[
                "fn check_child_name(",
                "fn check_order(",
                "names of children are unique in their parent",
            ],
        }],
    },
    Question {
        asked: "How does a grant hide an instance from a search?",
        words: &["grant", "hides", "search"],
        way: &[File {
            path: "crates/annals/src/read/find/by_plan.rs",
            named: "`annals/src/read/find/by_plan.rs`",
            answers: &["snapshot.slots_in_sight(kind)", "domain.of_slots("],
        }],
    },
    Question {
        asked: "Where is the token of a request checked?",
        words: &["token", "checked"],
        way: &[File {
            path: "crates/annals-server/src/access/proofs.rs",
            named: "`annals-server/src/access/proofs.rs`",
            answers: &["pub async fn prove(", "fn prove_token(", "tokens.find(token"],
        }],
    },
    Question {
        asked: "Where does a call of the JVM land?",
        words: &["call of the JVM", "Rust"],
        way: &[File {
            path: "bindings/jvm/native/src/lib.rs",
            named: "`bindings/jvm/native/src/lib.rs`",
            answers: &["fn Java_dev_annals_Native_open", "fn Java_dev_annals_Native_apply"],
        }],
    },
    Question {
        asked: "What are the bytes of a record?",
        words: &["bytes of a record"],
        way: &[File {
            path: "crates/annals/src/record/encode.rs",
            named: "`annals/src/record/encode.rs`",
            answers: &["pub(crate) fn encode_record("],
        }],
    },
    Question {
        asked: "Where is a range of deletions applied?",
        words: &["deletions", "range", "applied"],
        way: &[File {
            path: "crates/annals/src/graph/actions/delete_together.rs",
            named: "`annals/src/graph/actions/delete_together.rs`",
            answers: &["fn delete_together(", "one by one"],
        }],
    },
    Question {
        asked: "How do I add an index?",
        words: &["| an index |"],
        way: &[File {
            path: "docs/extending.md",
            named: "(docs/extending.md)",
            answers: &["## Adding an index", "`graph/index/<name>.rs`", "one of the two lists"],
        }],
    },
    Question {
        asked: "How do I add an action?",
        words: &["`actions/`", "how to add one"],
        way: &[File {
            path: "docs/extending.md",
            named: "(docs/extending.md#adding-an-action)",
            answers: &["## Adding an action", "`apply`"],
        }],
    },
    Question {
        asked: "How do I add an endpoint?",
        words: &["| an endpoint |", "`endpoints()`", "`access/needs.rs`"],
        way: &[File {
            path: "crates/annals-server/src/access/needs.rs",
            named: "`access/needs.rs`",
            answers: &["pub fn of_operation("],
        }],
    },
    Question {
        asked: "How do I add a command?",
        words: &["| a command |"],
        way: &[File {
            path: "crates/annals-cli/src/command/mod.rs",
            named: "`annals-cli/src/command/`: a file, and its line in `mod.rs`",
            answers: &["enum Command {"],
        }],
    },
    Question {
        asked: "How do I add an error kind?",
        words: &["| an error kind |"],
        way: &[File {
            path: "crates/annals/src/error.rs",
            named: "error.rs",
            answers: &["pub enum ErrorKind {", "pub const ALL: [ErrorKind;", "pub fn name(self)"],
        }],
    },
    Question {
        asked: "What happens when a repository is opened after `kill -9`?",
        words: &["`kill -9`", "opening"],
        way: &[File {
            path: "crates/annals/src/log/file/recovery.rs",
            named: "`log/file/recovery.rs`",
            answers: &["fn recover(", "fn scan_last(", "fn make_durable("],
        }],
    },
];

/// The paragraphs of a page, its rows and its entries. Shape: each on one line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        let line = line.trim();
        let begins = |sign: &str| line.starts_with(sign);
        let is_entry = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if is_new || begins("|") || begins("- ") || begins("#") || is_entry || line.is_empty() {
            found.push(String::new());
        }
        is_new = line.is_empty() || begins("#");
        let last = found.last_mut().expect("one was pushed");
        *last = format!("{last} {line}").trim().to_owned();
    }
    found
}

#[test]
fn the_page_leads_to_the_answers_in_few_steps() {
    let files = files();
    let text = |path: &str| files.iter().find(|file| file.name == path).map(|file| &*file.text);
    let page = paragraphs(text(PAGE).expect("the page is there"));
    let mut wrong = Vec::new();
    let mut steps_count = 0;
    for Question { asked, words, way } in QUESTIONS {
        let first = way.first().expect("a way has a file").named;
        let has_all = |paragraph: &&String| words.iter().chain([&first]).all(|word| paragraph.contains(word));
        if !page.iter().any(|paragraph| has_all(&paragraph)) {
            wrong.push(format!("{asked} {PAGE}: expected {words:?} beside {first}"));
        }
        let mut before: Option<&str> = None;
        for File { path, named, answers } in way {
            let Some(text) = text(path) else {
                wrong.push(format!("{asked} {path} is not there"));
                break;
            };
            if before.is_some_and(|before| !before.contains(named)) {
                wrong.push(format!("{asked} expected {named} in the file before {path}"));
            }
            let missing = answers.iter().filter(|answer| !text.contains(*answer));
            wrong.extend(missing.map(|answer| format!("{asked} {path}: expected {answer:?}")));
            before = Some(text);
        }
        let steps = 1 + way.len();
        if steps > STEPS_MAX {
            wrong.push(format!("{asked} expected at most {STEPS_MAX} steps, found {steps}"));
        }
        steps_count += steps;
    }
    if steps_count > MEAN_MAX * QUESTIONS.len() {
        wrong.push(format!("expected at most {MEAN_MAX} steps on average, found {steps_count} in all"));
    }
    super::report("the page leads to each answer", wrong);
}

#[test]
fn a_row_and_an_entry_are_paragraphs_of_their_own() {
    let page = "# A\nb\nc\n\n| d |\n| e |\n\n1. f\n   g\n2. h\n";
    let found: Vec<String> = paragraphs(page).into_iter().filter(|found| !found.is_empty()).collect();
    assert_eq!(found, ["# A", "b c", "| d |", "| e |", "1. f g", "2. h"]);
}
