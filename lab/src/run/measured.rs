//! The result of all rounds of one line.

use super::catalogue::Line;
use super::sample::Sample;
use super::summary::{Pair, Summary};

/// Share of the machine that other processes may use before figures are doubtful. The kernel's writing for the run is
/// part of it.
const OTHERS_MAX: f64 = 0.15;

/// All rounds of one line, or why there are none.
pub struct Measured {
    pub line: &'static Line,
    pub figures: Result<Figures, String>,
}

impl Measured {
    /// The turns of each round.
    pub fn turns(&self) -> Result<&[Vec<Pair>], String> {
        self.figures.as_ref().map(|figures| &figures.rounds[..]).map_err(String::clone)
    }
}

/// The figures of all rounds.
pub struct Figures {
    /// The turns of each round.
    pub rounds: Vec<Vec<Pair>>,
    /// Share of the machine that other processes used meanwhile.
    pub others: f64,
}

impl Figures {
    /// The figures of one line from all samples of each round.
    ///
    /// Errors: if a round has none of it.
    pub fn of(line: &Line, rounds: &[Vec<Sample>], others: f64) -> Result<Figures, String> {
        let own = |samples: &Vec<Sample>| -> Vec<Pair> {
            let own = samples.iter().filter(|sample| sample.line == line.name);
            own.map(|sample| Pair { ours: sample.ours, limit: sample.limit }).collect()
        };
        let rounds: Vec<Vec<Pair>> = rounds.iter().map(own).collect();
        if rounds.iter().any(Vec::is_empty) {
            return Err("a round ended without it".into());
        }
        Ok(Figures { rounds, others })
    }

    /// The summary of all rounds.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::of(&self.rounds);
        summary.distrust.extend(self.distrust());
        summary
    }

    /// Why the machine may have disturbed the figures, if it may.
    pub fn distrust(&self) -> Option<String> {
        let percent = 100.0 * self.others;
        (self.others > OTHERS_MAX).then(|| format!("others used {percent:.0} % of the machine"))
    }
}
