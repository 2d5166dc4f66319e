//! How a graph server is asked: the same questions in the words of each server.

mod annals_http;
mod file;
mod gremlin;
mod hugegraph;
mod neo4j;

pub use annals_http::Annals;
pub use file::{CONTENT as FILE_CONTENT, File, NAME as FILE_NAME};
pub use gremlin::{Gremlin, PING};
pub use hugegraph::Hugegraph;
pub use neo4j::{Neo4j, ping as neo4j_ping};

use std::io::Write;

use super::graph::Graph;
use crate::outcome::Outcome;
use crate::run::Client;

/// Vertices, and edges, of one request of the batch rows.
pub const VERTICES: u64 = 200;
pub const EDGES: u64 = 500;

/// A question. Its number is that of a vertex or an edge; of a batch, that of its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    InsertVertex,
    InsertEdge,
    /// A batch of so many.
    InsertVertices(u64),
    InsertEdges(u64),
    /// The same by an import, where the server has one for what arrives while it runs.
    ImportVertices(u64),
    ImportEdges(u64),
    Vertex,
    Edge,
    /// The vertices whose shortest path from a vertex has so many edges.
    Kout(u8),
}

/// The words of a server.
pub trait Dialect: Sync {
    /// Makes the schema.
    fn prepare(&self, client: &mut Client) -> Outcome<()>;

    /// Writes a request. `host` is for its header.
    fn write(&self, ask: Ask, number: u64, graph: Graph, host: &str, request: &mut Vec<u8>);

    /// True if the body of an answer with success is the one to this question. It looks at a part of it only.
    fn is_right(&self, ask: Ask, number: u64, graph: Graph, body: &[u8]) -> bool;

    /// The numbers of the vertices in the answer to [`Ask::Kout`], ascending.
    fn reached(&self, body: &[u8]) -> Outcome<Vec<u64>>;

    /// Why the server cannot do this; None if it can.
    fn lacks(&self, ask: Ask) -> Option<&'static str> {
        matches!(ask, Ask::ImportVertices(_) | Ask::ImportEdges(_))
            .then_some("has no import over HTTP beside its batches")
    }

    /// How often the server has synced, as it counts itself.
    fn syncs(&self, _client: &mut Client) -> Option<u64> {
        None
    }
}

/// Writes a request without a body.
fn get(request: &mut Vec<u8>, host: &str, path: std::fmt::Arguments) {
    // Writing to memory cannot fail.
    let _ = write!(request, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
}

/// Writes a request with a body in JSON.
fn post(request: &mut Vec<u8>, host: &str, path: &str, body: &str) {
    post_as("application/json", request, host, path, body);
}

/// Writes a request with a body.
fn post_as(content_type: &str, request: &mut Vec<u8>, host: &str, path: &str, body: &str) {
    let _ = write!(
        request,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// True if the body has this text, followed by something that is no digit.
fn names(body: &[u8], text: &str) -> bool {
    memchr::memmem::find_iter(body, text.as_bytes())
        .any(|at| body.get(at + text.len()).is_none_or(|next| !next.is_ascii_digit()))
}
