//! Instants, dates and durations, with their ISO 8601 texts.

use std::fmt;
use std::str::FromStr;

use super::instant_text::InstantText;
use crate::{Error, ErrorKind, Result};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A point in time. Units: microseconds since 1970-01-01T00:00:00Z, no leap seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// A calendar day. Units: days since 1970-01-01, proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

/// A length of time. Units: microseconds, may be negative. Months and years have no fixed length and are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

impl Instant {
    /// The clock of this machine.
    pub fn now() -> Instant {
        let since_epoch =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Instant(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }

    /// The instant `micros` microseconds after 1970-01-01T00:00:00Z.
    ///
    /// Errors: `InvalidArgument` outside the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Result<Instant> {
        match jiff::Timestamp::from_microsecond(micros) {
            Ok(_) => Ok(Instant(micros)),
            Err(source) => Err(invalid("instant", &micros.to_string(), "years -9999 to 9999", source)),
        }
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Only for instants that the engine has read from the clock or checked.
    pub(crate) fn from_checked_micros(micros: i64) -> Instant {
        Instant(micros)
    }
}

impl Date {
    /// The day `days` after 1970-01-01.
    ///
    /// Errors: `InvalidArgument` outside the years -9999 to 9999.
    pub fn from_days(days: i32) -> Result<Date> {
        let is_within = (days_of(jiff::civil::Date::MIN)..=days_of(jiff::civil::Date::MAX)).contains(&days);
        if is_within {
            return Ok(Date(days));
        }
        let text = format!("date of day {days}: expected years -9999 to 9999");
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i32 {
        self.0
    }
}

impl Duration {
    /// The duration of `micros` microseconds.
    pub fn from_micros(micros: i64) -> Duration {
        Duration(micros)
    }

    /// Length in microseconds.
    pub fn micros(self) -> i64 {
        self.0
    }
}

fn invalid(
    what: &str,
    text: &str,
    expected: &str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("{what} {text:?}: expected {expected}")).caused_by(source)
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&InstantText::new(*self))
    }
}

impl FromStr for Instant {
    type Err = Error;

    /// Reads RFC 3339 (`2025-08-09T00:00:00Z`, any offset), or a date, a month (`2025-08`) or a year (`2025`), which mean their
    /// first instant in UTC.
    fn from_str(text: &str) -> Result<Instant> {
        if let Ok(date) = text.parse::<Date>().or_else(|error| first_day(text).ok_or(error)) {
            // The first and the last days of the calendar are dates, but not instants.
            return Instant::from_micros(i64::from(date.0) * 86_400 * MICROS_PER_SECOND);
        }
        // The error of the calendar library does not help the user: the library tries one form only.
        let timestamp: jiff::Timestamp = text.parse().map_err(|_| {
            let expected = "2025-08-09T12:00:00Z, 2025-08-09, 2025-08 or 2025 (RFC 3339, or the start of a day, month or \
                            year in UTC)";
            Error::new(ErrorKind::InvalidArgument, format!("instant {text:?}: expected {expected}"))
        })?;
        Ok(Instant(timestamp.as_microsecond()))
    }
}

/// The first day of a month (`2025-08`) or of a year (`2025`).
fn first_day(text: &str) -> Option<Date> {
    let (year, month) = text.split_once('-').unwrap_or((text, "01"));
    let is_number =
        |part: &str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(year, 4) || !is_number(month, 2) {
        return None;
    }
    format!("{year}-{month}-01").parse().ok()
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EPOCH.checked_add(jiff::Span::new().days(self.0)) {
            Ok(date) => date.fmt(f),
            Err(_) => write!(f, "{}d", self.0),
        }
    }
}

/// The day 0.
const EPOCH: jiff::civil::Date = jiff::civil::date(1970, 1, 1);

/// Days from the day 0 to `date`. Counted in the calendar: timestamps do not reach its last day.
#[expect(clippy::expect_used, reason = "the years of the calendar fit a span of days")]
fn days_of(date: jiff::civil::Date) -> i32 {
    EPOCH.until(date).expect("19,998 years fit a span").get_days()
}

impl FromStr for Date {
    type Err = Error;

    /// Reads `2025-08-09`.
    fn from_str(text: &str) -> Result<Date> {
        let expected = "a date like 2025-08-09";
        // Order: check the length first, because the parser would also accept a date with a time and drop the time.
        if text.len() > 13 || text.contains('T') {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("date {text:?}: expected {expected}"),
            ));
        }
        let date: jiff::civil::Date =
            text.parse().map_err(|source| invalid("date", text, expected, source))?;
        Ok(Date(days_of(date)))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        write!(f, "{sign}PT{seconds}")?;
        if fraction > 0 {
            write!(f, ".{}", format!("{fraction:06}").trim_end_matches('0'))?;
        }
        f.write_str("S")
    }
}

impl FromStr for Duration {
    type Err = Error;

    /// Reads ISO 8601 durations of weeks, days, hours, minutes and seconds: `P1DT2H`, `PT0.5S`, `-PT5M`.
    fn from_str(text: &str) -> Result<Duration> {
        let expected = "an ISO 8601 duration without years and months, like P1DT2H or PT0.5S";
        let span: jiff::Span = text.parse().map_err(|source| invalid("duration", text, expected, source))?;
        if span.get_years() != 0 || span.get_months() != 0 {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("duration {text:?}: expected {expected}"),
            ));
        }
        let length = span
            .to_duration(jiff::SpanRelativeTo::days_are_24_hours())
            .map_err(|source| invalid("duration", text, expected, source))?;
        let micros = i64::try_from(length.as_micros())
            .map_err(|source| invalid("duration", text, "at most 292,000 years", source))?;
        Ok(Duration(micros))
    }
}

pub(crate) fn display_micros(micros: i64) -> crate::model::Instant {
    crate::model::Instant::from_checked_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_dates_and_durations_read_what_they_write() {
        for text in ["2025-08-09T12:30:00.000001Z", "1969-12-31T23:59:59.9Z", "-000001-01-01T00:00:00Z"] {
            assert_eq!(text.parse::<Instant>().unwrap().to_string(), text);
        }
        for text in ["2025-08-09", "1969-12-31", "0001-01-01"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        for text in ["PT0S", "-PT0.5S", "PT93784.000001S"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        assert_eq!("P1DT2H3M4.000001S".parse::<Duration>().unwrap().micros(), 93_784_000_001);
    }

    #[test]
    fn a_date_is_its_first_instant() {
        assert_eq!("2025-08-09".parse::<Instant>(), "2025-08-09T00:00:00Z".parse::<Instant>());
    }

    #[test]
    fn a_month_or_a_year_is_its_first_instant() {
        assert_eq!("2025-08".parse::<Instant>(), "2025-08-01".parse::<Instant>());
        assert_eq!("2025".parse::<Instant>(), "2025-01-01".parse::<Instant>());
        for text in ["202", "20250", "2025-8", "2025-13", "2025-00", "2025-", "-2025", "2025-08-", "+025"] {
            let error = text.parse::<Instant>().unwrap_err().to_string();
            assert!(
                error.ends_with("2025-08 or 2025 (RFC 3339, or the start of a day, month or year in UTC)"),
                "{error}"
            );
        }
    }

    #[test]
    fn malformed_texts_are_refused() {
        assert!("yesterday".parse::<Instant>().is_err());
        assert!("2025-13-01".parse::<Date>().is_err());
        assert!("2025-08-09T12:00:00Z".parse::<Date>().is_err());
        assert!("P1M".parse::<Duration>().is_err());
    }
}
