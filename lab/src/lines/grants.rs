//! Reads of a client with grants compared with the same reads of everything.

use std::hint::black_box;
use std::sync::Arc;

use annals::{
    Find, Grant, Id, NewEntity, NewRelationship, Reach, Repository, Sight, Snapshot, TypeDefinition,
};

use crate::graph::{load, random_edges, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, Load, Sample, Server, Timed, agree, in_turn, new_token, per_second};

/// Entities of the repository behind HTTP.
const ENTITIES: usize = 1_000;
const CONNECTIONS: u64 = 64;

/// One round of granted-page, granted-walk and grants-load.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let entities = job.size.operations(100_000, 2_000);
    let repository = Repository::open(job.folder.join("repository"))?;
    load(&repository, entities, &random_edges(entities))?;
    let snapshot = repository.snapshot();
    let half = seen(&snapshot, "vertex where is_even = true")?;
    let all = seen(&snapshot, "vertex where size >= 0")?;
    agree(
        "half of the entities are visible",
        half.entities_count() > 0 && half.entities_count() < entities as u64,
        true,
    )?;
    agree("all entities are visible", all.entities_count(), entities as u64)?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let pages = job.size.operations(2_000, 20);
        let (ours, whole) = in_turn(turn, || page(&half, pages), || page(&snapshot, pages))?;
        agree("items of the pages", ours.result, whole.result)?;
        samples.push(Sample::new("granted-page", ours.rate(pages), whole.rate(pages)));
        let (ours, whole) = in_turn(turn, || walk(&all), || walk(&snapshot))?;
        agree("entities of the walk", ours.result, whole.result)?;
        samples.push(Sample::new("granted-walk", ours.rate(ours.result), whole.rate(whole.result)));
        let grants = job.size.operations(100_000, 1_000);
        let loaded = Timed::of(|| {
            let grant = |number: usize| {
                let entities = format!("vertex where name = 'nobody {number}'").parse()?;
                Ok(Grant { entities, ..Grant::default() })
            };
            let grants = (0..grants).map(grant).collect::<Outcome<Vec<Grant>>>()?;
            Ok(snapshot.seen_by(&Arc::new(Sight::new(grants)?))?.entities_count())
        })?;
        agree("nothing is visible", loaded.result, 0)?;
        samples.push(Sample::new("grants-load", loaded.seconds(), 1.0));
    }
    Ok(samples)
}

fn seen(snapshot: &Snapshot, entities: &str) -> Outcome<Snapshot> {
    let grant = Grant { entities: entities.parse()?, ..Grant::default() };
    Ok(snapshot.seen_by(&Arc::new(Sight::new(vec![grant])?))?)
}

/// A page by an index, in order.
fn page(snapshot: &Snapshot, count: usize) -> Outcome<Timed<usize>> {
    let find: Find = "vertex order by name limit 100".parse()?;
    Timed::of(|| {
        let mut items = 0;
        for _ in 0..count {
            items += black_box(snapshot.find_entities(&find)?).items.len();
        }
        Ok(items)
    })
}

fn walk(snapshot: &Snapshot) -> Outcome<Timed<usize>> {
    Timed::of(|| Ok(black_box(snapshot.reachable(&vertex_id(0), &Reach::out())?).len()))
}

/// One round of granted-get.
pub fn get_round(job: &Job) -> Outcome<Vec<Sample>> {
    let id = vertex_id(ENTITIES / 2);
    let path = format!("/v1/entities/{id}");
    let plain = Server::annals(&filled(job, "plain", false)?)?;
    let tokens = job.folder.join("tokens");
    let token = new_token(&tokens, "readers")?;
    let tokens = tokens.to_str().ok_or("a path in UTF-8")?;
    let guarded = Server::annals_with(&filled(job, "guarded", true)?, &["--tokens", tokens])?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let seconds = job.size.operations(3, 1) as u64;
        let (ours, without) = in_turn(
            turn,
            || guarded.load_as(&token, &job.folder, &path, CONNECTIONS, seconds),
            || plain.load(&job.folder, &path, None, CONNECTIONS, seconds),
        )?;
        let rate = |load: &Load| per_second(load.requests, load.elapsed);
        samples.push(Sample::new("granted-get", rate(&ours), rate(&without)));
    }
    Ok(samples)
}

/// A repository whose entities are all in one container; with a grant for those below it.
fn filled(job: &Job, name: &str, has_grant: bool) -> Outcome<std::path::PathBuf> {
    let path = job.folder.join(name);
    let repository = Repository::open(&path)?;
    load(&repository, ENTITIES, &[])?;
    let top: Id = "top".parse()?;
    repository.transact(|t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        t.create_entity(NewEntity::new("folder").id("top")?)?;
        for number in 0..ENTITIES {
            let inside = NewRelationship::new("contains", top.clone(), vertex_id(number));
            t.create_relationship(inside.property("name", format!("n{number}")))?;
        }
        if has_grant {
            let grant = NewEntity::new("annals.Grant").property("role", "readers").property("under", "top");
            t.create_entity(grant)?;
        }
        Ok(())
    })?;
    repository.close()?;
    Ok(path)
}
