//! The RFC 3339 text of an instant, for every stamp of every answer; present times are written without the calendar
//! library.
#![expect(clippy::expect_used, reason = "the longest text has room, and all of it is ASCII")]

use std::fmt;
use std::io::Write;
use std::ops::Deref;

use super::time::Instant;
use crate::structures::number::narrow;

/// Length of the longest text, `-009999-01-02T01:59:59.999999Z`, and more.
const TEXT_MAX: usize = 32;
/// First instant of the year 10000. Units: microseconds after 1970.
const END: u64 = 253_402_300_800_000_000;
const DAYS_OF_400_YEARS: u32 = 146_097;
/// Days from 0000-03-01 to 1970-01-01. Years are counted from March on: leap days come last then.
const DAYS_TO_1970: u32 = 719_468;
/// `00`, `01` to `99`.
#[expect(clippy::cast_possible_truncation, reason = "a digit")]
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// The RFC 3339 text of an instant. An instant in the same second as the one before is written in a third of the time.
#[derive(Clone, Copy)]
pub struct InstantText {
    bytes: [u8; TEXT_MAX],
    length: usize,
    /// The second of the bytes before the fraction; `u64::MAX` for none. Units: seconds after 1970.
    second: u64,
}

impl InstantText {
    /// The text of an instant.
    pub fn new(instant: Instant) -> InstantText {
        let mut text = InstantText { bytes: [0; TEXT_MAX], length: 0, second: u64::MAX };
        text.set(instant);
        text
    }

    /// Sets it to the text of another instant.
    #[inline]
    pub fn set(&mut self, instant: Instant) {
        match u64::try_from(instant.micros()).ok().filter(|micros| *micros < END) {
            Some(micros) => self.write_recent(micros),
            None => self.write_other(instant),
        }
    }

    /// The text as bytes, all of them ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Writes an instant of the years 1970 to 9999. Fractions of a second have no zeros at the end.
    #[inline]
    fn write_recent(&mut self, micros: u64) {
        let (second, fraction) = (micros / 1_000_000, (micros % 1_000_000) as u32);
        if second != self.second {
            self.write_second(second);
        }
        let bytes = &mut self.bytes;
        if fraction == 0 {
            bytes[19] = b'Z';
            self.length = 20;
            return;
        }
        bytes[19] = b'.';
        put(bytes, 20, fraction / 10_000);
        put(bytes, 22, fraction / 100 % 100);
        put(bytes, 24, fraction % 100);
        let mut end = 26;
        while bytes[end - 1] == b'0' {
            end -= 1;
        }
        bytes[end] = b'Z';
        self.length = end + 1;
    }

    fn write_second(&mut self, second: u64) {
        self.second = second;
        let (year, month, day) = date(narrow(second / 86_400));
        let second = (second % 86_400) as u32;
        let bytes = &mut self.bytes;
        bytes[..19].copy_from_slice(b"0000-00-00T00:00:00");
        put(bytes, 0, year / 100);
        put(bytes, 2, year % 100);
        put(bytes, 5, month);
        put(bytes, 8, day);
        put(bytes, 11, second / 3_600);
        put(bytes, 14, second / 60 % 60);
        put(bytes, 17, second % 60);
    }

    fn write_other(&mut self, instant: Instant) {
        self.second = u64::MAX;
        let mut rest = &mut self.bytes[..];
        let written = match jiff::Timestamp::from_microsecond(instant.micros()) {
            Ok(timestamp) => write!(rest, "{timestamp}"),
            Err(_) => write!(rest, "{}us", instant.micros()),
        };
        written.expect("room for the longest text");
        self.length = TEXT_MAX - rest.len();
    }
}

impl Deref for InstantText {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("digits, letters and signs")
    }
}

impl fmt::Debug for InstantText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Writes two digits.
#[inline]
fn put(buffer: &mut [u8; TEXT_MAX], at: usize, number: u32) {
    buffer[at..at + 2].copy_from_slice(&PAIRS[number as usize]);
}

/// Year, month and day of a day after 1970-01-01, in the Gregorian calendar.
fn date(days: u32) -> (u32, u32, u32) {
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    // Without the leap days before it, all years have 365.
    let year = (day - day / 1_460 + day / 36_524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // March is 0. Five months from March, and five from August, have 153 days.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month_of_year = if month < 10 { month + 3 } else { month - 9 };
    (400 * cycle + year + u32::from(month >= 10), month_of_year, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn instant(micros: i64) -> Instant {
        Instant::from_micros(micros).unwrap()
    }

    fn text_of_the_library(micros: i64) -> String {
        jiff::Timestamp::from_microsecond(micros).unwrap().to_string()
    }

    #[test]
    fn every_day_reads_as_the_calendar_library_writes_it() {
        for day in 0..jiff::Timestamp::MAX.as_microsecond() / DAY {
            // Each day gets another time, and another number of digits.
            let second = day * 7_919 % 86_400;
            let micros = day * DAY + second * 1_000_000 + [0, 1, 10, 120_000][day as usize % 4];
            assert_eq!(&*InstantText::new(instant(micros)), text_of_the_library(micros));
        }
    }

    #[test]
    fn other_years_are_left_to_the_library() {
        let end = i64::try_from(END).unwrap();
        assert!(Instant::from_micros(end).is_err());
        let first = jiff::Timestamp::MIN.as_microsecond();
        for micros in [first, first + 999_999, -1, jiff::Timestamp::MAX.as_microsecond() - 999_999] {
            assert_eq!(&*InstantText::new(instant(micros)), text_of_the_library(micros));
        }
    }

    #[test]
    fn nothing_of_the_instant_before_is_left() {
        let second = 1_754_742_600_000_000;
        let mut text = InstantText::new(instant(0));
        for micros in [
            second + 123_456,
            second,
            second + 999_990,
            second + 10,
            -second,
            second,
            second + 1_000_000,
            -1,
            0,
        ] {
            text.set(instant(micros));
            assert_eq!(&*text, text_of_the_library(micros));
        }
    }
}
