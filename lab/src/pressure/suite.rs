//! The suite of the harness: rows, targets and parts.

use super::overload::{AFTER, LONGEST, LOST, READ_WHILE_WRITING, SHED};
use super::system::introduction;
use super::{overload, read_rows, syncs, write_rows};
use crate::harness::{Cell, Form, Kind, Part, Peer, Quote, Reason, Row, Suite, Syncs, Target, whole};
use crate::outcome::Outcome;

const OURS: &str = "annals";
/// HugeGraph, as the bars name it: its default settings refuse most of what many callers ask.
const HUGEGRAPH: &str = "hugegraph-tuned";
const VERTICES_MAX: u32 = 10_000_000;
const VOLUME: &str = "10000";

const fn hugegraph(name: &'static str, title: &'static str, kind: Kind) -> Target {
    Target { name, title, kind, peer: Some(Peer::Scripts { folder: "hugegraph", name }) }
}

fn rows() -> Vec<Row> {
    let row = |name: &str, title: &str, unit: &str| Row::new(name, title, unit).over("vertices");
    let read = |name: &str, title: &str| row(name, title, "requests/s");
    let write = |name: &str, title: &str, unit: &str| row(name, title, unit).of_writes();
    vec![
        read("vertex", "A vertex by its id, closed loop")
            .times_of(OURS, VOLUME, 0.6, "nginx")
            .times_of(OURS, VOLUME, 5.0, HUGEGRAPH),
        read("vertex-rate", "A vertex by its id, highest arrival rate held").at_least(OURS, VOLUME, 14_500.0),
        read("edge", "An edge by its id, closed loop")
            .times_of(OURS, VOLUME, 0.6, "nginx")
            .times_of(OURS, VOLUME, 5.0, HUGEGRAPH),
        read("edge-rate", "An edge by its id, highest arrival rate held"),
        read("kout-1", "Vertices at depth 1, closed loop"),
        read("kout-1-rate", "Vertices at depth 1, highest arrival rate held"),
        read("kout-2", "Vertices at depth 2, closed loop"),
        read("kout-2-rate", "Vertices at depth 2, highest arrival rate held"),
        row("callers", "Callers with a read a second each, for a minute", "callers")
            .at_least(OURS, VOLUME, 14_500.0),
        write("insert-vertex", "One vertex a request, closed loop", "vertices/s")
            .times_of(OURS, VOLUME, 5.0, HUGEGRAPH),
        write("insert-vertex-rate", "One vertex a request, highest arrival rate held", "vertices/s"),
        write("insert-edge", "One edge a request, closed loop", "edges/s")
            .times_of(OURS, VOLUME, 5.0, HUGEGRAPH),
        write("insert-edge-rate", "One edge a request, highest arrival rate held", "edges/s"),
        write("vertices-200", "Batches of 200 vertices, closed loop", "vertices/s")
            .times_of(OURS, VOLUME, 3.0, HUGEGRAPH),
        write("edges-500", "Batches of 500 edges, closed loop", "edges/s")
            .times_of(OURS, VOLUME, 3.0, HUGEGRAPH),
        write("import-vertices-200", "Imports of 200 vertices, closed loop", "vertices/s"),
        write("import-edges-500", "Imports of 500 edges, closed loop", "edges/s"),
        row(READ_WHILE_WRITING, "Reads while vertices come at 80 % of the highest rate, p99", "ms")
            .less()
            .at_most(OURS, VOLUME, 50.0),
        row(SHED, "Insertions that get through at twice the highest rate, of the highest", "%")
            .of_writes()
            .at_least(OURS, VOLUME, 80.0),
        row(LONGEST, "Longest of their answers", "s").less().at_most(OURS, VOLUME, 2.0),
        row(AFTER, "Insertions at half of the highest rate, a second after that, p99", "ms").less(),
        row(LOST, "Acknowledged insertions that are gone after an end under that load", "vertices")
            .less()
            .at_most(OURS, VOLUME, 0.0),
    ]
}

/// The page.
pub const SUITE: Suite = Suite {
    name: "pressure",
    title: "A graph server under a load that rises until the first error",
    text: "One client asks over HTTP: it inserts vertices and edges, one in a request and in batches, and reads them by their ids. The \
           volume is the number of vertices before that, each with three edges. In an open loop each caller has a connection and asks \
           once a second, so that an arrival rate has as many callers; latencies count from the time at which a request was due. A rate \
           is held if no request fails, 99 of 100 answers come within a second, and 97 % of what was due is answered within the step. A \
           closed loop shows the best of 1 to 1,000 callers who ask again as soon as they have their answer.",
    rows,
    form: Form::RowsDown,
    volumes: &[VOLUME],
    check_volume: |text| graph_of(text).map(drop),
    quick_volumes: &["1000"],
    repeats: 3,
    parts: &[
        Part { name: "syncs", rows: &[], seconds_max: 300, counts_syncs: true, run: syncs::run },
        Part {
            name: "reads",
            rows: &[
                "vertex",
                "vertex-rate",
                "edge",
                "edge-rate",
                "kout-1",
                "kout-1-rate",
                "kout-2",
                "kout-2-rate",
                "callers",
            ],
            seconds_max: 14_400,
            counts_syncs: false,
            run: read_rows::run,
        },
        Part {
            name: "writes",
            rows: &[
                "insert-vertex",
                "insert-vertex-rate",
                "insert-edge",
                "insert-edge-rate",
                "vertices-200",
                "edges-500",
                "import-vertices-200",
                "import-edges-500",
            ],
            seconds_max: 14_400,
            counts_syncs: false,
            run: write_rows::run,
        },
        Part {
            name: "overload",
            rows: &overload::ROWS,
            seconds_max: 7_200,
            counts_syncs: false,
            run: overload::run,
        },
    ],
    targets: &[
        Target { name: OURS, title: "Annals", kind: Kind::Ours, peer: None },
        Target { name: "nginx", title: "nginx, one file", kind: Kind::Limit, peer: None },
        Target { name: "disk", title: "disk alone", kind: Kind::Limit, peer: None },
        hugegraph("hugegraph", "HugeGraph 1.7 on RocksDB", Kind::Peer),
        hugegraph(HUGEGRAPH, "HugeGraph 1.7 on RocksDB, 600 workers", Kind::Tuned),
        Target {
            name: "janusgraph-http",
            title: "JanusGraph on BerkeleyDB JE in Gremlin Server",
            kind: Kind::Peer,
            peer: Some(Peer::Scripts { folder: "gremlin", name: "janusgraph" }),
        },
        Target {
            name: "neo4j-http",
            title: "Neo4j over HTTP",
            kind: Kind::Peer,
            peer: Some(Peer::Scripts { folder: "neo4j", name: "server" }),
        },
        Target {
            name: "hugegraph-cassandra",
            title: "HugeGraph 1.5 on Cassandra, 600 workers",
            kind: Kind::Tuned,
            peer: Some(Peer::Scripts { folder: "hugegraph", name: "cassandra" }),
        },
    ],
    unfair: &[
        "Client and server share the processor; the client is one thread. The table of loads says how much of it each took, and marks \
         figures for which the client was itself the limit.",
        "Annals syncs each insertion before it answers; insertions that come together share a sync. HugeGraph on RocksDB does not sync \
         its log, and Cassandra syncs every ten seconds: *Systems* has the calls that sync.",
        "Annals keeps every version with author and instant; HugeGraph keeps the last one.",
        "HugeGraph with its default settings works on two requests a core and answers 503 to more. Its tuned form has 600 workers, as \
         the answer itself recommends.",
        "JanusGraph is asked by scripts of Gremlin over HTTP. It gives edges ids of its own, so an edge is found by its two ends.",
        "Neo4j is asked by statements of Cypher. It gives vertices and edges ids of its own, so a vertex is found by a property that a \
         constraint keeps unique, and an edge by its two ends.",
        "Batches of edges are sent to HugeGraph with `check_vertex=false`: it does not look whether their ends exist. Annals does.",
        "HugeGraph compresses the answers of walks, although the client does not accept that.",
        "Vertices and edges have no properties, as in the measurements that the makers of the page publish with their tests.",
        "The disk writes and syncs as many bytes as a vertex or an edge takes in the log of Annals, for as many threads as wait.",
    ],
    reasons: &[Reason {
        targets: &["hugegraph-tuned", "neo4j-http", "janusgraph-http"],
        rows: &[SHED, AFTER],
        text: "Each system is offered twice, or half, of its own highest rate. For Annals these are several times as many requests, from as \
               many callers as the client opens at most, and two cores answer or refuse them one after the other: so each waits about as \
               long as all others take. JanusGraph answers most requests of an overload with other errors.",
    }],
    against: &[],
    quotes: &[
        Quote { text: "Reading a vertex by its id", rows: &["vertex", "vertex-rate"], volumes: &[] },
        Quote { text: "Reading an edge by its id", rows: &["edge", "edge-rate"], volumes: &[] },
        Quote { text: "Walks to depth 1 and 2", rows: &["kout"], volumes: &[] },
        Quote { text: "Inserting a vertex in a request", rows: &["insert-vertex"], volumes: &[] },
        Quote { text: "Inserting an edge in a request", rows: &["insert-edge"], volumes: &[] },
        Quote { text: "Inserting batches", rows: &["vertices-200", "edges-500"], volumes: &[] },
    ],
};

/// The number of vertices of a volume.
pub fn graph_of(volume: &str) -> Outcome<u64> {
    whole(volume, "vertices", 200..=VERTICES_MAX).map(u64::from)
}

/// Tells what the target says of itself.
pub fn introduce(cell: &mut Cell, syncs: Option<Syncs>) -> Outcome<()> {
    let mut told = introduction(cell.target.name);
    told.syncs = syncs;
    if told.version.is_empty()
        && let Some(peer) = cell.target.peer
    {
        told.version = peer.version(&cell.arguments.peers);
    }
    cell.introduce(told)
}
