//! The suite `gremlin-server`: reads through Gremlin Server, of one client with many requests in flight.

use serde_json::{Value, json};

use crate::harness::{Answered, Cell, Form, Kind, Part, Peer, Row, Suite, Target, whole};
use crate::outcome::Outcome;
use crate::threads::{ANSWER_MAX, LOAD_MAX, Pending, Took, check, open, warm_first, warmed_loop};

const OURS: &str = "server-annals";
const JANUSGRAPH: &str = "server-janusgraph";
/// More would wait in the client.
const IN_FLIGHT_MAX: u32 = 1_000;
const ROWS: [&str; 2] = ["vertex", "two-hops"];
const VOLUMES: &[&str] = &["1", "10", "100"];

const fn server(name: &'static str, title: &'static str, kind: Kind) -> Target {
    Target { name, title, kind, peer: Some(Peer::Scripts { folder: "jvm", name }) }
}

/// Each row has its bar at every volume.
fn rows() -> Vec<Row> {
    let barred = |row: Row| {
        VOLUMES
            .iter()
            .fold(row.over("requests in flight"), |row, volume| row.times_of(OURS, volume, 1.0, JANUSGRAPH))
    };
    vec![
        barred(Row::new(ROWS[0], "A vertex by its id, with its property", "requests/s")),
        barred(Row::new(ROWS[1], "Two hops from a vertex by its id", "visits/s")),
    ]
}

/// There is no published page like this.
pub const SUITE: Suite = Suite {
    name: "gremlin-server",
    title: "Reads through Gremlin Server, with 1 to 100 requests in flight",
    text: "One client, the driver of Java, sends traversals to a server on the same machine over four connections, and waits for each answer: \
           `g.V(id).elementMap()`, and `g.V(id).out().out().id()`, which counts as 12 visits. The volume is the number of requests in \
           flight. The graph has a hundred thousand vertices and three times as many edges, and the server has opened it again.",
    rows,
    form: Form::VolumesDown,
    volumes: VOLUMES,
    check_volume: |text| in_flight(text).map(drop),
    quick_volumes: &["1", "10"],
    repeats: 3,
    parts: &[Part { name: "reads", rows: &[], seconds_max: 600, counts_syncs: false, run }],
    targets: &[
        server(OURS, "Annals in Gremlin Server", Kind::Ours),
        server(JANUSGRAPH, "JanusGraph on BerkeleyDB JE in its Gremlin Server", Kind::Peer),
    ],
    unfair: &[
        "Client and server share the processor. The client is the same for both, and so are the pool of four threads and the bounds of the \
         server.",
        "JanusGraph's server is of an older TinkerPop than the client and Annals' server: the versions are in the table of systems.",
        "Annals holds the graph in memory. JanusGraph reads it from its database, whose cache has room for all of it.",
        "JanusGraph makes its schema when the graph is loaded, and not before.",
    ],
    reasons: &[],
    against: &[],
    quotes: &[],
};

/// The number of requests in flight of a volume.
fn in_flight(volume: &str) -> Outcome<u32> {
    whole(volume, "requests in flight", 1..=IN_FLIGHT_MAX)
}

/// Loads the graph, reopens it, checks it, and reads it.
fn run(cell: &mut Cell) -> Outcome<()> {
    let volumes = cell.arguments.volumes.clone();
    let rows = ROWS.into_iter().filter(|row| cell.wants(row));
    let wanted = rows.flat_map(|row| volumes.iter().map(move |volume| (volume.clone(), row)));
    let wanted: Vec<(String, &'static str)> = wanted.collect();
    let mut pending = Pending::new(wanted.iter().cloned());
    let measured = measure(cell, &wanted, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, wanted: &[(String, &'static str)], pending: &mut Pending) -> Outcome<()> {
    let vertices: u64 = cell.size(100_000, 1_000);
    let mut system = cell.adapter()?;
    let system = &mut *system;
    open(system, cell, "graph")?;
    let _: Took = system.must(&json!({ "do": "bulk", "vertices": vertices }), LOAD_MAX)?;
    let _: Took = system.must(&json!({ "do": "reopen" }), LOAD_MAX)?;
    check(system, vertices)?;
    let mut warm = "";
    for (volume, row) in wanted {
        if warm != *row {
            warm_first(cell, system, &json!({ "do": row }), u64::MAX)?;
            warm = row;
        }
        match warmed_loop(cell, system, &json!({ "do": row, "threads": in_flight(volume)? }))? {
            Answered::Answer(warmed) => pending.tell(cell, volume, row, warmed.figure(None)?)?,
            Answered::Skip(reason) => pending.skip(cell, &[row], &reason)?,
        }
    }
    let _: Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}
