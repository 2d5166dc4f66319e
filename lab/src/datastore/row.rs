//! The rows of the page, as data: the state before, the timed calls, and the calls that restore the state.

use super::content::List::{Keyed, Ordered};
use super::content::Order::Up;
use super::target::Call::{
    self, All, CreateLeaf, Find, Get, Hear, Merge, Provide, RemoveContainer, RemoveEntries, RemoveLeaf,
    SetAll, SetLeaf, Subscribe, Unsubscribe,
};
use super::target::Keys::{Apart, Joined};
use super::target::Store::{Operational, Running};
use crate::published::page;

/// Sizes of which the page has tables. Units: entries.
pub const PUBLISHED_ITEMS: [u32; 3] = [1_000, 10_000, 100_000];
/// Subscribers of the row with subscribers.
const SUBSCRIBERS: usize = 12;
/// How often this row creates and removes all entries.
const SUBSCRIBER_ROUNDS: usize = 10;

/// A row.
pub struct Row {
    /// As the page has it.
    pub name: &'static str,
    /// Whether the target keeps the running store in memory.
    pub is_cached: bool,
    /// Fills the store before the first try, untimed.
    pub fill: Option<Call>,
    /// Called before each try, untimed.
    pub before: &'static [Call],
    /// The timed calls.
    pub timed: &'static [Call],
    /// How often one try makes the timed calls.
    pub rounds: usize,
    /// Called after each try, untimed.
    pub after: &'static [Call],
    /// Called after each try in the honest form only, untimed: restores the state, so that the next try has work to do. The page does not.
    pub restore: &'static [Call],
    /// The bar, if the row has one.
    pub bar: Option<Bar>,
}

/// The most that the median of a row may be, in the honest form.
pub struct Bar {
    /// The `--target` that is judged.
    pub target: &'static str,
    pub limit: Limit,
}

/// The most that a row may take.
#[derive(Clone, Copy)]
pub enum Limit {
    /// At 100,000 entries. Units: nanoseconds.
    Ns(f64),
    /// At every size. Units: durable writes of a few bytes.
    Syncs(f64),
}

/// A row without calls, to begin with.
const ROW: Row = Row {
    name: "",
    is_cached: false,
    fill: None,
    before: &[],
    timed: &[],
    rounds: 1,
    after: &[],
    restore: &[],
    bar: None,
};
/// A row on a filled list.
const FILLED: Row = Row { fill: Some(Merge(Keyed)), ..ROW };
/// The same with a cache.
const CACHED: Row = Row { is_cached: true, ..FILLED };
/// A row that fills `lst`. The list is emptied after each try.
const FILLING: Row = Row { after: &[RemoveEntries(Running, Keyed)], ..ROW };

const ENGINE: &str = "embedded";
const LOOK_UP: Option<Bar> = Some(Bar { target: ENGINE, limit: Limit::Ns(5e3) });
const ALL_AS_JSON: Option<Bar> = Some(Bar { target: "http", limit: Limit::Ns(200e6) });
const CREATE_ALL: Option<Bar> = Some(Bar { target: ENGINE, limit: Limit::Ns(650e6) });
const CREATE_ORDERED: Option<Bar> = Some(Bar { target: ENGINE, limit: Limit::Ns(800e6) });
const ONE_CHANGE: Option<Bar> = Some(Bar { target: ENGINE, limit: Limit::Syncs(2.0) });

/// All rows, in the order of the page.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    Row { name: "get tree", timed: &[Find(Joined)], bar: LOOK_UP, ..FILLED },
    Row { name: "get item", timed: &[Get(Joined)], bar: LOOK_UP, ..FILLED },
    Row { name: "get tree hash", timed: &[Find(Apart)], bar: LOOK_UP, ..FILLED },
    Row { name: "get tree hash cached", timed: &[Find(Apart)], bar: LOOK_UP, ..CACHED },
    Row {
        name: "get user ordered tree", fill: Some(Merge(Ordered)), timed: &[All(Running)], bar: ALL_AS_JSON, ..ROW
    },
    Row { name: "get oper tree", fill: Some(Provide), timed: &[All(Operational)], ..ROW },
    Row { name: "create batch", timed: &[Merge(Keyed)], bar: CREATE_ALL, ..FILLING },
    Row {
        name: "create user ordered items", timed: &[SetAll(Running, Ordered, Up)], after: &[RemoveEntries(Running, Ordered)], bar: CREATE_ORDERED, ..ROW
    },
    Row {
        name: "create all items", timed: &[SetAll(Running, Keyed, Up)], bar: CREATE_ALL, ..FILLING
    },
    Row {
        name: "create all items oper", timed: &[SetAll(Operational, Keyed, Up)], after: &[RemoveEntries(Operational, Keyed)], ..ROW
    },
    Row {
        name: "many oper change_subs", before: &[Subscribe(SUBSCRIBERS)],
        timed: &[SetAll(Operational, Keyed, Up), Hear, RemoveEntries(Operational, Keyed), Hear], rounds: SUBSCRIBER_ROUNDS,
        after: &[Unsubscribe], ..ROW
    },
    Row {
        name: "remove all items", timed: &[RemoveEntries(Running, Keyed)], restore: &[Merge(Keyed)], ..FILLED
    },
    Row {
        name: "remove all items cached", timed: &[RemoveEntries(Running, Keyed)], restore: &[Merge(Keyed)], ..CACHED
    },
    Row {
        name: "remove whole subtree", timed: &[RemoveContainer], restore: &[Merge(Keyed)], ..FILLED
    },
    Row {
        name: "remove whole subtree cached", timed: &[RemoveContainer], restore: &[Merge(Keyed)], ..CACHED
    },
    Row {
        name: "create an item", before: &[RemoveLeaf(Running)], timed: &[CreateLeaf("l0")], bar: ONE_CHANGE, ..FILLED
    },
    Row {
        name: "create an item cached", before: &[RemoveLeaf(Running)], timed: &[CreateLeaf("l0")], bar: ONE_CHANGE, ..CACHED
    },
    Row {
        name: "create an item oper", fill: Some(SetAll(Operational, Keyed, Up)), before: &[RemoveLeaf(Operational)],
        timed: &[SetLeaf(Operational, "l0")], ..ROW
    },
    Row {
        name: "modify an item", timed: &[SetLeaf(Running, "l1")], restore: &[SetLeaf(Running, "l0")], bar: ONE_CHANGE, ..FILLED
    },
    Row {
        name: "modify an item cached", timed: &[SetLeaf(Running, "l1")], restore: &[SetLeaf(Running, "l0")], bar: ONE_CHANGE, ..CACHED
    },
    Row {
        name: "remove an item", timed: &[RemoveLeaf(Running)], restore: &[SetLeaf(Running, "l0")], bar: ONE_CHANGE, ..FILLED
    },
    Row {
        name: "remove an item cached", timed: &[RemoveLeaf(Running)], restore: &[SetLeaf(Running, "l0")], bar: ONE_CHANGE, ..CACHED
    },
];

impl Row {
    /// All calls that it makes.
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        let lists = [self.before, self.timed, self.after, self.restore];
        self.fill.into_iter().chain(lists.into_iter().flatten().copied())
    }

    /// The figure of the page for its default plugin at this size. Units: nanoseconds.
    pub fn published_ns(&self, items: u32) -> Option<f64> {
        let table = page("datastore-plugins").table(&format!("json-{items}"))?;
        let (name, time) = (table.column("test name")?, table.column("time")?);
        let row = table.rows.iter().find(|row| row[name].text == self.name)?;
        row[time].value.map(|seconds| seconds * 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_page() {
        assert_eq!(ROWS.len(), 22);
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
        assert_eq!(ROWS.iter().filter(|row| row.is_cached).count(), 6);
        assert!(ROWS.iter().all(|row| !row.timed.is_empty()));
        let published = |row: &Row| {
            PUBLISHED_ITEMS.iter().all(|items| row.published_ns(*items).is_some_and(|ns| ns > 0.0))
        };
        assert!(ROWS.iter().all(published));
        assert_eq!(ROWS[0].published_ns(7), None);
    }

    #[test]
    fn rows_that_change_a_store_have_calls_that_restore_it() {
        for row in ROWS {
            let reads = |call: &Call| matches!(call, Find(_) | Get(_) | All(_));
            let is_read = row.timed.iter().all(reads);
            let is_undone = !row.before.is_empty() || !row.after.is_empty() || !row.restore.is_empty();
            assert_eq!(is_read, !is_undone, "{}", row.name);
        }
    }
}
