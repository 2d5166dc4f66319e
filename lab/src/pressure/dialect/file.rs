//! A server of files, as the limit of reads: each vertex and each edge is the same file.

use super::{Ask, Dialect, get};
use crate::outcome::Outcome;
use crate::pressure::graph::Graph;
use crate::run::Client;

/// Of the file.
pub const NAME: &str = "vertex.json";
/// As long as the answer of Annals to the same question.
pub const CONTENT: &str = "{\"classifications\":[],\"createdAt\":\"2026-01-01T12:00:00.000000Z\",\"createdBy\":\"\",\
                           \"id\":\"v1234\",\"properties\":{},\"status\":\"active\",\"type\":\"node\",\
                           \"updatedAt\":\"2026-01-01T12:00:00.000000Z\",\"updatedBy\":\"\",\"validFrom\":\
                           \"2026-01-01T12:00:00.000000Z\",\"version\":1}";

pub struct File;

impl Dialect for File {
    fn prepare(&self, _: &mut Client) -> Outcome<()> {
        Ok(())
    }

    fn write(&self, _: Ask, _: u64, _: Graph, host: &str, request: &mut Vec<u8>) {
        get(request, host, format_args!("/{NAME}"));
    }

    fn is_right(&self, _: Ask, _: u64, _: Graph, body: &[u8]) -> bool {
        body == CONTENT.as_bytes()
    }

    fn reached(&self, _: &[u8]) -> Outcome<Vec<u64>> {
        Err("a file is no graph".into())
    }

    fn lacks(&self, ask: Ask) -> Option<&'static str> {
        (!matches!(ask, Ask::Vertex | Ask::Edge)).then_some("a server of files only sends files")
    }
}
