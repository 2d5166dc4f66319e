//! The suite of the harness: every row of the page, on every target.

use std::time::Duration;

use super::check;
use super::embedded::Embedded;
use super::file::JsonFile;
use super::http::Http;
use super::measure::{Plan, measure};
use super::row::ROWS;
use super::stores::Stored;
use super::target::{Call, Target as Store};
use crate::harness::{
    Cell, Figure, Form, Kind, Part, Peer, Quote, Reason, Row, Suite, Target, TargetRecord, whole,
};
use crate::outcome::Outcome;

/// Fewer entries make rows that change nothing; more make transactions that are too large.
const ITEMS_MIN: u32 = 10;
const ITEMS_MAX: u32 = 1_000_000;

/// The page.
pub const SUITE: Suite = Suite {
    name: "datastore",
    title: "The rows of a configuration datastore, at 1,000 to 100,000 items",
    text: "A configuration is a container with a list of entries. Rows read, create, change and remove one entry or all of them. Each try \
           does a real operation, and the state is restored before the next one; the figure is the median of the tries.",
    rows,
    form: Form::RowsDown,
    volumes: &["1000", "10000", "100000"],
    check_volume: |text| items(text).map(drop),
    quick_volumes: &["10", "200"],
    repeats: 3,
    parts: &[Part { name: "rows", rows: &[], seconds_max: 3_600, counts_syncs: false, run }],
    targets: &[
        Target { name: "annals", title: "Annals, embedded", kind: Kind::Ours, peer: None },
        Target { name: "annals-http", title: "Annals, over HTTP", kind: Kind::Ours, peer: None },
        Target { name: "json-file", title: "JSON file, rewritten whole", kind: Kind::Peer, peer: None },
        store("postgresql", "PostgreSQL"),
        store("redis", "Redis, each write synced"),
        store("redis-unsynced", "Redis, with its defaults"),
        store("ferretdb", "FerretDB, a stand-in for MongoDB"),
    ],
    unfair: &[
        "One caller waits for each answer. The rows say nothing of many callers at a time.",
        "The model is two flat lists without constraints. Yours differs.",
        "The JSON file works the way the page's default plugin works, and is not that plugin: it has no schema, no validation, no permissions, \
         no locks and no paths. It takes a fraction of the time, with the same growth.",
        "Annals keeps every version: removed items stay in the history, and each try makes the history longer.",
        "Annals, PostgreSQL, FerretDB and the synced Redis sync each transaction to the disk. Redis with its defaults does not, and the JSON \
         file lies in shared memory, as the page's default plugin has it. So figures of writes are compared only between equals.",
        "FerretDB is a stand-in for MongoDB, which is in no package registry: it speaks its protocol, and keeps documents in SQLite. Its \
         figures say nothing about MongoDB. It has no transactions, so a change of several entries is several commands.",
        "PostgreSQL, Redis and FerretDB get keys, and no paths. They check no parents and keep no history, and their tables and keys are made \
         for the two lists.",
        "PostgreSQL, Redis and FerretDB store pushed operational data as they store the configuration. Annals keeps these data in memory, \
         except in the row with subscribers.",
        "Rows named cached repeat their twins, except with the JSON file: Annals has its tree in memory always, and no client of the stores \
         keeps a copy.",
        "Annals, embedded, is in the process of the caller. The stores and Annals over HTTP are other processes.",
    ],
    reasons: &[
        Reason {
            targets: &["postgresql", "redis", "redis-unsynced"],
            rows: &[
                "create batch",
                "create user ordered",
                "create all",
                "remove all",
                "remove whole",
                "many oper",
            ],
            text: "An entry of a list is one row or one key there. In Annals it is an entity and a relationship to its container: each gets a \
                   version, a name and its place in indexes, and what is removed stays in the history. So whole lists are filled and emptied \
                   faster there, and twelve subscribers hear of it earlier.",
        },
        Reason {
            targets: &["redis", "redis-unsynced"],
            rows: &["remove all", "remove whole"],
            text: "Redis forgets a key with a list of any length in one step.",
        },
        Reason {
            targets: &["json-file"],
            rows: &["get"],
            text: "Once it is read, the JSON file is a tree in memory without versions, which is asked and returned as it is.",
        },
    ],
    against: &[],
    quotes: &[
        Quote { text: "Reading one item", rows: &["get item"], volumes: &["100000"] },
        Quote { text: "Creating one item", rows: &["create an item"], volumes: &["100000"] },
        Quote { text: "Removing one item", rows: &["remove an item"], volumes: &["100000"] },
        Quote { text: "Filling a list", rows: &["create batch", "create all items"], volumes: &["100000"] },
        Quote { text: "Emptying it", rows: &["remove all"], volumes: &["100000"] },
    ],
};

const fn store(name: &'static str, title: &'static str) -> Target {
    Target { name, title, kind: Kind::Peer, peer: Some(Peer::Scripts { folder: "stores", name }) }
}

/// The number of items of a volume.
fn items(volume: &str) -> Outcome<u32> {
    whole(volume, "items", ITEMS_MIN..=ITEMS_MAX)
}

fn rows() -> Vec<Row> {
    let row = |row: &super::row::Row| {
        let found = Row::new(row.name, row.name, "s").less().over("items");
        let found = if row.timed.iter().any(is_write) { found.of_writes() } else { found };
        row.bar.iter().fold(found, |found, (target, most)| found.at_most(target, "100000", *most))
    };
    ROWS.iter().map(row).collect()
}

fn is_write(call: &Call) -> bool {
    !matches!(call, Call::Find(_) | Call::Get(_) | Call::All(_))
}

fn run(cell: &mut Cell) -> Outcome<()> {
    let mut target = start(cell)?;
    let plan = Plan { tries: cell.size(10, 2), row_time_min: Duration::from_millis(cell.size(200, 0)) };
    for volume in cell.arguments.volumes.clone() {
        let items = items(&volume)?;
        check::check(&mut *target, items)?;
        for row in ROWS {
            if !cell.wants(row.name) {
                continue;
            }
            if let Some(reason) = row.calls().find_map(|call| target.lacks(call)) {
                cell.skip(&[row.name], reason)?;
                continue;
            }
            let figure = match measure(&mut *target, row, items, plan) {
                Ok(tries) => Figure::of_calls(&tries, 1e9)?,
                Err(error) => Figure::state(format!("ERR({error})")),
            };
            cell.tell(&volume, row.name, figure)?;
        }
    }
    Ok(())
}

/// Starts the cell's target, and tells what it says of itself.
fn start(cell: &mut Cell) -> Outcome<Box<dyn Store>> {
    let folder = cell.arguments.folder.clone();
    let (target, durability): (Box<dyn Store>, _) = match cell.target.name {
        "annals" => (Box::new(Embedded::new(folder)), "synced-group"),
        "annals-http" => (Box::new(Http::new(folder)), "synced-group"),
        "json-file" => (Box::new(JsonFile::new(&folder)?), "unsynced"),
        _ => {
            let mut stored = Stored::start(cell)?;
            cell.introduce(stored.record()?)?;
            return Ok(Box::new(stored));
        }
    };
    cell.introduce(TargetRecord::of_lab(durability))?;
    Ok(target)
}
