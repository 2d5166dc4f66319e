//! Answers of a system, as ADAPTERS.md describes them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::{Figure, Syncs, TargetRecord};
use crate::latencies::{Latencies, encode_counts};
use crate::outcome::Outcome;

/// Longest wait for an answer beyond the time that the request itself names.
pub const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Longest histogram in text: every value of an hour, to three digits, fits many times. Units: bytes.
const HISTOGRAM_MAX: usize = 4 << 20;
/// Most latencies with a count of their own.
const LATENCIES_MAX: usize = 1_000_000;

/// The answer to `open`.
#[derive(Serialize, Deserialize)]
pub struct Opened {
    pub version: String,
    pub durability: String,
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The answer of a loop.
#[derive(Default, Serialize, Deserialize)]
pub struct LoopAnswer {
    pub operations: u64,
    pub seconds: f64,
    pub ticks: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies_ns: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    #[serde(default)]
    pub late: u64,
    #[serde(default)]
    pub dropped: u64,
    #[serde(default)]
    pub retries: u64,
    #[serde(default)]
    pub steps: Vec<u64>,
}

/// An answer that consists of a time.
#[derive(Serialize, Deserialize)]
pub struct Took {
    pub seconds: f64,
    #[serde(default)]
    pub values: Vec<i64>,
}

/// The answer to `bipartite-check`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Degrees {
    /// The number of vertices in the folder, as in [`Count`], if the system counts it quickly.
    #[serde(default)]
    pub vertices: Option<u64>,
    #[serde(default)]
    pub edges: Option<u64>,
    pub out_degree: BTreeMap<String, u64>,
    pub in_degree: BTreeMap<String, u64>,
}

/// The answer to `count`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub vertices: u64,
    pub edges: u64,
}

/// The answer to `two-hops-of`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    pub numbers: Vec<u64>,
}

/// The answer to `memory`.
#[derive(Serialize, Deserialize)]
pub struct Memory {
    pub live_bytes: u64,
}

impl Opened {
    /// The description of the system in the report.
    pub fn record(&self, syncs: Option<Syncs>) -> TargetRecord {
        TargetRecord {
            version: self.version.clone(),
            durability: self.durability.clone(),
            settings: self.settings.clone().into_iter().collect(),
            syncs,
            ..TargetRecord::default()
        }
    }
}

impl Degrees {
    /// The counts of the system, if it counted.
    pub fn counted(&self) -> Option<Count> {
        Some(Count { vertices: self.vertices?, edges: self.edges? })
    }
}

impl LoopAnswer {
    /// Whether everything that reads the records of a run can read this answer: one that it cannot read would stop the report
    /// of all systems.
    ///
    /// Errors: if the histogram or the latencies are malformed, or have more latencies than there were operations.
    pub fn check(&self) -> Outcome<()> {
        let latencies = match &self.histogram {
            Some(text) if text.len() > HISTOGRAM_MAX => {
                return Err(format!(
                    "histogram: expected at most {HISTOGRAM_MAX} bytes, found {}",
                    text.len()
                )
                .into());
            }
            Some(text) => Latencies::decode(text).map_err(|error| format!("histogram: {error}"))?.count(),
            None => {
                if self.latencies_ns.len() > LATENCIES_MAX {
                    let found = self.latencies_ns.len();
                    return Err(format!(
                        "latencies_ns: expected at most {LATENCIES_MAX} values, found {found}"
                    )
                    .into());
                }
                let counts = self.latencies_ns.iter().map(|(_, count)| *count);
                counts.fold(0, u64::saturating_add)
            }
        };
        if latencies > self.operations || (latencies == 0 && self.operations > 0) {
            let text = format!("{latencies} latencies of {} operations", self.operations);
            return Err(format!("expected a latency for each operation or for several, found {text}").into());
        }
        Ok(())
    }

    /// Operations in a second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds
    }

    /// The figure of a row that counts operations in a second.
    ///
    /// Errors: if the answer contradicts itself.
    pub fn figure(&self, offered: Option<f64>) -> Outcome<Figure> {
        let ticks = self.ticks.iter().fold(0u64, |sum, tick| sum.saturating_add(*tick));
        if ticks != self.operations {
            return Err(format!("wrong answer: {} operations, but ticks of {ticks}", self.operations).into());
        }
        if self.operations == 0 || self.seconds.is_nan() || self.seconds <= 0.0 {
            return Err(format!("DNF({:.0} s)", self.seconds).into());
        }
        let begun = self.operations + self.dropped;
        Ok(Figure {
            value: Some(self.rate()),
            operations: Some(self.operations),
            seconds: Some(self.seconds),
            histogram: Some(self.histogram()?),
            ticks: self.ticks.clone(),
            offered,
            late: offered.map(|_| (self.late + self.dropped) as f64 / begun as f64),
            retries: self.retries,
            ..Figure::default()
        })
    }

    fn histogram(&self) -> Outcome<String> {
        if let Some(text) = &self.histogram {
            return Ok(text.clone());
        }
        encode_counts(self.latencies_ns.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(latencies_ns: &[(u64, u64)], histogram: Option<&str>) -> LoopAnswer {
        let histogram = histogram.map(str::to_owned);
        LoopAnswer { operations: 3, latencies_ns: latencies_ns.to_vec(), histogram, ..LoopAnswer::default() }
    }

    #[test]
    fn malformed_latencies_are_an_error_of_their_adapter() {
        let found = |latencies: &[(u64, u64)], histogram| {
            answer(latencies, histogram).check().map_err(|error| error.to_string())
        };
        let whole = encode_counts([(1_000, 3)].into_iter()).unwrap();
        let more = encode_counts([(1_000, 4)].into_iter()).unwrap();
        assert_eq!(found(&[(1_000, 2), (u64::MAX, 1)], None), Ok(()));
        assert_eq!(found(&[], Some(&whole)), Ok(()));
        for (latencies, histogram, expected) in [
            (&[][..], Some("no histogram"), "histogram: "),
            (&[], Some(&whole[..whole.len() / 2]), "histogram: "),
            (&[], Some(more.as_str()), "found 4 latencies of 3 operations"),
            (&[(1_000, 4)], None, "found 4 latencies of 3 operations"),
            (&[(1_000, u64::MAX), (2_000, 1)], None, "latencies of 3 operations"),
            (&[], None, "found 0 latencies of 3 operations"),
        ] {
            let error = found(latencies, histogram).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
