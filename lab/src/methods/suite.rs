//! The suite of the harness: every row of the published tables, in process and over HTTP.

use std::time::{Duration, Instant};

use super::archive::Archive;
use super::call::Target as _;
use super::documents::{self, Documents};
use super::record::Samples;
use super::row::{Bar, Method, ROWS};
use super::run::Run;
use super::volume::Volume;
use super::{egeria, in_process, over_http, phases};
use crate::harness::{Cell, Figure, Form, Kind, Part, Quote, Reason, Row, Suite, Target, TargetRecord};
use crate::outcome::Outcome;

/// Time of a cell that no call may use: for the figures. Units: seconds.
const RESERVE_SECONDS: u64 = 10;

/// The volumes at which Annals under Egeria is judged.
const JUDGED: [&str; 7] = ["0005-02", "0010-05", "0020-10", "0040-10", "0080-10", "0160-10", "0320-10"];
/// Most time of a read by id under Egeria.
const READ_MS_MAX: f64 = 0.025;
/// Most time of a write under Egeria beyond two durable writes of the machine.
const WRITE_MS_MORE: f64 = 0.2;

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
        egeria::ANNALS,
        documents::XTDB,
    ],
    unfair: &[
        "One caller waits for each answer, as in the original.",
        "The original truncates times to whole milliseconds, and leaves out empty searches; the lab leaves them out too, and truncates \
         nothing.",
        "Egeria's repositories are measured by the original suite, at whose calls the lab takes the time; it uses types of release 3.5, \
         Annals those of 3.4.",
        "Annals continues pages by cursor, the original by offset. In the original, only the first page of a search as of a time is one.",
        "The documents in XTDB are as near to those of Egeria's connector for XTDB as the calls need: that connector is in no package \
         registry. It keeps texts in Lucene, too; here a search by text compares the texts of all documents of the type. Its calls come \
         from the lab, as those of Annals do, and the adapter takes the time of each. Its graph queries start at 50 entities, evenly \
         spread over the types, and not at all of them.",
        "A row of which the original suite found one call to fail has no figure.",
    ],
    reasons: &[Reason {
        targets: &["egeria-memory"],
        rows: &["entity-retrieval", "relationship-retrieval"],
        text: "Egeria in memory hands out the object that it keeps. Annals builds the answer from its versions; as a repository of Egeria \
               it is asked by native calls, and its answer is made into objects of Java.",
    }],
    against: &[(egeria::MEMORY_REST.name, "annals-http")],
    quotes: &[
        Quote { text: "Reads by id", rows: &["entity-retrieval", "relationship-retrieval"], volumes: &[] },
        Quote {
            text: "Searches",
            rows: &["entity-search", "relationship-search", "classification-search"],
            volumes: &[],
        },
        Quote { text: "Walks", rows: &["graph-queries"], volumes: &[] },
        Quote {
            text: "Reads of the past",
            rows: &["entity-history", "relationship-history", "graph-history"],
            volumes: &[],
        },
        Quote {
            text: "Creating and changing an instance",
            rows: &["entity-creation", "entity-update", "relationship-creation", "relationship-update"],
            volumes: &[],
        },
    ],
};

fn rows() -> Vec<Row> {
    let row = |row: &super::row::Row| {
        let found = Row::new(row.name(), row.title(), "ms").less();
        let found = if matches!(row.bar, Bar::Write) { found.of_writes() } else { found };
        JUDGED.iter().fold(found, |found, volume| with_bar(found, row.bar, volume))
    };
    ROWS.iter().map(row).collect()
}

/// The bar of Annals under Egeria: of reads by id and of writes in time, of all others beside Egeria's own repository.
fn with_bar(row: Row, bar: Bar, volume: &str) -> Row {
    let ours = egeria::ANNALS.name;
    match bar {
        Bar::Read => row.at_most(ours, volume, READ_MS_MAX),
        Bar::Write => row.syncs(ours, volume, 2.0, WRITE_MS_MORE),
        Bar::Free => row,
        _ => row.times_of(ours, volume, 1.0, egeria::MEMORY.name),
    }
}

fn run(cell: &mut Cell) -> Outcome<()> {
    if cell.target.name == documents::XTDB.name {
        return run_documents(cell);
    }
    if cell.target.peer.is_some() {
        return egeria::run(cell);
    }
    cell.introduce(TargetRecord::of_lab("synced-group"))?;
    let archive = Archive::new()?;
    for text in cell.arguments.volumes.clone() {
        let volume: Volume = text.parse()?;
        let folder = cell.arguments.folder.join(&text);
        std::fs::create_dir(&folder)?;
        let record = match cell.target.name {
            "annals" => in_process(&archive, volume, &folder)?,
            "annals-http" => over_http(&archive, volume, &folder)?,
            other => return Err(format!("target {other}: has no adapter for this suite").into()),
        };
        for (number, row) in ROWS.iter().enumerate() {
            cell.tell(&text, &row.name(), figure(record.at(number))?)?;
        }
    }
    Ok(())
}

/// The same with documents in XTDB. The volumes share the longest time of the cell: what one leaves over is for those
/// after it.
fn run_documents(cell: &mut Cell) -> Outcome<()> {
    let start = Instant::now();
    let seconds_max = cell.arguments.seconds_max.saturating_sub(RESERVE_SECONDS);
    let archive = Archive::new()?;
    let volumes = cell.arguments.volumes.clone();
    for (number, text) in volumes.iter().enumerate() {
        let left = seconds_max.saturating_sub(start.elapsed().as_secs());
        let budget = (left / (volumes.len() - number) as u64).max(1);
        let folder = cell.arguments.folder.join(text);
        let deadline = Instant::now() + Duration::from_secs(budget);
        let (mut documents, introduction) = Documents::open(cell, &archive, &folder, deadline)?;
        if number == 0 {
            cell.introduce(introduction)?;
        }
        let mut run = Run::new(&mut documents, &archive, text.parse()?, &folder)?;
        let ended = phases::all(&mut run);
        let record = run.record;
        for (number, row) in ROWS.iter().enumerate() {
            if number == Method::PurgeHub as usize
                && let Some(reason) = documents.lacks_hubs()
            {
                cell.tell(text, &row.name(), Figure::state(format!("SKIP({reason})")))?;
                continue;
            }
            let figure = match &ended {
                Err(_) if record.is_earlier(number) => figure(record.at(number))?,
                Err(_) if documents.is_over => Figure::state(format!("DNF({budget} s)")),
                // The cell reports the error itself.
                Err(_) => continue,
                Ok(()) => figure(record.at(number))?,
            };
            cell.tell(text, &row.name(), figure)?;
        }
        if !documents.is_over {
            ended?;
        }
    }
    Ok(())
}

/// The median of all calls. Units: milliseconds.
fn figure(samples: &Samples) -> Outcome<Figure> {
    if samples.all.is_empty() {
        let refusal = samples.first_refusal.as_ref();
        let state = refusal.map_or("SKIP(no call had a result)".to_owned(), |text| format!("ERR({text})"));
        return Ok(Figure::state(state));
    }
    Figure::of_calls(&samples.all.iter().map(|sample| sample.elapsed_ns).collect::<Vec<_>>(), 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Height;

    #[test]
    fn annals_under_egeria_has_a_bar_in_each_row_of_the_published_tables() {
        for (row, of) in rows().iter().zip(ROWS) {
            let heights: Vec<&Height> =
                row.bars.iter().filter(|bar| bar.volume == "0005-02").map(|bar| &bar.height).collect();
            let is_expected = match (of.bar, heights.as_slice()) {
                (Bar::Free, []) => true,
                (Bar::Read, [Height::AtMost(most)]) => *most == READ_MS_MAX,
                (Bar::Write, [Height::Syncs { times, more }]) => (*times, *more) == (2.0, WRITE_MS_MORE),
                (_, [Height::TimesOf { target, times }]) => {
                    (target.as_str(), *times) == (egeria::MEMORY.name, 1.0)
                }
                _ => false,
            };
            assert!(is_expected, "{}: {heights:?}", row.name);
        }
    }
}
