//! Every figure of a run as comma-separated values, one line a figure.

use super::measured::{CellFigures, Measured, Shown};
use crate::outcome::Outcome;

/// Row, volume, target, the median with its interval, and percentiles of the latency.
pub fn csv(measured: &Measured) -> Outcome<String> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "row",
        "unit",
        "volume",
        "target",
        "median",
        "low_95",
        "high_95",
        "repeats",
        "state",
        "p50_s",
        "p90_s",
        "p99_s",
        "p999_s",
        "max_s",
        "late_share",
        "retries",
    ])?;
    for row in measured.rows() {
        for volume in measured.volumes(&row.name) {
            for target in measured.targets() {
                let cell = measured.cell(&row.name, volume, &target.name);
                let mut fields =
                    vec![row.name.clone(), row.unit.clone(), volume.to_owned(), target.name.clone()];
                let is_saturated = cell.is_some_and(CellFigures::is_saturated);
                let state = cell.and_then(|cell| cell.state.clone());
                let state = state.unwrap_or_else(|| if is_saturated { "SAT".into() } else { String::new() });
                match measured.shown(&row.name, volume, &target.name) {
                    Shown::Value { median, interval: [low, high] } => {
                        fields.extend([median, low, high].map(|value| value.to_string()));
                        fields.extend([cell.map_or(0, |cell| cell.values.len()).to_string(), state]);
                    }
                    Shown::State(state) => {
                        fields.extend(["", "", "", "0"].map(str::to_owned));
                        fields.push(state);
                    }
                }
                let latencies = cell.filter(|_| !is_saturated).and_then(|cell| cell.latencies.as_ref());
                fields.extend([0.5, 0.9, 0.99, 0.999].map(|share| {
                    latencies.map(|latencies| latencies.quantile(share).to_string()).unwrap_or_default()
                }));
                fields.push(latencies.map(|latencies| latencies.max().to_string()).unwrap_or_default());
                fields.push(cell.and_then(|cell| cell.late).map(|late| late.to_string()).unwrap_or_default());
                fields.push(cell.map_or(0, |cell| cell.retries).to_string());
                writer.write_record(&fields)?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner().map_err(|error| error.to_string())?)?)
}
