//! The suite of the harness: every script of the page, on every server.

use std::any::Any;
use std::path::Path;
use std::time::Duration;

use super::measure::{Plan, measure};
use super::script::{SCRIPTS, Script, Wording};
use crate::harness::{
    Cell, Figure, Form, Kind, Part, Peer, PeerServer, Quote, Row, Suite, Target, TargetRecord, whole,
};
use crate::outcome::Outcome;
use crate::run::{Client, Place, Request, Server};

const ITEMS_MAX: u32 = 1_000_000;
/// The page has as many binaries; a run with more items makes no more.
const BINARIES_MAX: u32 = 1_000;
/// Where `annals serve` has its LDP door.
const DOOR: &str = "/ldp";
/// Connections that load: as many as the scripts of the page have. Fedora 4.7 mixes up requests that come at the same time.
const CONNECTIONS: usize = 1;
/// Longest load of one script.
const LOAD_MAX: Duration = Duration::from_secs(1_800);
/// The figures of each script: name, title, and whether it is a write. Units: seconds.
const FIGURES: [(&str, &str, bool); 7] = [
    ("load", "adding all", true),
    ("tenth", "adding one, around the 10th", true),
    ("last", "adding one, around the last", true),
    ("first-byte", "first byte of the retrieval", false),
    ("cold", "first retrieval", false),
    ("warm", "further retrievals", false),
    ("curl", "retrieval as the script times it, with curl", false),
];

/// The page.
pub const SUITE: Suite = Suite {
    name: "members",
    title: "A digital repository whose containers grow to ten thousand members",
    text: "Six scripts add children, members, collections, links, values and binaries to a repository over LDP, and retrieve what they \
           added. The numbers of items in the answers are checked.",
    rows,
    form: Form::RowsDown,
    volumes: &["1000", "10000"],
    check_volume: |text| items(text).map(drop),
    quick_volumes: &["20"],
    repeats: 3,
    parts: &[Part { name: "scripts", rows: &[], seconds_max: 7_200, counts_syncs: false, run }],
    targets: &[
        Target { name: "annals", title: "Annals", kind: Kind::Ours, peer: None },
        fedora("fedora-4.7.5-file", "4.7.5-file", "Fedora 4.7.5, file-simple"),
        fedora("fedora-4.7.5-postgresql", "4.7.5-postgresql", "Fedora 4.7.5 on PostgreSQL"),
        fedora("fedora-4.7.5-mariadb", "4.7.5-mariadb", "Fedora 4.7.5 on MariaDB"),
        fedora("fedora-6.1.0", "6.1.0", "Fedora 6.1.0"),
    ],
    unfair: &[
        "The lab adds with one connection, as the page's scripts do. Annals syncs each answered request by itself then; with more \
         connections, one sync serves many.",
        "Client and server share the processor.",
        "Fedora 6 refuses two of the scripts as the page has them; the lab writes their requests as it needs them.",
        "*First retrieval* is the first one for the server's own caches only: it has just written what it reads, and the system has it in memory.",
        "Each system runs all scripts on one repository, one after the other, below paths of their own.",
    ],
    reasons: &[],
    against: &[],
    quotes: &[Quote { text: "The scripts that it finished", rows: &[], volumes: &["10000"] }],
};

const fn fedora(target: &'static str, name: &'static str, title: &'static str) -> Target {
    Target { name: target, title, kind: Kind::Peer, peer: Some(Peer::Scripts { folder: "fedora", name }) }
}

/// The number of items of a volume.
fn items(volume: &str) -> Outcome<u32> {
    whole(volume, "items", 1..=ITEMS_MAX)
}

fn rows() -> Vec<Row> {
    let row = |script: Script, (name, title, is_write): (&str, &str, bool)| {
        let script_name = script.name();
        let row = Row::new(format!("{script_name} {name}"), format!("{script_name}: {title}"), "s")
            .less()
            .over("items");
        match name {
            _ if is_write => row.of_writes(),
            "curl" if script != Script::Binaries => row.at_most("annals", "10000", 0.1),
            _ => row,
        }
    };
    SCRIPTS.into_iter().flat_map(|script| FIGURES.map(|figure| row(script, figure))).collect()
}

/// A running server.
struct Running {
    place: Place,
    wording: Wording,
    /// The server ends with this value.
    _server: Option<Box<dyn Any>>,
}

fn run(cell: &mut Cell) -> Outcome<()> {
    let folder = cell.arguments.folder.clone();
    let is_ours = cell.target.kind == Kind::Ours;
    let version = if is_ours { env!("CARGO_PKG_VERSION") } else { cell.target.name };
    let running = start(cell, &folder)?;
    cell.introduce(TargetRecord {
        version: version.into(),
        durability: if is_ours { "synced-group" } else { "synced" }.into(),
        settings: match running.wording {
            Wording::Page => Vec::new(),
            Wording::Fedora6 => vec![("requests".into(), "written as Fedora 6 needs them".into())],
        },
        ..TargetRecord::default()
    })?;
    for volume in cell.arguments.volumes.clone() {
        let items = items(&volume)?;
        for script in SCRIPTS {
            tell(cell, &running, script, &volume, items)?;
        }
    }
    Ok(())
}

/// Runs one script, and tells its figures or why there are none.
fn tell(cell: &mut Cell, running: &Running, script: Script, volume: &str, items: u32) -> Outcome<()> {
    let rows = FIGURES.map(|(name, ..)| format!("{} {name}", script.name()));
    if !rows.iter().any(|row| cell.wants(row)) {
        return Ok(());
    }
    let items = if script == Script::Binaries { items.min(BINARIES_MAX) } else { items };
    let plan = Plan {
        items: items as usize,
        binary_bytes: cell.size(1_000_000, 10_000),
        connections: CONNECTIONS,
        tries: cell.size(5, 2),
        load_time_max: LOAD_MAX,
    };
    let answers = tempfile::tempdir_in(&cell.arguments.folder)?;
    let figures = match measure(script, running.wording, &running.place, plan, answers.path()) {
        Ok(found) => {
            [found.load, found.tenth, found.last, found.first_byte, found.cold, found.warm, found.curl]
                .map(Figure::of)
        }
        Err(error) => [(); FIGURES.len()].map(|()| Figure::state(format!("ERR({error})"))),
    };
    rows.iter().zip(figures).try_for_each(|(row, figure)| cell.tell(volume, row, figure))
}

/// Starts the server of the cell's target on a new folder. The command of a system of the user's own may be the URL of a
/// container in a running server.
fn start(cell: &Cell, folder: &Path) -> Outcome<Running> {
    let Some(peer) = cell.target.peer else {
        let server = Server::annals(&folder.join("repository"))?;
        let place = Place::parse(&format!("http://{}{DOOR}", server.address))?;
        return Ok(Running { place, wording: Wording::Page, _server: Some(Box::new(server)) });
    };
    let wording = if cell.target.name.starts_with("fedora-6") { Wording::Fedora6 } else { Wording::Page };
    if let Peer::Command(url) = peer
        && url.starts_with("http")
    {
        return Ok(Running { place: Place::parse(url)?, wording, _server: None });
    }
    let mut server = PeerServer::start(cell)?;
    let place = server.answer(|port| {
        let place = Place::parse(&format!("http://127.0.0.1:{port}/rest"))?;
        let root = Request { method: "GET", path: "/rest/".into(), ..Request::default() };
        Client::new(&place).send(&root)?;
        Ok(place)
    })?;
    Ok(Running { place, wording, _server: Some(Box::new(server)) })
}
