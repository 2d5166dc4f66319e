//! A kept run: one small file beside the sources from which any later lab can write the page of a run again.
//!
//! Shape: gzip of lines of JSON: the run, as `run.json` has it, and its records. The counts of each tenth of a second are
//! left out, and the first repeat of a figure has the latencies of all of them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::record::{Figure, Record, Run};
use super::results::Results;
use crate::latencies::Latencies;
use crate::outcome::Outcome;

/// How the names of kept runs end.
pub const SUFFIX: &str = ".jsonl.gz";
/// A larger file does not belong beside sources. Units: bytes.
pub const BYTES_MAX: usize = 1 << 20;
/// A file that unpacks to more is not read. Units: bytes.
const TEXT_MAX: u64 = 256 << 20;

/// The bytes of a kept run. Latencies of all volumes but the last of each row are kept to two digits if the file
/// would be too large otherwise: a page beside sources lists the last volume only.
///
/// Errors: if it is larger than [`BYTES_MAX`] all the same, or a histogram cannot be read.
pub fn kept(results: &Results) -> Outcome<Vec<u8>> {
    let whole = packed(&results.run, &merged(&results.records, |_| false)?)?;
    if whole.len() <= BYTES_MAX {
        return Ok(whole);
    }
    let mut last: HashMap<&str, &str> = HashMap::new();
    for record in &results.records {
        if let Record::Figure(figure) = record {
            let place = |volume: &str| results.run.volumes.iter().position(|known| known == volume);
            let kept = last.entry(&figure.row).or_insert(&figure.volume);
            if place(&figure.volume) > place(kept) {
                *kept = &figure.volume;
            }
        }
    }
    let is_thinned = |figure: &Figure| last.get(figure.row.as_str()) != Some(&figure.volume.as_str());
    let thinned = packed(&results.run, &merged(&results.records, is_thinned)?)?;
    if thinned.len() <= BYTES_MAX {
        return Ok(thinned);
    }
    let folder = results.folder.display();
    Err(format!(
        "{folder}: expected a run that fits into {BYTES_MAX} bytes, found {}; measure fewer rows or volumes, or pack all of it by `annals-lab bundle`",
        thinned.len()
    )
    .into())
}

/// Reads a kept run.
///
/// Errors: if the file is none.
pub fn read(path: &Path) -> Outcome<Results> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(|error| at(&error))?;
    let length =
        GzDecoder::new(file).take(TEXT_MAX + 1).read_to_string(&mut text).map_err(|error| at(&error))?;
    if length as u64 > TEXT_MAX {
        return Err(at(&format!("expected at most {TEXT_MAX} bytes of text")).into());
    }
    let mut lines = text.lines();
    let run = lines.next().ok_or_else(|| at(&"expected a kept run, found nothing"))?;
    let run: Run = serde_json::from_str(run).map_err(|error| at(&format!("line 1: {error}")))?;
    let record = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| at(&format!("line {}: {error}", number + 2)))
    };
    let records = lines.enumerate().map(record).collect::<Result<_, _>>()?;
    Ok(Results { folder: path.to_owned(), run, records })
}

/// Writes a kept run.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome<()> {
    Ok(fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn packed(run: &Run, records: &[Record]) -> Outcome<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, run)?;
    for record in records {
        packed.write_all(b"\n")?;
        serde_json::to_writer(&mut packed, record)?;
    }
    packed.write_all(b"\n")?;
    Ok(packed.finish()?)
}

/// The records, the latencies of the repeats of each figure merged in the first one. Those of figures for which
/// `is_thinned` holds have two digits.
fn merged(records: &[Record], is_thinned: impl Fn(&Figure) -> bool) -> Outcome<Vec<Record>> {
    let mut merged: Vec<Record> = Vec::new();
    let mut first: HashMap<[&str; 3], (usize, Latencies)> = HashMap::new();
    for record in records {
        let Record::Figure(figure) = record else {
            merged.push(record.clone());
            continue;
        };
        let mut kept = figure.clone();
        kept.ticks.clear();
        if let Some(text) = kept.histogram.take() {
            let own = Latencies::decode(&text)?;
            match first.get_mut(&[&figure.row, &figure.volume, &figure.target].map(String::as_str)) {
                Some((_, all)) => all.add(&own)?,
                None => {
                    let key = [&figure.row, &figure.volume, &figure.target].map(String::as_str);
                    first.insert(key, (merged.len(), own));
                }
            }
        }
        merged.push(Record::Figure(kept));
    }
    for (place, latencies) in first.into_values() {
        if let Record::Figure(figure) = &mut merged[place] {
            let text =
                if is_thinned(figure) { latencies.thinned()?.encode()? } else { latencies.encode()? };
            figure.histogram = Some(text);
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latencies::encode;

    fn figure(volume: &str, repeat: usize, latencies: impl Iterator<Item = u64>) -> Record {
        Record::Figure(Box::new(Figure {
            target: "annals".into(),
            part: "p".into(),
            repeat,
            volume: volume.into(),
            row: "r".into(),
            value: Some(1.0),
            histogram: Some(encode(latencies).unwrap()),
            ticks: vec![1, 2, 3],
            ..Figure::default()
        }))
    }

    fn of(records: &[Record]) -> Vec<Figure> {
        let figures = records.iter().filter_map(|record| match record {
            Record::Figure(figure) => Some((**figure).clone()),
            _ => None,
        });
        figures.collect()
    }

    #[test]
    fn latencies_of_all_repeats_stand_in_the_first_and_values_stay() {
        let records = [figure("1", 0, 1_000..1_010), figure("2", 0, 5..6), figure("1", 1, 2_000..2_010)];
        let found = of(&merged(&records, |_| false).unwrap());
        assert_eq!(
            found.iter().map(|figure| (figure.repeat, figure.value)).collect::<Vec<_>>(),
            [(0, Some(1.0)), (0, Some(1.0)), (1, Some(1.0))]
        );
        assert!(found[2].histogram.is_none() && found.iter().all(|figure| figure.ticks.is_empty()));
        let all = Latencies::decode(found[0].histogram.as_ref().unwrap()).unwrap();
        assert_eq!((all.count(), all.quantile(1.0)), (20, 2_009.0 / 1e9));
    }

    #[test]
    fn latencies_of_volumes_that_are_not_listed_may_have_two_digits() {
        let spread = || (0..20_000).map(|number| 1_000 + number * number % 999_983);
        let records = [figure("1", 0, spread()), figure("2", 0, spread())];
        let found = of(&merged(&records, |figure| figure.volume == "1").unwrap());
        let [thin, whole] = [0, 1].map(|place: usize| found[place].histogram.as_ref().unwrap());
        assert!(thin.len() * 3 < whole.len(), "{} beside {}", thin.len(), whole.len());
        let [thin, whole] = [thin, whole].map(|text| Latencies::decode(text).unwrap().quantile(0.5));
        assert!((thin / whole - 1.0).abs() < 0.011, "{thin} beside {whole}");
    }
}
