//! The suite of the harness: every row of the published tables, in process and over HTTP.

use super::archive::Archive;
use super::egeria;
use super::record::quantile;
use super::row::{Bar, ROWS};
use super::volume::Volume;
use super::{in_process, over_http};
use crate::harness::{Cell, Figure, Form, Kind, Part, Row, Suite, Target, TargetRecord};
use crate::latencies::encode;
use crate::outcome::Outcome;

/// The page.
pub const SUITE: Suite = Suite {
    name: "methods",
    title: "The methods of a metadata repository, at growing volumes",
    text: "The performance suite of a metadata standard creates, finds, changes, re-homes, deletes, restores and purges instances of every \
           type, one call after the other. The figure is the median of all calls of a method, as on the page. A volume i-s has i instances \
           for each type and pages of s.",
    rows,
    form: Form::RowsDown,
    volumes: &["0005-02", "0010-05", "0020-10"],
    check_volume: |text| Ok(text.parse::<Volume>().map(drop)?),
    quick_volumes: &["0001-01"],
    repeats: 3,
    parts: &[Part { name: "calls", rows: &[], seconds_max: 3_600, counts_syncs: false, run }],
    targets: &[
        Target { name: "annals", title: "Annals, embedded", kind: Kind::Ours, peer: None },
        Target { name: "annals-http", title: "Annals, over HTTP", kind: Kind::Ours, peer: None },
        egeria::MEMORY,
        egeria::MEMORY_REST,
        egeria::JANUSGRAPH,
    ],
    unfair: &[
        "One caller waits for each answer, as in the original.",
        "The original truncates times to whole milliseconds, and leaves out empty searches; the lab leaves them out too, and truncates \
         nothing.",
        "Egeria's repositories are measured by the original suite, at whose calls the lab takes the time; it uses types of release 3.5, \
         Annals those of 3.4.",
        "Annals continues pages by cursor, the original by offset. In the original, only the first page of a search as of a time is one.",
        "A row of which the original suite found one call to fail has no figure.",
    ],
};

fn rows() -> Vec<Row> {
    let row = |row: &super::row::Row| {
        let found = Row::new(row.name(), row.title(), "ms").less();
        if matches!(row.bar, Bar::Write) { found.of_writes() } else { found }
    };
    ROWS.iter().map(row).collect()
}

fn run(cell: &mut Cell) -> Outcome<()> {
    if cell.target.peer.is_some() {
        return egeria::run(cell);
    }
    cell.introduce(TargetRecord {
        target: String::new(),
        version: env!("CARGO_PKG_VERSION").into(),
        durability: "synced-group".into(),
        settings: Vec::new(),
        syncs: None,
    })?;
    let archive = Archive::new()?;
    for text in cell.arguments.volumes.clone() {
        let volume: Volume = text.parse()?;
        let folder = cell.arguments.folder.join(&text);
        std::fs::create_dir(&folder)?;
        let record = match cell.target.name {
            "annals" => in_process(&archive, volume, &folder)?.0,
            "annals-http" => over_http(&archive, volume, &folder)?,
            other => return Err(format!("target {other}: has no adapter for this suite").into()),
        };
        for (number, row) in ROWS.iter().enumerate() {
            let samples = record.at(number);
            let sorted = samples.sorted_ns(|_| true);
            let figure = match quantile(&sorted, 0.5) {
                Some(median) => Figure {
                    operations: Some(sorted.len() as u64),
                    histogram: Some(encode(sorted.iter().copied())?),
                    ..Figure::of(median as f64 / 1e6)
                },
                None => {
                    let refusal = samples.first_refusal.clone();
                    Figure::state(
                        refusal
                            .map_or("SKIP(no call had a result)".to_owned(), |text| format!("ERR({text})")),
                    )
                }
            };
            cell.tell(&text, &row.name(), figure)?;
        }
    }
    Ok(())
}
