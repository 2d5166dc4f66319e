//! Tells what may come next in the text of a search, so that a page can complete it while a user types.

use std::sync::Arc;

use super::expression::Field;
use super::find::Find;
use super::lex::{Token, is_word_character, next_token, start_of};
use super::parse::{Parser, TEXT_BYTES_MAX};
use crate::{Error, ErrorKind, Result};

/// Something that may come at a place of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// This word or sign of the language.
    Word(&'static str),
    /// The name of a type of what is searched.
    Type,
    /// The name of a type of relationships.
    RelationshipType,
    /// The name of a classification.
    Classification,
    /// The name of a status.
    Status,
    /// The name of a property, or a header.
    Field,
    /// A value of this field.
    Value(Field),
}

impl Expected {
    /// The words of errors.
    pub(super) fn text(&self) -> &'static str {
        match self {
            Expected::Word(word) => word,
            Expected::Type => "a type",
            Expected::RelationshipType => "a relationship type or *",
            Expected::Classification => "a classification",
            Expected::Status => "a status",
            Expected::Field => "a property or a header such as @createdAt",
            Expected::Value(_) => "a value",
        }
    }
}

/// The continuations of a search at its cursor. Made by [`Find::completion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins that a completion replaces, up to the cursor. Units: bytes.
    pub from: usize,
    /// The word so far, without the quote before it. Shape: of a header with `@`.
    pub begun: String,
    /// The quote before the word: `'`, `"`, or, before a name, a backtick.
    pub quote: Option<char>,
    /// Everything that the word may become. Shape: each once; empty if the text before it is no beginning of a search.
    pub expected: Vec<Expected>,
    /// The types that the search names before the word.
    pub types: Vec<Arc<str>>,
}

impl Find {
    /// The continuations at the cursor of a text that need not be a whole search.
    ///
    /// Units: `cursor` in bytes.
    /// Errors: `TooLarge` for a text of more than [`TEXT_BYTES_MAX`] bytes; `InvalidArgument` for a cursor that is behind the text
    /// or within a character.
    ///
    /// ```
    /// use annals::{Expected, Field, Find};
    /// # fn main() -> annals::Result<()> {
    /// let text = "package where section = sh";
    /// let found = Find::completion(text, text.len())?;
    /// assert_eq!((found.from, &*found.begun), (24, "sh"));
    /// assert_eq!(found.expected, [Expected::Value(Field::Property("section".into()))]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn completion(text: &str, cursor: usize) -> Result<Completion> {
        if text.len() > TEXT_BYTES_MAX {
            let text = format!("search: expected at most {TEXT_BYTES_MAX} bytes, found {}", text.len());
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let Some(before) = text.get(..cursor) else {
            let text = format!(
                "cursor: expected the beginning of a character of {} bytes, found {cursor}",
                text.len()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        };
        let Some((from, begun, quote)) = begun(before) else { return Ok(Completion::nothing(cursor)) };
        let (expected, types) = expected_behind(&before[..from]);
        // Quotes hold a value, and backticks a name.
        let fits = |expected: &Expected| match (quote, expected) {
            (None, _) | (Some('\'' | '"'), Expected::Value(_)) => true,
            (Some('`'), expected) => !matches!(expected, Expected::Word(_) | Expected::Value(_)),
            _ => false,
        };
        let expected = expected.into_iter().filter(fits).collect();
        Ok(Completion { from, begun: begun.to_owned(), quote, expected, types })
    }
}

impl Completion {
    fn nothing(from: usize) -> Completion {
        Completion { from, begun: String::new(), quote: None, expected: Vec::new(), types: Vec::new() }
    }
}

impl Parser<'_> {
    /// Notes that this may come here, if this is the end of the text.
    pub(super) fn note(&self, expected: Expected) {
        if matches!(self.peek(), Token::End) {
            let mut noted = self.expected.borrow_mut();
            if !noted.contains(&expected) {
                noted.push(expected);
            }
        }
    }

    /// Everything that may come at the end of the text that was read.
    fn into_expected(self) -> Vec<Expected> {
        self.expected.into_inner()
    }

    /// Notes that a value of the field may come here, if this is the end of the text.
    pub(super) fn note_value(&self) {
        if let (Token::End, Some(field)) = (self.peek(), &self.field) {
            self.note(Expected::Value(field.clone()));
        }
    }
}

/// The word that a text ends with: where it begins, the word without its quote, and the quote. `None` if it ends in a regular
/// expression, or cannot be read.
fn begun(text: &str) -> Option<(usize, &str, Option<char>)> {
    let (mut last, mut next) = (None, 0);
    loop {
        match next_token(text, next) {
            Ok(Some((token, at, end))) => (last, next) = (Some((token, at)), end),
            Ok(None) => break,
            Err(_) => {
                let at = start_of(text, next);
                let quote = text[at..].chars().next().filter(|first| ['\'', '"', '`'].contains(first))?;
                return Some((at, &text[at + quote.len_utf8()..], Some(quote)));
            }
        }
    }
    match last {
        Some((Token::Word(_), at)) if text.ends_with(is_word_character) => Some((at, &text[at..], None)),
        Some((Token::Header(_), at)) if !text.ends_with(char::is_whitespace) => Some((at, &text[at..], None)),
        _ => Some((text.len(), "", None)),
    }
}

/// Everything that may come behind a text, and the types that it names.
fn expected_behind(text: &str) -> (Vec<Expected>, Vec<Arc<str>>) {
    let (Ok(mut whole), Ok(mut condition)) = (Parser::new(text), Parser::new(text)) else {
        return (Vec::new(), Vec::new());
    };
    let mut find = Find::all();
    // Both may fail at the end of the text, which is where they note what they asked for.
    let _ = whole.find(&mut find);
    let mut expected = whole.into_expected();
    // A word alone is a type, or the property of a condition without a type.
    if find.filter == Find::all().filter {
        let _ = condition.expression(0);
        let others = condition.into_expected();
        expected.extend(others.into_iter().filter(|other| !expected.contains(other)).collect::<Vec<_>>());
    }
    (expected, find.types)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that may come where the text has a bar, in words.
    fn expected(text: &str) -> Vec<String> {
        let cursor = text.find('|').unwrap();
        let found = Find::completion(&text.replace('|', ""), cursor).unwrap();
        let told = |expected: &Expected| match expected {
            Expected::Value(Field::Property(name)) => format!("a value of {name}"),
            other => other.text().to_owned(),
        };
        found.expected.iter().map(told).collect()
    }

    fn begun_at(text: &str) -> (usize, String, Option<char>) {
        let found = Find::completion(text, text.len()).unwrap();
        (found.from, found.begun, found.quote)
    }

    #[test]
    fn each_place_has_its_continuations() {
        let has = |text: &str, wanted: &[&str], others: &[&str]| {
            let found = expected(text);
            assert!(
                wanted.iter().all(|wanted| found.iter().any(|found| found == wanted)),
                "{text}: {found:?}"
            );
            assert!(
                !others.iter().any(|other| found.iter().any(|found| found == other)),
                "{text}: {found:?}"
            );
        };
        const FIELD: &str = "a property or a header such as @createdAt";
        has("|", &["a type", FIELD, "not", "classified", "order"], &["=", "and", "where"]);
        has("pack|", &["a type", FIELD], &["="]);
        has("package |", &["where", "only", "=", "limit", ","], &["a type", "and"]);
        has("package, |", &["a type"], &["where", FIELD]);
        has("package where |", &[FIELD, "not", "is", "has", "("], &["a type", "=", "order"]);
        has("package where size |", &["=", "between", "is", "~="], &[FIELD, "and"]);
        has("package where size >= |", &["a value of size"], &[FIELD]);
        has("package where size >= 5 |", &["and", "or", "nocase", "order"], &[FIELD, "="]);
        has("package where size >= 5 and |", &[FIELD], &["a value of size", "order"]);
        has("package where size in (1, |", &["a value of size"], &[FIELD]);
        has("package where classified |", &["a classification"], &["a type"]);
        has("package where has out |", &["a relationship type or *", "*"], &["a type"]);
        has("package where has out reads to (|", &[FIELD], &["order"]);
        has("package order by |", &[FIELD], &["and"]);
        has("package order by size |", &["desc", "asc", "limit", ","], &["and"]);
        has("package status |", &["a status", "deleted"], &["and"]);
        has("package deleted |", &["with", "only"], &["and"]);
        has("size > 5 or |", &[FIELD], &["a type"]);
        // Only the text before the cursor counts.
        has("package where s| > 5 and", &[FIELD], &["="]);
    }

    #[test]
    fn what_cannot_be_read_may_become_nothing() {
        for text in ["package wher x |", "size > > |", "name =~ /a|", "a = 'b' 'c' |", "limit |", "§ |"] {
            let found = expected(text);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn the_word_at_the_cursor_is_replaced_with_its_quote() {
        assert_eq!(begun_at("package where s"), (14, "s".into(), None));
        assert_eq!(begun_at("package where "), (14, String::new(), None));
        assert_eq!(begun_at("package where @cre"), (14, "@cre".into(), None));
        assert_eq!(begun_at("package where s >="), (18, String::new(), None));
        assert_eq!(begun_at("s = 'a b"), (4, "a b".into(), Some('\'')));
        assert_eq!(begun_at("`a b"), (0, "a b".into(), Some('`')));
        assert_eq!(expected("s = 'a|"), ["a value of s"]);
        assert_eq!(expected("where `a|"), ["a property or a header such as @createdAt"]);
    }

    #[test]
    fn a_cursor_beside_the_text_is_refused() {
        for cursor in [1, 3] {
            let refused = Find::completion("é", cursor).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
        }
        let long = "a".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(Find::completion(&long, 0).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
