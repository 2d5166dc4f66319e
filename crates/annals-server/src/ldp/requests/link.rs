//! The header `Link` (RFC 8288).

use http::HeaderMap;
use http::header::LINK;

use crate::protocol::header_text::{split, texts};

/// One link of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'h> {
    /// The address.
    pub target: &'h str,
    parameters: &'h str,
}

impl Link<'_> {
    /// True if one of its relations is this one.
    pub fn is_rel(&self, wanted: &str) -> bool {
        let is_wanted = |known: &str| known.eq_ignore_ascii_case(wanted);
        self.parameter("rel").is_some_and(|value| value.split_ascii_whitespace().any(is_wanted))
    }
}

impl<'h> Link<'h> {
    /// The value of a parameter, without its quotes; the first one counts.
    pub fn parameter(&self, wanted: &str) -> Option<&'h str> {
        split(self.parameters, ';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"'))
        })
    }
}

/// The links in headers that have a relation.
pub fn with_rel<'h>(headers: &'h HeaderMap, rel: &'h str) -> impl Iterator<Item = Link<'h>> {
    texts(headers, &LINK).flat_map(parse).filter(move |link| link.is_rel(rel))
}

/// The links in the value of a header. Leaves out what is malformed.
pub fn parse(value: &str) -> impl Iterator<Item = Link<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        let parameters = split(after, ',').next().unwrap_or_default();
        rest = &after[parameters.len()..];
        Some(Link { target: target.trim(), parameters })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_with_their_relations() {
        let value = r#"<http://a/x,y>; rel="type", <b>;title="a, b"; rel=next , <c>; REL="up type""#;
        let links: Vec<_> = parse(value).collect();
        assert_eq!(links.iter().map(|link| link.target).collect::<Vec<_>>(), ["http://a/x,y", "b", "c"]);
        let are_types: Vec<_> = links.iter().map(|link| link.is_rel("type")).collect();
        assert_eq!(are_types, [true, false, true]);
        let value = r#"<http://a/x>; REL="e"; handling=Proxy ; type="text/plain; charset=utf-8""#;
        let link = parse(value).next().unwrap();
        assert_eq!(
            ["handling", "type", "title"].map(|name| link.parameter(name)),
            [Some("Proxy"), Some("text/plain; charset=utf-8"), None]
        );
        assert_eq!(parse("<a").count(), 0);
    }
}
