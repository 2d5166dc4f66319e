//! http-get compared with nginx, and http-commit compared with commits from as many threads.

use std::net::SocketAddr;

use annals::{Id, Repository};
use serde_json::{Value, json};

use crate::graph::{load, name, size, vertex_id, weight};
use crate::outcome::Outcome;
use crate::run::{Client, Job, Load, Place, Request, Sample, Server, agree, in_turn, per_second};

/// Existing entities; the lab requests one of them.
const ENTITIES: usize = 1_000;
const ASKED_FOR: usize = 500;
const GET_CONNECTIONS: u64 = 64;

/// One round of http-get.
pub fn get_round(job: &Job) -> Outcome<Vec<Sample>> {
    let annals = serve(job)?;
    let id = vertex_id(ASKED_FOR);
    let path = format!("/v1/entities/{id}");
    let body = get(annals.address, &path)?;
    check(&body, &id, ASKED_FOR)?;
    let nginx = Server::nginx(&job.folder, "entity.json", &body)?;
    agree("the file that nginx serves", get(nginx.address, "/entity.json")?, body)?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let (ours, limit) = in_turn(
            turn,
            || annals.load(&job.folder, &path, None, GET_CONNECTIONS, seconds(job)),
            || nginx.load(&job.folder, "/entity.json", None, GET_CONNECTIONS, seconds(job)),
        )?;
        samples.push(Sample::new("http-get", rate(&ours), rate(&limit)));
    }
    Ok(samples)
}

/// One round of http-commit over `job.number` connections.
pub fn commit_round(job: &Job) -> Outcome<Vec<Sample>> {
    let connections = job.number;
    let properties = json!({
        "name": name(0), "size": size(0), "weight": weight(0), "is_even": true,
    });
    let body = json!({ "type": "vertex", "properties": properties }).to_string();
    let commits = Job {
        experiment: format!("commit-{connections}"),
        folder: job.folder.join("threads"),
        ..job.clone()
    };
    let (ours, limit) = in_turn(
        job.round,
        || {
            let annals = serve(job)?;
            let load = annals.load(&job.folder, "/v1/entities", Some(&body), connections, seconds(job))?;
            drop(annals);
            check_commits(job, &load, connections)?;
            Ok(rate(&load))
        },
        || {
            let samples = commits.run_fresh()?;
            let found = samples.into_iter().find(|sample| sample.line == commits.experiment);
            Ok(found.ok_or("commit-T: it did not say how many")?.ours)
        },
    )?;
    Ok(vec![Sample::new(format!("http-commit-{connections}"), ours, limit)])
}

/// A server with some entities.
fn serve(job: &Job) -> Outcome<Server> {
    let path = job.folder.join("repository");
    let repository = Repository::open(&path)?;
    load(&repository, ENTITIES, &[])?;
    repository.close()?;
    Server::annals(&path)
}

fn get(address: SocketAddr, path: &str) -> Outcome<Vec<u8>> {
    let mut client = Client::new(&Place::at(address));
    client.send(&Request::json("GET", path, ""))?;
    Ok(client.body)
}

fn seconds(job: &Job) -> u64 {
    job.size.operations(3, 1) as u64
}

fn rate(load: &Load) -> f64 {
    per_second(load.requests, load.elapsed)
}

fn check(body: &[u8], id: &Id, number: usize) -> Outcome<()> {
    let entity: Value = serde_json::from_slice(body)?;
    agree("the id in the answer", entity["id"].as_str(), Some(id.to_string().as_str()))?;
    agree("the name in the answer", entity["properties"]["name"].as_str(), Some(name(number).as_str()))
}

/// Checks that every acknowledged commit exists, and at most one more for each connection: commits without an awaited
/// answer.
fn check_commits(job: &Job, load: &Load, connections: u64) -> Outcome<()> {
    let repository = Repository::open(job.folder.join("repository"))?;
    let commits = repository.snapshot().entities_count() - ENTITIES as u64;
    let expected = load.requests..=load.requests + connections;
    if expected.contains(&commits) {
        return Ok(());
    }
    Err(format!("http-commit: wrong answer: expected {expected:?} entities, found {commits}").into())
}
