//! Copies the resources of an LDP server into the LDP door of a running Annals server, parents first.

// In the order a newcomer should read them.
mod client;
mod graph;
mod equality;
mod answer;
mod target;
mod walk;

use std::time::Duration;

use hyper::header::HeaderValue;

pub use walk::import;

/// The source and target of a copy, and its bounds.
#[derive(Clone, Debug)]
pub struct CopyOptions {
    /// Address of the root container of the source.
    pub from: String,
    /// Address of the container that becomes the same.
    pub to: String,
    /// Header `Authorization` for the source.
    pub authorization: Option<HeaderValue>,
    /// The author of the writes.
    pub author: String,
    /// Why.
    pub message: String,
    /// Whether the pairs of digits that Fedora 4 puts before a UUID are left out of addresses.
    pub are_pairs_short: bool,
    /// Most levels below the root.
    pub depth_max: usize,
    /// Most resources, refused ones too.
    pub resources_max: usize,
    /// Units: bytes of one binary.
    pub binary_bytes_max: u64,
    /// Units: bytes of one document in RDF.
    pub document_bytes_max: usize,
    /// Longest time until an answer begins, and between two parts of a body.
    pub time: Duration,
}

/// The outcome of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Resources that are new at the target.
    pub created_count: u64,
    /// Resources that were there with other content.
    pub updated_count: u64,
    /// Resources that were there with equal content.
    pub unchanged_count: u64,
    /// Resources that were left out.
    pub refused_count: u64,
    /// Binaries among the written ones.
    pub binaries_count: u64,
    /// Units: bytes of the written binaries.
    pub bytes: u64,
    /// Written binaries for which the source stated no digest.
    pub unproven_count: u64,
}

impl CopyReport {
    /// Resources that were seen.
    pub fn seen_count(&self) -> u64 {
        self.created_count + self.updated_count + self.unchanged_count + self.refused_count
    }
}
