//! Paths: from the root down by the names of children; the last step may be a property.

use std::fmt::{self, Display, Write};
use std::str::FromStr;
use std::sync::Arc;

use crate::model::Value;
use crate::search::{Condition, Expression, Field, Operator, is_keyword};
use crate::{Error, ErrorKind, Result};

/// Longest text of a path. Units: bytes.
const PATH_BYTES_MAX: usize = 64 << 10;
/// Most steps of a path.
const STEPS_MAX: usize = 256;

/// A path in a tree of containers: `/interfaces/interface[name='eth0']/mtu`.
///
/// A step names a child of the item before; the last step may name a property. The children of an entity type with keys
/// are a list: the step names the type, and predicates give the keys, in any order and form: `[k1=1][k2='a']` and `[k1
/// = '1' and k2 = 'a']` are the same. Any condition of the search language is a predicate; a number is an index in the
/// list, from 1. `*` matches any name, `//` any number of levels. Names with other characters than letters, digits,
/// `_`, `-`, `.` and `:` need quotes.
///
/// ```
/// use annals::TreePath;
/// let path = TreePath::parse("/interfaces/interface[name = \"eth0\"]/mtu")?;
/// assert_eq!(path.to_string(), "/interfaces/interface[name = 'eth0']/mtu");
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreePath {
    /// From the root down.
    pub steps: Vec<TreeStep>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeStep {
    /// Whether it goes down one level, or any number of levels.
    pub axis: Axis,
    /// The name of the child or the property.
    pub name: NameTest,
    /// The conditions on the child.
    pub filters: Vec<Expression>,
    /// The place among the matching children of one parent.
    pub place: Option<PlaceTest>,
}

/// The number of levels of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One level.
    Child,
    /// One level or more.
    Descendant,
}

/// The name of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTest {
    /// This name.
    Name(Arc<str>),
    /// Any name.
    Any,
}

/// The place of a child among the matching children of one parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceTest {
    /// The one at this place, counted from 1.
    At(usize),
    /// The last one.
    Last,
}

/// A property that a step compares with a value.
type KeyTold<'p> = (&'p Arc<str>, &'p Value);

/// A condition `name = 'text'`, or one with a whole number. Most predicates are such, so they are read without the
/// parser of searches.
fn key_told(condition: &str) -> Option<Expression> {
    let (name, value) = condition.split_once('=')?;
    let (name, value) = (name.trim_end(), value.trim_start());
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
        return None;
    }
    let value = match value.as_bytes() {
        [quote @ (b'\'' | b'"'), inner @ .., last] if quote == last => {
            let is_whole = !inner.iter().any(|byte| byte == quote || *byte == b'\\');
            Value::from(is_whole.then(|| &value[1..value.len() - 1])?)
        }
        digits if digits.iter().all(u8::is_ascii_digit) => Value::Integer(value.parse().ok()?),
        _ => return None,
    };
    (!is_keyword(name)).then(|| equal(name.into(), value))
}

fn equal(name: Arc<str>, value: Value) -> Expression {
    Expression::Condition(Condition {
        field: Field::Property(name),
        operator: Operator::Equal,
        values: vec![value],
        ignores_case: false,
    })
}

impl TreeStep {
    /// The child of this name.
    pub fn named(name: &str) -> TreeStep {
        TreeStep { axis: Axis::Child, name: NameTest::Name(name.into()), filters: Vec::new(), place: None }
    }

    /// The same with these keys: an item of a list.
    #[must_use]
    pub fn with_keys(mut self, keys: impl IntoIterator<Item = (Arc<str>, Value)>) -> TreeStep {
        self.filters.extend(keys.into_iter().map(|(name, value)| equal(name, value)));
        self
    }

    /// Its name and its conditions `property = value`, if it has no other conditions.
    pub(crate) fn keys(&self) -> Option<(&Arc<str>, Vec<KeyTold<'_>>)> {
        let TreeStep { axis: Axis::Child, name: NameTest::Name(name), filters, place: None } = self else {
            return None;
        };
        let mut keys = Vec::new();
        filters.iter().all(|filter| add_keys(filter, &mut keys)).then_some((name, keys))
    }
}

fn add_keys<'e>(filter: &'e Expression, keys: &mut Vec<(&'e Arc<str>, &'e Value)>) -> bool {
    match filter {
        Expression::All(parts) => parts.iter().all(|part| add_keys(part, keys)),
        Expression::Condition(Condition {
            field: Field::Property(name),
            operator: Operator::Equal,
            values,
            ignores_case: false,
        }) => match &values[..] {
            [value] => {
                keys.push((name, value));
                true
            }
            _ => false,
        },
        _ => false,
    }
}

impl TreePath {
    /// The root.
    pub fn root() -> TreePath {
        TreePath::default()
    }

    /// Reads the text form.
    ///
    /// Errors: `InvalidArgument`, which shows the place.
    pub fn parse(text: &str) -> Result<TreePath> {
        Reader { text, at: 0 }.path()
    }

    /// The path to a child of the item at this path.
    #[must_use]
    pub fn child(mut self, step: TreeStep) -> TreePath {
        self.steps.push(step);
        self
    }

    /// The path without its last step, and the last step; `None` for the root.
    pub fn split_last(&self) -> Option<(TreePath, &TreeStep)> {
        let (last, steps) = self.steps.split_last()?;
        Some((TreePath { steps: steps.to_vec() }, last))
    }
}

impl FromStr for TreePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<TreePath> {
        TreePath::parse(text)
    }
}

impl Display for TreePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        PathSteps(&self.steps).fmt(out)
    }
}

/// The steps of a path, or its first ones. Written as the path of them.
#[derive(Clone, Copy)]
pub(crate) struct PathSteps<'p>(pub(crate) &'p [TreeStep]);

impl Display for PathSteps<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_char('/');
        }
        self.0.iter().try_for_each(|step| step.fmt(out))
    }
}

impl Display for TreeStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.axis == Axis::Descendant { "//" } else { "/" })?;
        match &self.name {
            NameTest::Any => out.write_char('*')?,
            NameTest::Name(name) if is_plain(name) => out.write_str(name)?,
            NameTest::Name(name) => write_quoted(name, out)?,
        }
        for filter in &self.filters {
            write!(out, "[{filter}]")?;
        }
        match self.place {
            None => Ok(()),
            Some(PlaceTest::At(place)) => write!(out, "[{place}]"),
            Some(PlaceTest::Last) => out.write_str("[last]"),
        }
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || "_-.:".contains(character)
}

fn write_quoted(name: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_char('\'')?;
    for character in name.chars() {
        if character == '\'' || character == '\\' {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    out.write_char('\'')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn path(mut self) -> Result<TreePath> {
        if self.text.len() > PATH_BYTES_MAX {
            return Err(
                self.error(&format!("expected at most {PATH_BYTES_MAX} bytes, found {}", self.text.len()))
            );
        }
        let mut path = TreePath::root();
        if self.text.trim() == "/" {
            return Ok(path);
        }
        while self.at < self.text.len() {
            if path.steps.len() == STEPS_MAX {
                return Err(self.error(&format!("expected at most {STEPS_MAX} steps")));
            }
            let step = self.step()?;
            path.steps.push(step);
        }
        if path.steps.is_empty() {
            return Err(self.error("expected a path that begins with /, found nothing"));
        }
        Ok(path)
    }

    fn step(&mut self) -> Result<TreeStep> {
        let axis = match () {
            () if self.takes("//") => Axis::Descendant,
            () if self.takes("/") => Axis::Child,
            () => return Err(self.error("expected / before each step")),
        };
        let name = self.name()?;
        let mut step = TreeStep { axis, name, filters: Vec::new(), place: None };
        while self.takes("[") {
            let inner = self.bracketed()?;
            if step.place.is_some() {
                return Err(self.error("expected the place of an item as its last predicate"));
            }
            match inner.trim() {
                "last" | "last()" => step.place = Some(PlaceTest::Last),
                number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    let place = number.parse().ok().filter(|place| *place > 0);
                    let place = place.ok_or_else(|| self.error("expected a place of 1 or more"))?;
                    step.place = Some(PlaceTest::At(place));
                }
                condition => {
                    let read = || Expression::parse(condition).map_err(|error| self.error(error.text()));
                    let filter = key_told(condition).map_or_else(read, Ok)?;
                    step.filters.push(filter);
                }
            }
        }
        Ok(step)
    }

    fn name(&mut self) -> Result<NameTest> {
        let rest = &self.text[self.at..];
        if self.takes("*") {
            return Ok(NameTest::Any);
        }
        if let Some(quote) = rest.chars().next().filter(|first| ['\'', '"'].contains(first)) {
            return self.quoted(quote).map(|name| NameTest::Name(name.into()));
        }
        let end = rest.find(|character| !is_name_character(character)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("expected the name of a child or a property, * or a name in quotes"));
        }
        self.at += end;
        Ok(NameTest::Name(rest[..end].into()))
    }

    fn quoted(&mut self, quote: char) -> Result<String> {
        let mut name = String::new();
        let mut characters = self.text[self.at..].char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, character)| character)),
                _ if character == quote => {
                    self.at += offset + quote.len_utf8();
                    if name.is_empty() {
                        return Err(self.error("expected a name in the quotes, found none"));
                    }
                    return Ok(name);
                }
                _ => name.push(character),
            }
        }
        Err(self.error(&format!("expected a closing {quote}, found the end")))
    }

    /// The text up to the closing bracket; texts in quotes may contain brackets.
    fn bracketed(&mut self) -> Result<&'t str> {
        let start = self.at;
        let mut quote = None;
        let mut characters = self.text[start..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match (quote, character) {
                (Some(_), '\\') => drop(characters.next()),
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"' | '`') => quote = Some(character),
                (None, ']') => {
                    self.at = start + offset + 1;
                    let inner = &self.text[start..start + offset];
                    return match inner.trim() {
                        "" => Err(self.error("expected a condition, or a place, in the brackets")),
                        inner => Ok(inner),
                    };
                }
                (None, _) => {}
            }
        }
        Err(self.error("expected a closing ], found the end"))
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_there = self.text[self.at..].starts_with(sign);
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    fn error(&self, what: &str) -> Error {
        let character = self.text[..self.at.min(self.text.len())].chars().count() + 1;
        let mut shown: String = self.text.chars().take(200).collect();
        if shown.len() < self.text.len() {
            shown.push('…');
        }
        Error::new(ErrorKind::InvalidArgument, format!("path {shown:?}, character {character}: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_back_as_written() {
        for text in [
            "/",
            "/a/b.c/d_e-f:g",
            "/a//b/*",
            "//*",
            "/list[k1 = 1][k2 = 'str1']/l",
            "/list[k1 = 1 and k2 = 'a]b'][3]",
            "/list[last]",
            "/'a/b'/'it\\'s'",
            "/a[x > 5 or y is null]",
        ] {
            let path = TreePath::parse(text).unwrap();
            let again = path.to_string();
            assert_eq!(TreePath::parse(&again).unwrap(), path, "{text} {again}");
        }
        assert_eq!(TreePath::parse("/a[k=\"x\"]").unwrap().to_string(), "/a[k = 'x']");
    }

    #[test]
    fn what_is_no_path_is_refused_with_its_place() {
        for text in [
            "", "a", "/a/", "/a[", "/a[]", "/a['x", "/a[0]", "/a[1][2]", "/''", "/'a", "///a", "/a b",
            "/a[k=]",
        ] {
            let error = TreePath::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}");
            assert!(error.text().contains("character"), "{text}: {error}");
        }
    }

    #[test]
    fn keys_are_the_same_however_they_are_written() {
        let keys = |text: &str| {
            let path = TreePath::parse(text).unwrap();
            let (name, mut keys) = path.steps[0].keys().map(|(name, keys)| {
                (
                    name.to_string(),
                    keys.into_iter().map(|(key, value)| (key.to_string(), value.clone())).collect::<Vec<_>>(),
                )
            })?;
            keys.sort_by(|a, b| a.0.cmp(&b.0));
            Some((name, keys))
        };
        assert_eq!(keys("/l[k1='m'][k2='n']"), keys("/l[k2 = 'n' and k1 = 'm']"));
        assert_eq!(keys("/l[k1='m']").unwrap().1.len(), 1);
        for text in ["/l[k1 > 1]", "/*[k1=1]", "//l[k1=1]", "/l[1]", "/l[a=1 or b=2]"] {
            assert!(keys(text).is_none(), "{text}");
        }
    }
}
