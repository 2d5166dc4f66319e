//! Finds the delimiter between cells: named by a user, or counted in the header.

use annals::{Error, ErrorKind, Result};

use crate::import::refused::quote;

/// The delimiters that a header is searched for.
const FIELD_DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Finds the delimiter that a user named: the character itself, `tab` or `\t`. `option` names the option in messages.
/// Errors: `InvalidArgument` if it is more than one character.
pub fn parse(option: &str, name: &str) -> Result<char> {
    let mut characters = name.chars();
    match (name, characters.next(), characters.next()) {
        ("\\t", ..) => Ok('\t'),
        (name, ..) if name.eq_ignore_ascii_case("tab") => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err(invalid(format!("{option}: expected one character or tab, found {}", quote(name)))),
    }
}

/// Finds the field delimiter in the line of a header: the one that stands there most often outside quotes, and a comma if
/// none does.
/// Errors: `InvalidArgument` if two stand there equally often.
pub(super) fn find(line: &[u8]) -> Result<char> {
    let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let line = line.split(is_line_end).find(|line| !line.is_empty()).unwrap_or_default();
    // Every second piece between quotes is quoted text.
    let count = |delimiter: char| -> usize {
        let pieces = line.split(|&byte| byte == b'"').step_by(2);
        pieces.map(|piece| piece.iter().filter(|&&byte| byte == delimiter as u8).count()).sum()
    };
    let mut found = FIELD_DELIMITERS.map(|delimiter| (count(delimiter), delimiter));
    found.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    match found {
        [(0, _), ..] => Ok(','),
        [(first_count, first), (second_count, second), ..] if first_count == second_count => {
            Err(invalid(format!(
                "csv header: expected one delimiter, found {} and {} equally often; choose with --delimiter",
                name(first),
                name(second)
            )))
        }
        [(_, first), ..] => Ok(first),
    }
}

/// The delimiter of lists: the one given, or else `;`, or `,` where `;` stands between the cells.
/// Errors: `InvalidArgument` if the two do not go together.
pub(super) fn of_lists(field_delimiter: char, given: Option<char>) -> Result<char> {
    if !FIELD_DELIMITERS.contains(&field_delimiter) {
        let found = name(field_delimiter);
        return Err(invalid(format!("--delimiter: expected `,`, `;`, tab or `|`, found {found}")));
    }
    let delimiter = given.unwrap_or(if field_delimiter == ';' { ',' } else { ';' });
    if delimiter == field_delimiter {
        return Err(invalid(format!(
            "--array-delimiter: expected another than the one between the cells, found {} for both",
            name(delimiter)
        )));
    }
    if ['"', '\n', '\r'].contains(&delimiter) {
        let text = format!("--array-delimiter: expected no quote or line end, found {delimiter:?}");
        return Err(invalid(text));
    }
    Ok(delimiter)
}

fn name(delimiter: char) -> String {
    if delimiter == '\t' { "tab".to_owned() } else { format!("`{delimiter}`") }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_is_named_by_itself_or_as_tab() {
        for (name, delimiter) in
            [(";", ';'), ("TAB", '\t'), ("tab", '\t'), ("\\t", '\t'), ("\t", '\t'), ("§", '§')]
        {
            assert_eq!(parse("--delimiter", name).unwrap(), delimiter);
        }
        let problem = |name| parse("--delimiter", name).unwrap_err().to_string();
        assert_eq!(problem("ab"), "--delimiter: expected one character or tab, found `ab`");
        assert_eq!(problem(""), "--delimiter: expected one character or tab, found ``");
    }

    #[test]
    fn the_delimiter_that_stands_most_often_in_the_header_is_taken() {
        for (line, delimiter) in [
            ("id", ','),
            ("a,b", ','),
            ("a;b", ';'),
            ("a\tb", '\t'),
            ("a|b\nc,d,e", '|'),
            ("\r\n\na;b\r\n", ';'),
            ("size (w,h);owner;note", ';'),
            ("\"a,b,c\";d", ';'),
            ("\"a\"\",,\";d", ';'),
        ] {
            assert_eq!(find(line.as_bytes()).unwrap(), delimiter, "{line:?}");
        }
        let problem = find(b"size, net;owner\n").unwrap_err().to_string();
        let expected =
            "csv header: expected one delimiter, found `,` and `;` equally often; choose with --delimiter";
        assert_eq!(problem, expected);
    }

    #[test]
    fn lists_have_a_delimiter_of_their_own() {
        assert_eq!(
            [(',', None), (';', None), (';', Some('/'))].map(|(field, list)| of_lists(field, list).unwrap()),
            [';', ',', '/']
        );
        let problem = |field, list| of_lists(field, list).unwrap_err().to_string();
        assert_eq!(problem('x', None), "--delimiter: expected `,`, `;`, tab or `|`, found `x`");
        assert_eq!(
            problem(';', Some(';')),
            "--array-delimiter: expected another than the one between the cells, found `;` for both"
        );
        assert_eq!(problem(',', Some('"')), "--array-delimiter: expected no quote or line end, found '\"'");
    }
}
