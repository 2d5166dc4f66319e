//! The standard graph in one process: loads it, and measures all lines on it.

use annals::Repository;

use super::{bulk, find, get, hop2, read_under_write, reopen, scan};
use crate::graph::{StandardGraph, load, random_edges};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, resident_bytes};

/// One round: each part only if one of its lines is wanted.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let entities = job.size.elements(1_000_000, 10_000);
    let edges = random_edges(entities);
    let path = job.folder.join("graph");
    let repository = Repository::open(&path)?;
    let memory_before = resident_bytes();
    let loading = Timed::of(|| load(&repository, entities, &edges))?;
    let graph = StandardGraph { repository, path, entities, edges };
    let snapshot = graph.repository.snapshot();
    let there = (snapshot.entities_count(), snapshot.relationships_count());
    agree("elements after loading", there, (entities as u64, 3 * entities as u64))?;
    drop(snapshot);

    let mut samples = Vec::new();
    let mut add = |more: Vec<Sample>| samples.extend(more);
    if job.wants("memory") {
        add(bulk::memory(job, &graph, memory_before)?);
    }
    if job.wants("bulk") {
        add(bulk::speed(job, &graph, &loading)?);
    }
    if job.wants("disk") {
        add(bulk::disk(&graph)?);
    }
    if job.wants("get") {
        add(get::round(job, &graph)?);
    }
    if job.wants("hop2") {
        add(hop2::round(job, &graph)?);
    }
    if job.wants("scan") {
        add(scan::round(job, "scan-random", &graph.repository, graph.entities, &graph.edges)?);
    }
    if job.wants("find") {
        add(find::round(job, &graph)?);
    }
    if job.wants("read-under-write") {
        add(read_under_write::round(job, &graph)?);
    }
    // Order: last, because it closes the repository.
    if job.wants("reopen") {
        add(reopen::both(job, graph)?);
    }
    Ok(samples)
}
