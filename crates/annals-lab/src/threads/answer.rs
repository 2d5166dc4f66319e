//! Answers of a system, as ADAPTERS.md describes them.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::harness::Figure;
use crate::outcome::Outcome;

/// Latencies up to ten minutes. Units: nanoseconds.
const LATENCY_MAX: u64 = 600_000_000_000;

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
        let mut histogram = Histogram::<u64>::new_with_bounds(1, LATENCY_MAX, 3)?;
        for (latency, count) in &self.latencies_ns {
            histogram.record_n((*latency).clamp(1, LATENCY_MAX), *count)?;
        }
        encode(&histogram)
    }
}

/// A histogram of these latencies, encoded.
pub fn encode_latencies(latencies: impl Iterator<Item = Duration>) -> Outcome<String> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, LATENCY_MAX, 3)?;
    for latency in latencies {
        histogram.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }
    encode(&histogram)
}

/// Source: the form V2, deflated, of <https://hdrhistogram.github.io/HdrHistogram/>, in base64.
fn encode(histogram: &Histogram<u64>) -> Outcome<String> {
    use base64::Engine;
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).map_err(|error| error.to_string())?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}
