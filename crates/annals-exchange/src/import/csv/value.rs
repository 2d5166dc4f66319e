//! Decodes the text of one cell by the type of its column.
//!
//! Source: types of <https://neo4j.com/docs/operations-manual/current/import/#import-tool-header-format>.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};

/// A value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum CsvField {
    /// `boolean`
    Boolean(bool),
    /// `byte`, `short`, `int`, `long`
    Integer(i64),
    /// `float`, `double`
    Float(f64),
    /// `string`, `char`; and `localtime`, `time`, for which there is no nearer value
    Text(String),
    /// `date`, as `2024-12-31`
    Date(String),
    /// `datetime` and `localdatetime`, in UTC, as `2024-12-31T12:50:35.5Z`; without offset taken for UTC
    Timestamp(String),
    /// `duration`, in ISO 8601, as `P14DT16H12M`
    Duration(String),
    /// `type[]`; its values have one type, at least one
    List(Vec<CsvField>),
}

/// The type of a property column, in the words of neo4j-admin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// `true` or `false`.
    Boolean,
    /// A whole number of 8 bits.
    Byte,
    /// A whole number of 16 bits.
    Short,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A number.
    Float,
    /// A number.
    Double,
    /// One character.
    Char,
    /// Text.
    String,
    /// A day.
    Date,
    /// A time of day.
    LocalTime,
    /// A time of day with an offset.
    Time,
    /// A date and time without offset.
    LocalDateTime,
    /// A date and time.
    DateTime,
    /// A length of time in ISO 8601.
    Duration,
}

impl CellType {
    /// Finds the type called `keyword`, whatever its case.
    /// Errors: the reason.
    pub fn parse(keyword: &str) -> Result<CellType, String> {
        Ok(match keyword.to_ascii_lowercase().as_str() {
            "boolean" => CellType::Boolean,
            "byte" => CellType::Byte,
            "short" => CellType::Short,
            "int" => CellType::Int,
            "long" => CellType::Long,
            "float" => CellType::Float,
            "double" => CellType::Double,
            "char" => CellType::Char,
            "string" => CellType::String,
            "date" => CellType::Date,
            "localtime" => CellType::LocalTime,
            "time" => CellType::Time,
            "localdatetime" => CellType::LocalDateTime,
            "datetime" => CellType::DateTime,
            "duration" => CellType::Duration,
            "point" => {
                return Err(
                    "points are not supported; split them into two columns of type double".to_string()
                );
            }
            _ => {
                let types = "int, double, boolean, string or date";
                return Err(format!("expected a type such as {types}, found `{keyword}`"));
            }
        })
    }

    /// The expected form of a cell of this type, for messages.
    pub fn expected(self) -> &'static str {
        match self {
            CellType::Boolean => "`true` or `false`",
            CellType::Byte => "a whole number from -128 to 127",
            CellType::Short => "a whole number from -32768 to 32767",
            CellType::Int => "a whole number from -2147483648 to 2147483647",
            CellType::Long => "a whole number from -9223372036854775808 to 9223372036854775807",
            CellType::Float | CellType::Double => "a number",
            CellType::Char => "one character",
            CellType::String => "text",
            CellType::Date => "a date such as 2024-12-31",
            CellType::LocalTime => "a time such as 12:50:35.556",
            CellType::Time => "a time such as 12:50:35.556+01:00",
            CellType::LocalDateTime => "a date and time without offset such as 2024-12-31T12:50:35",
            CellType::DateTime => "a date and time such as 2024-12-31T12:50:35+01:00",
            CellType::Duration => "a duration such as P14DT16H12M",
        }
    }

    /// Decodes a cell that is not empty. Blanks around it do not matter, except for text and characters.
    /// Errors: `None` if it is not [`CellType::expected`].
    pub fn decode(self, cell: &str) -> Option<CsvField> {
        let trimmed = cell.trim();
        match self {
            CellType::Boolean => parse_boolean(trimmed).map(CsvField::Boolean),
            CellType::Byte => trimmed.parse().ok().map(|number: i8| CsvField::Integer(number.into())),
            CellType::Short => trimmed.parse().ok().map(|number: i16| CsvField::Integer(number.into())),
            CellType::Int => trimmed.parse().ok().map(|number: i32| CsvField::Integer(number.into())),
            CellType::Long => trimmed.parse().ok().map(CsvField::Integer),
            CellType::Float | CellType::Double => parse_float(trimmed).map(CsvField::Float),
            CellType::Char => (cell.chars().count() == 1).then(|| CsvField::Text(cell.to_string())),
            CellType::String => Some(CsvField::Text(cell.to_string())),
            CellType::Date => parse_date(trimmed).map(|date| CsvField::Date(date.to_string())),
            CellType::LocalTime => parse_time(trimmed).map(|_| CsvField::Text(trimmed.to_string())),
            CellType::Time => is_time_with_offset(trimmed).then(|| CsvField::Text(trimmed.to_string())),
            CellType::LocalDateTime => parse_local(trimmed).map(CsvField::Timestamp),
            CellType::DateTime => parse_instant(trimmed).map(CsvField::Timestamp),
            CellType::Duration => parse_duration(trimmed).map(|span| CsvField::Duration(span.to_string())),
        }
    }
}

fn parse_boolean(text: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find(|(word, _)| text.eq_ignore_ascii_case(word))
        .map(|(_, is)| is)
}

/// Infinity must be written; a number too large for a double is not one.
fn parse_float(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let is_infinity = text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("inf");
    (number.is_infinite() == is_infinity).then_some(number)
}

/// A date and nothing behind it: jiff would drop a time.
fn parse_date(text: &str) -> Option<Date> {
    let is_alone = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || byte == b'+');
    if is_alone { text.parse().ok() } else { None }
}

/// A time and nothing before or behind it.
fn parse_time(text: &str) -> Option<Time> {
    let is_alone =
        text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
    if is_alone { text.parse().ok() } else { None }
}

fn is_time_with_offset(text: &str) -> bool {
    let end = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (time, offset) = text.split_at(end);
    // Any day will do to check the offset.
    let is_offset = offset.is_empty() || format!("2000-01-01T00:00{offset}").parse::<Timestamp>().is_ok();
    parse_time(time).is_some() && is_offset && !offset.contains('[')
}

/// The instant of a date and time without offset, taken for UTC: the nearest that a timestamp can say.
fn parse_local(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    parse_date(date)?;
    parse_time(time)?;
    let local: DateTime = text.parse().ok()?;
    Some(format!("{local}Z"))
}

/// The instant of a date and time, in UTC. Without offset it is taken for UTC, as neo4j does by default. A zone name
/// behind an offset is dropped; alone it is refused, since its rules would have to be known.
fn parse_instant(text: &str) -> Option<String> {
    let instant: Option<Timestamp> = text.parse().ok();
    instant.map(|instant| instant.to_string()).or_else(|| parse_local(text))
}

/// An ISO 8601 duration; jiff would also read `3 days`.
fn parse_duration(text: &str) -> Option<Span> {
    if text.trim_start_matches(['+', '-']).starts_with('P') { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(keyword: &str, cell: &str) -> Option<CsvField> {
        CellType::parse(keyword).unwrap().decode(cell)
    }

    fn text(text: &str) -> Option<CsvField> {
        Some(CsvField::Text(text.to_string()))
    }

    #[test]
    fn whole_numbers_keep_the_range_of_their_type() {
        for (keyword, least, most) in [
            ("byte", i64::from(i8::MIN), i64::from(i8::MAX)),
            ("short", i64::from(i16::MIN), i64::from(i16::MAX)),
            ("int", i64::from(i32::MIN), i64::from(i32::MAX)),
            ("long", i64::MIN, i64::MAX),
        ] {
            assert_eq!(decode(keyword, &format!(" {least} ")), Some(CsvField::Integer(least)));
            assert_eq!(decode(keyword, &most.to_string()), Some(CsvField::Integer(most)));
            let (below, above) = (i128::from(least) - 1, i128::from(most) + 1);
            assert_eq!(
                (decode(keyword, &below.to_string()), decode(keyword, &above.to_string())),
                (None, None)
            );
        }
        for cell in ["1.0", "0x1", "1_000", "", " ", "one", "١"] {
            assert_eq!(decode("long", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_float_is_a_number_that_fits() {
        for (cell, number) in
            [("1", 1.0), (" -2.5e3 ", -2500.0), ("Infinity", f64::INFINITY), ("-inf", -f64::INFINITY)]
        {
            assert_eq!(decode("double", cell), Some(CsvField::Float(number)), "{cell}");
        }
        assert!(matches!(decode("float", "NaN"), Some(CsvField::Float(number)) if number.is_nan()));
        for cell in ["1e999", "-1e999", "1,5", "", "1 2"] {
            assert_eq!(decode("double", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_boolean_is_true_or_false_in_any_case() {
        assert_eq!(decode("boolean", " TRUE "), Some(CsvField::Boolean(true)));
        assert_eq!(decode("boolean", "false"), Some(CsvField::Boolean(false)));
        assert_eq!((decode("boolean", "1"), decode("boolean", "yes")), (None, None));
    }

    #[test]
    fn text_keeps_its_blanks_and_a_char_is_one_character() {
        assert_eq!(decode("string", " a "), text(" a "));
        assert_eq!(decode("char", " "), text(" "));
        assert_eq!(decode("char", "ä"), text("ä"));
        assert_eq!(decode("char", "ab"), None);
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        assert_eq!(decode("date", " 2024-02-29 "), Some(CsvField::Date("2024-02-29".to_string())));
        for cell in ["2023-02-29", "2024-13-01", "2024-02-29T10:00", "29.02.2024", "2024-02", "-", "+2024"] {
            assert_eq!(decode("date", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_time_of_day_becomes_text() {
        assert_eq!(decode("localtime", "12:50:35.556"), text("12:50:35.556"));
        assert_eq!(decode("time", "12:50:35.556+01:00"), text("12:50:35.556+01:00"));
        assert_eq!(decode("time", "12:50Z"), text("12:50Z"));
        assert_eq!(decode("time", "12:50"), text("12:50"));
        for cell in ["24:01", "12", "12:50+01:00", "2024-01-01T12:50", ":", "Z"] {
            assert_eq!(decode("localtime", cell), None, "{cell}");
        }
        for cell in ["12:50+99:00", "12:50Z[UTC]", "12:50+01:00[Europe/Paris]", "+01:00", "12:50-"] {
            assert_eq!(decode("time", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_date_and_time_becomes_an_instant_in_utc() {
        let instant = |text: &str| Some(CsvField::Timestamp(text.to_string()));
        assert_eq!(decode("datetime", "2015-06-24T12:50:35.556+01:00"), instant("2015-06-24T11:50:35.556Z"));
        assert_eq!(
            decode("datetime", "2015-06-24T12:50:35+0100[Europe/London]"),
            instant("2015-06-24T11:50:35Z")
        );
        assert_eq!(decode("datetime", "2015-06-24T12:50:35Z"), instant("2015-06-24T12:50:35Z"));
        assert_eq!(decode("datetime", "2015-06-24T12:50"), instant("2015-06-24T12:50:00Z"));
        assert_eq!(decode("localdatetime", "2015-06-24T12:50:35"), instant("2015-06-24T12:50:35Z"));
        for cell in ["2015-06-24", "2015-06-24T12:50[Europe/London]", "2015-06-31T12:50Z", "yesterday", "T"] {
            assert_eq!(decode("datetime", cell), None, "{cell}");
        }
        for cell in ["2015-06-24", "2015-06-24T12:50Z", "2015-06-24T12:50+01:00", "2015-06-24T25:00"] {
            assert_eq!(decode("localdatetime", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_duration_is_iso_8601() {
        let duration = |text: &str| Some(CsvField::Duration(text.to_string()));
        assert_eq!(decode("duration", "P1Y2M14DT16H12M0.5S"), duration("P1Y2M14DT16H12M0.5S"));
        assert_eq!(decode("duration", "-PT5M"), duration("-PT5M"));
        for cell in ["3 days", "P", "PT", "5", "P1X", "--P1D"] {
            assert_eq!(decode("duration", cell), None, "{cell}");
        }
    }

    #[test]
    fn a_type_may_be_written_in_any_case() {
        assert_eq!(CellType::parse("LocalDateTime"), Ok(CellType::LocalDateTime));
    }
}
