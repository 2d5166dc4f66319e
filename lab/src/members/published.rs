//! The figures of the page for a script at one size, which are of Fedora 4.7.1 and 4.8 in 2016 and 2017.

use super::script::Script;
use crate::published::{Cell, Table, page};

/// The range of the page's figures for a script at one size.
pub struct Published {
    pub least: Entry,
    pub most: Entry,
    /// How many the page has.
    pub entries: usize,
}

/// One figure of the page.
pub struct Entry {
    /// Of the retrieval; of the load for binaries. Units: seconds.
    pub seconds: f64,
    /// The machine, the store and the notes, as the page has them.
    pub environment: String,
}

/// The range for a script at this size, if the page has one.
pub fn published(script: Script, items: usize) -> Option<Published> {
    let tables = page("many-members").tables();
    let tables = tables.filter(|table| table.labels.get("script").is_some_and(|name| name == script.name()));
    let mut entries: Vec<Entry> = tables.flat_map(|table| entries(table, items)).collect();
    entries.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let count = entries.len();
    let mut entries = entries.into_iter();
    Some(Published { least: entries.next()?, most: entries.next_back()?, entries: count })
}

/// The entries of a table for this size. A row without a duration is none.
fn entries(table: &Table, items: usize) -> impl Iterator<Item = Entry> {
    let is_of_size = move |row: &&Vec<Cell>| {
        let size = ["# of relations", "# of binaries"].iter().find_map(|head| table.column(head));
        size.is_some_and(|size| row[size].value == Some(items as f64))
    };
    table.rows.iter().filter(is_of_size).filter_map(|row| {
        let text = |head: &str| table.column(head).map_or("", |place| row[place].text.trim_end_matches('.'));
        let machine = machine(text("Environment"));
        let parts = [machine, text("Modeshape Config"), text("Notes")];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let seconds = row[table.column("Test Duration (seconds)")?].value?;
        Some(Entry { seconds, environment: parts.join(", ") })
    })
}

/// The short name of a machine that the tables call by its number.
fn machine(number: &str) -> &'static str {
    let what = format!("Instance {number}");
    let facts = &page("many-members").environment;
    facts.iter().find(|fact| fact.what == what).map_or("", |fact| &fact.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::script::SCRIPTS;

    #[test]
    fn ranges_are_those_of_the_tables() {
        let sizes = [1_000, 10_000];
        let ranges = SCRIPTS
            .iter()
            .flat_map(|script| sizes.map(|items| (script.name(), items, published(*script, items))));
        let found: Vec<(&str, usize, f64, f64, usize)> = ranges
            .filter_map(|(name, items, range)| {
                let range = range?;
                Some((name, items, range.least.seconds, range.most.seconds, range.entries))
            })
            .collect();
        let expected = [
            ("n-children", 10_000, 4.841, 5.567, 4),
            ("n-members", 1_000, 0.561, 4.435, 10),
            ("n-members", 10_000, 5.334, 61.381, 19),
            ("n-memberof", 1_000, 1.883, 11.414, 8),
            ("n-memberof", 10_000, 11.559, 194.0, 18),
            ("n-uris", 1_000, 0.039, 0.14, 2),
            ("n-uris", 10_000, 0.063, 0.17, 2),
            ("n-properties", 1_000, 0.060, 0.089, 2),
            ("n-properties", 10_000, 0.119, 0.281, 2),
            ("n-binaries", 1_000, 133.0, 396.0, 5),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_entry_has_its_machine_its_store_and_its_notes() {
        let range = published(Script::Members, 1_000).unwrap();
        assert_eq!(range.least.environment, "m3.xlarge, jdbc-postgresql, 1 million item cache");
        assert_eq!(range.most.environment, "m3.xlarge, jdbc-postgresql");
        assert_eq!(published(Script::Uris, 1_000).unwrap().most.environment, "i7-4600U");
    }
}
