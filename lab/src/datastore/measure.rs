//! Times a row: each try does a real operation, and the state is restored before the next one.

use std::time::{Duration, Instant as Clock};

use super::content::leaf;
use super::row::Row;
use super::target::{Answer, Call, Target, middle};
use crate::outcome::Outcome;

/// After this time a row begins no further try. Untimed work counts.
const ROW_TIME_MAX: Duration = Duration::from_secs(20);
/// Most tries of a row whose tries are short.
const TRIES_MAX: usize = 1_000;

/// How often a row is tried.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub tries: usize,
    /// A row of short tries makes more tries for this long.
    pub row_time_min: Duration,
}

/// Times a row on an empty store. Units: nanoseconds, of each try.
///
/// Errors: those of the target, and a try that changed nothing or read another leaf.
pub fn measure(target: &mut dyn Target, row: &Row, count: u32, plan: Plan) -> Outcome<Vec<u64>> {
    target.begin(count, row.is_cached)?;
    if let Some(fill) = row.fill {
        target.call(fill)?;
    }
    let mut tries = Vec::new();
    let start = Clock::now();
    while plan.goes_on(tries.len(), start.elapsed()) {
        all(target, row.before)?;
        let mut answers = Vec::with_capacity(row.rounds * row.timed.len());
        let start = Clock::now();
        for _ in 0..row.rounds {
            for call in row.timed {
                answers.push((*call, target.call(*call)?));
            }
        }
        tries.push(u64::try_from(start.elapsed().as_nanos())?);
        answers.iter().try_for_each(|(call, answer)| check(*call, answer, count))?;
        drop(answers);
        all(target, row.after)?;
    }
    Ok(tries)
}

impl Plan {
    /// Whether there is another try.
    fn goes_on(&self, done: usize, elapsed: Duration) -> bool {
        match done {
            0 => true,
            _ if done < self.tries => elapsed < ROW_TIME_MAX,
            _ => done < TRIES_MAX && elapsed < self.row_time_min,
        }
    }
}

fn all(target: &mut dyn Target, calls: &[Call]) -> Outcome<()> {
    calls.iter().try_for_each(|call| target.call(*call).map(drop))
}

/// Errors: if nothing was changed, or another leaf was read.
fn check(call: Call, answer: &Answer, count: u32) -> Outcome<()> {
    match answer {
        Answer::Changed(true) | Answer::Done | Answer::Whole(Some(_)) => Ok(()),
        Answer::Leaf(_) => answer.expect_leaf(call, Some(&leaf(middle(count)))),
        other => Err(other.unexpected(call)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datastore::content::{Content, List, Order};
    use crate::datastore::file::JsonFile;
    use crate::datastore::row::ROWS;
    use crate::datastore::target::Store;

    const PLAN: Plan = Plan { tries: 10, row_time_min: Duration::from_millis(5) };

    #[test]
    fn tries_end_when_they_are_enough_or_took_too_long() {
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(5));
        assert!(PLAN.goes_on(0, ROW_TIME_MAX) && !PLAN.goes_on(1, ROW_TIME_MAX));
        assert!(PLAN.goes_on(9, long) && PLAN.goes_on(10, short) && !PLAN.goes_on(10, long));
        assert!(!PLAN.goes_on(TRIES_MAX, short));
    }

    #[test]
    fn tries_find_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut target = JsonFile::new(folder.path()).unwrap();
        let row = ROWS.iter().find(|row| row.name == "remove all items").unwrap();
        assert!(measure(&mut target, row, 20, PLAN).unwrap().len() >= 10);
        let Answer::Whole(Some(whole)) = target.call(Call::All(Store::Running)).unwrap() else { panic!() };
        let expected = Content::of(List::Keyed, Order::Up, 20);
        assert_eq!(whole.content().unwrap().difference(&expected), None);
    }
}
