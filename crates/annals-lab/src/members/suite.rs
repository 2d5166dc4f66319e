//! The suite of the harness: every script of the page, on every server.

use std::time::Duration;

use super::client::Place;
use super::script::{SCRIPTS, Script};
use super::{BINARIES_MAX, BINARY_KB, DOOR, Plan, QUICK_BINARY_KB, QUICK_TRIES, TRIES, on_server};
use crate::harness::{Cell, Figure, Kind, Part, Row, Suite, Target, TargetRecord};
use crate::outcome::Outcome;
use crate::run::Server;

/// Connections that load.
const CONNECTIONS: usize = 8;
/// Longest load of one script.
const LOAD_MAX: Duration = Duration::from_secs(1_800);
/// What is measured of each script.
const FIGURES: [(&str, &str, &str, bool); 5] = [
    ("load", "adding all", "s", true),
    ("first-byte", "first byte of the retrieval", "s", false),
    ("cold", "first retrieval", "s", false),
    ("warm", "further retrievals", "s", false),
    ("curl", "retrieval as the script times it, with curl", "s", false),
];

/// The page.
pub const SUITE: Suite = Suite {
    name: "members",
    title: "A digital repository whose containers grow to ten thousand members",
    text: "Six scripts add children, members, collections, links, values and binaries to a repository over LDP, and retrieve what they \
           added. The numbers of items in the answers are checked.",
    rows,
    volumes: &["1000", "10000"],
    quick_volumes: &["20"],
    repeats: 3,
    parts: &[Part { name: "scripts", rows: &[], seconds_max: 7_200, counts_syncs: false, run }],
    targets: &[Target { name: "annals", title: "Annals", kind: Kind::Ours, peer: None }],
    unfair: &[
        "The lab adds with eight connections, where the page's scripts have one; values and links of one resource are added with one.",
        "Client and server share the processor.",
    ],
};

fn rows() -> Vec<Row> {
    let row = |script: Script, (name, title, unit, is_write): (&str, &str, &str, bool)| {
        let row =
            Row::new(format!("{} {name}", script.name()), format!("{}: {title}", script.name()), unit).less();
        if is_write { row.of_writes() } else { row }
    };
    SCRIPTS.into_iter().flat_map(|script| FIGURES.map(|figure| row(script, figure))).collect()
}

fn run(cell: &mut Cell) -> Outcome<()> {
    let folder = cell.arguments.folder.clone();
    cell.introduce(TargetRecord {
        target: String::new(),
        version: env!("CARGO_PKG_VERSION").into(),
        durability: "synced-group".into(),
        settings: Vec::new(),
        syncs: None,
    })?;
    for volume in cell.arguments.volumes.clone() {
        let items: u32 = volume.parse().map_err(|_| format!("volume {volume:?}: expected items"))?;
        for script in SCRIPTS {
            let items = if script == Script::Binaries { items.min(BINARIES_MAX) } else { items };
            let plan = Plan {
                items: items as usize,
                connections: CONNECTIONS,
                tries: cell.size(TRIES, QUICK_TRIES),
                load_time_max: LOAD_MAX,
            };
            let binary_bytes = cell.size(BINARY_KB, QUICK_BINARY_KB) as usize * 1_000;
            let below = folder.join(format!("{}-{volume}", script.name()));
            std::fs::create_dir(&below)?;
            let server = Server::annals(&below.join("repository"))?;
            let place = Place::parse(&format!("http://{}{DOOR}", server.address))?;
            let result = on_server(script, &place, plan, binary_bytes, &below);
            drop(server);
            // Two binaries of a gigabyte must not lie there at once.
            std::fs::remove_dir_all(&below)?;
            match result {
                Ok(found) => {
                    let times = [
                        found.load.as_secs_f64(),
                        found.warm.first_byte_ms / 1e3,
                        found.cold.whole_ms / 1e3,
                        found.warm.whole_ms / 1e3,
                        found.curl_ms / 1e3,
                    ];
                    for ((name, ..), time) in FIGURES.iter().zip(times) {
                        cell.tell(&volume, &format!("{} {name}", script.name()), Figure::of(time))?;
                    }
                }
                Err(error) => {
                    for (name, ..) in FIGURES {
                        let state = Figure::state(format!("ERR({error})"));
                        cell.tell(&volume, &format!("{} {name}", script.name()), state)?;
                    }
                }
            }
        }
    }
    Ok(())
}
