//! HugeGraph over its REST interface. Vertices have the label `node` and numbers as ids that the client gives, edges the
//! label `link`, as in HugeGraph's own measurements; neither has properties. The id of an edge names its ends.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Ask, Dialect, get, names, post};
use crate::outcome::Outcome;
use crate::pressure::graph::Graph;
use crate::run::{Client, Request};

pub struct Hugegraph {
    /// The path of the graph.
    pub graph: &'static str,
}

impl Hugegraph {
    /// Of release 1.7.
    pub const SPACES: Hugegraph = Hugegraph { graph: "/graphspaces/DEFAULT/graphs/hugegraph" };
    /// Of releases to 1.5.
    pub const PLAIN: Hugegraph = Hugegraph { graph: "/graphs/hugegraph" };
}

fn vertex(number: u64) -> String {
    format!("{{\"label\":\"node\",\"id\":{number},\"properties\":{{}}}}")
}

fn edge(number: u64, graph: Graph) -> String {
    let (from, to) = graph.ends(number);
    format!(
        "{{\"label\":\"link\",\"outV\":{from},\"inV\":{to},\"outVLabel\":\"node\",\"inVLabel\":\"node\",\"properties\":{{}}}}"
    )
}

/// The id of an edge: start, label and its sub-label, the values that sort (none), end. `L` says that an id is a number.
fn edge_id(number: u64, graph: Graph) -> String {
    let (from, to) = graph.ends(number);
    format!("L{from}>1>1>>L{to}")
}

fn list(numbers: std::ops::Range<u64>, item: impl Fn(u64) -> String) -> String {
    let mut body = "[".to_owned();
    for number in numbers.clone() {
        let comma = if number == numbers.start { "" } else { "," };
        let _ = write!(body, "{comma}{}", item(number));
    }
    body + "]"
}

impl Dialect for Hugegraph {
    fn prepare(&self, client: &mut Client) -> Outcome<()> {
        let node = json!({ "name": "node", "id_strategy": "CUSTOMIZE_NUMBER", "properties": [] });
        let link = json!({
            "name": "link", "source_label": "node", "target_label": "node", "frequency": "SINGLE",
            "properties": [], "sort_keys": [],
        });
        for (kind, label) in [("vertexlabels", node), ("edgelabels", link)] {
            let path = format!("{}/schema/{kind}", self.graph);
            client.send(&Request::json("POST", &path, &label.to_string()))?;
        }
        Ok(())
    }

    fn write(&self, ask: Ask, number: u64, graph: Graph, host: &str, request: &mut Vec<u8>) {
        let base = self.graph;
        let (kind, body) = match ask {
            Ask::InsertVertex => ("vertices", vertex(number)),
            Ask::InsertEdge => ("edges", edge(number, graph)),
            Ask::InsertVertices(count) | Ask::ImportVertices(count) => {
                ("vertices/batch", list(number..number + count, vertex))
            }
            // The ends are there: the lab inserts none of which it does not know that.
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => {
                let body = list(number..number + count, |number| edge(number, graph));
                ("edges/batch?check_vertex=false", body)
            }
            Ask::Vertex => return get(request, host, format_args!("{base}/graph/vertices/{number}")),
            Ask::Edge => {
                let id = edge_id(number, graph).replace('>', "%3E");
                return get(request, host, format_args!("{base}/graph/edges/{id}"));
            }
            Ask::Kout(depth) => {
                return get(
                    request,
                    host,
                    format_args!("{base}/traversers/kout?source={number}&max_depth={depth}&direction=OUT"),
                );
            }
        };
        post(request, host, &format!("{base}/graph/{kind}"), &body);
    }

    fn is_right(&self, ask: Ask, number: u64, graph: Graph, body: &[u8]) -> bool {
        // Some answers come compressed, whatever the client accepts.
        if body.starts_with(&[0x1f, 0x8b]) {
            return true;
        }
        match ask {
            Ask::InsertVertex | Ask::Vertex => names(body, &format!("\"id\":{number}")),
            Ask::InsertEdge | Ask::Edge => names(body, &format!("\"{}\"", edge_id(number, graph))),
            Ask::InsertVertices(_) | Ask::ImportVertices(_) => body.starts_with(b"["),
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => {
                names(body, &format!("\"{}\"", edge_id(number + count - 1, graph)))
            }
            Ask::Kout(_) => body.starts_with(b"{"),
        }
    }

    fn reached(&self, body: &[u8]) -> Outcome<Vec<u64>> {
        let answer: Value = serde_json::from_slice(body)?;
        let numbers = answer["vertices"].as_array();
        let numbers: Option<Vec<u64>> =
            numbers.and_then(|numbers| numbers.iter().map(Value::as_u64).collect());
        let mut numbers = numbers.ok_or_else(|| format!("expected numbers of vertices, found {answer}"))?;
        numbers.sort_unstable();
        Ok(numbers)
    }
}
