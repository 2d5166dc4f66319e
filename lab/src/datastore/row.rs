//! The rows of the page, as data: the state before, the timed calls, and the calls that restore the state.

use super::content::List::{Keyed, Ordered};
use super::content::Order::Up;
use super::target::Call::{
    self, All, CreateLeaf, Find, Get, Hear, Merge, Provide, RemoveContainer, RemoveEntries, RemoveLeaf,
    SetAll, SetLeaf, Subscribe, Unsubscribe,
};
use super::target::Keys::{Apart, Joined};
use super::target::Store::{Operational, Running};

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
    /// Called after each try, untimed: restores the state, so that the next try has work to do.
    pub after: &'static [Call],
    /// The most that a target may take at 100,000 entries. Units: seconds.
    pub bar: Option<(&'static str, f64)>,
}

/// A row without calls, to begin with.
const ROW: Row =
    Row { name: "", is_cached: false, fill: None, before: &[], timed: &[], rounds: 1, after: &[], bar: None };
/// A row on a filled list.
const FILLED: Row = Row { fill: Some(Merge(Keyed)), ..ROW };
/// The same with a cache.
const CACHED: Row = Row { is_cached: true, ..FILLED };
/// A row that fills `lst`. The list is emptied after each try.
const FILLING: Row = Row { after: &[RemoveEntries(Running, Keyed)], ..ROW };

const LOOK_UP: Option<(&str, f64)> = Some(("annals", 5e-6));
const ALL_AS_JSON: Option<(&str, f64)> = Some(("annals-http", 0.2));
const CREATE_ALL: Option<(&str, f64)> = Some(("annals", 0.65));
const CREATE_ORDERED: Option<(&str, f64)> = Some(("annals", 0.8));

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
        name: "remove all items", timed: &[RemoveEntries(Running, Keyed)], after: &[Merge(Keyed)], ..FILLED
    },
    Row {
        name: "remove all items cached", timed: &[RemoveEntries(Running, Keyed)], after: &[Merge(Keyed)], ..CACHED
    },
    Row {
        name: "remove whole subtree", timed: &[RemoveContainer], after: &[Merge(Keyed)], ..FILLED
    },
    Row {
        name: "remove whole subtree cached", timed: &[RemoveContainer], after: &[Merge(Keyed)], ..CACHED
    },
    Row {
        name: "create an item", before: &[RemoveLeaf(Running)], timed: &[CreateLeaf("l0")], ..FILLED
    },
    Row {
        name: "create an item cached", before: &[RemoveLeaf(Running)], timed: &[CreateLeaf("l0")], ..CACHED
    },
    Row {
        name: "create an item oper", fill: Some(SetAll(Operational, Keyed, Up)), before: &[RemoveLeaf(Operational)],
        timed: &[SetLeaf(Operational, "l0")], ..ROW
    },
    Row {
        name: "modify an item", timed: &[SetLeaf(Running, "l1")], after: &[SetLeaf(Running, "l0")], ..FILLED
    },
    Row {
        name: "modify an item cached", timed: &[SetLeaf(Running, "l1")], after: &[SetLeaf(Running, "l0")], ..CACHED
    },
    Row {
        name: "remove an item", timed: &[RemoveLeaf(Running)], after: &[SetLeaf(Running, "l0")], ..FILLED
    },
    Row {
        name: "remove an item cached", timed: &[RemoveLeaf(Running)], after: &[SetLeaf(Running, "l0")], ..CACHED
    },
];

impl Row {
    /// All calls that it makes.
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        let lists = [self.before, self.timed, self.after];
        self.fill.into_iter().chain(lists.into_iter().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::page;

    #[test]
    fn rows_are_those_of_the_page() {
        let table = page("datastore-plugins").table("json-1000").unwrap();
        let published: Vec<&str> = table.rows.iter().map(|row| row[0].text.as_str()).collect();
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names, published);
        assert_eq!(ROWS.iter().filter(|row| row.is_cached).count(), 6);
        assert!(ROWS.iter().all(|row| !row.timed.is_empty()));
    }

    #[test]
    fn rows_that_change_a_store_have_calls_that_restore_it() {
        for row in ROWS {
            let reads = |call: &Call| matches!(call, Find(_) | Get(_) | All(_));
            let is_read = row.timed.iter().all(reads);
            let is_undone = !row.before.is_empty() || !row.after.is_empty();
            assert_eq!(is_read, !is_undone, "{}", row.name);
        }
    }
}
