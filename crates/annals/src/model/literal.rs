//! Texts with a language or a datatype, as RDF has them.

use std::cmp::Ordering;

use crate::{Error, ErrorKind, Result};

/// Longest language tag. Units: bytes.
pub const LANGUAGE_BYTES_MAX: usize = 255;
/// Longest IRI of a datatype. Units: bytes.
pub const DATATYPE_BYTES_MAX: usize = 4_096;

/// A text with a language or a datatype: a literal of RDF for which there is no other kind of value.
///
/// The text stays as it was written: two literals are equal only if text, language and datatype are. Literals with a
/// language come before those with a datatype; otherwise the text decides, and then the language or datatype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    text: Box<str>,
    meaning: Meaning,
}

/// The language or the datatype of a literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// The language of the text: a tag of BCP 47.
    Language(Box<str>),
    /// The IRI of the datatype.
    Datatype(Box<str>),
}

impl Literal {
    /// A text in a language.
    ///
    /// Errors: `InvalidArgument` if `language` is no tag of BCP 47, e.g. `fr` or `de-CH`.
    pub fn in_language(text: &str, language: &str) -> Result<Literal> {
        let is_subtag = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_tag = language.len() <= LANGUAGE_BYTES_MAX
            && language.starts_with(|first: char| first.is_ascii_alphabetic())
            && language.split('-').all(is_subtag);
        if !is_tag {
            let text = format!("literal: expected a language tag such as fr or de-CH, found {language:?}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(Literal { text: text.into(), meaning: Meaning::Language(language.into()) })
    }

    /// A text with a datatype.
    ///
    /// Errors: `InvalidArgument` if `datatype` is no absolute IRI, or longer than [`DATATYPE_BYTES_MAX`].
    pub fn with_datatype(text: &str, datatype: &str) -> Result<Literal> {
        let scheme = datatype.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let is_forbidden = |character: char| character <= ' ' || "<>\"{}|^`\\".contains(character);
        if !is_scheme || datatype.contains(is_forbidden) || datatype.len() > DATATYPE_BYTES_MAX {
            let text = format!(
                "literal: expected an absolute IRI of at most {DATATYPE_BYTES_MAX} bytes as datatype, found {:?}",
                datatype.chars().take(100).collect::<String>()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(Literal { text: text.into(), meaning: Meaning::Datatype(datatype.into()) })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The language or the datatype.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// The text, if it has a language.
    pub(crate) fn text_in_language(&self) -> Option<&str> {
        matches!(self.meaning, Meaning::Language(_)).then_some(&*self.text)
    }

    /// Units: bytes of the text and of its language or datatype.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + self.meaning.text().len()
    }
}

impl Ord for Literal {
    // In the order of their index keys.
    fn cmp(&self, other: &Literal) -> Ordering {
        let is_typed = |literal: &Literal| literal.text_in_language().is_none();
        let by_text = || self.text.cmp(&other.text).then_with(|| self.meaning.cmp(&other.meaning));
        is_typed(self).cmp(&is_typed(other)).then_with(by_text)
    }
}

impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Literal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Meaning {
    /// The language tag, or the IRI of the datatype.
    pub fn text(&self) -> &str {
        match self {
            Meaning::Language(text) | Meaning::Datatype(text) => text,
        }
    }
}
