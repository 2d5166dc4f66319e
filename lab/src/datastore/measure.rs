//! Times a row, in the honest form or as the page does it.

use std::time::{Duration, Instant as Clock};

use super::content::leaf;
use super::row::{Limit, Row};
use super::target::{Answer, Call, Target, middle};
use crate::outcome::Outcome;
use crate::run::{RawFile, quantile};

/// After this time a row begins no further try. Untimed work counts.
const ROW_TIME_MAX: Duration = Duration::from_secs(20);
/// Most tries of a row whose tries are short.
const TRIES_MAX: usize = 1_000;
/// Bytes of the durable write that is measured beside rows that change one item: about one of them.
const SYNC_BYTES: usize = 512;

/// How rows are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each try does a real operation: the state is restored before the next try. The figure is the median.
    Honest,
    /// As on the page: nothing is restored, so that in some rows only the first try has work to do. The figure is the mean.
    Page,
}

/// The form, and the number of tries.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub form: Form,
    pub tries: usize,
    /// In the honest form a row of short tries makes more tries for this long.
    pub row_time_min: Duration,
}

/// The samples of a row.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Units: nanoseconds, of a try.
    pub ns: Vec<f64>,
    /// Durable writes between the tries. Units: nanoseconds.
    pub syncs_ns: Vec<f64>,
}

impl Form {
    /// As JSON and the tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Honest => "honest",
            Form::Page => "page",
        }
    }

    /// The median, or the mean. Units: nanoseconds.
    pub fn figure(self, samples: &Samples) -> f64 {
        match self {
            Form::Honest => samples.quantile(0.5),
            Form::Page => samples.mean(),
        }
    }
}

impl Samples {
    /// The value below which this share of the tries lies. Not a number without tries.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.ns.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, share)
    }

    /// Half of the distance between the quartiles, divided by the median.
    pub fn spread(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / self.quantile(0.5)
    }

    /// The mean of all tries, including tries without work.
    pub fn mean(&self) -> f64 {
        self.ns.iter().sum::<f64>() / self.ns.len() as f64
    }

    /// The median of the durable writes; `None` if there are none.
    pub fn sync_ns(&self) -> Option<f64> {
        let mut sorted = self.syncs_ns.clone();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
    }
}

/// Times a row on an empty store.
///
/// Errors: those of the target; in the honest form also a try that changed nothing or read another leaf.
pub fn measure(
    target: &mut dyn Target,
    row: &Row,
    count: u32,
    plan: Plan,
    file: &mut RawFile,
) -> Outcome<Samples> {
    target.begin(count, row.is_cached)?;
    if let Some(fill) = row.fill {
        target.call(fill)?;
    }
    let is_beside_syncs =
        target.is_durable() && matches!(&row.bar, Some(bar) if matches!(bar.limit, Limit::Syncs(_)));
    let mut samples = Samples::default();
    let start = Clock::now();
    while plan.goes_on(samples.ns.len(), start.elapsed()) {
        if is_beside_syncs {
            let start = Clock::now();
            file.append(&[7; SYNC_BYTES])?;
            samples.syncs_ns.push(nanoseconds(start.elapsed()));
        }
        all(target, row.before)?;
        let mut answers = Vec::with_capacity(row.rounds * row.timed.len());
        let start = Clock::now();
        for _ in 0..row.rounds {
            for call in row.timed {
                answers.push((*call, target.call(*call)?));
            }
        }
        samples.ns.push(nanoseconds(start.elapsed()));
        if plan.form == Form::Honest {
            answers.iter().try_for_each(|(call, answer)| check(*call, answer, count))?;
        }
        drop(answers);
        all(target, row.after)?;
        if plan.form == Form::Honest {
            all(target, row.restore)?;
        }
    }
    Ok(samples)
}

impl Plan {
    /// Whether there is another try.
    fn goes_on(&self, done: usize, elapsed: Duration) -> bool {
        match self.form {
            Form::Page => done < self.tries,
            Form::Honest if done == 0 => true,
            Form::Honest if done < self.tries => elapsed < ROW_TIME_MAX,
            Form::Honest => done < TRIES_MAX && elapsed < self.row_time_min,
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

fn nanoseconds(elapsed: Duration) -> f64 {
    elapsed.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datastore::content::{Content, List, Order};
    use crate::datastore::file::JsonFile;
    use crate::datastore::row::ROWS;
    use crate::datastore::target::Store;

    /// One real operation, and nine tries without work.
    fn samples() -> Samples {
        Samples { ns: [10_000.0].into_iter().chain([100.0; 9]).collect(), syncs_ns: vec![3.0, 1.0, 2.0] }
    }

    #[test]
    fn the_page_averages_tries_that_did_nothing_and_we_do_not() {
        assert_eq!(Form::Page.figure(&samples()), 1_090.0);
        assert_eq!(Form::Honest.figure(&samples()), 100.0);
        assert_eq!(samples().sync_ns(), Some(2.0));
        let even = Samples { ns: vec![4.0, 1.0, 3.0, 2.0], ..Samples::default() };
        assert_eq!((even.mean(), even.quantile(0.5), even.spread()), (2.5, 2.5, 0.3));
    }

    fn plan(form: Form, tries: usize) -> Plan {
        Plan { form, tries, row_time_min: Duration::from_millis(5) }
    }

    #[test]
    fn tries_end_when_they_are_enough_or_took_too_long() {
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(5));
        let page = plan(Form::Page, 10);
        assert!(page.goes_on(9, ROW_TIME_MAX) && !page.goes_on(10, short));
        let honest = plan(Form::Honest, 10);
        assert!(honest.goes_on(0, ROW_TIME_MAX) && !honest.goes_on(1, ROW_TIME_MAX));
        assert!(honest.goes_on(9, long) && honest.goes_on(10, short) && !honest.goes_on(10, long));
        assert!(!honest.goes_on(TRIES_MAX, short));
    }

    #[test]
    fn honest_tries_find_everything_as_it_was_and_those_of_the_page_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut target = JsonFile::new(Some(folder.path())).unwrap();
        let mut file = RawFile::create(&folder.path().join("raw")).unwrap();
        let row = ROWS.iter().find(|row| row.name == "remove all items").unwrap();
        for (form, left) in [(Form::Honest, 20), (Form::Page, 0)] {
            let samples = measure(&mut target, row, 20, plan(form, 3), &mut file).unwrap();
            assert!(samples.ns.len() >= 3);
            let Answer::Whole(Some(whole)) = target.call(Call::All(Store::Running)).unwrap() else {
                panic!()
            };
            let expected = Content::of(List::Keyed, Order::Up, left);
            assert_eq!(whole.content().unwrap().difference(&expected), None, "{form:?}");
        }
    }
}
