//! Neo4j over its Query API: each question is a statement of Cypher with its values beside it. The client gives vertices their
//! numbers, a property with a constraint. The server gives edges ids of its own, so an edge is found by its two ends.

use serde_json::{Value, json};

use super::{Ask, Dialect, names, post};
use crate::outcome::Outcome;
use crate::pressure::graph::Graph;
use crate::run::{Client, Request};

pub struct Neo4j;

/// Where statements are sent.
const PATH: &str = "/db/neo4j/query/v2";

/// A request that changes nothing.
pub fn ping() -> Request {
    Request::json("POST", PATH, &json!({ "statement": "RETURN 1" }).to_string())
}

/// Numbers are unique, and found by an index.
const SCHEMA: &str = "CREATE CONSTRAINT node_id IF NOT EXISTS FOR (n:node) REQUIRE n.id IS UNIQUE";
const INSERT_VERTEX: &str = "CREATE (n:node {id: $i}) RETURN n.id";
// One pattern for both ends would bring a warning in each answer.
const INSERT_EDGE: &str =
    "MATCH (a:node {id: $a}) MATCH (b:node {id: $b}) CREATE (a)-[:link]->(b) RETURN b.id";
const INSERT_VERTICES: &str = "UNWIND $i AS i CREATE (:node {id: i}) RETURN count(i)";
const INSERT_EDGES: &str = "UNWIND $i AS i MATCH (a:node {id: i[0]}) MATCH (b:node {id: i[1]}) \
                            CREATE (a)-[:link]->(b) RETURN count(i)";
const VERTEX: &str = "MATCH (n:node {id: $i}) RETURN n.id, n";
const EDGE: &str = "MATCH (a:node {id: $a})-[e:link]->(b:node {id: $b}) RETURN b.id, e LIMIT 1";
const KOUT_1: &str = "MATCH (n:node {id: $i})-[:link]->(m) WHERE m <> n RETURN collect(DISTINCT m.id)";
const KOUT_2: &str = "MATCH (n:node {id: $i}) OPTIONAL MATCH (n)-[:link]->(m) WITH n, collect(DISTINCT m) AS near \
                      UNWIND near AS m MATCH (m)-[:link]->(far) WHERE far <> n AND NOT far IN near \
                      RETURN collect(DISTINCT far.id)";

impl Dialect for Neo4j {
    fn prepare(&self, client: &mut Client) -> Outcome<()> {
        client.send(&Request::json("POST", PATH, &json!({ "statement": SCHEMA }).to_string()))?;
        Ok(())
    }

    fn write(&self, ask: Ask, number: u64, graph: Graph, host: &str, request: &mut Vec<u8>) {
        let ends = |edge| {
            let (from, to) = graph.ends(edge);
            [from, to]
        };
        let two = |[from, to]: [u64; 2]| json!({ "a": from, "b": to });
        let (statement, values) = match ask {
            Ask::InsertVertex => (INSERT_VERTEX, json!({ "i": number })),
            Ask::InsertEdge => (INSERT_EDGE, two(ends(number))),
            Ask::InsertVertices(count) | Ask::ImportVertices(count) => {
                (INSERT_VERTICES, json!({ "i": (number..number + count).collect::<Vec<_>>() }))
            }
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => {
                (INSERT_EDGES, json!({ "i": (number..number + count).map(ends).collect::<Vec<_>>() }))
            }
            Ask::Vertex => (VERTEX, json!({ "i": number })),
            Ask::Edge => (EDGE, two(ends(number))),
            Ask::Kout(depth) => (if depth == 1 { KOUT_1 } else { KOUT_2 }, json!({ "i": number })),
        };
        post(request, host, PATH, &json!({ "statement": statement, "parameters": values }).to_string());
    }

    // An error has the same status as a success, and no values.
    fn is_right(&self, ask: Ask, number: u64, graph: Graph, body: &[u8]) -> bool {
        let first = |value: u64| names(body, &format!("\"values\":[[{value}"));
        match ask {
            Ask::InsertVertex | Ask::Vertex => first(number),
            Ask::InsertEdge | Ask::Edge => first(graph.ends(number).1),
            Ask::InsertVertices(count)
            | Ask::InsertEdges(count)
            | Ask::ImportVertices(count)
            | Ask::ImportEdges(count) => first(count),
            Ask::Kout(_) => memchr::memmem::find(body, b"\"values\":[[[").is_some(),
        }
    }

    fn reached(&self, body: &[u8]) -> Outcome<Vec<u64>> {
        let answer: Value = serde_json::from_slice(body)?;
        let numbers = answer["data"]["values"][0][0].as_array();
        let numbers: Option<Vec<u64>> =
            numbers.and_then(|numbers| numbers.iter().map(Value::as_u64).collect());
        let mut numbers = numbers.ok_or_else(|| format!("expected numbers of vertices, found {answer}"))?;
        numbers.sort_unstable();
        Ok(numbers)
    }
}
