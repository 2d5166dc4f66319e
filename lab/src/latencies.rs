//! Latencies of many operations: an HdrHistogram with three significant digits, and its form in text.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::outcome::Outcome;

/// Longer latencies count as this. Units: nanoseconds.
const LATENCY_MAX: u64 = 3_600_000_000_000;

/// Latencies. Units: nanoseconds, unless a function says otherwise.
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// None yet.
    pub fn new() -> Outcome<Latencies> {
        Ok(Latencies(Histogram::new_with_bounds(1, LATENCY_MAX, 3)?))
    }

    /// Adds one.
    #[inline]
    pub fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds other latencies.
    pub fn add(&mut self, others: &Latencies) -> Outcome<()> {
        Ok(self.0.add(&others.0)?)
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that this share of the operations does not exceed. Units: seconds.
    pub fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e9
    }

    /// The same. Units: microseconds.
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e3
    }

    /// The mean. Units: seconds.
    pub fn mean(&self) -> f64 {
        self.0.mean() / 1e9
    }

    /// The shortest. Units: seconds.
    pub fn min(&self) -> f64 {
        self.0.min() as f64 / 1e9
    }

    /// The longest. Units: seconds.
    pub fn max(&self) -> f64 {
        self.0.max() as f64 / 1e9
    }

    /// Every latency that occurred, with its count, ascending.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
    }

    /// The same with two significant digits, which take a fraction of the room.
    pub fn thinned(&self) -> Outcome<Latencies> {
        let mut thinned = Histogram::new_with_bounds(1, LATENCY_MAX, 2)?;
        for (latency, count) in self.counts() {
            thinned.record_n(latency.clamp(1, LATENCY_MAX), count)?;
        }
        Ok(Latencies(thinned))
    }

    /// Encodes them, as [`encode`] does.
    pub fn encode(&self) -> Outcome<String> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).map_err(|error| error.to_string())?;
        Ok(STANDARD.encode(bytes))
    }

    /// Decodes what [`encode`], or an adapter's own library, has encoded.
    pub fn decode(text: &str) -> Outcome<Latencies> {
        let bytes = STANDARD.decode(text)?;
        let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
        let mut histogram: Histogram<u64> = histogram.map_err(|error| format!("a histogram: {error}"))?;
        // Others may have been encoded with a lower bound.
        histogram.auto(true);
        Ok(Latencies(histogram))
    }
}

/// Encodes latencies: form V2, deflated, in base64. Units: nanoseconds.
///
/// Source: <https://hdrhistogram.github.io/HdrHistogram/>.
pub fn encode(latencies: impl Iterator<Item = u64>) -> Outcome<String> {
    encode_counts(latencies.map(|latency| (latency, 1)))
}

/// The same of latencies with their counts.
pub fn encode_counts(latencies: impl Iterator<Item = (u64, u64)>) -> Outcome<String> {
    let Latencies(mut histogram) = Latencies::new()?;
    for (latency, count) in latencies {
        histogram.record_n(latency.clamp(1, LATENCY_MAX), count)?;
    }
    Latencies(histogram).encode()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_come_back_with_three_digits() {
        let text = encode([1, 1_000, 1_000, 123_456_789].into_iter()).unwrap();
        let counts = Latencies::decode(&text).unwrap().counts();
        assert_eq!(counts.len(), 3);
        assert_eq!((counts[0], counts[1].1, counts[2].1), ((1, 1), 2, 1));
        assert!(counts[2].0.abs_diff(123_456_789) < 123_457, "{counts:?}");
        assert!(Latencies::decode("").is_err() && Latencies::decode("abcd").is_err());
    }
}
