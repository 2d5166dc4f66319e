//! Counts lines as the scripts count them, and checks that each line is one whole triple.

use memchr::memmem::Finder;

use crate::outcome::Outcome;

/// How much of a wrong line an error tells. Units: bytes.
const TOLD_BYTES_MAX: usize = 200;

/// How many lines have this text, as `grep -c` counts them.
pub fn lines_with(text: &[u8], pattern: &str) -> usize {
    let finder = Finder::new(pattern);
    text.split(|byte| *byte == b'\n').filter(|line| finder.find(line).is_some()).count()
}

/// Errors: the first line that is no triple of N-Triples, with its number.
pub fn check_triples(text: &[u8]) -> Outcome<()> {
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        if !is_triple(line.trim_ascii()) {
            let told = String::from_utf8_lossy(&line[..line.len().min(TOLD_BYTES_MAX)]);
            return Err(format!("line {number}: expected one triple, found {told:?}").into());
        }
    }
    Ok(())
}

/// True for an empty line, and a line with subject, predicate, object and a dot. Escapes in texts are not looked at.
fn is_triple(line: &[u8]) -> bool {
    if line.is_empty() {
        return true;
    }
    let object = node(line).and_then(gap).and_then(iri).and_then(gap);
    let Some(end) = object.and_then(|object| literal(object).or_else(|| node(object))) else { return false };
    end.trim_ascii_start() == b"."
}

/// The text behind blanks; `None` if it does not begin with one.
fn gap(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b" ").or_else(|| text.strip_prefix(b"\t")).map(<[u8]>::trim_ascii_start)
}

fn iri(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"<")?;
    let end = rest.iter().position(|byte| matches!(byte, b'>' | b'<' | b' ' | b'"'))?;
    rest[end..].strip_prefix(b">")
}

fn node(text: &[u8]) -> Option<&[u8]> {
    let blank = |text: &'_ [u8]| {
        let rest = text.strip_prefix(b"_:")?;
        let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
        (end > 0).then_some(text.len() - rest.len() + end)
    };
    iri(text).or_else(|| blank(text).map(|end| &text[end..]))
}

fn literal(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"\"")?;
    let mut is_escaped = false;
    let end = rest.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    let rest = &rest[end + 1..];
    if let Some(datatype) = rest.strip_prefix(b"^^") {
        return iri(datatype);
    }
    if let Some(language) = rest.strip_prefix(b"@") {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let end = language.iter().position(|byte| !is_letter(byte))?;
        return (end > 0).then_some(&language[end..]);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_not_occurrences() {
        let text = b"<a> <title> \"title\" .\n<a> <b> <c> .\n<a> <title> \"x\" .\n";
        assert_eq!(lines_with(text, "title"), 2);
        assert_eq!(lines_with(b"", "title"), 0);
        assert_eq!(lines_with(b"title", "title"), 1);
    }

    #[test]
    fn a_line_is_one_whole_triple_or_nothing() {
        let good = [
            "",
            "<a> <b> <c> .",
            "_:x <b> _:y .",
            "<a> <b> \"c \\\" . d\" .",
            "<a>\t<b> \"c\\\\\"^^<d> .",
            "<a> <b> \"c\"@en-GB.",
        ];
        for line in good {
            assert!(is_triple(line.as_bytes()), "{line}");
        }
        let bad = [
            "<a> <b> <c>",
            "<a> <b> .",
            "<a> \"b\" <c> .",
            "<a> <b> \"c .",
            "<a> <b> <c> . <d> <e> <f> .",
            "<a b> <b> <c> .",
            "_: <b> <c> .",
            "<a> <b> \"c\"@ .",
            "{\"error\": 1}",
        ];
        for line in bad {
            assert!(!is_triple(line.as_bytes()), "{line}");
        }
        let error = check_triples(b"<a> <b> <c> .\n<a> <b\n").unwrap_err().to_string();
        assert!(error.starts_with("line 2: expected one triple"), "{error}");
    }
}
