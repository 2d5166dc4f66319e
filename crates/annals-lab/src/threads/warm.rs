//! Warms a system until its rate is steady, and then measures a loop.

use std::time::Duration;

use serde_json::Value;

use super::answer::{ANSWER_MAX, LoopAnswer};
use crate::harness::{Answered, Cell, Figure, System, steady_from};
use crate::outcome::Outcome;

/// Seconds of a measured loop.
pub const SECONDS: f64 = 1.2;
/// Seconds of one warm-up. There are at least two, and at most as many as take the time of a loop.
const WARM_SECONDS: f64 = 0.3;
const WARM_MAX: usize = 4;
/// Seconds of the first warm-up of a process, in which virtual machines compile.
const FIRST_SECONDS: f64 = 3.0;
const TICK_SECONDS: f64 = 0.1;

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

/// Asks for a loop in a process that has just started, and drops its figures.
pub fn warm_first(cell: &Cell, system: &mut dyn System, request: &Value) -> Outcome<()> {
    ask(system, request, cell.size(FIRST_SECONDS, 0.1)).map(drop)
}

/// Asks for a loop again and again, for a short time, until its rate is steady; then for the measured time.
pub fn warmed_loop(cell: &Cell, system: &mut dyn System, request: &Value) -> Outcome<Answered<Warmed>> {
    let mut ticks = Vec::new();
    let mut steady = None;
    for _ in 0..cell.size(WARM_MAX, 1) {
        match ask(system, request, cell.size(WARM_SECONDS, 0.1))? {
            Answered::Answer(answer) => ticks.extend(answer.ticks),
            Answered::Skip(reason) => return Ok(Answered::Skip(reason)),
        }
        steady = steady_from(&ticks);
        if steady.is_some() && ticks.len() as f64 * TICK_SECONDS >= 2.0 * WARM_SECONDS {
            break;
        }
    }
    let warm_after = steady.map(|place| place as f64 * TICK_SECONDS);
    Ok(match ask(system, request, cell.size(SECONDS, 0.2))? {
        Answered::Answer(answer) => {
            Answered::Answer(Warmed { answer, warm_after, is_steady: steady.is_some() })
        }
        Answered::Skip(reason) => Answered::Skip(reason),
    })
}

/// Asks for one loop of so many seconds.
pub fn ask(system: &mut dyn System, request: &Value, seconds: f64) -> Outcome<Answered<LoopAnswer>> {
    let mut request = request.clone();
    request["seconds"] = seconds.into();
    system.answer(&request, ANSWER_MAX + Duration::from_secs_f64(seconds))
}
