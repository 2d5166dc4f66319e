//! Recognises one JSON object over several lines, as most exports of other programs are, by its first line.

/// The program that cuts it into lines. Source: <https://jqlang.org/manual/>.
const TOOL: &str = "jq -c";

/// Why a first line is refused if an object begins on it and goes on behind it; `None` if none does. `more` is some of what
/// follows.
pub fn reason(first: &[u8], more: &[u8]) -> Option<String> {
    let first = first.trim_ascii();
    // A line that was cut off by accident ends elsewhere.
    let goes_on = first.starts_with(b"{") && b"{[,:".contains(first.last()?);
    if !goes_on {
        return None;
    }
    let text = [first, b"\n", more].concat();
    let advice = match array_member(&text) {
        Some(name) => format!("its array: try {TOOL} '.[{name}][]'"),
        None => format!("it as one line: try {TOOL} ."),
    };
    Some(format!(
        "expected one JSON object on each line, found one object over several lines, of which nothing is imported; to import \
         {advice}"
    ))
}

/// The advice for an object around an array that is on one line: empty if it has none.
pub fn advice(fields: &annals_json::Object) -> String {
    let arrays = fields
        .iter()
        .filter(|(_, value)| value.as_array().is_some_and(|all| all.iter().all(|one| one.is_object())));
    let mut names = arrays.map(|(name, _)| serde_json::Value::from(name.as_str()).to_string());
    match names.find(|name| !name.contains('\'')) {
        Some(name) => format!("; to import its array, try {TOOL} '.[{name}][]'"),
        None => String::new(),
    }
}

/// The name of the first member of the outer object that is an array, in quotes.
fn array_member(text: &[u8]) -> Option<String> {
    let (mut depth, mut at, mut last_text) = (0usize, 0, None);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(text, at)?;
                last_text = Some(&text[at..end]);
                at = end;
                continue;
            }
            b'[' if depth == 1 => {
                let name = std::str::from_utf8(last_text?).ok()?;
                return (!name.contains('\'')).then(|| name.to_owned());
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The place behind the text that begins here.
fn end_of_text(text: &[u8], begin: usize) -> Option<usize> {
    let mut is_escaped = false;
    let inner = text[begin + 1..].iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    })?;
    Some(begin + 1 + inner + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_over_several_lines_is_known_by_its_first_line() {
        let advice_for = |text: &str| {
            let (first, more) = text.split_once('\n').unwrap();
            reason(first.as_bytes(), more.as_bytes())
                .map(|reason| reason.split("; ").nth(1).unwrap().to_owned())
        };
        let array = Some("to import its array: try jq -c '.[\"3166-1\"][]'".to_owned());
        assert_eq!(advice_for("{\n  \"3166-1\": [\n    {"), array);
        assert_eq!(advice_for("{\"3166-1\": [\n {\"a\": 1},\n"), array);
        assert_eq!(advice_for("{ \"n\": {\n \"x\": [1]},\n \"3166-1\":[\n"), array);
        assert_eq!(
            advice_for("{\n \"a\": \"[\\\"\"\n}"),
            Some("to import it as one line: try jq -c .".to_owned())
        );
        // A name that a shell would take apart.
        assert_eq!(advice_for("{\n \"a'b\": [\n"), Some("to import it as one line: try jq -c .".to_owned()));
        assert_eq!(advice_for("{\"entity\": {\"id\": \"a\"\n{}"), None);
        assert_eq!(advice_for("{\"entity\": {}}\n{}"), None);
        assert_eq!(advice_for("[{\n"), None);
        assert_eq!(reason(b"", b""), None);
    }
}
