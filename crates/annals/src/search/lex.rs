//! Divides the text form into words, texts and signs, each with its offset.

use crate::{Error, ErrorKind, Result};

/// A piece of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a keyword, a number, or a text without blanks.
    Word(String),
    /// A name in backticks: never a keyword.
    Name(String),
    /// A text in quotes.
    Text(String),
    /// A regular expression between slashes.
    Pattern(String),
    /// A header, written with `@`.
    Header(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
    End,
}

/// A token and its offset. Units: bytes.
#[derive(Clone, Debug)]
pub(super) struct PlacedToken {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// Signs; a longer one comes before its prefixes.
const SIGNS: [&str; 14] = ["!=", "<=", ">=", "^=", "$=", "~=", "=~", "=", "<", ">", "(", ")", ",", "*"];

/// Characters of words, in addition to letters and digits.
const WORD_SIGNS: &str = "_-.:/+#%~";

/// An error that shows the text and points at a place in it.
pub(super) fn error_at(text: &str, at: usize, what: &str) -> Error {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let character = text[..at].chars().count() + 1;
    let column = text[start..at].chars().count();
    Error::new(
        ErrorKind::InvalidExpression,
        format!("search, character {character}: {what}\n  {line}\n  {}^", " ".repeat(column)),
    )
}

/// All tokens, the last of which is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<PlacedToken>> {
    let (mut tokens, mut next) = (Vec::new(), 0);
    while let Some((token, at, end)) = next_token(text, next)? {
        tokens.push(PlacedToken { token, at });
        next = end;
    }
    tokens.push(PlacedToken { token: Token::End, at: text.len() });
    Ok(tokens)
}

/// The offset of the first character from `at` on that is not blank.
pub(super) fn start_of(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// The first token from `at` on, with the offsets of its begin and its end; `None` at the end of the text.
pub(super) fn next_token(text: &str, at: usize) -> Result<Option<(Token, usize, usize)>> {
    let start = start_of(text, at);
    let mut at = start;
    let Some(first) = text[at..].chars().next() else { return Ok(None) };
    let rest = &text[at..];
    let token = if first == '\'' || first == '"' {
        let (content, length) = quoted(text, at, first)?;
        at += length;
        Token::Text(content)
    } else if first == '`' {
        let (content, length) = quoted(text, at, first)?;
        at += length;
        Token::Name(content)
    } else if first == '/' {
        let (content, length) = slashed(text, at)?;
        at += length;
        Token::Pattern(content)
    } else if first == '@' {
        let length = word_bytes(&rest[1..]);
        at += 1 + length;
        Token::Header(rest[1..=length].to_owned())
    } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        at += sign.len();
        Token::Sign(sign)
    } else {
        let length = word_bytes(rest);
        if length == 0 {
            return Err(error_at(
                text,
                at,
                &format!("found {first:?}, which has no meaning here; put texts in quotes"),
            ));
        }
        at += length;
        Token::Word(rest[..length].to_owned())
    };
    Ok(Some((token, start, at)))
}

/// True for characters that words are made of.
pub(super) fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || WORD_SIGNS.contains(character)
}

// `~` ends a word where it begins a sign: `name~=part`.
fn word_bytes(rest: &str) -> usize {
    let end = rest.find(|character| !is_word_character(character)).unwrap_or(rest.len());
    let is_sign = rest[end..].starts_with('=') && rest[..end].ends_with('~');
    if is_sign { end - 1 } else { end }
}

// The content of a text in quotes, and its length including the quotes.
fn quoted(text: &str, at: usize, quote: char) -> Result<(String, usize)> {
    let mut content = String::new();
    let mut characters = text[at..].char_indices().skip(1);
    while let Some((offset, character)) = characters.next() {
        match character {
            _ if character == quote => return Ok((content, offset + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => content.push('\n'),
                Some((_, 'r')) => content.push('\r'),
                Some((_, 't')) => content.push('\t'),
                Some((_, same @ ('\\' | '\'' | '"' | '`' | '/'))) => content.push(same),
                Some((_, 'u')) => {
                    let digits: String = characters
                        .by_ref()
                        .map(|(_, digit)| digit)
                        .skip_while(|c| *c == '{')
                        .take_while(|c| *c != '}')
                        .collect();
                    let known = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    content.push(known.ok_or_else(|| {
                        error_at(
                            text,
                            at + offset,
                            "expected a character such as \\u{e9} after the backslash",
                        )
                    })?);
                }
                _ => {
                    return Err(error_at(
                        text,
                        at + offset,
                        "expected \\\\, \\', \\\", \\n, \\r, \\t or \\u{…}; write a regular expression between slashes: /\\d+/",
                    ));
                }
            },
            other => content.push(other),
        }
    }
    Err(error_at(text, at, &format!("expected a closing {quote} for this one, found the end")))
}

// The content of a regular expression between slashes. Only `\/` is an escape of this language.
fn slashed(text: &str, at: usize) -> Result<(String, usize)> {
    let mut content = String::new();
    let mut characters = text[at..].char_indices().skip(1);
    while let Some((offset, character)) = characters.next() {
        match character {
            '/' => return Ok((content, offset + 1)),
            '\\' => match characters.next() {
                Some((_, '/')) => content.push('/'),
                Some((_, other)) => content.extend(['\\', other]),
                None => break,
            },
            other => content.push(other),
        }
    }
    Err(error_at(text, at, "expected a closing / for this one, found the end"))
}
