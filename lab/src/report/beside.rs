//! The figures that a published page has for the rows of a run. No ratio uses them: they come from another machine.

use super::document::{Block, Cell, Table};
use super::measured::Measured;
use super::numbers::seconds;
use crate::published::{self, page};

/// The suite whose rows and volumes are those of a published table, the page of that table, and its name. Heads of its
/// columns are a volume and a system: `0005-02 (XTDB)`.
const SUITE: &str = "methods";
const PAGE: &str = "metadata-repository";
const TABLE: &str = "xtdb-janusgraph";

/// A table for each volume of the run that the published table has.
pub fn beside(measured: &Measured) -> Vec<Block> {
    let published = (measured.results.run.suite == SUITE).then(|| page(PAGE).table(TABLE)).flatten();
    let Some(published) = published else { return Vec::new() };
    let mut volumes: Vec<&str> = measured.rows().iter().flat_map(|row| measured.volumes(&row.name)).collect();
    volumes.sort_unstable();
    volumes.dedup();
    volumes.into_iter().filter_map(|volume| at(published, volume)).map(Block::Table).collect()
}

fn at(published: &published::Table, volume: &str) -> Option<Table> {
    let mut head = vec!["row".to_owned()];
    let mut places = Vec::new();
    for (place, column) in published.columns.iter().enumerate() {
        if let Some(system) = column.text.strip_prefix(volume) {
            head.push(system.trim().trim_matches(['(', ')']).to_owned());
            places.push(place);
        }
    }
    let line = |row: &Vec<published::Cell>| {
        let title = format!("{}: {}", row[0].name(), row[1].name());
        let figure = |place: &usize| match row[*place].value {
            Some(milliseconds) => Cell::plain(seconds(milliseconds / 1_000.0)),
            None => Cell::plain(row[*place].name()),
        };
        std::iter::once(Cell::plain(title)).chain(places.iter().map(figure)).collect()
    };
    let rows = published.rows.iter().map(line).collect();
    let caption =
        format!("At {volume}, as published: on the machine of its authors, in whole or half milliseconds");
    (!places.is_empty()).then(|| Table { caption, head, rows, ..Table::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::measured::tests::{figure, measured};
    use super::*;

    #[test]
    fn published_medians_stand_beside_the_volumes_of_the_suite_they_belong_to() {
        let mut found = measured(json!([figure("annals", "read", 0, 8.0)]));
        assert_eq!(beside(&found), []);
        found.results.run.suite = SUITE.into();
        assert_eq!(beside(&found), [], "no volume of this run was published");
        let [one, all] =
            ["0005-02", "0160-10"].map(|volume| at(page(PAGE).table(TABLE).unwrap(), volume).unwrap());
        assert_eq!(one.head, ["row", "XTDB", "Janus"]);
        let first: Vec<&str> = one.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(first, ["Entity creation: addEntity", "51.0 ms", "493 ms"]);
        assert_eq!(one.rows.len(), 56);
        assert_eq!(all.head, ["row", "XTDB"]);
    }
}
