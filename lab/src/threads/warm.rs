//! Warms a system until its rate is steady, and then measures a loop.

use std::time::Duration;

use serde_json::Value;

use super::answer::{ANSWER_MAX, LoopAnswer};
use crate::harness::{Answered, Cell, Figure, System, steady_from};
use crate::outcome::Outcome;

/// Seconds of a measured loop.
pub const SECONDS: f64 = 1.2;
/// Threads of the first loops of a row in a process: among many threads, the compiler of a virtual machine gets little time.
const FIRST_THREADS: usize = 10;
const TICK_SECONDS: f64 = 0.1;

/// How long a warm-up lasts.
struct Plan {
    /// Each part of a warm-up is a loop of so many ticks.
    ticks_per_part: usize,
    /// So many ticks make one value of the series that has to be steady.
    ticks_per_value: usize,
    parts_min: usize,
    parts_max: usize,
    /// No part begins later than this: where each of thousands of threads ends one slow operation, a part lasts many times
    /// longer than it was asked for.
    seconds_max: f64,
    /// No part begins after so many operations: what commits leave must fit into memory.
    operations_max: u64,
}

/// 20 to 40 ticks: on fewer ticks, almost every series looks steady by chance.
const FULL: Plan = Plan {
    ticks_per_part: 5,
    ticks_per_value: 1,
    parts_min: 4,
    parts_max: 8,
    seconds_max: 4.0,
    operations_max: u64::MAX,
};
const QUICK: Plan = Plan { ticks_per_part: 1, parts_min: 1, parts_max: 1, seconds_max: 0.1, ..FULL };
/// A process that has just started, where a virtual machine may compile for half a minute: 20 to 40 seconds.
const FIRST: Plan = Plan {
    ticks_per_part: 10,
    ticks_per_value: 10,
    parts_min: 20,
    parts_max: 40,
    seconds_max: 40.0,
    operations_max: u64::MAX,
};

/// A loop that a system was warm for.
pub struct Warmed {
    pub answer: LoopAnswer,
    pub warm_after: Option<f64>,
    pub is_steady: bool,
}

impl Warmed {
    /// The figure of the loop, which says when the system was warm.
    pub fn figure(&self, offered: Option<f64>) -> Outcome<Figure> {
        let figure = self.answer.figure(offered)?;
        Ok(Figure { warm_after: self.warm_after, never_steady: !self.is_steady, ..figure })
    }
}

/// Asks for the first loops of a row in a process, until the rate is steady or so many operations have ended, and drops
/// their figures.
pub fn warm_first(cell: &Cell, system: &mut dyn System, request: &Value, operations_max: u64) -> Outcome<()> {
    let mut request = request.clone();
    request["threads"] = FIRST_THREADS.into();
    let plan = cell.size(Plan { operations_max, ..FIRST }, QUICK);
    plan.warm(|seconds| ask(system, &request, seconds)).map(drop)
}

/// Asks for a loop again and again, for a short time, until its rate is steady; then for the measured time.
pub fn warmed_loop(cell: &Cell, system: &mut dyn System, request: &Value) -> Outcome<Answered<Warmed>> {
    let steady_after = match cell.size(FULL, QUICK).warm(|seconds| ask(system, request, seconds))? {
        Answered::Answer(steady_after) => steady_after,
        Answered::Skip(reason) => return Ok(Answered::Skip(reason)),
    };
    let warm_after = steady_after.map(|ticks| ticks as f64 * TICK_SECONDS);
    Ok(match ask(system, request, cell.size(SECONDS, 0.2))? {
        Answered::Answer(answer) => {
            Answered::Answer(Warmed { answer, warm_after, is_steady: steady_after.is_some() })
        }
        Answered::Skip(reason) => Answered::Skip(reason),
    })
}

/// Asks for one loop of so many seconds.
pub fn ask(system: &mut dyn System, request: &Value, seconds: f64) -> Outcome<Answered<LoopAnswer>> {
    let mut request = request.clone();
    request["seconds"] = seconds.into();
    let answered = system.answer::<LoopAnswer>(&request, ANSWER_MAX + Duration::from_secs_f64(seconds))?;
    if let Answered::Answer(answer) = &answered {
        answer.check().map_err(|error| format!("{request}: {error}"))?;
    }
    Ok(answered)
}

impl Plan {
    /// Repeats a loop until its rate is steady: returns after how many ticks it was, `None` if it never was.
    fn warm(
        &self,
        mut ask: impl FnMut(f64) -> Outcome<Answered<LoopAnswer>>,
    ) -> Outcome<Answered<Option<usize>>> {
        let mut series: Vec<u64> = Vec::new();
        let (mut seconds, mut operations) = (0.0, 0_u64);
        for part in 1..=self.parts_max {
            let answer = match ask(self.ticks_per_part as f64 * TICK_SECONDS)? {
                Answered::Answer(answer) => answer,
                Answered::Skip(reason) => return Ok(Answered::Skip(reason)),
            };
            // Operations that ended after the time of the part are in ticks of their own, which are incomplete.
            let mut ticks = answer.ticks;
            ticks.resize(self.ticks_per_part, 0);
            series.extend(ticks.chunks(self.ticks_per_value).map(sum));
            if part >= self.parts_min
                && let Some(steady_after) = steady_from(&series)
            {
                return Ok(Answered::Answer(Some(steady_after)));
            }
            seconds += answer.seconds;
            operations = operations.saturating_add(answer.operations);
            if seconds >= self.seconds_max || operations >= self.operations_max {
                break;
            }
        }
        Ok(Answered::Answer(None))
    }
}

/// An adapter may say any number.
fn sum(ticks: &[u64]) -> u64 {
    ticks.iter().copied().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warms a system that answers the parts of a warm-up with these ticks; returns its end and how many parts there were.
    fn warm(plan: &Plan, ticks_of: impl Fn(u64) -> Vec<u64>) -> (Option<usize>, u64) {
        warm_for(plan, 0.5, ticks_of)
    }

    /// The same of a system whose parts last so many seconds.
    fn warm_for(plan: &Plan, seconds: f64, ticks_of: impl Fn(u64) -> Vec<u64>) -> (Option<usize>, u64) {
        let mut parts = 0;
        let warmed = plan.warm(|_| {
            parts += 1;
            let ticks = ticks_of(parts);
            let operations = sum(&ticks);
            Ok(Answered::Answer(LoopAnswer { operations, ticks, seconds, ..LoopAnswer::default() }))
        });
        match warmed.unwrap() {
            Answered::Answer(steady_after) => (steady_after, parts),
            Answered::Skip(reason) => panic!("{reason}"),
        }
    }

    #[test]
    fn a_level_rate_is_believed_after_twenty_ticks() {
        assert_eq!(warm(&FULL, |_| vec![100; 5]), (Some(0), 4));
        assert_eq!(warm(&QUICK, |_| vec![100]), (Some(0), 1));
    }

    #[test]
    fn the_incomplete_tick_of_a_part_is_dropped() {
        assert_eq!(warm(&FULL, |_| vec![100, 100, 100, 100, 100, 1]), (Some(0), 4));
    }

    #[test]
    fn a_warm_up_lasts_until_the_rate_is_steady_but_not_for_ever() {
        // The rate rises in the third part: the last half of 25 ticks is level, that of 20 is not.
        assert_eq!(warm(&FULL, |part| vec![if part < 3 { 100 } else { 400 }; 5]), (Some(10), 4));
        assert_eq!(warm(&FULL, |part| vec![if part < 4 { 100 } else { 400 }; 5]), (Some(15), 6));
        assert_eq!(warm(&FULL, |part| vec![100 << part; 5]), (None, 8));
        assert_eq!(warm_for(&FULL, 1.5, |_| vec![100; 15]), (None, 3), "15 whole ticks are not enough");
    }

    #[test]
    fn a_process_that_has_just_started_is_warmed_while_its_rate_rises() {
        let rises_for = |seconds: u64| move |part: u64| vec![10 * part.min(seconds); 10];
        assert_eq!(warm_for(&FIRST, 1.0, |_| vec![100; 10]), (Some(0), 20));
        let (steady_after, parts) = warm_for(&FIRST, 1.0, rises_for(15));
        assert!(steady_after.is_some() && (25..=40).contains(&parts), "{steady_after:?} after {parts}");
        assert_eq!(warm_for(&FIRST, 1.0, rises_for(40)), (None, 40));
        let few = Plan { operations_max: 5_000, ..FIRST };
        assert_eq!(warm_for(&few, 1.0, |_| vec![100; 10]), (None, 5), "what it leaves fits into memory");
        assert_eq!(warm_for(&FIRST, 1.0, |_| vec![u64::MAX; 10]), (None, 1), "no number is too large");
    }
}
