//! Loads many elements: transactions of a thousand changes, prepared by two threads, several in progress at once.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use annals::{Deleted, Find, Header, Operator, Order, Repository, Ticket, Transaction};

use super::standard::{Standard, vertex_id};
use crate::outcome::Outcome;

/// The standard graph, open.
pub struct StandardGraph {
    pub repository: Repository,
    pub path: PathBuf,
    pub entities: usize,
    /// Pairs of entity numbers, by relationship number.
    pub edges: Vec<(u32, u32)>,
}

/// Changes in one transaction. Larger ones load no faster, and the allocator keeps their memory.
const BATCH: usize = 1_000;
/// Transactions of one thread that are in progress at once.
const IN_FLIGHT: usize = 8;
/// Threads that prepare transactions.
const PREPARERS: usize = 2;

/// Transactions in progress, with a bound on their number.
pub struct InFlight {
    tickets: VecDeque<Ticket>,
    count_max: usize,
}

impl InFlight {
    /// None yet.
    pub fn new(count_max: usize) -> InFlight {
        InFlight { tickets: VecDeque::with_capacity(count_max + 1), count_max }
    }

    /// Submits one; if there are too many, waits for the oldest.
    pub fn submit(&mut self, transaction: Transaction) -> Outcome<()> {
        self.tickets.push_back(transaction.submit()?);
        if self.tickets.len() > self.count_max
            && let Some(oldest) = self.tickets.pop_front()
        {
            oldest.wait()?;
        }
        Ok(())
    }

    /// Waits for all.
    pub fn finish(&mut self) -> Outcome<()> {
        for ticket in self.tickets.drain(..) {
            ticket.wait()?;
        }
        Ok(())
    }
}

/// Loads the standard graph. On return it is durable, and its indexes are complete.
///
/// Shape: `edges` are pairs of entity numbers, by relationship number.
pub fn load(repository: &Repository, entities: usize, edges: &[(u32, u32)]) -> Outcome<()> {
    let standard = Standard::new();
    prepare(repository, entities, PREPARERS, |transaction, number| {
        transaction.create_entity(standard.entity(number))?;
        Ok(())
    })?;
    prepare(repository, edges.len(), PREPARERS, |transaction, number| {
        let (from, to) = edges[number];
        let (from, to) = (vertex_id(from as usize), vertex_id(to as usize));
        transaction.create_relationship(standard.relationship(number, from, to))?;
        Ok(())
    })?;
    settle(repository)
}

/// Waits until the indexes of values and of times, and those of the past, are complete: a search that needs them waits
/// for this.
pub fn settle(repository: &Repository) -> Outcome<()> {
    let snapshot = repository.snapshot();
    let all = Find::all().deleted(Deleted::With).limit(1);
    for find in ["size", "number"].map(|name| all.clone().matching(name, Operator::Equal, 0)) {
        snapshot.find_entities(&find)?;
        snapshot.find_relationships(&find)?;
    }
    let by_change = all.order_by_header(Header::UpdatedAt, Order::Descending);
    snapshot.find_entities(&by_change)?;
    snapshot.find_relationships(&by_change)?;
    Ok(())
}

/// Calls `add` for every number below `count`, many numbers per transaction, and commits. One thread keeps the order of
/// the numbers.
pub fn prepare(
    repository: &Repository,
    count: usize,
    threads: usize,
    add: impl Fn(&mut Transaction, usize) -> Outcome<()> + Sync,
) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let prepare = || -> Result<(), String> {
        let mut in_flight = InFlight::new(IN_FLIGHT);
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= count {
                return in_flight.finish().map_err(|error| error.to_string());
            }
            let mut transaction = repository.transaction();
            (first..count.min(first + BATCH))
                .try_for_each(|number| add(&mut transaction, number))
                .and_then(|()| in_flight.submit(transaction))
                .map_err(|error| error.to_string())?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(prepare)).collect();
        let own = prepare();
        let results = others.into_iter().map(|other| other.join().expect("a preparing thread ends"));
        results.chain([own]).collect::<Result<(), String>>()
    })?;
    Ok(())
}
