//! The clock for commit instants, and commits while it is behind the last record.

use crate::model::Instant;
use crate::options::WallClock;
use crate::{Error, ErrorKind, Position, Result};

/// A clock this far behind the last record causes a warning. Units: microseconds.
const BEHIND_MAX: i64 = 60 * 1_000_000;

/// The instant of a record that is committed now, after one of the instant `last`: `asked` if the caller sets it,
/// otherwise the time of the clock, but never before `last`, nor before an instant that is settled (`floor`). A caller
/// sets it to import a history, which may come to where readers have been.
///
/// Errors: as [`check_commit_instant`].
pub(in crate::write) fn commit_instant(
    clock: &WallClock,
    last: Instant,
    floor: Instant,
    asked: Option<Instant>,
) -> Result<Instant> {
    let now = clock();
    asked.map_or_else(|| Ok(now.max(last).max(floor)), |asked| check_commit_instant(asked, last, now))
}

/// The commit instant that a writer has set, if it is allowed after a record of the instant `last` while the clock
/// shows `now`.
///
/// Instants never run backwards, so an instant before `last` is refused. Only the past is known, so an instant after
/// the clock is refused, even if a wrong clock has once set `last` far ahead. If the clock is behind `last`, exactly
/// `last` is allowed: otherwise a writer that sets its instants could commit nothing more. A later instant would move
/// the end of the history further ahead with each commit.
///
/// Errors: `InvalidArgument` for an instant before the last record; `FutureInstant`.
fn check_commit_instant(asked: Instant, last: Instant, now: Instant) -> Result<Instant> {
    if asked < last {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("commit instant {asked}: expected at least the last record's, {last}"),
        ));
    }
    if asked > now && asked > last {
        let text = if last > now {
            format!(
                "commit instant {asked}: expected the last record's, {last}, because the clock is behind it and says {now}"
            )
        } else {
            format!("commit instant {asked}: expected an instant of the past, now is {now}")
        };
        return Err(Error::new(ErrorKind::FutureInstant, text));
    }
    Ok(asked)
}

/// Warns of a clock that is behind the last record by more than a minute; smaller differences between machines are
/// normal.
pub(crate) fn warning(now: Instant, last: Instant, position: Position) -> Option<String> {
    let behind = last.micros().saturating_sub(now.micros());
    (behind > BEHIND_MAX).then(|| {
        format!(
            "clock: the last record, at position {position}, was committed at {last}, {} ahead of the clock, which says \
             {now}; commit instants stay at {last} until the clock has caught up, and a read as of an earlier instant \
             does not find what is written meanwhile; set the clock if it is wrong; if it was wrong before, read as of \
             positions, or go back to a backup from before",
            length(behind)
        )
    })
}

/// A duration in a readable unit. Units: microseconds.
fn length(micros: i64) -> String {
    const UNITS: [(&str, i64); 3] = [("days", 86_400), ("hours", 3_600), ("minutes", 60)];
    let seconds = micros / 1_000_000;
    // The larger unit is used from two of it on: 47 hours, 2 days.
    let unit = UNITS.into_iter().find(|(_, unit)| seconds >= 2 * unit);
    let (name, unit) = unit.unwrap_or(("seconds", 1));
    format!("{} {name}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::from_micros(seconds * 1_000_000).unwrap()
    }

    #[test]
    fn a_commit_instant_lies_between_the_last_record_and_the_clock() {
        let kind = |asked, last, now| {
            check_commit_instant(at(asked), at(last), at(now)).map_err(|error| error.kind())
        };
        assert_eq!(kind(4, 5, 10), Err(ErrorKind::InvalidArgument));
        for asked in [5, 7, 10] {
            assert_eq!(kind(asked, 5, 10), Ok(at(asked)));
        }
        assert_eq!(kind(11, 5, 10), Err(ErrorKind::FutureInstant));
    }

    #[test]
    fn with_a_clock_behind_the_last_record_only_its_instant_is_left() {
        let kind = |asked| check_commit_instant(at(asked), at(100), at(10)).map_err(|error| error.kind());
        assert_eq!(kind(10), Err(ErrorKind::InvalidArgument));
        assert_eq!(kind(99), Err(ErrorKind::InvalidArgument));
        assert_eq!(kind(100), Ok(at(100)));
        assert_eq!(kind(101), Err(ErrorKind::FutureInstant));
    }

    #[test]
    fn a_minute_is_no_news_and_more_is_told_in_words() {
        let warn = |behind: i64| warning(at(1_000), at(1_000 + behind), Position(7));
        assert_eq!((warn(-5), warn(0), warn(60)), (None, None, None));
        let told = |behind| warn(behind).unwrap();
        assert!(told(61).contains("position 7") && told(61).contains(" 61 seconds ahead"), "{}", told(61));
        for (behind, text) in
            [(119, "119 seconds"), (120, "2 minutes"), (7_200, "2 hours"), (4_000 * 86_400, "4000 days")]
        {
            assert!(told(behind).contains(&format!(", {text} ahead")), "{}", told(behind));
        }
        // A new log has no last record.
        assert_eq!(warning(at(0), Instant::from_checked_micros(i64::MIN), Position::ZERO), None);
    }
}
