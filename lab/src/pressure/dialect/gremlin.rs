//! JanusGraph through Gremlin Server: each question is a script of Gremlin with its values beside it, as JSON over HTTP. The client
//! gives vertices their ids, as JanusGraph counts them. The server gives edges theirs, so an edge is found by its two ends.

use serde_json::{Value, json};

use super::{Ask, Dialect, names, post};
use crate::outcome::Outcome;
use crate::pressure::graph::Graph;
use crate::run::{Client, Request};

pub struct Gremlin;

/// A request that changes nothing.
pub const PING: &str = "{\"gremlin\": \"g.inject(1)\"}";

const INSERT_VERTEX: &str = "g.addV('node').property(T.id, i).id()";
const INSERT_EDGE: &str = "g.V(a).as('a').V(b).addE('link').from('a').inV().id()";
const INSERT_VERTICES: &str = "i.each { g.addV('node').property(T.id, it).iterate() }; i.last()";
const INSERT_EDGES: &str =
    "i.collate(2).each { g.V(it[0]).as('a').V(it[1]).addE('link').from('a').iterate() }; i.last()";
const VERTEX: &str = "g.V(i).elementMap()";
const EDGE: &str = "g.V(a).outE('link').where(__.inV().hasId(b)).limit(1).elementMap()";
const KOUT_1: &str = "g.V(i).out().id().toSet() - (i as Long)";
const KOUT_2: &str = "g.V(i).out().out().id().toSet() - g.V(i).out().id().toSet() - (i as Long)";

/// The lowest bits of an id tell its kind and its partition: a vertex of the only partition has none.
///
/// Source: `graph.getIDManager().toVertexId(1)` of JanusGraph 1.1 is 256.
const ID_STEP: u64 = 256;

fn id(number: u64) -> u64 {
    (number + 1) * ID_STEP
}

impl Dialect for Gremlin {
    fn prepare(&self, client: &mut Client) -> Outcome<()> {
        // Otherwise the first insertions would make the labels, each in a transaction of its own.
        let script = "m = graph.openManagement(); m.makeVertexLabel('node').make(); m.makeEdgeLabel('link').make(); \
                      m.commit(); 1";
        client.send(&Request::json("POST", "/", &json!({ "gremlin": script }).to_string()))?;
        Ok(())
    }

    fn write(&self, ask: Ask, number: u64, graph: Graph, host: &str, request: &mut Vec<u8>) {
        let ends = |edge| {
            let (from, to) = graph.ends(edge);
            [id(from), id(to)]
        };
        let two = |[from, to]: [u64; 2]| json!({ "a": from, "b": to });
        let (script, values) = match ask {
            Ask::InsertVertex => (INSERT_VERTEX, json!({ "i": id(number) })),
            Ask::InsertEdge => (INSERT_EDGE, two(ends(number))),
            Ask::InsertVertices(count) | Ask::ImportVertices(count) => {
                (INSERT_VERTICES, json!({ "i": (number..number + count).map(id).collect::<Vec<_>>() }))
            }
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => {
                (INSERT_EDGES, json!({ "i": (number..number + count).flat_map(ends).collect::<Vec<_>>() }))
            }
            Ask::Vertex => (VERTEX, json!({ "i": id(number) })),
            Ask::Edge => (EDGE, two(ends(number))),
            Ask::Kout(depth) => (if depth == 1 { KOUT_1 } else { KOUT_2 }, json!({ "i": id(number) })),
        };
        post(request, host, "/", &json!({ "gremlin": script, "bindings": values }).to_string());
    }

    fn is_right(&self, ask: Ask, number: u64, graph: Graph, body: &[u8]) -> bool {
        let (list, field) = (|number| format!("[{}]", id(number)), |number| format!("\"id\":{}", id(number)));
        let end = |edge| graph.ends(edge).1;
        match ask {
            Ask::InsertVertex => names(body, &list(number)),
            Ask::InsertEdge => names(body, &list(end(number))),
            Ask::InsertVertices(count) | Ask::ImportVertices(count) => names(body, &list(number + count - 1)),
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => names(body, &list(end(number + count - 1))),
            Ask::Vertex => names(body, &field(number)),
            Ask::Edge => names(body, &field(end(number))),
            Ask::Kout(_) => memchr::memmem::find(body, b"\"data\"").is_some(),
        }
    }

    fn reached(&self, body: &[u8]) -> Outcome<Vec<u64>> {
        let answer: Value = serde_json::from_slice(body)?;
        let ids = answer["result"]["data"].as_array();
        let number = |id: &Value| (id.as_u64()? / ID_STEP).checked_sub(1);
        let numbers: Option<Vec<u64>> = ids.and_then(|ids| ids.iter().map(number).collect());
        let mut numbers = numbers.ok_or_else(|| format!("expected ids of vertices, found {answer}"))?;
        numbers.sort_unstable();
        Ok(numbers)
    }
}
