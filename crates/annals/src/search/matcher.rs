//! Matches whole texts with a regular expression. It can be cancelled in the middle of a long text.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use regex::Regex;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input};

use crate::{Cancel, Error, ErrorKind, Result};

/// A longer text is matched step by step. Units: bytes.
const TEXT_BYTES_AT_ONCE: usize = 4_096;
/// Number of bytes of a text between two checks for cancellation.
const BYTES_UNCHECKED: usize = 1_024;
/// Memory of an automaton for its states. Units: bytes.
const STATES_BYTES: usize = 2 << 20;
/// Most work on a text that cannot be matched step by step. Units: states times bytes.
const WORK_MAX: usize = 64 << 20;

/// A regular expression that must match whole texts.
#[derive(Debug)]
pub(crate) struct Matcher {
    regex: Regex,
    // Made for the first long text.
    steps: OnceLock<Option<Steps>>,
    cancel: Option<Cancel>,
    failed: AtomicU8,
}

// The values of `failed`.
const CALLED_OFF: u8 = 1;
const TOO_LONG: u8 = 2;

/// The same expression as an automaton that reads one byte per step.
#[derive(Debug)]
struct Steps {
    automaton: DFA,
    states_count: usize,
    cache: Mutex<Cache>,
}

impl Matcher {
    /// From an expression between anchors.
    pub(super) fn new(regex: Regex) -> Matcher {
        Matcher { regex, steps: OnceLock::new(), cancel: None, failed: AtomicU8::new(0) }
    }

    /// The expression.
    pub(crate) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// Lets `cancel` stop it.
    pub(super) fn watch(&mut self, cancel: Cancel) {
        self.cancel = Some(cancel);
    }

    /// True if the text matches. False for all texts after it has stopped: call [`Matcher::check`].
    pub(super) fn is_match(&self, text: &str) -> bool {
        if text.len() <= TEXT_BYTES_AT_ONCE {
            return self.regex.is_match(text);
        }
        self.failed.load(Ordering::Relaxed) == 0 && self.is_long_match(text)
    }

    /// Errors: `Cancelled` if a match was cancelled; `TooLarge` if a text was too long for the expression.
    pub(super) fn check(&self) -> Result<()> {
        match self.failed.load(Ordering::Relaxed) {
            CALLED_OFF => Err(crate::cancel::cancelled()),
            TOO_LONG => Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "regular expression {:?}: expected shorter texts, because its Unicode word boundaries make it slow; \
                     write (?-u:\\b) for \\b",
                    self.as_str()
                ),
            )),
            _ => Ok(()),
        }
    }

    fn is_long_match(&self, text: &str) -> bool {
        let steps = self.steps.get_or_init(|| Steps::new(self.regex.as_str()));
        let found = steps.as_ref().map(|steps| steps.is_match(text, self.cancel.as_ref()));
        match found {
            Some(Ok(found)) => found,
            Some(Err(Stopped::CalledOff)) => self.fail(CALLED_OFF),
            Some(Err(Stopped::NoStep(states))) if states.saturating_mul(text.len()) <= WORK_MAX => {
                self.regex.is_match(text)
            }
            Some(Err(Stopped::NoStep(_))) | None => self.fail(TOO_LONG),
        }
    }

    fn fail(&self, why: u8) -> bool {
        self.failed.store(why, Ordering::Relaxed);
        false
    }
}

/// Why a match of a text stopped early.
enum Stopped {
    CalledOff,
    /// The automaton has no step for a byte of the text. Holds the number of states.
    NoStep(usize),
}

impl Steps {
    /// `None` if the expression cannot be matched in steps.
    fn new(source: &str) -> Option<Steps> {
        let nfa = thompson::Compiler::new()
            .configure(thompson::Config::new().nfa_size_limit(Some(8 * COMPILED_BYTES_MAX)))
            .build(source)
            .ok()?;
        let states_count = nfa.states().len();
        // With word boundaries of Unicode the automaton has no step for bytes that are not ASCII.
        let config = Config::new()
            .cache_capacity(STATES_BYTES)
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true);
        let automaton = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let cache = Mutex::new(automaton.create_cache());
        Some(Steps { automaton, states_count, cache })
    }

    fn is_match(&self, text: &str, cancel: Option<&Cancel>) -> std::result::Result<bool, Stopped> {
        let automaton = &self.automaton;
        let no_step = || Stopped::NoStep(self.states_count);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let input = Input::new(text).anchored(Anchored::Yes);
        let mut state = automaton.start_state_forward(&mut cache, &input).map_err(|_| no_step())?;
        for bytes in text.as_bytes().chunks(BYTES_UNCHECKED) {
            if cancel.is_some_and(Cancel::is_cancelled) {
                return Err(Stopped::CalledOff);
            }
            for byte in bytes {
                state = automaton.next_state(&mut cache, state, *byte).map_err(|_| no_step())?;
                if state.is_tagged() {
                    if state.is_dead() {
                        return Ok(false);
                    }
                    if state.is_quit() {
                        return Err(no_step());
                    }
                }
            }
        }
        let end = automaton.next_eoi_state(&mut cache, state).map_err(|_| no_step())?;
        Ok(end.is_match())
    }
}

/// Largest compiled form. Units: bytes.
pub(crate) const COMPILED_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn matcher(source: &str) -> Matcher {
        Matcher::new(Regex::new(&format!("^(?:{source})$")).unwrap())
    }

    #[test]
    fn long_texts_are_matched_as_short_ones() {
        let long = "x".repeat(TEXT_BYTES_AT_ONCE);
        let texts = [String::new(), "a".into(), "ab\n".into(), "é b".into(), "a b".into(), "\n".into()];
        for source in [
            "x*a",
            "x*",
            "x*.*",
            "(?s)x*.*",
            "(?m)x*$\na?",
            "x+\\b.*b",
            "(?i)X*AB?\n",
            "x{2,9}|x*é b",
            "[^é]*",
        ] {
            let matcher = matcher(source);
            for text in &texts {
                let text = format!("{long}{text}");
                assert_eq!(
                    matcher.is_match(&text),
                    matcher.regex.is_match(&text),
                    "{source:?} {:?}",
                    &text[4_090..]
                );
                matcher.check().unwrap();
            }
        }
    }

    // Without this, 256 KiB took seconds and 16 MiB minutes, even if the client had gone.
    #[test]
    fn a_match_is_called_off_in_the_middle_of_a_text() {
        let mut matcher = matcher("[ab]*a[ab]{1500}c");
        let mut random = 1_u64;
        let mut bit = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if random >> 63 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..4 << 20).map(|_| bit()).collect();
        let start = Instant::now();
        matcher.watch(Cancel::after(Duration::from_millis(200)));
        assert!(!matcher.is_match(&text));
        assert_eq!(matcher.check().unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    #[test]
    fn what_cannot_be_called_off_is_refused() {
        let matcher = matcher("(?:é|\\b\\w{20}\\b|.)*");
        let text = "é".repeat(1 << 20);
        assert!(!matcher.is_match(&text));
        assert_eq!(matcher.check().unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
