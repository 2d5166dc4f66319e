//! The rows of an overload: reads while writes come, twice the highest rate, the second after it, and what a server has kept
//! when it ends under that load.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::asking::{Asking, Numbers};
use super::dialect::Ask;
use super::generator::{Loaded, Pace, Plan, load};
use super::session::{Session, figure};
use super::suite::{graph_of, introduce};
use super::system::System;
use crate::harness::{Cell, Figure, LoadRecord};
use crate::outcome::Outcome;
use crate::threads::Pending;

pub const READ_WHILE_WRITING: &str = "read-while-writing";
pub const SHED: &str = "overload";
pub const LONGEST: &str = "overload-longest";
pub const AFTER: &str = "after-overload";
pub const LOST: &str = "lost";
pub const ROWS: [&str; 5] = [READ_WHILE_WRITING, SHED, LONGEST, AFTER, LOST];

/// Share of the highest rate of writes during which reads are measured, and the rate and the callers of these reads.
const WRITES_SHARE: f64 = 0.8;
const READS_RATE: f64 = 200.0;
const READERS: usize = 20;
/// How much more than the highest rate an overload is.
const OVERLOAD: f64 = 2.0;
/// From the end of an overload until everything is as before.
const RECOVERY: Duration = Duration::from_secs(1);
const RECOVERED_RATE: f64 = 0.5;
/// Callers that read back what was acknowledged.
const CHECKERS: usize = 2;
/// Waits longer than this are not worth it: the server has been killed.
const PATIENCE: Duration = Duration::from_millis(500);

/// Measures the rows of an overload at each volume.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let volumes = cell.arguments.volumes.clone();
    let rows: Vec<&'static str> = ROWS.into_iter().filter(|row| cell.wants(row)).collect();
    let wanted = volumes.iter().flat_map(|volume| rows.iter().map(|row| (volume.clone(), *row)));
    let mut pending = Pending::new(wanted.collect::<Vec<_>>());
    let measured = measure(cell, &volumes, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, volumes: &[String], pending: &mut Pending) -> Outcome<()> {
    introduce(cell, None)?;
    if matches!(cell.target.name, "nginx" | "disk") {
        return pending.skip(cell, &ROWS, "it is no server of a graph");
    }
    for volume in volumes {
        let mut session = Session::start(cell, graph_of(volume)?)?;
        let peak = session.closed(Ask::InsertVertex, 1)?.value;
        let held = session.rate(Ask::InsertVertex, peak)?;
        let Some(highest) = held.value else {
            return Err(held.state.unwrap_or_else(|| "no rate is held".into()).into());
        };
        if cell.wants(READ_WHILE_WRITING) {
            let figure = read_while_writing(&mut session, WRITES_SHARE * highest)?;
            pending.tell(cell, volume, READ_WHILE_WRITING, figure)?;
        }
        // The most that it got through, with or without an arrival rate.
        let most = highest.max(peak.unwrap_or(0.0));
        let rate = OVERLOAD * most;
        let step = session.step();
        let (loaded, record) =
            session.load(Ask::InsertVertex, session.callers_at(rate), Pace::Rate(rate), step)?;
        std::thread::sleep(RECOVERY);
        let failed = unexplained(&loaded);
        let state = |text: &str| Figure { load: Some(record.clone()), ..Figure::state(text) };
        let shed = match &failed {
            Some(text) => state(text),
            None => figure(&loaded, record.clone(), 100.0 * loaded.rate() / most)?,
        };
        pending.tell(cell, volume, SHED, shed)?;
        pending.tell(cell, volume, LONGEST, Figure::of(loaded.longest.as_secs_f64()))?;
        if cell.wants(AFTER) {
            let rate = RECOVERED_RATE * highest;
            let (loaded, record) = session.load(
                Ask::InsertVertex,
                session.callers_at(rate),
                Pace::Rate(rate),
                step.min(RECOVERY),
            )?;
            let figure = match unanswered(&loaded) {
                Some(text) => Figure { load: Some(record), ..Figure::state(text) },
                None => figure(&loaded, record, 1e3 * loaded.latencies.quantile(0.99))?,
            };
            pending.tell(cell, volume, AFTER, figure)?;
        }
        if cell.wants(LOST) {
            let figure = lost(cell, session, rate)?;
            pending.tell(cell, volume, LOST, figure)?;
        }
    }
    Ok(())
}

/// The first error that is no refusal with `Retry-After`, as a state.
fn unexplained(loaded: &Loaded) -> Option<String> {
    let first = loaded.first_error.as_ref()?;
    Some(format!(
        "ERR({} of {} failed otherwise than by 503 with Retry-After, the first: {first})",
        loaded.errors - loaded.refused,
        loaded.due
    ))
}

/// The first error of any kind, as a state.
fn unanswered(loaded: &Loaded) -> Option<String> {
    let first = loaded.first_error.as_ref().or(loaded.first_refusal.as_ref())?;
    Some(format!("ERR({} of {} failed, the first: {first})", loaded.errors, loaded.due))
}

/// Reads at a low rate, while vertices are inserted at a high one by another generator.
fn read_while_writing(session: &mut Session, rate: f64) -> Outcome<Figure> {
    let (plan, writers) = (session.plan(0, Pace::Closed, session.step()), session.callers_at(rate));
    let mut writes = session.asking(Ask::InsertVertex, session.numbers(Ask::InsertVertex));
    let (written, read) = std::thread::scope(|scope| -> Outcome<_> {
        let writes = &mut writes;
        let writing = scope.spawn(move || {
            let plan = Plan { callers: writers, pace: Pace::Rate(rate), ..plan };
            load(&plan, writes).map_err(|error| error.to_string())
        });
        let mut reads = session.asking(Ask::Vertex, session.numbers(Ask::Vertex));
        let read = load(&Plan { callers: READERS, pace: Pace::Rate(READS_RATE), ..plan }, &mut reads)?;
        let written = writing.join().map_err(|_| "the thread that writes panicked")??;
        Ok((written, read))
    })?;
    let position = writes.position();
    session.note_used(Ask::InsertVertex, position);
    if let Some(text) = unanswered(&written).or_else(|| unanswered(&read)) {
        return Ok(Figure::state(text));
    }
    let record = LoadRecord {
        callers: READERS,
        seconds: read.seconds,
        right: read.right,
        throughput: read.rate(),
        bytes: read.bytes,
        generator_cpu_seconds: read.cpu_seconds + written.cpu_seconds,
        is_generator_limit: read.is_generator_limit(),
        generator_ceiling: session.ceiling,
        ..LoadRecord::default()
    };
    figure(&read, record, 1e3 * read.latencies.quantile(0.99))
}

/// Ends the server in the middle of an overload, starts it again on the same files, and counts the acknowledged vertices
/// that it has not kept.
fn lost(cell: &Cell, session: Session, rate: f64) -> Outcome<Figure> {
    let step = session.step();
    let plan = Plan { patience: PATIENCE, ..session.plan(session.callers_at(rate), Pace::Rate(rate), step) };
    let Session { system, graph, folder, next_vertex, .. } = session;
    let host = system.address.to_string();
    let (dialect, server) = system.apart();
    let numbers = Numbers::Ascending { next: next_vertex, step: 1, end: u64::MAX };
    let (begun, has_begun) = sync_channel(1);
    let asking = Asking::new(&*dialect, Ask::InsertVertex, graph, host, numbers);
    let mut asking = asking.keeping().telling(begun);
    std::thread::scope(|scope| -> Outcome<()> {
        let asking = &mut asking;
        let loading = scope.spawn(move || load(&plan, asking).map(drop).map_err(|error| error.to_string()));
        // It fails if the load has failed before its first request, and then its error says why.
        let _ = has_begun.recv();
        std::thread::sleep(step / 2);
        drop(server);
        loading.join().map_err(|_| "the thread that loads panicked")??;
        Ok(())
    })?;
    let acknowledged = asking.acknowledged;
    let again = System::start(cell, &folder)?;
    let count = acknowledged.len() as u64;
    if count == 0 {
        return Ok(Figure::state("ERR(nothing was acknowledged before the end)"));
    }
    let numbers = Numbers::Listed(acknowledged.into_iter());
    let mut asking = Asking::new(&*again.dialect, Ask::Vertex, graph, again.address.to_string(), numbers);
    let plan = Plan {
        address: again.address,
        callers: CHECKERS,
        pace: Pace::Closed,
        time: Duration::from_secs(600),
        patience: Duration::from_secs(10),
    };
    let found = load(&plan, &mut asking)?;
    Ok(Figure { operations: Some(count), ..Figure::of((count - found.right) as f64) })
}
