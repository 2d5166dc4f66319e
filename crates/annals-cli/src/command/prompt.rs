//! The prompt of the shell: a line with keys to edit it, completion, and a history in a file.

use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use annals::storage::private_files;
use annals::{Error, Result};
use rustyline::completion::{Completer, Pair};
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

/// Most lines in the history.
const LINES_MAX: usize = 10_000;
/// The file of the history, where users keep such files.
const HISTORY: &str = "annals/history";
/// Options whose values are secrets.
const SECRETS: [&str; 1] = ["--source-user"];
/// Tokens begin so.
const TOKEN: &str = "annals_";

/// Completes the word that a line ends with. Shape: the words before it, and its beginning; the words it may be.
pub type Complete = Box<dyn Fn(&[String], &str) -> Vec<String>>;

/// A prompt at a terminal.
pub struct Prompt {
    editor: Editor<Completing, FileHistory>,
    text: String,
    /// `None` to store no lines.
    history: Option<PathBuf>,
}

impl Prompt {
    /// A prompt that shows the name of the place before each line.
    ///
    /// Errors: `Io` if the terminal or the history cannot be used.
    pub fn new(name: &str, complete: Complete) -> Result<Prompt> {
        let config =
            Config::builder().completion_type(CompletionType::List).history_ignore_space(true).build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_max_history_size(LINES_MAX).map_err(failed)?;
        editor.set_helper(Some(Completing(complete)));
        let history = history_path();
        if let Some(path) = &history {
            make_private(path)
                .map_err(|error| Error::io("open the history", error).with("path", path.display()))?;
            // A file of another program is no reason to refuse the prompt.
            let _ = editor.load_history(path);
        }
        Ok(Prompt { editor, text: format!("{name}> "), history })
    }

    /// The next line; `None` at the end of the input. Ctrl-C discards a line.
    ///
    /// Errors: `Io`.
    pub fn line(&mut self) -> Result<Option<String>> {
        loop {
            match self.editor.readline(&self.text) {
                Ok(line) => {
                    self.note(&line)?;
                    return Ok(Some(line));
                }
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Adds a line to the history, unless it holds a secret.
    fn note(&mut self, line: &str) -> Result<()> {
        if has_secret(line) || !self.editor.add_history_entry(line).map_err(failed)? {
            return Ok(());
        }
        let Some(path) = &self.history else { return Ok(()) };
        // Order: at once, so that a shell that is killed loses no line.
        self.editor.append_history(path).map_err(failed)?;
        make_private(path).map_err(|error| Error::io("write the history", error).with("path", path.display()))
    }
}

fn failed(error: ReadlineError) -> Error {
    match error {
        ReadlineError::Io(error) => Error::io("read a line", error),
        other => Error::io("read a line", io::Error::other(other)),
    }
}

/// True if a line has a password or a token.
fn has_secret(line: &str) -> bool {
    let is_token = |word: &str| {
        let digits = word.rsplit('_').next().unwrap_or_default();
        word.starts_with(TOKEN) && digits.len() > 30
    };
    SECRETS.iter().any(|option| line.contains(option))
        || line.split(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter)).any(is_token)
}

/// The file of the history: `ANNALS_HISTORY`, or one in the folder of the user. `None` to store none.
fn history_path() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let Some(path) = named("ANNALS_HISTORY") {
        return Some(path).filter(|path| !path.as_os_str().is_empty());
    }
    let state = named("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| named("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join(HISTORY))
}

/// Creates a file that only its owner can read, or takes the rights of others away from it.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_files::create_folder(folder)?;
    }
    let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

/// Completes the last word of a line.
struct Completing(Complete);

impl Completer for Completing {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = &line[..end];
        let start = line.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        // A word with an open quote is left as it is.
        let Some(mut words) = shlex::split(&line[..start]) else { return Ok((end, Vec::new())) };
        if words.first().is_some_and(|word| word == "annals") {
            words.remove(0);
        }
        let pair = |word: String| {
            let quoted = shlex::try_quote(&word).map_or_else(|_| word.clone(), |quoted| quoted.into_owned());
            Pair { display: word, replacement: format!("{quoted} ") }
        };
        Ok((start, (self.0)(&words, &line[start..]).into_iter().map(pair).collect()))
    }
}

impl Helper for Completing {}
impl Highlighter for Completing {}
impl Validator for Completing {}
impl Hinter for Completing {
    type Hint = String;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_secrets_are_known() {
        let token = format!("annals_ada_{}", "x".repeat(43));
        for line in [format!("find {token}"), "import ldp --source-user ada:secret a b".to_owned()] {
            assert!(has_secret(&line), "{line}");
        }
        for line in ["find annals_data", "get annals.Grant", "access explain ada annals_ada_x"] {
            assert!(!has_secret(line), "{line}");
        }
    }
}
