//! The suite `larger`: more payload than memory.

mod documents;
mod disk;
mod graph;
mod commits;

use crate::harness::{Cell, Form, Kind, Part, Row, Suite, Target, TargetRecord, whole};
use crate::outcome::Outcome;
use documents::budget;

const COMMIT_ROWS: &[&str] = &["commit-1", "commit-10", "commit-100"];
const GRAPH_ROWS: &[&str] = &["load", "checkpoint", "open", "get-cold", "get-warm", "resident", "growth"];

/// The number of entities of a volume.
fn entities(volume: &str) -> Outcome<usize> {
    Ok(whole(volume, "entities", 1..=1 << 30)? as usize)
}

fn rows() -> Vec<Row> {
    let commit = |threads: usize| {
        Row::new(format!("commit-{threads}"), format!("Commits of an entity, {threads} threads"), "commits/s")
            .of_writes()
    };
    vec![
        Row::new("load", "Loading, in transactions of 1,000", "entities/s").of_writes(),
        Row::new("checkpoint", "Saving a checkpoint", "s").less(),
        Row::new("open", "Opening from the checkpoint", "s").less(),
        Row::new("get-cold", "Getting an entity at random, nothing in the page cache", "gets/s"),
        Row::new("get-warm", "Getting one of 1,000 entities at random", "gets/s"),
        Row::new("resident", "Most resident memory, loading and reading", "of the budget").less(),
        Row::new("growth", "Memory for each further version, while reads and updates go on", "bytes").less(),
        commit(1),
        commit(10),
        commit(100),
    ]
}

/// The suite. Its volumes are entities.
pub const SUITE: Suite = Suite {
    name: "larger",
    title: "More payload than memory",
    text: "Entities with a payload of 1,024 bytes are loaded, reopened, read at random and updated. The budget of memory is three \
           eighths of all payloads, and 128 MiB. Beside Annals with that budget stand Annals without one, and random reads of a file of the same size.",
    rows,
    form: Form::RowsDown,
    volumes: &["4000000"],
    check_volume: |text| entities(text).map(drop),
    quick_volumes: &["100000"],
    repeats: 3,
    parts: &[
        Part { name: "graph", rows: GRAPH_ROWS, seconds_max: 1_800, counts_syncs: false, run: run_graph },
        Part { name: "commits", rows: COMMIT_ROWS, seconds_max: 600, counts_syncs: false, run: run_commits },
    ],
    targets: &[
        Target { name: "annals", title: "Annals with a budget", kind: Kind::Ours, peer: None },
        Target { name: "annals-unbounded", title: "Annals without a budget", kind: Kind::Limit, peer: None },
        Target { name: "disk", title: "random reads of a file", kind: Kind::Limit, peer: None },
    ],
    unfair: &[
        "Before each cold figure the lab drops the measured files from the page cache. Without a budget nothing is on the disk, so \
         the figure of Annals without one is of reads of memory.",
        "The payloads look random: nothing compresses them. Yours may take less.",
        "The budget does not bound what each version takes besides its payload; the row of growth tells how much that is.",
    ],
    reasons: &[],
    against: &[],
    quotes: &[],
};

fn run_graph(cell: &mut Cell) -> Outcome<()> {
    for_volumes(cell, |cell, elements| {
        if cell.target.name == "disk" { graph::disk(cell, elements) } else { graph::annals(cell, elements) }
    })
}

fn run_commits(cell: &mut Cell) -> Outcome<()> {
    if cell.target.name == "disk" {
        return cell.skip(COMMIT_ROWS, "the file is only read");
    }
    for_volumes(cell, commits::run)
}

fn for_volumes(cell: &mut Cell, work: impl Fn(&mut Cell, usize) -> Outcome<()>) -> Outcome<()> {
    for volume in cell.arguments.volumes.clone() {
        let elements = entities(&volume)?;
        let settings = match cell.target.name {
            "annals" => vec![("memory_bytes_max".to_owned(), budget(elements).to_string())],
            _ => Vec::new(),
        };
        let durability = if cell.target.name == "disk" { "synced" } else { "synced-group" };
        cell.introduce(TargetRecord { settings, ..TargetRecord::of_lab(durability) })?;
        work(cell, elements)?;
    }
    Ok(())
}
