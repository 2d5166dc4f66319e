//! One volume on one server: the graph is loaded and checked, and then loads are measured.

use std::path::PathBuf;
use std::time::Duration;

use super::asking::{Asking, Numbers};
use super::bisection::highest;
use super::dialect::{Ask, EDGES, VERTICES};
use super::generator::{Loaded, Pace, Plan, Work, load, raise_open_files};
use super::graph::Graph;
use super::system::System;
use crate::harness::{Cell, Figure, LoadRecord, LoadStep, steady_from};
use crate::latencies::encode_counts;
use crate::outcome::Outcome;
use crate::run::{WRONG_ANSWER, agree};

/// A rate is held if no request fails, and 99 of 100 answers come within this time. Units: seconds.
const P99_MAX: f64 = 1.0;
/// And if so much of what was due is answered within the step.
const KEPT_UP_MIN: f64 = 0.97;
/// Longest time for answers after the end of a step.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest load of the graph.
const LOAD_MAX: Duration = Duration::from_secs(1_800);
/// Callers that load the graph. HugeGraph with its default settings answers two batches at a time.
const LOAD_CALLERS: usize = 1;
/// Vertices, and edges, that are read back one by one, and walks that are checked.
const CHECKED_MAX: u64 = 20_000;
const WALKS_CHECKED: u64 = 50;
/// Callers of nginx when the generator is checked.
const CEILING_CALLERS: usize = 64;
/// Open files that a load needs beside its connections.
const FILES_BESIDE: u64 = 256;
/// The greatest number of callers of an open loop, where the system allows as many open files.
const CALLERS_MAX: usize = 16_000;
const QUICK_CALLERS_MAX: usize = 1_000;
/// How often the last step of a search is repeated at a lower rate until it is held, and how much lower.
const CONFIRMATIONS_MAX: usize = 6;
const LOWER: f64 = 0.93;

/// A server with the graph, and the numbers that loads have used.
pub struct Session {
    pub system: System,
    pub graph: Graph,
    pub folder: PathBuf,
    /// Of steps: those of a search, and the one that a figure comes from.
    search_step: Duration,
    step: Duration,
    warm_max: Duration,
    pub callers_max: usize,
    /// Requests that nginx answers to the same generator. Units: requests per second; None where there is no nginx.
    pub ceiling: Option<f64>,
    /// The next free numbers of vertices and edges.
    pub next_vertex: u64,
    pub next_edge: u64,
    is_quick: bool,
    /// True until the first row of a process: a virtual machine compiles for a while.
    is_cold: bool,
}

impl Session {
    /// Starts the server on a new folder, makes the schema, loads the graph, and checks it.
    pub fn start(cell: &Cell, vertices: u64) -> Outcome<Session> {
        let files = raise_open_files(CALLERS_MAX as u64 + FILES_BESIDE);
        let folder = cell.arguments.folder.join(format!("volume-{vertices}"));
        std::fs::create_dir_all(&folder)?;
        let graph = Graph { vertices };
        let step = Duration::from_secs_f64(cell.size(3.0, 0.3));
        let mut session = Session {
            system: System::start(cell, &folder)?,
            graph,
            folder,
            search_step: step,
            step: cell.arguments.step.map_or(step, Duration::from_secs).max(step),
            warm_max: Duration::from_secs_f64(cell.size(if is_warm(cell) { 3.0 } else { 30.0 }, 0.2)),
            callers_max: cell
                .size(CALLERS_MAX, QUICK_CALLERS_MAX)
                .min(files.saturating_sub(FILES_BESIDE) as usize),
            ceiling: ceiling(cell)?,
            next_vertex: vertices,
            next_edge: graph.edges(),
            is_quick: cell.arguments.quick,
            is_cold: true,
        };
        if session.system.dialect.lacks(Ask::InsertVertices(VERTICES)).is_none() {
            session.system.dialect.prepare(&mut session.system.client())?;
            session.fill()?;
            session.check()?;
        }
        Ok(session)
    }

    /// Loads the graph in batches.
    fn fill(&mut self) -> Outcome<()> {
        let Graph { vertices } = self.graph;
        for (batch, end) in [(VERTICES, vertices), (EDGES, self.graph.edges())] {
            // The rest that fills no batch comes last.
            let whole = end / batch * batch;
            for (count, next, end) in [(batch, 0, whole), (end - whole, whole, end)] {
                let ask =
                    if batch == VERTICES { Ask::InsertVertices(count) } else { Ask::InsertEdges(count) };
                if count > 0 {
                    self.all(ask, Numbers::Ascending { next, step: count, end }, LOAD_CALLERS)?;
                }
            }
        }
        Ok(())
    }

    /// Reads vertices and edges back, all of them if there are not too many, and checks walks.
    fn check(&mut self) -> Outcome<()> {
        for (ask, end) in [(Ask::Vertex, self.graph.vertices), (Ask::Edge, self.graph.edges())] {
            let step = end.div_ceil(CHECKED_MAX).max(1);
            self.all(ask, Numbers::Ascending { next: 0, step, end }, 2)?;
        }
        for depth in [1, 2] {
            for walk in 0..WALKS_CHECKED {
                let vertex = walk * self.graph.vertices / WALKS_CHECKED;
                let found = self.system.dialect.reached(&unpacked(&self.ask(Ask::Kout(depth), vertex)?)?)?;
                agree(
                    &format!("the vertices at depth {depth} from {vertex}"),
                    found,
                    self.graph.kout(vertex, depth),
                )?;
            }
        }
        Ok(())
    }

    /// The body of the answer to one question.
    ///
    /// Errors: unless it is a success.
    fn ask(&self, ask: Ask, number: u64) -> Outcome<Vec<u8>> {
        struct One<'d>(Asking<'d>, Vec<u8>);
        impl Work for One<'_> {
            fn next(&mut self, request: &mut Vec<u8>) -> Option<u64> {
                self.0.next(request)
            }

            fn take(&mut self, number: u64, body: &[u8]) -> bool {
                self.1.extend_from_slice(body);
                self.0.take(number, body)
            }
        }
        let mut one = One(self.asking(ask, Numbers::Listed(vec![number].into_iter())), Vec::new());
        let loaded = load(&self.plan(1, Pace::Closed, LOAD_MAX), &mut one)?;
        match loaded.first_error.or(loaded.first_refusal) {
            None => Ok(one.1),
            Some(error) => Err(format!("{ask:?} of {number}: {WRONG_ANSWER}: {error}").into()),
        }
    }

    fn host(&self) -> String {
        self.system.address.to_string()
    }

    /// Asks for each of these numbers once.
    ///
    /// Errors: if any answer is not right.
    pub fn all(&self, ask: Ask, numbers: Numbers, callers: usize) -> Outcome<u64> {
        let mut asking = self.asking(ask, numbers);
        let plan = Plan {
            address: self.system.address,
            callers,
            pace: Pace::Closed,
            time: LOAD_MAX,
            patience: PATIENCE,
        };
        let loaded = load(&plan, &mut asking)?;
        if loaded.errors > 0 {
            let (errors, all) = (loaded.errors, loaded.errors + loaded.right);
            let first = loaded.first_error.or(loaded.first_refusal).unwrap_or_default();
            return Err(format!("{ask:?}: {WRONG_ANSWER}: {errors} of {all}, the first: {first}").into());
        }
        Ok(loaded.right)
    }

    /// Questions of a kind to this server.
    pub fn asking(&self, ask: Ask, numbers: Numbers) -> Asking<'_> {
        Asking::new(&*self.system.dialect, ask, self.graph, self.host(), numbers)
    }

    /// The numbers of a load of this kind: random ones of the graph to read, free ones to insert.
    pub fn numbers(&self, ask: Ask) -> Numbers {
        let free = |next, step| Numbers::Ascending { next, step, end: u64::MAX };
        match ask {
            Ask::InsertVertex => free(self.next_vertex, 1),
            Ask::InsertVertices(count) | Ask::ImportVertices(count) => free(self.next_vertex, count),
            Ask::InsertEdge => free(self.next_edge, 1),
            Ask::InsertEdges(count) | Ask::ImportEdges(count) => free(self.next_edge, count),
            Ask::Vertex | Ask::Kout(_) => Numbers::random(self.graph.vertices),
            Ask::Edge => Numbers::random(self.graph.edges()),
        }
    }

    /// Notes the numbers that a load of this kind has used.
    pub fn note_used(&mut self, ask: Ask, position: u64) {
        match ask {
            Ask::InsertVertex | Ask::InsertVertices(_) | Ask::ImportVertices(_) => {
                self.next_vertex = position;
            }
            Ask::InsertEdge | Ask::InsertEdges(_) | Ask::ImportEdges(_) => self.next_edge = position,
            Ask::Vertex | Ask::Edge | Ask::Kout(_) => {}
        }
    }

    /// A plan of a load on this server.
    pub fn plan(&self, callers: usize, pace: Pace, time: Duration) -> Plan {
        Plan { address: self.system.address, callers, pace, time, patience: PATIENCE }
    }

    /// As many callers as an open loop has requests a second: each asks once a second, as on the page.
    pub fn callers_at(&self, rate: f64) -> usize {
        (rate.ceil() as usize).clamp(1, self.callers_max)
    }

    /// Measures a load.
    pub fn load(
        &mut self,
        ask: Ask,
        callers: usize,
        pace: Pace,
        time: Duration,
    ) -> Outcome<(Loaded, LoadRecord)> {
        let before = self.system.usage();
        let syncs = self.system.dialect.syncs(&mut self.system.client());
        let mut asking = self.asking(ask, self.numbers(ask));
        let loaded = load(&self.plan(callers, pace, time), &mut asking)?;
        let position = asking.position();
        self.note_used(ask, position);
        let after = self.system.usage();
        let syncs_after = self.system.dialect.syncs(&mut self.system.client());
        let record = LoadRecord {
            callers,
            seconds: loaded.seconds,
            right: loaded.right,
            throughput: loaded.rate(),
            errors: loaded.errors,
            refused: loaded.refused,
            bytes: loaded.bytes,
            syncs: syncs.zip(syncs_after).map(|(before, after)| after - before),
            server_cpu_seconds: after.cpu_seconds - before.cpu_seconds,
            server_memory_bytes: after.resident_bytes,
            generator_cpu_seconds: loaded.cpu_seconds,
            late: loaded.late_share(),
            is_generator_limit: loaded.is_generator_limit(),
            generator_ceiling: self.ceiling,
            half: None,
            steps: Vec::new(),
        };
        Ok((loaded, record))
    }

    /// Repeats a closed loop until its rate is steady, or for a bounded time.
    fn warm(&mut self, ask: Ask) -> Outcome<()> {
        let time_max = if self.is_cold { self.warm_max } else { self.warm_max.min(self.search_step) };
        self.is_cold = false;
        let part = Duration::from_secs(1).min(time_max);
        let (mut ticks, mut seconds) = (Vec::new(), 0.0);
        while seconds + 0.01 < time_max.as_secs_f64() {
            let (loaded, _) = self.load(ask, 4, Pace::Closed, part)?;
            // The last tick may be cut.
            ticks.extend(loaded.ticks.into_iter().take(10));
            seconds += loaded.seconds;
            if ticks.len() >= 20 && steady_from(&ticks).is_some() {
                break;
            }
        }
        Ok(())
    }

    /// The closed loop with the number of callers that gets the most right answers a second, of those without an error if
    /// there are any.
    pub fn closed(&mut self, ask: Ask, elements: u64) -> Outcome<Figure> {
        self.warm(ask)?;
        let callers: &[usize] = if self.is_quick { &[1, 10] } else { &[1, 4, 16, 100, 1_000] };
        let (mut steps, mut best): (Vec<LoadStep>, Option<(Loaded, LoadRecord)>) = (Vec::new(), None);
        for callers in callers {
            let found = self.load(ask, *callers, Pace::Closed, self.search_step)?;
            steps.push(step(&found.0, None));
            let merit = |(loaded, _): &(Loaded, LoadRecord)| (loaded.errors == 0, loaded.rate());
            if best.as_ref().is_none_or(|best| merit(&found) > merit(best)) {
                best = Some(found);
            }
        }
        let (mut loaded, mut record) = best.ok_or("no number of callers")?;
        if self.step > self.search_step {
            (loaded, record) = self.load(ask, loaded.callers, Pace::Closed, self.step)?;
        }
        if loaded.right == 0 {
            return Ok(Figure::state(format!("ERR({})", loaded.first_error.unwrap_or_default())));
        }
        record.steps = steps;
        figure(&loaded, record, loaded.rate() * elements as f64)
    }

    /// The highest arrival rate that is held; each caller asks once a second.
    pub fn rate(&mut self, ask: Ask, peak: Option<f64>) -> Outcome<Figure> {
        self.warm(ask)?;
        let first = 0.7 * peak.unwrap_or(1_000.0);
        let (mut steps, mut held): (Vec<LoadStep>, Option<(f64, Loaded, LoadRecord)>) = (Vec::new(), None);
        let mut is_generator_limit = false;
        let step_time = self.search_step;
        let found = highest(first, 1e6, |rate| {
            let (loaded, record) = self.load(ask, self.callers_at(rate), Pace::Rate(rate), step_time)?;
            steps.push(step(&loaded, Some(rate)));
            let is_held = is_held(&loaded, rate);
            if is_held {
                held = Some((rate, loaded, record));
            } else {
                is_generator_limit = record.is_generator_limit;
                self.settle(ask)?;
            }
            Ok(is_held)
        })?;
        let Some(mut rate) = found else { return Ok(Figure::state("ERR(no rate is held)")) };
        let (_, mut loaded, mut record) =
            held.filter(|held| held.0 == rate).ok_or("the held rate has no load")?;
        let mut is_confirmed = self.step <= self.search_step;
        for _ in 0..CONFIRMATIONS_MAX {
            if is_confirmed {
                break;
            }
            (loaded, record) = self.load(ask, self.callers_at(rate), Pace::Rate(rate), self.step)?;
            steps.push(step(&loaded, Some(rate)));
            is_confirmed = is_held(&loaded, rate);
            if !is_confirmed {
                rate *= LOWER;
                self.settle(ask)?;
            }
        }
        if !is_confirmed {
            return Ok(Figure::state("ERR(no rate is held for the whole step)"));
        }
        let half = rate / 2.0;
        let (at_half, _) = self.load(ask, self.callers_at(half), Pace::Rate(half), step_time)?;
        record.half = Some(step(&at_half, Some(half)));
        steps.sort_by(|one, other| one.offered.partial_cmp(&other.offered).expect("rates are numbers"));
        record.steps = steps;
        record.is_generator_limit |= is_generator_limit;
        figure(&loaded, record, rate)
    }

    /// Waits until the server has ended the work that an overload has left.
    pub fn settle(&mut self, ask: Ask) -> Outcome<()> {
        let part = self.search_step.min(Duration::from_millis(300));
        for _ in 0..30 {
            let (loaded, _) = self.load(ask, 1, Pace::Closed, part)?;
            if loaded.errors == 0 && loaded.latencies.count() > 0 && loaded.latencies.max() < 0.5 {
                break;
            }
        }
        Ok(())
    }

    /// Length of a step. Units: as of the time type.
    pub fn step(&self) -> Duration {
        self.step
    }

    /// One of two sizes, by the length of the run.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.is_quick { quick } else { full }
    }
}

/// The most that the generator gets out of nginx, so that readers see whether it can be the limit.
fn ceiling(cell: &Cell) -> Outcome<Option<f64>> {
    let Ok(nginx) = System::nginx(&cell.arguments.folder) else { return Ok(None) };
    let host = nginx.address.to_string();
    let graph = Graph { vertices: 1 };
    let mut asking = Asking::new(&*nginx.dialect, Ask::Vertex, graph, host, Numbers::random(1));
    let time = Duration::from_secs_f64(cell.size(1.0, 0.2));
    let plan = Plan {
        address: nginx.address,
        callers: CEILING_CALLERS,
        pace: Pace::Closed,
        time,
        patience: PATIENCE,
    };
    let loaded = load(&plan, &mut asking)?;
    Ok((loaded.errors == 0).then(|| loaded.rate()))
}

/// True if the target needs no long warm-up: it is no virtual machine.
fn is_warm(cell: &Cell) -> bool {
    matches!(cell.target.name, "annals" | "nginx")
}

/// True if a server held a rate.
pub fn is_held(loaded: &Loaded, rate: f64) -> bool {
    loaded.errors == 0 && loaded.latencies.quantile(0.99) < P99_MAX && loaded.rate() >= KEPT_UP_MIN * rate
}

fn step(loaded: &Loaded, offered: Option<f64>) -> LoadStep {
    LoadStep {
        callers: loaded.callers,
        offered,
        reached: loaded.rate(),
        p99: loaded.latencies.quantile(0.99),
        errors: loaded.errors,
        is_held: offered.map_or(loaded.errors == 0, |rate| is_held(loaded, rate)),
    }
}

/// The figure of a load.
pub fn figure(loaded: &Loaded, record: LoadRecord, value: f64) -> Outcome<Figure> {
    Ok(Figure {
        operations: Some(loaded.right),
        seconds: Some(loaded.seconds),
        histogram: Some(encode_counts(loaded.latencies.counts().into_iter())?),
        ticks: loaded.ticks.clone(),
        load: Some(record),
        ..Figure::of(value)
    })
}

/// A body without its compression by gzip, if it has one.
fn unpacked(body: &[u8]) -> Outcome<Vec<u8>> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        return Ok(body.to_vec());
    }
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(body), &mut unpacked)?;
    Ok(unpacked)
}
