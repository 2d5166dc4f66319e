//! The second of a memento: fourteen digits in its address, a date in headers.

use std::time::{Duration, UNIX_EPOCH};

use annals::Instant;

const MICROS: i64 = 1_000_000;
/// Longest wait for the end of a second; only a clock that was set back can need more.
const WAIT_MAX: Duration = Duration::from_secs(3);

/// A second of time, in UTC. Units: since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Second(i64);

impl Second {
    /// The second that an instant is in.
    pub fn of(instant: Instant) -> Second {
        Second(instant.micros().div_euclid(MICROS))
    }

    /// The second of an address, such as `20261125221530`; `None` if the digits are no time.
    pub fn parse(digits: &str) -> Option<Second> {
        if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let part = |from: usize, to: usize| &digits[from..to];
        let text = format!(
            "{}-{}-{}T{}:{}:{}Z",
            part(0, 4),
            part(4, 6),
            part(6, 8),
            part(8, 10),
            part(10, 12),
            part(12, 14)
        );
        let second = Second::of(text.parse().ok()?);
        (second.digits() == digits).then_some(second)
    }

    /// The second of a date in a header (RFC 9110); `None` if it is malformed. A day may have one digit, as in the dates of
    /// mail, from which those of HTTP come.
    pub fn of_date(text: &str) -> Option<Second> {
        let text = text.trim();
        let with_zero = match text.split_once(", ") {
            Some((weekday, date)) if date.find(' ') == Some(1) => Some(format!("{weekday}, 0{date}")),
            _ => None,
        };
        let time = httpdate::parse_http_date(with_zero.as_deref().unwrap_or(text)).ok()?;
        let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok().map(Second)
    }

    /// Its first microsecond.
    pub fn start(self) -> Instant {
        self.at(0)
    }

    /// Its last microsecond.
    pub fn last(self) -> Instant {
        self.at(MICROS - 1)
    }

    /// The first microsecond after it.
    pub fn end(self) -> Instant {
        self.at(MICROS)
    }

    fn at(self, micros: i64) -> Instant {
        let micros = self.0.saturating_mul(MICROS).saturating_add(micros);
        Instant::from_micros(micros).unwrap_or_else(|_| Instant::now())
    }

    /// The digits of an address.
    pub fn digits(self) -> String {
        self.start().to_string().bytes().filter(u8::is_ascii_digit).take(14).map(char::from).collect()
    }

    /// The date of a header.
    pub fn date(self) -> String {
        date(self.start())
    }

    /// Waits until the second has passed by the clock.
    pub async fn passed(self) {
        let left = self.end().micros().saturating_sub(Instant::now().micros());
        if let Ok(left) = u64::try_from(left) {
            tokio::time::sleep(Duration::from_micros(left).min(WAIT_MAX)).await;
        }
    }
}

/// An instant as HTTP writes it, in whole seconds.
pub fn date(instant: Instant) -> String {
    let micros = u64::try_from(instant.micros()).unwrap_or(0);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_digits_and_a_date() {
        let second = Second::parse("20261125221530").unwrap();
        assert_eq!(
            (second.digits(), second.date()),
            ("20261125221530".into(), "Wed, 25 Nov 2026 22:15:30 GMT".into())
        );
        assert_eq!(Second::of_date("Wed, 25 Nov 2026 22:15:30 GMT"), Some(second));
        assert_eq!((Second::of(second.last()), Second::of(second.end())), (second, Second(second.0 + 1)));
        for wrong in
            ["", "2026112522153", "20261325221530", "20260231000000", "20261125221560", "2026112522153x"]
        {
            assert_eq!(Second::parse(wrong), None, "{wrong}");
        }
        let early = Second::of_date("Thu, 05 Nov 2026 22:15:30 GMT");
        assert!(early.is_some() && Second::of_date("Thu, 5 Nov 2026 22:15:30 GMT") == early);
        assert_eq!(Second::of_date("yesterday"), None);
    }
}
