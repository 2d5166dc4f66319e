//! Values and numbers as text for people, on one line.

use annals::{Content, Meaning, Value};

/// A value for people: strings without quotes, on one line.
pub fn value_to_text(value: &Value) -> String {
    match value {
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::String(text) | Value::Iri(text) => one_line(text),
        Value::Literal(literal) => match literal.meaning() {
            Meaning::Language(language) => format!("{}@{language}", one_line(literal.text())),
            Meaning::Datatype(datatype) => format!("{}^^{datatype}", one_line(literal.text())),
        },
        Value::Content(content) => content_to_text(content),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(instant) => instant.to_string(),
        Value::Duration(duration) => duration.to_string(),
        Value::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string(),
        Value::List(values) => format!("[{}]", joined(values.iter().map(value_to_text))),
        Value::Map(values) => format!(
            "{{{}}}",
            joined(values.iter().map(|(name, value)| format!(
                "{}: {}",
                one_line(name),
                value_to_text(value)
            )))
        ),
        Value::Set(values) => format!("{{{}}}", joined(values.iter().map(|value| value_to_text(&value)))),
        _ => "a value of a newer version".to_owned(),
    }
}

fn content_to_text(content: &Content) -> String {
    let Content { sha256, size, media_type, name, digests } = content;
    let mut parts = vec![one_line(media_type), format!("{} bytes", count(*size))];
    parts.extend(name.as_ref().map(|name| one_line(name)));
    parts.push(format!("sha-256 {sha256}"));
    parts.extend(digests.iter().map(|digest| format!("{} {digest}", digest.algorithm().name())));
    format!("content ({})", joined(parts.into_iter()))
}

/// The text with control characters made visible, so that data can neither break lines nor control a terminal. Marks
/// that change the direction of text count as control characters: they let a text look like another one.
pub fn one_line(text: &str) -> String {
    visible(text, is_control)
}

/// The same for a text that may have several lines, such as the message of an error.
pub fn lines(text: &str) -> String {
    visible(text, |one| one != '\n' && is_control(one))
}

/// The same for a text in JSON, which stays JSON with the same values.
pub fn visible_json(text: &str) -> String {
    let escaped = |one: char| match is_control(one) {
        true => format!("\\u{:04x}", u32::from(one)),
        false => one.to_string(),
    };
    if text.chars().any(is_control) { text.chars().map(escaped).collect() } else { text.to_owned() }
}

fn visible(text: &str, is_hidden: impl Fn(char) -> bool) -> String {
    if !text.chars().any(&is_hidden) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|one| if is_hidden(one) { one.escape_default().collect() } else { vec![one] })
        .collect()
}

/// Source: the property `Bidi_Control` of Unicode, and the separators of lines and paragraphs.
fn is_control(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, as in "1 entity" and "2,000 entities".
pub fn counted(number: u64, one: &str) -> String {
    match (number, one.strip_suffix('y')) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{} {stem}ies", count(number)),
        (_, None) => format!("{} {one}s", count(number)),
    }
}

/// The texts, with commas between them.
pub fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use annals::{Digest, DigestAlgorithm, Literal, Sha256};

    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(value_to_text(&Value::from("a\u{1b}[31m\nb ä")), "a\\u{1b}[31m\\nb ä");
        assert_eq!(one_line("a\u{202e}b\u{2066}c\u{2028}"), "a\\u{202e}b\\u{2066}c\\u{2028}");
        assert_eq!(lines("a\nb\u{9b}31m"), "a\nb\\u{9b}31m");
        assert_eq!(visible_json("\"a\u{9b}\u{202e}ä\""), "\"a\\u009b\\u202eä\"");
    }

    #[test]
    fn literals_and_contents_are_shown_with_what_they_say_about_themselves() {
        let french = Literal::in_language("le\nchat", "fr").unwrap();
        assert_eq!(value_to_text(&french.into()), "le\\nchat@fr");
        let year = Literal::with_datatype("1789", "urn:year").unwrap();
        assert_eq!(value_to_text(&Value::List([year.into()].into())), "[1789^^urn:year]");
        let mut content = Content {
            sha256: Sha256([0xAB; 32]),
            size: 1_234,
            media_type: "image/tiff".into(),
            name: None,
            digests: Box::default(),
        };
        let sha256 = format!("sha-256 {}", "ab".repeat(32));
        assert_eq!(
            value_to_text(&content.clone().into()),
            format!("content (image/tiff, 1,234 bytes, {sha256})")
        );
        content.name = Some("scan.tif".into());
        content.digests = [Digest::new(DigestAlgorithm::Md5, &[1; 16]).unwrap()].into();
        let md5 = format!("md5 {}", "01".repeat(16));
        assert_eq!(
            value_to_text(&content.into()),
            format!("content (image/tiff, 1,234 bytes, scan.tif, {sha256}, {md5})")
        );
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([count(1), count(1_000), count(1_234_567)], ["1", "1,000", "1,234,567"]);
    }
}
