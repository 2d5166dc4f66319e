//! Latencies as a run keeps them: an HdrHistogram in text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::outcome::Outcome;

/// Longer latencies count as this. Units: nanoseconds.
const LATENCY_MAX: u64 = 3_600_000_000_000;

/// Encodes latencies with three significant digits: form V2, deflated, in base64.
///
/// Units: nanoseconds. Source: <https://hdrhistogram.github.io/HdrHistogram/>.
pub fn encode(latencies: impl Iterator<Item = u64>) -> Outcome<String> {
    encode_counts(latencies.map(|latency| (latency, 1)))
}

/// The same of latencies with their counts.
pub fn encode_counts(latencies: impl Iterator<Item = (u64, u64)>) -> Outcome<String> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, LATENCY_MAX, 3)?;
    for (latency, count) in latencies {
        histogram.record_n(latency.clamp(1, LATENCY_MAX), count)?;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).map_err(|error| error.to_string())?;
    Ok(STANDARD.encode(bytes))
}

/// Decodes what [`encode`], or an adapter's own library, has encoded.
pub fn decode(text: &str) -> Outcome<Histogram<u64>> {
    let bytes = STANDARD.decode(text)?;
    let histogram = Deserializer::new().deserialize(&mut bytes.as_slice());
    let mut histogram: Histogram<u64> = histogram.map_err(|error| format!("a histogram: {error}"))?;
    // Others may have been encoded with a lower bound.
    histogram.auto(true);
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_come_back_with_three_digits() {
        let text = encode([1, 1_000, 1_000, 123_456_789].into_iter()).unwrap();
        let found = decode(&text).unwrap();
        let counts: Vec<(u64, u64)> =
            found.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value())).collect();
        assert_eq!(counts.len(), 3);
        assert_eq!((counts[0], counts[1].1, counts[2].1), ((1, 1), 2, 1));
        assert!(counts[2].0.abs_diff(123_456_789) < 123_457, "{counts:?}");
        assert!(decode("").is_err() && decode("abcd").is_err());
    }
}
