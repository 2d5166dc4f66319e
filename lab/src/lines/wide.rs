//! wide: an entity with a million neighbours, compared with entities with few.

use std::time::Instant;

use annals::{Direction, Id, Repository};

use crate::graph::{InFlight, Standard, edge_id, load, prepare, vertex_id};
use crate::latencies::Latencies;
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn};

/// End entities of relationships.
const TARGETS: usize = 10_000;
/// Neighbours of a narrow entity before one is added.
const NARROW: usize = 9;
/// Neighbours of the entity with only one page, which is the limit.
const PAGE: usize = 100;
/// Commits in progress at once.
const IN_FLIGHT: usize = 1_000;

/// The entities, by number: the targets, the wide one, the one with a page, and the narrow ones.
struct Wide {
    repository: Repository,
    /// Neighbours of the wide entity after loading, and now.
    loaded: usize,
    width: usize,
    /// Existing relationships.
    edges: usize,
}

/// One round of all lines.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let turns = job.turns(3);
    let adds = job.size.operations(10_000, 500);
    let mut wide = Wide::build(job, adds * turns.len())?;
    let mut samples = Vec::new();
    for (add, turn) in turns.enumerate() {
        let (wide_first, narrow_first) = (wide.edges, wide.edges + adds);
        let (ours, limit) = in_turn(
            turn,
            || Timed::of(|| wide.add(adds, wide_first, |_| WIDE)),
            || Timed::of(|| wide.add(adds, narrow_first, |number| NARROW_FIRST + add * adds + number)),
        )?;
        wide.width += adds;
        wide.edges += 2 * adds;
        samples.push(Sample::new("wide-add", ours.micros_each(adds), limit.micros_each(adds)));
        samples.extend(wide.pages(job, turn)?);
        samples.push(wide.degrees(job, turn)?);
    }
    Ok(samples)
}

const WIDE: usize = TARGETS;
const ONE_PAGE: usize = TARGETS + 1;
const NARROW_FIRST: usize = TARGETS + 2;

impl Wide {
    fn build(job: &Job, narrow: usize) -> Outcome<Wide> {
        let repository = Repository::open(job.folder.join("repository"))?;
        let width = job.size.elements(1_000_000, 10_000) - narrow;
        load(&repository, NARROW_FIRST + narrow, &[])?;
        let edges = width + PAGE + NARROW * narrow;
        let standard = Standard::new();
        // One thread: the order of the relationships is checked.
        prepare(&repository, edges, 1, |transaction, number| {
            let from = match number {
                number if number < width => WIDE,
                number if number < width + PAGE => ONE_PAGE,
                number => NARROW_FIRST + (number - width - PAGE) % narrow,
            };
            let (from, to) = (vertex_id(from), vertex_id(number % TARGETS));
            transaction.create_relationship(standard.relationship(number, from, to))?;
            Ok(())
        })?;
        Ok(Wide { repository, loaded: width, width, edges })
    }

    /// Adds relationships; `from` gives the start of the n-th.
    fn add(&self, count: usize, first: usize, from: impl Fn(usize) -> usize) -> Outcome<()> {
        let standard = Standard::new();
        let mut in_flight = InFlight::new(IN_FLIGHT);
        for number in 0..count {
            let edge = first + number;
            let (from, to) = (vertex_id(from(number)), vertex_id(edge % TARGETS));
            let mut transaction = self.repository.transaction();
            transaction.create_relationship(standard.relationship(edge, from, to))?;
            in_flight.submit(transaction)?;
        }
        in_flight.finish()
    }

    /// Pages at the start and at nine tenths of the relationships, compared with the page of an entity with only one
    /// page.
    fn pages(&self, job: &Job, turn: usize) -> Outcome<Vec<Sample>> {
        let pages = job.size.operations(500, 50);
        let deep = job.size.elements(900_000, 9_000);
        let mut samples = Vec::new();
        for (line, after) in [("wide-page-start", None), ("wide-page-900000", Some(deep))] {
            if !job.wants(line) {
                continue;
            }
            let first = after.map_or(0, |after| after + 1);
            let (ours, limit) = in_turn(
                turn,
                || self.time_pages(pages, WIDE, after, first),
                || self.time_pages(pages, ONE_PAGE, None, self.loaded),
            )?;
            samples.push(Sample::new(line, ours.quantile_us(0.5), limit.quantile_us(0.5)));
        }
        Ok(samples)
    }

    /// Times pages, each after the relationship `after`. The first one on it is the relationship `first`.
    fn time_pages(
        &self,
        pages: usize,
        entity: usize,
        after: Option<usize>,
        first: usize,
    ) -> Outcome<Latencies> {
        let snapshot = self.repository.snapshot();
        let id = vertex_id(entity);
        let after = after.map(edge_id);
        let expected: Vec<(Id, Id)> =
            (first..first + PAGE).map(|number| (edge_id(number), vertex_id(number % TARGETS))).collect();
        let mut latencies = Latencies::new()?;
        for _ in 0..pages {
            let start = Instant::now();
            let neighbors = snapshot.neighbors_after(&id, Direction::Out, Some("edge"), after.as_ref())?;
            let page: Vec<_> = neighbors.take(PAGE).collect::<annals::Result<_>>()?;
            latencies.record(start.elapsed());
            let is_right = page.len() == PAGE
                && page.iter().zip(&expected).all(|(found, (relationship, entity))| {
                    found.relationship.id().uuid_bytes() == relationship.uuid_bytes()
                        && found.entity.id().uuid_bytes() == entity.uuid_bytes()
                });
            agree("a page of neighbours", is_right, true)?;
        }
        Ok(latencies)
    }

    fn degrees(&self, job: &Job, turn: usize) -> Outcome<Sample> {
        let count = job.size.operations(100_000, 5_000);
        let snapshot = self.repository.snapshot();
        let time = |entity: usize, expected: usize| {
            let id = vertex_id(entity);
            Timed::of(|| {
                for _ in 0..count {
                    agree("a degree", snapshot.degree(&id, Direction::Out, Some("edge"))?, expected)?;
                }
                Ok(())
            })
        };
        let (ours, limit) = in_turn(turn, || time(WIDE, self.width), || time(NARROW_FIRST, NARROW + 1))?;
        Ok(Sample::new("wide-degree", ours.micros_each(count), limit.micros_each(count)))
    }
}
