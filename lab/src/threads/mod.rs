//! The suite `threads`: the page of an embedded graph database that commits from 750 threads.

mod volume;
mod answer;
mod pending;
mod bulk_graph;
mod commits;
mod reads;
mod whole;
mod history;
mod syncs;
mod warm;
mod systems;

pub use answer::{ANSWER_MAX, Opened, Took};
pub use bulk_graph::ends;
pub use pending::Pending;
pub use systems::{Loop, open, repeat};
pub use warm::{warm_first, warmed_loop};
pub use whole::{LOAD_MAX, check};

use crate::harness::{Form, Kind, Part, Peer, Quote, Reason, Row, Suite, Target};

/// Annals at the door that users of TinkerPop take. The bars of this suite are its.
const GREMLIN: &str = "annals-gremlin";

const fn jvm(name: &'static str, title: &'static str, kind: Kind) -> Target {
    Target { name, title, kind, peer: Some(Peer::Scripts { folder: "jvm", name }) }
}

/// The folder `ladybug` holds this one system, whose adapter is in Python.
const LADYBUG: Peer = Peer::Scripts { folder: "ladybug", name: "ladybug" };

fn rows() -> Vec<Row> {
    vec![
        Row::new("commit", "Commits of 1 vertex + 1 edge, closed loop", "commits/s")
            .over("threads")
            .of_writes()
            .times_of(GREMLIN, "100", 1.0, "bitsy")
            .times_of(GREMLIN, "100", 1.0, "neo4j")
            .times_of(GREMLIN, "750", 1.0, "bitsy")
            .times_of(GREMLIN, "750", 1.0, "neo4j"),
        Row::new("commit-25", "Commits at 25 % of the peak, open loop", "commits/s")
            .over("threads")
            .of_writes(),
        Row::new("commit-50", "Commits at 50 % of the peak, open loop", "commits/s")
            .over("threads")
            .of_writes(),
        Row::new("commit-75", "Commits at 75 % of the peak, open loop", "commits/s")
            .over("threads")
            .of_writes(),
        Row::new("commit-90", "Commits at 90 % of the peak, open loop", "commits/s")
            .over("threads")
            .of_writes(),
        Row::new("chain", "Reads of a chain", "operations/s").over("threads"),
        Row::new("bipartite", "Reads of a bipartite graph", "operations/s").over("threads"),
        Row::new("bulk", "Bulk load of vertices and three times as many edges", "elements/s")
            .over("vertices")
            .of_writes()
            .times_of(GREMLIN, "1000000", 1.0, "bitsy"),
        Row::new("two-hops", "Two hops from a vertex by its id, after reopening", "visits/s")
            .over("threads")
            .times_of(GREMLIN, "1", 1.0, "bitsy")
            .times_of(GREMLIN, "2", 1.0, "bitsy")
            .times_of(GREMLIN, "1", 2.0, "janusgraph")
            .times_of(GREMLIN, "2", 2.0, "janusgraph"),
        Row::new("reopen", "Reopening the loaded graph", "s").over("vertices").less(),
        Row::new("disk", "Files of the loaded graph, less those of an empty system", "bytes/element")
            .over("vertices")
            .less(),
        Row::new("memory", "Memory of the loaded graph", "bytes/element").over("vertices").less(),
        Row::new("history-put", "Putting one entity a hundred times, one commit each", "commits/s")
            .over("versions")
            .of_writes(),
        Row::new("history-read", "Reading the hundred versions", "versions/s").over("versions"),
    ]
}

/// The page, with what users of such a database ask for besides.
pub const SUITE: Suite = Suite {
    name: "threads",
    title: "Commits and reads of an embedded graph, from 1 to 3,000 threads",
    text: "Each thread commits one vertex and one edge at a time and grows its own chain; then the threads walk their chains, and a \
           bipartite graph. Bulk load, reopening, history and cost are measured on a graph of a million vertices.",
    rows,
    form: Form::VolumesDown,
    volumes: &["1", "2", "3", "4", "5", "10", "25", "50", "100", "150", "250", "500", "750", "1000", "3000"],
    check_volume: |text| volume::threads(text).map(drop),
    quick_volumes: &["1", "10"],
    repeats: 3,
    parts: &[
        Part { name: "syncs", rows: &[], seconds_max: 120, counts_syncs: true, run: syncs::run },
        Part {
            name: "commits",
            rows: &["commit", "commit-25", "commit-50", "commit-75", "commit-90", "chain"],
            seconds_max: 900,
            counts_syncs: false,
            run: commits::run,
        },
        Part { name: "reads", rows: &["bipartite"], seconds_max: 600, counts_syncs: false, run: reads::run },
        Part {
            name: "whole",
            rows: &["bulk", "two-hops", "reopen", "disk", "memory"],
            seconds_max: 600,
            counts_syncs: false,
            run: whole::run,
        },
        Part {
            name: "history",
            rows: &["history-put", "history-read"],
            seconds_max: 120,
            counts_syncs: false,
            run: history::run,
        },
    ],
    targets: &[
        Target { name: "annals", title: "Annals, files", kind: Kind::Ours, peer: None },
        Target { name: "annals-memory", title: "Annals, in memory", kind: Kind::Ours, peer: None },
        jvm(GREMLIN, "Annals through TinkerPop", Kind::Ours),
        Target { name: "disk", title: "disk alone", kind: Kind::Limit, peer: None },
        Target { name: "null", title: "no work", kind: Kind::Floor, peer: None },
        jvm("bitsy", "Bitsy", Kind::Peer),
        jvm("bitsy-tuned", "Bitsy, larger log", Kind::Tuned),
        jvm("neo4j", "Neo4j, embedded", Kind::Peer),
        jvm("neo4j-tuned", "Neo4j, embedded, memory of fixed size, any number of transactions", Kind::Tuned),
        jvm("janusgraph", "JanusGraph on BerkeleyDB JE", Kind::Peer),
        jvm("janusgraph-tuned", "JanusGraph on BerkeleyDB JE, large blocks of ids", Kind::Tuned),
        jvm("tinkergraph", "TinkerGraph", Kind::Peer),
        jvm("tinkergraph-transactions", "TinkerTransactionGraph", Kind::Peer),
        jvm("xtdb", "XTDB 1 on RocksDB, synced", Kind::Peer),
        jvm("xtdb-tuned", "XTDB 1 on RocksDB, synced, one large cache", Kind::Tuned),
        jvm("xtdb-unsynced", "XTDB 1 on RocksDB, its default", Kind::Peer),
        jvm("arcadedb", "ArcadeDB, embedded, synced", Kind::Peer),
        jvm("arcadedb-tuned", "ArcadeDB, embedded, synced, a bucket for each thread", Kind::Tuned),
        jvm("arcadedb-unsynced", "ArcadeDB, embedded, its default", Kind::Peer),
        jvm("sqlite", "SQLite, vanilla", Kind::Peer),
        jvm("sqlite-tuned", "SQLite, write-ahead log", Kind::Tuned),
        Target { name: "ladybug", title: "Ladybug", kind: Kind::Peer, peer: Some(LADYBUG) },
    ],
    unfair: &[
        "The systems that run on the JVM share the two cores with its compiler and its collector of garbage. The first loops of \
         a row in a process, of ten threads, run for 20 to 40 s that do not count, until the rate of whole seconds is steady, and for \
         at most two million commits. Before each closed loop, the same loop runs for 2 to 4 s that do not count, \
         until its rate is steady on at least 20 tenths of a second; a loop that is not steady after 4 s is measured too, and \
         marked. The open loops follow the closed one without a warm-up. The history is put and read ten times, and the last time \
         counts. A quick run warms for tenths of a second only.",
        "Annals keeps every version of everything; most peers keep the last one.",
        "TinkerGraph and Annals in memory lose everything at the end of the process; TinkerGraph has no transactions either.",
        "Annals runs in the process of the harness, written in the same language; a peer runs in an adapter, which runs the measured \
         loop itself, so that no request crosses a process inside a measured operation. Annals through TinkerPop runs in the adapter of \
         Bitsy, JanusGraph and TinkerGraph, with their loops and calls. Ratios are those of the form of Annals that the page is \
         about, or of the first other one that is as durable; bars name theirs.",
        "The vertices and edges have no properties, as on the page; systems that index or compress properties cannot show it here.",
        "The bipartite graph falls into parts of five out-vertices and three in-vertices, as on the page: a thread stays within \
         eight vertices, which caches hold. The row of two hops goes to random vertices instead.",
        "A walk along a chain has at most 1,000 steps. Threads of slow systems have shorter chains, and walk the same few vertices \
         more often in a transaction. Annals, TinkerPop and Neo4j keep the vertex that a walk has reached; the others look it up by its id.",
        "Systems read different amounts in a visit: XTDB reads whole documents; SQLite and Neo4j may answer from an index or from the id of a record.",
        "Annals loads the bulk graph with two threads, and Ladybug with all cores; Bitsy, Neo4j and JanusGraph load with one.",
        "The memory of Annals is the resident memory of a process that has also loaded the graph; that of the systems on the JVM is \
         the live heap after a collection of garbage. Systems that keep most of it outside the heap have no figure.",
    ],
    reasons: &[
        Reason {
            targets: &["tinkergraph", "tinkergraph-transactions"],
            rows: &["commit", "bulk", "history-put"],
            text: "TinkerGraph keeps no log and no history, and has no index of its edges to keep.",
        },
        Reason {
            targets: &["tinkergraph", "tinkergraph-transactions"],
            rows: &["chain", "bipartite", "two-hops"],
            text: "The edges of TinkerGraph are pointers from object to object. Annals looks an edge up as of a position.",
        },
        Reason {
            targets: &["neo4j", "janusgraph", "arcadedb", "sqlite", "ladybug"],
            rows: &["reopen"],
            text: "These systems open their files and read pages when they are asked for. Annals reads the whole graph into memory before it \
                   answers.",
        },
        Reason {
            targets: &["sqlite", "ladybug"],
            rows: &["bulk"],
            text: "SQLite and Ladybug load numbers into tables, SQLite in one transaction, Ladybug from a file. Annals gives each vertex and \
                   edge an id, a version and its place in indexes.",
        },
        Reason { targets: &["ladybug"], rows: &["disk"], text: "Ladybug stores compressed columns." },
        Reason {
            targets: &["bitsy", "janusgraph", "arcadedb"],
            rows: &["memory"],
            text: "JanusGraph and ArcadeDB keep a cache in memory and not the graph. Bitsy keeps the graph as it is now, and Annals every version.",
        },
    ],
    against: &[],
    quotes: &[
        Quote {
            text: "Commits of one vertex and one edge from 750 threads",
            rows: &["commit"],
            volumes: &["750"],
        },
        Quote { text: "The same from 100 threads", rows: &["commit"], volumes: &["100"] },
        Quote { text: "Walks along chains", rows: &["chain"], volumes: &[] },
        Quote { text: "Reads of neighbours", rows: &["bipartite"], volumes: &[] },
        Quote { text: "Loading a million vertices and three million edges", rows: &["bulk"], volumes: &[] },
        Quote { text: "Reopening them", rows: &["reopen"], volumes: &[] },
    ],
};
