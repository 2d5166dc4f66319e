//! Annals over HTTP. Vertex 7 is the entity `v7`, edge 7 the relationship `e7`.

use std::fmt::Write;

use serde_json::Value;

use super::{Ask, Dialect, get, names, post, post_as};
use crate::outcome::Outcome;
use crate::pressure::graph::Graph;
use crate::run::{Client, Request};

/// The count of the batches of records that the server has written and synced.
const SYNCS: &str = "annals_append_duration_seconds_count ";

/// The media type of an import.
const LINES: &str = "application/x-ndjson";

pub struct Annals;

fn vertex(number: u64) -> String {
    format!("\"id\":\"v{number}\",\"type\":\"node\"}}")
}

fn edge(number: u64, graph: Graph) -> String {
    let (from, to) = graph.ends(number);
    format!("\"id\":\"e{number}\",\"type\":\"link\",\"from\":\"v{from}\",\"to\":\"v{to}\"}}")
}

/// The body of a transaction that creates so many instances of a kind.
fn transaction(kind: &str, numbers: std::ops::Range<u64>, instance: impl Fn(u64) -> String) -> String {
    let mut body = "{\"operations\":[".to_owned();
    for number in numbers.clone() {
        let comma = if number == numbers.start { "" } else { "," };
        let _ = write!(body, "{comma}{{\"action\":\"create\",\"kind\":\"{kind}\",{}", instance(number));
    }
    body + "]}"
}

/// The lines of an import that creates so many instances of a kind.
fn lines(kind: &str, numbers: std::ops::Range<u64>, instance: impl Fn(u64) -> String) -> String {
    let mut body = String::new();
    for number in numbers {
        let _ = writeln!(body, "{{\"{kind}\":{{{}}}", instance(number));
    }
    body
}

impl Dialect for Annals {
    fn prepare(&self, _: &mut Client) -> Outcome<()> {
        // Types need no declaration.
        Ok(())
    }

    fn write(&self, ask: Ask, number: u64, graph: Graph, host: &str, request: &mut Vec<u8>) {
        match ask {
            Ask::InsertVertex => post(request, host, "/v1/entities", &format!("{{{}", vertex(number))),
            Ask::InsertEdge => {
                post(request, host, "/v1/relationships", &format!("{{{}", edge(number, graph)))
            }
            Ask::InsertVertices(count) => {
                let body = transaction("entity", number..number + count, vertex);
                post(request, host, "/v1/transactions", &body);
            }
            Ask::InsertEdges(count) => {
                let body = transaction("relationship", number..number + count, |number| edge(number, graph));
                post(request, host, "/v1/transactions", &body);
            }
            Ask::ImportVertices(count) => {
                let body = lines("entity", number..number + count, vertex);
                post_as(LINES, request, host, "/v1/import", &body);
            }
            Ask::ImportEdges(count) => {
                let body = lines("relationship", number..number + count, |number| edge(number, graph));
                post_as(LINES, request, host, "/v1/import", &body);
            }
            Ask::Vertex => get(request, host, format_args!("/v1/entities/v{number}")),
            Ask::Edge => get(request, host, format_args!("/v1/relationships/e{number}")),
            Ask::Kout(depth) => get(
                request,
                host,
                format_args!(
                    "/v1/entities/v{number}/reach?direction=out&depthMin={depth}&depthMax={depth}&limit=100"
                ),
            ),
        }
    }

    fn is_right(&self, ask: Ask, number: u64, _: Graph, body: &[u8]) -> bool {
        match ask {
            Ask::InsertVertex | Ask::Vertex => names(body, &format!("\"v{number}\"")),
            Ask::InsertEdge | Ask::Edge => names(body, &format!("\"e{number}\"")),
            Ask::InsertVertices(count) => names(body, &format!("\"v{}\"", number + count - 1)),
            Ask::InsertEdges(count) => names(body, &format!("\"e{}\"", number + count - 1)),
            Ask::ImportVertices(count) | Ask::ImportEdges(count) => {
                names(body, &format!("\"created\":{count}"))
            }
            Ask::Kout(_) => body.starts_with(b"{"),
        }
    }

    fn reached(&self, body: &[u8]) -> Outcome<Vec<u64>> {
        let page: Value = serde_json::from_slice(body)?;
        let items = page["items"].as_array().ok_or_else(|| format!("expected a page, found {page}"))?;
        let number = |item: &Value| item["entity"]["id"].as_str()?.strip_prefix('v')?.parse().ok();
        let numbers: Option<Vec<u64>> = items.iter().map(number).collect();
        let mut numbers = numbers.ok_or_else(|| format!("expected entities with their ids, found {page}"))?;
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn syncs(&self, client: &mut Client) -> Option<u64> {
        client.send(&Request::json("GET", "/metrics", "")).ok()?;
        let text = String::from_utf8_lossy(&client.body);
        text.lines().find_map(|line| line.strip_prefix(SYNCS)?.trim().parse().ok())
    }

    fn lacks(&self, _: Ask) -> Option<&'static str> {
        None
    }
}
