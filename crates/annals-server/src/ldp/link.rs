//! The header `Link` (RFC 8288).

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
        self.parameters.split(';').any(|parameter| {
            let Some((name, value)) = parameter.split_once('=') else { return false };
            let value = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel")
                && value.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(wanted))
        })
    }
}

/// The links in the value of a header. Leaves out what is malformed.
pub fn parse(value: &str) -> impl Iterator<Item = Link<'_>> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        // The next link begins behind a comma that is not in quotes.
        let mut is_quoted = false;
        let end = after.find(|character| {
            is_quoted ^= character == '"';
            character == ',' && !is_quoted
        });
        let (parameters, next) = end.map_or((after, ""), |end| (&after[..end], &after[end + 1..]));
        rest = next;
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
        assert_eq!(parse("<a").count(), 0);
    }
}
