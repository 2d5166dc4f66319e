//! Answers of a system, as ADAPTERS.md describes them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::Figure;
use crate::latencies::encode_counts;
use crate::outcome::Outcome;

/// Longest wait for an answer beyond the time that the request itself names.
pub const ANSWER_MAX: Duration = Duration::from_secs(60);

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
    pub vertices: u64,
    pub edges: u64,
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

impl LoopAnswer {
    /// Operations in a second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds
    }

    /// The figure of a row that counts operations in a second.
    ///
    /// Errors: if the answer contradicts itself.
    pub fn figure(&self, offered: Option<f64>) -> Outcome<Figure> {
        let ticks: u64 = self.ticks.iter().sum();
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
