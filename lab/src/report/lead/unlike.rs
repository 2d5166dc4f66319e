//! Writes in which a system is faster that keeps less well what it acknowledged: figures side by side, and no ratio.

use super::finding::keeping;
use crate::harness::TargetName;
use crate::report::comparison::{SYNCED, Unlike};
use crate::report::document::{Block, Cell, Table};
use crate::report::figures::{label, value_text};
use crate::report::measured::{Measured, Shown};

/// A heading with its table for each way to keep less.
pub fn unlike(measured: &Measured) -> Vec<(String, Vec<Block>)> {
    let Some(subject) = measured.subject() else { return Vec::new() };
    let faster: Vec<Unlike<'_>> =
        measured.unlike().into_iter().filter(|found| found.ratio.ratio < 1.0).collect();
    let mut classes: Vec<&str> = faster.iter().map(|found| measured.class(&found.target.name)).collect();
    classes.sort_unstable();
    classes.dedup();
    let section = |class: &str| {
        let own: Vec<&Unlike<'_>> =
            faster.iter().filter(|found| measured.class(&found.target.name) == class).collect();
        let heading = format!("Another system is faster, and {}", keeping(class));
        (
            heading,
            vec![Block::Text(text(measured, subject, class)), Block::Table(table(measured, subject, &own))],
        )
    };
    classes.into_iter().map(section).collect()
}

fn text(measured: &Measured, subject: &TargetName, class: &str) -> String {
    let title = &subject.title;
    let ours = match measured.class(&subject.name) {
        SYNCED => format!("{title}: each of these writes is on the disk before it is acknowledged."),
        other => format!("{title} {}.", keeping(other)),
    };
    let theirs = match class {
        "memory" => "These systems hold what they write in memory only, and lose it when their process ends.",
        "unsynced" => {
            "These systems acknowledge what is not on the disk yet, and may lose it when the machine stops."
        }
        _ => "These systems keep what they write in another way.",
    };
    format!("{ours} {theirs} So the page has no ratio of these figures, and its first lines leave them out.")
}

/// The figures of the rows in which any of the systems is faster.
fn table(measured: &Measured, subject: &TargetName, faster: &[&Unlike<'_>]) -> Table {
    let mut targets: Vec<&TargetName> = Vec::new();
    let mut places: Vec<(&str, &str)> = Vec::new();
    for found in faster {
        if !targets.iter().any(|target| target.name == found.target.name) {
            targets.push(found.target);
        }
        if !places.contains(&(found.row.name.as_str(), found.volume)) {
            places.push((&found.row.name, found.volume));
        }
    }
    let columns: Vec<&TargetName> = std::iter::once(subject).chain(targets).collect();
    let line = |(name, volume): (&str, &str)| {
        let row =
            faster.iter().map(|found| found.row).find(|row| row.name == name).expect("it is one of these");
        let figure = |target: &&TargetName| match measured.shown(name, volume, &target.name) {
            Shown::Value { median, .. } => Cell::plain(value_text(row, median)),
            Shown::State(_) => Cell::plain("-"),
        };
        [Cell::plain(label(row)), Cell::plain(volume)].into_iter().chain(columns.iter().map(figure)).collect()
    };
    let rows = places.into_iter().map(line).collect();
    let head = ["row", "volume"].map(str::to_owned).into_iter();
    let head = head.chain(columns.iter().map(|target| target.title.clone())).collect();
    Table { caption: "Medians that are not compared".into(), head, rows, ..Table::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::finding::tests::told;
    use super::*;
    use crate::report::measured::tests::{figure, measured};

    #[test]
    fn writes_of_a_system_that_keeps_nothing_are_listed_where_it_is_faster_and_have_no_ratio() {
        let mut found = measured(json!([
            figure("annals", "read", 0, 1.0),
            figure("other", "read", 0, 3.0),
            figure("annals", "write", 0, 1.0),
            figure("other", "write", 0, 3.0),
            told("annals", "synced-group"),
            told("other", "memory"),
        ]));
        assert!(unlike(&found).is_empty(), "reads are compared whatever a system keeps");
        found.results.run.rows[1] = found.results.run.rows[1].clone().of_writes();
        let sections = unlike(&found);
        assert_eq!(sections.len(), 1);
        let (heading, blocks) = &sections[0];
        assert_eq!(heading, "Another system is faster, and keeps nothing");
        let cells: Vec<&str> = blocks[1].cells().map(|cell| cell.text.as_str()).collect();
        assert_eq!(cells, ["write, 1/s", "1", "1.00", "3.00"]);
        assert!(found.comparisons().iter().all(|comparison| comparison.row != "write"));
    }
}
