//! The RFC 3339 text of an instant of our time, which every stamp of every answer has, without the calendar library.

/// Length of the longest text: `2025-08-09T12:30:00.000001Z`.
pub(super) const TEXT_MAX: usize = 27;
/// First instant of the year 10000. Units: microseconds after 1970.
const END: u64 = 253_402_300_800_000_000;
const DAYS_OF_400_YEARS: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01. Years are counted from March on: leap days come last then.
const DAYS_TO_1970: u64 = 719_468;

/// The text of an instant of the years 1970 to 9999; `None` for others. Fractions of a second have no zeros at the end.
pub(super) fn instant_text(micros: i64, buffer: &mut [u8; TEXT_MAX]) -> Option<&str> {
    let micros = u64::try_from(micros).ok().filter(|micros| *micros < END)?;
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let (year, month, day) = date(seconds / 86_400);
    let second = seconds % 86_400;
    buffer[..20].copy_from_slice(b"0000-00-00T00:00:00Z");
    put(&mut buffer[..4], year);
    put(&mut buffer[5..7], month);
    put(&mut buffer[8..10], day);
    put(&mut buffer[11..13], second / 3_600);
    put(&mut buffer[14..16], second / 60 % 60);
    put(&mut buffer[17..19], second % 60);
    let mut end = 20;
    if fraction > 0 {
        buffer[19] = b'.';
        put(&mut buffer[20..26], fraction);
        end = 26;
        while buffer[end - 1] == b'0' {
            end -= 1;
        }
        buffer[end] = b'Z';
        end += 1;
    }
    Some(std::str::from_utf8(&buffer[..end]).expect("digits and signs"))
}

/// Writes a number with leading zeros.
fn put(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Year, month and day of a day after 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (cycle, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    // Without the leap days before it, all years have 365.
    let year = (day - day / 1_460 + day / 36_524 - day / (DAYS_OF_400_YEARS - 1)) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // March is 0. Five months from March, and five from August, have 153 days.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month_of_year = if month < 10 { month + 3 } else { month - 9 };
    (400 * cycle + year + u64::from(month >= 10), month_of_year, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn text(micros: i64) -> Option<String> {
        instant_text(micros, &mut [0; TEXT_MAX]).map(str::to_owned)
    }

    #[test]
    fn every_day_reads_as_the_calendar_library_writes_it() {
        for day in 0..jiff::Timestamp::MAX.as_microsecond() / DAY {
            // Another time, and another number of digits, each day.
            let second = day * 7_919 % 86_400;
            let micros = day * DAY + second * 1_000_000 + [0, 1, 10, 120_000][day as usize % 4];
            let expected = jiff::Timestamp::from_microsecond(micros).unwrap().to_string();
            assert_eq!(text(micros), Some(expected));
        }
    }

    #[test]
    fn other_years_are_left_to_the_library() {
        let end = i64::try_from(END).unwrap();
        assert_eq!((text(-1), text(end)), (None, None));
        assert!(text(end - 1).is_some());
    }
}
