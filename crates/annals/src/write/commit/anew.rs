//! Reads a rewritten log anew, in short steps: beside the published graph, or in its place if memory has no room for
//! two.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::last_read::{Anew, LastRead, Pause, other_record};
use super::queue::Committer;
use super::read_on::{Publish, check_generation, instant_at, read_on};
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::log::Term;
use crate::{Error, ErrorKind, Position, Result};

/// How long a step takes, unless one record takes longer. Between two steps the published graph reads on.
const STEP: Duration = Duration::from_millis(20);
/// After a failure it begins again after this pause, and after twice the pause before if it fails again.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How far a step came.
pub(super) enum AnewStep {
    /// The graph that was read anew is published.
    Published,
    /// There is more to do at once.
    Begun,
    /// It begins again later.
    Paused(Error),
}

/// Reads on for a moment. `is_current` is true if the published graph goes on meanwhile.
pub(super) fn step(committer: &Committer, last: &mut LastRead, tail: Position, is_current: bool) -> AnewStep {
    let LastRead { anew, term, .. } = last;
    anew.tail = tail;
    let paused = |pause: &&Pause| pause.is_current == is_current && pause.ends_at > Instant::now();
    if let Some(pause) = anew.pause.as_ref().filter(paused) {
        return AnewStep::Paused(pause.error.duplicate());
    }
    match try_step(committer, anew, is_current) {
        Ok(Some(read)) => {
            *term = read.max(*term);
            *anew = Anew::default();
            AnewStep::Published
        }
        Ok(None) => AnewStep::Begun,
        Err(error) => {
            anew.begun = None;
            // A graph that goes on stays, and so does the one of a writer.
            let is_useless = !is_current && anew.dropped.is_none() && !committer.is_writer();
            if is_useless && error.kind() == ErrorKind::TooLarge {
                drop_published(committer, anew);
                return AnewStep::Begun;
            }
            let length = anew.pause.take().map_or(PAUSE_MIN, |pause| (2 * pause.length).min(PAUSE_MAX));
            let paused = AnewStep::Paused(error.duplicate());
            anew.pause = Some(Pause { length, ends_at: Instant::now() + length, is_current, error });
            paused
        }
    }
}

/// Shape: the highest term of a record, once the new graph is published.
fn try_step(committer: &Committer, anew: &mut Anew, is_current: bool) -> Result<Option<Term>> {
    let (log, memory) = (committer.source.log(), committer.source.memory());
    let begun = anew.begun.take().filter(|begun| begun.0.graph.generation == log.generation());
    let (mut indexed, mut last) = match begun {
        Some(begun) => *begun,
        None => {
            if anew.dropped.is_none() && !committer.is_writer() {
                memory.check_second_graph()?;
            }
            let like = &committer.publisher.load().graph;
            let empty = Graph { generation: log.generation(), ..like.rebuilt_from_nothing() };
            (Indexed::new(empty, Arc::default()), LastRead::default())
        }
    };
    let publish = Publish::AfterAll { until: Some(Instant::now() + STEP) };
    let is_whole = read_on(committer, &mut indexed, memory, &mut last, publish)?;
    check_generation(committer, indexed.graph.generation)?;
    if !is_whole {
        anew.begun = Some(Box::new((indexed, last)));
        return Ok(None);
    }
    let (position, instant) = anew.shown(&committer.publisher.load().graph);
    // A rewriting keeps the instants of all records.
    if indexed.graph.position < position || instant_at(&indexed.graph, position) != instant {
        return Err(other_record(&**log, position));
    }
    committer.replace(indexed);
    if !is_current {
        committer.source.clear();
    }
    Ok(Some(last.term))
}

/// Publishes a vacant graph, so that the memory of the other one is free as soon as no snapshot has it.
fn drop_published(committer: &Committer, anew: &mut Anew) {
    let published = committer.publisher.load();
    anew.dropped = Some((published.graph.position, published.graph.last_instant()));
    let vacant = Indexed::vacant(&published.graph);
    drop(published);
    committer.replace(vacant);
    committer.source.clear();
}
