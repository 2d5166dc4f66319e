//! Peers of the suite: Egeria's own repositories, measured by Egeria's own Performance Test Suite.

// In the order a newcomer should read them.
mod calls;
mod figures;

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::row::ROWS;
use super::volume::Volume;
use crate::harness::{Cell, Kind, Peer, Target, TargetRecord};
use crate::outcome::Outcome;
use crate::run::Child;
use figures::{End, figures};

/// Time of a cell that no suite may use: for the starts of programs, and for the figures. Units: seconds.
const RESERVE_SECONDS: u64 = 20;
/// Longest time that a suite needs after its budget, to write how it ended. Units: seconds.
const END_SECONDS: u64 = 10;

/// In memory, called in the same process.
pub const MEMORY: Target = target("egeria-memory", "memory", "Egeria's in-memory repository, embedded");
/// In memory, called as the published page called its repositories.
pub const MEMORY_REST: Target =
    target("egeria-memory-rest", "memory-rest", "Egeria's in-memory repository, over HTTP");
/// On BerkeleyDB and Lucene, called in the same process.
pub const JANUSGRAPH: Target =
    target("egeria-janusgraph", "janusgraph", "Egeria's repository on JanusGraph, embedded");

/// Annals under the connector of bindings/jvm/egeria, called in the same process.
pub const ANNALS: Target = Target {
    kind: Kind::Ours,
    ..target("egeria-annals", "annals", "Annals as a repository of Egeria, embedded")
};

const fn target(name: &'static str, installed: &'static str, title: &'static str) -> Target {
    let peer = Peer::Scripts { folder: "egeria", name: installed };
    Target { name, title, kind: Kind::Peer, peer: Some(peer) }
}

/// Runs the suite at each volume of the cell, and tells the figures of all rows.
///
/// The volumes share the longest time of the cell: what one leaves over is for those after it.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let start = Instant::now();
    let seconds_max = cell.arguments.seconds_max.saturating_sub(RESERVE_SECONDS);
    let volumes = cell.arguments.volumes.clone();
    for (number, text) in volumes.iter().enumerate() {
        let volume: Volume = text.parse()?;
        let left = seconds_max.saturating_sub(start.elapsed().as_secs());
        let budget = (left / (volumes.len() - number) as u64).saturating_sub(END_SECONDS).max(1);
        let folder = std::path::absolute(cell.arguments.folder.join(text))?;
        std::fs::create_dir(&folder)?;
        let peer = cell.target.peer.ok_or("a peer is installed by scripts")?;
        let mut command = peer.command(&cell.arguments.peers)?;
        command.arg(volume.to_string()).arg(&folder).arg(budget.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let time_max = Duration::from_secs(budget + END_SECONDS);
        let status = Child::start(cell.target.name, &mut command)?.wait(time_max)?;
        if !status.success() {
            return Err(format!("{} at {text}: {status}; see its log", cell.target.name).into());
        }
        let end = End::read(&folder.join("end.json"))?;
        let path = folder.join("samples_ns.csv");
        // There is none if the budget ended before the types were defined.
        let calls = if path.exists() { calls::read(&path)? } else { Vec::new() };
        if number == 0 {
            introduce(cell, &end)?;
        }
        for (row, figure) in ROWS.iter().zip(figures(&calls, &end, budget)?) {
            cell.tell(text, &row.name(), figure)?;
        }
    }
    Ok(())
}

/// Prints what the repository says of itself.
fn introduce(cell: &mut Cell, end: &End) -> Outcome<()> {
    let is_in_memory = [MEMORY.name, MEMORY_REST.name].contains(&cell.target.name);
    cell.introduce(TargetRecord {
        version: end.version.clone(),
        // BerkeleyDB syncs its log at each write, and Lucene its files, as strace shows: peers/README.md.
        durability: if is_in_memory { "memory" } else { "synced" }.into(),
        settings: end.settings.clone().into_iter().collect(),
        ..TargetRecord::default()
    })
}
