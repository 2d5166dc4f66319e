//! Patterns of texts: regular expressions, and simpler forms that need none.

use super::matcher::COMPILED_BYTES_MAX;
use regex::RegexBuilder;
use regex_syntax::hir::{Dot, Hir, HirKind};

use super::expression::{Condition, Operator};
use super::matcher::Matcher;
use crate::model::Value;
use crate::{Cancel, Error, ErrorKind, Result};

/// Longest regular expression. Units: bytes.
pub const PATTERN_BYTES_MAX: usize = 4_096;
/// Deepest nesting of a regular expression.
const NESTING_MAX: u32 = 64;

/// A test of one text.
#[derive(Debug)]
pub(crate) enum Pattern {
    Equal(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Contains(Box<str>),
    /// The same for texts without a line break.
    OneLine(Box<Pattern>),
    /// Whole texts only.
    Matches(Box<Matcher>),
}

impl Pattern {
    /// The pattern of a condition on texts; `None` for other conditions.
    ///
    /// Errors: `InvalidExpression` for a bad regular expression, `TooLarge` for one that is over a bound.
    pub(crate) fn of(condition: &Condition) -> Result<Option<Pattern>> {
        let texts: Vec<&str> = condition.values.iter().filter_map(Value::as_str).collect();
        let Some(first) = texts.first() else { return Ok(None) };
        let escaped = || regex::escape(first);
        let source = match (condition.operator, condition.ignores_case) {
            (Operator::Matches, false) => return Pattern::matches(first, false).map(Some),
            (Operator::Matches, true) => (*first).to_owned(),
            (Operator::Equal, false) => return Ok(Some(Pattern::Equal((*first).into()))),
            (Operator::Prefix, false) => return Ok(Some(Pattern::Prefix((*first).into()))),
            (Operator::Suffix, false) => return Ok(Some(Pattern::Suffix((*first).into()))),
            (Operator::Contains, false) => return Ok(Some(Pattern::Contains((*first).into()))),
            (Operator::Equal | Operator::NotEqual, true) => escaped(),
            (Operator::Prefix, true) => format!("{}(?s:.*)", escaped()),
            (Operator::Suffix, true) => format!("(?s:.*){}", escaped()),
            (Operator::Contains, true) => format!("(?s:.*){}(?s:.*)", escaped()),
            (Operator::In, ignores_case) if ignores_case || condition.field == super::Field::AnyText => {
                texts.iter().map(|text| regex::escape(text)).collect::<Vec<_>>().join("|")
            }
            _ => return Ok(None),
        };
        Pattern::matches(&source, condition.ignores_case).map(Some)
    }

    /// Errors: as [`Pattern::of`], as far as they are found without compiling, which takes longer.
    pub(crate) fn check_syntax(condition: &Condition) -> Result<()> {
        match condition.values.first().and_then(Value::as_str) {
            Some(source) if condition.operator == Operator::Matches => {
                parse(source, condition.ignores_case).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn matches(source: &str, ignores_case: bool) -> Result<Pattern> {
        let Some((source, parsed)) = parse(source, ignores_case)? else {
            return Ok(Pattern::Equal(plain(source).unwrap_or(source).into()));
        };
        if let Some(simple) = simple(&parsed) {
            return Ok(simple);
        }
        let regex = RegexBuilder::new(&format!("^(?:{source})$"))
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX)
            .nest_limit(NESTING_MAX + 2)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => Error::new(
                    ErrorKind::TooLarge,
                    format!("regular expression: expected at most {limit} bytes when compiled; make it shorter, or its repetitions smaller"),
                ),
                other => Error::new(ErrorKind::InvalidExpression, format!("regular expression {source:?}: {other}")),
            })?;
        Ok(Pattern::Matches(Box::new(Matcher::new(regex))))
    }

    /// True if `text` matches.
    #[inline]
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Equal(wanted) => text == &**wanted,
            Pattern::Prefix(prefix) => text.starts_with(&**prefix),
            Pattern::Suffix(suffix) => text.ends_with(&**suffix),
            Pattern::Contains(part) => text.contains(&**part),
            Pattern::OneLine(pattern) => pattern.is_match(text) && !text.contains('\n'),
            Pattern::Matches(matcher) => matcher.is_match(text),
        }
    }

    /// The same; `cancel` stops it in the middle of a text.
    pub(crate) fn watch(&mut self, cancel: Option<&Cancel>) {
        if let (Pattern::Matches(matcher), Some(cancel)) = (self, cancel) {
            matcher.watch(cancel.clone());
        }
    }

    /// Errors: those of a match that stopped. Such a match may have reported any text as not matching.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Pattern::Matches(matcher) => matcher.check(),
            _ => Ok(()),
        }
    }
}

/// The expression with quoted parts as escapes, and its parsed form; `None` if it is a plain text.
///
/// Errors: `InvalidExpression` if it is malformed, `TooLarge` if it is too long.
fn parse(source: &str, ignores_case: bool) -> Result<Option<(String, Hir)>> {
    if source.len() > PATTERN_BYTES_MAX {
        let length = source.len();
        let text = format!("regular expression: expected at most {PATTERN_BYTES_MAX} bytes, found {length}");
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    if !ignores_case && plain(source).is_some() {
        return Ok(None);
    }
    let source = unquoted(source);
    let source = if ignores_case { format!("(?i){source}") } else { source };
    // Parsed without the anchors first, so that an extra closing bracket is found, and errors have the right offsets.
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(NESTING_MAX).build().parse(&source);
    let parsed = parsed.map_err(|error| bad(&source, &error))?;
    Ok(Some((source, parsed)))
}

/// The simple form of a regular expression that only tests whether texts are equal, begin with, end with or contain a
/// text: it needs no automaton, and can use an index better.
fn simple(parsed: &Hir) -> Option<Pattern> {
    let parts = match parsed.kind() {
        HirKind::Concat(parts) => &parts[..],
        _ => std::slice::from_ref(parsed),
    };
    let (begins_open, parts) = without_any(parts.split_first(), parts);
    let (ends_open, parts) = without_any(parts.split_last(), parts);
    let text = match parts {
        [] => "",
        [only] => match only.kind() {
            HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok()?,
            HirKind::Empty => "",
            _ => return None,
        },
        _ => return None,
    };
    let pattern = match (begins_open, ends_open) {
        (None, None) => return Some(Pattern::Equal(text.into())),
        (None, Some(_)) => Pattern::Prefix(text.into()),
        (Some(_), None) => Pattern::Suffix(text.into()),
        (Some(_), Some(_)) => Pattern::Contains(text.into()),
    };
    match [begins_open, ends_open].into_iter().flatten().collect::<Vec<Dot>>()[..] {
        [Dot::AnyChar] | [Dot::AnyChar, Dot::AnyChar] => Some(pattern),
        _ if text.contains('\n') || [begins_open, ends_open].contains(&Some(Dot::AnyChar)) => None,
        _ => Some(Pattern::OneLine(Box::new(pattern))),
    }
}

/// Removes `.*` from one end of a list of parts. Shape: the removed part, and the others.
fn without_any<'p>(divided: Option<(&'p Hir, &'p [Hir])>, parts: &'p [Hir]) -> (Option<Dot>, &'p [Hir]) {
    let Some((end, others)) = divided else { return (None, parts) };
    let HirKind::Repetition(repetition) = end.kind() else { return (None, parts) };
    let dot = [Dot::AnyChar, Dot::AnyCharExceptLF].into_iter().find(|dot| *repetition.sub == Hir::dot(*dot));
    match dot {
        Some(dot) if repetition.min == 0 && repetition.max.is_none() => (Some(dot), others),
        _ => (None, parts),
    }
}

/// The text of a regular expression without special characters, or with all of it quoted.
fn plain(source: &str) -> Option<&str> {
    let quoted = source.strip_prefix("\\Q").and_then(|rest| rest.strip_suffix("\\E"));
    match quoted {
        Some(text) => (!text.contains("\\E")).then_some(text),
        None => (!source.chars().any(regex_syntax::is_meta_character)).then_some(source),
    }
}

/// The regular expression with quoted parts (`\Q…\E`, as in other languages) as escapes.
fn unquoted(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = quote_at(rest) {
        out.push_str(&rest[..at]);
        let quoted = &rest[at + 2..];
        let (text, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
        out.push_str(&regex::escape(text));
        rest = after;
    }
    out.push_str(rest);
    out
}

// The offset of the first `\Q` that is not escaped.
fn quote_at(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'\\', b'Q') => return Some(at),
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn bad(source: &str, error: &regex_syntax::Error) -> Error {
    let (at, text) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (error.span().start, error.kind().to_string()),
        other => {
            return Error::new(
                ErrorKind::InvalidExpression,
                format!("regular expression {source:?}: {other}"),
            );
        }
    };
    let character = source.get(..at.offset).map_or(at.column, |before| before.chars().count() + 1);
    Error::new(
        ErrorKind::InvalidExpression,
        format!(
            "regular expression, character {character}: {text}\n  {source}\n  {}^",
            " ".repeat(character - 1)
        ),
    )
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn pattern(source: &str) -> Result<Pattern> {
        Pattern::matches(source, false)
    }

    #[test]
    fn a_regular_expression_matches_whole_texts() {
        for (source, text, is_match) in [
            ("a|b", "a", true),
            ("a|b", "ab", false),
            ("\\Qa.c\\E", "a.c", true),
            ("\\Qa.c\\E", "abc", false),
            (".*\\Qa.c\\E.*", "xa.cy", true),
            ("\\\\Q", "\\Q", true),
            ("", "", true),
        ] {
            assert_eq!(pattern(source).unwrap().is_match(text), is_match, "{source} {text}");
        }
    }

    #[test]
    fn a_simple_one_matches_what_the_automaton_does() {
        let texts = ["", "ab", "xab", "abx", "xabx", "a\nb", "ab\n", "\nab", "x\nabx", "AB", "\n"];
        for source in [
            "ab",
            "\\Qab\\E",
            "ab.*",
            ".*ab",
            ".*ab.*",
            ".*",
            "",
            "ab.*?",
            "(?s:.*)ab",
            "(?s:.*)ab.*",
            "(?s:.*)ab(?s:.*)",
            "a\nb",
            "a\nb.*",
            ".+ab",
            "ab.?",
            "(ab).*",
            "(?i)ab.*",
            ".*.*",
            ".*ab.*ab",
            "^ab$",
            "[a]b.*",
            "ab|x",
        ] {
            let regex = Regex::new(&format!("^(?:{})$", unquoted(source))).unwrap();
            for text in texts {
                assert_eq!(
                    pattern(source).unwrap().is_match(text),
                    regex.is_match(text),
                    "{source:?} {text:?}"
                );
            }
        }
        assert!(matches!(pattern("\\Qa.b\\E").unwrap(), Pattern::Equal(_)));
        assert!(matches!(pattern("ab.*").unwrap(), Pattern::OneLine(_)));
    }

    #[test]
    fn a_bad_one_tells_the_character_and_a_huge_one_is_refused() {
        let error = pattern("ab(c").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidExpression);
        assert!(error.to_string().contains("character 3"), "{error}");
        assert_eq!(pattern(")(").unwrap_err().kind(), ErrorKind::InvalidExpression);
        assert_eq!(pattern("(\\w{200}){200}").unwrap_err().kind(), ErrorKind::TooLarge);
        assert_eq!(pattern(&"a".repeat(5_000)).unwrap_err().kind(), ErrorKind::TooLarge);
        assert!(pattern(&"(".repeat(500)).is_err());
    }
}
