//! The requests of a load: one kind of question, about vertices and edges that follow from the kind.

use std::sync::mpsc::SyncSender;

use super::dialect::{Ask, Dialect};
use super::generator::Work;
use super::graph::Graph;
use crate::graph::Random;

/// The numbers that are asked for.
pub enum Numbers {
    /// Any below this.
    Random { below: u64, random: Random },
    /// One after the other, in steps, without end unless there is one.
    Ascending { next: u64, step: u64, end: u64 },
    /// These.
    Listed(std::vec::IntoIter<u64>),
}

impl Numbers {
    /// Any below a number.
    pub fn random(below: u64) -> Numbers {
        Numbers::Random { below, random: Random::new(below) }
    }

    fn next(&mut self) -> Option<u64> {
        match self {
            Numbers::Random { below, random } => {
                Some(random.below(usize::try_from(*below).unwrap_or(usize::MAX)) as u64)
            }
            Numbers::Ascending { next, step, end } => {
                let number = *next;
                *next += *step;
                (number < *end).then_some(number)
            }
            Numbers::Listed(numbers) => numbers.next(),
        }
    }
}

/// One kind of question.
pub struct Asking<'d> {
    dialect: &'d dyn Dialect,
    ask: Ask,
    graph: Graph,
    host: String,
    numbers: Numbers,
    keeps: bool,
    /// Is told the first request.
    begun: Option<SyncSender<()>>,
    /// The numbers of the right answers, if they are kept.
    pub acknowledged: Vec<u64>,
}

impl<'d> Asking<'d> {
    pub fn new(
        dialect: &'d dyn Dialect,
        ask: Ask,
        graph: Graph,
        host: String,
        numbers: Numbers,
    ) -> Asking<'d> {
        Asking { dialect, ask, graph, host, numbers, keeps: false, begun: None, acknowledged: Vec::new() }
    }

    /// The same, which keeps the numbers of its right answers.
    pub fn keeping(self) -> Asking<'d> {
        Asking { keeps: true, ..self }
    }

    /// The same, which tells when its load begins.
    pub fn telling(self, begun: SyncSender<()>) -> Asking<'d> {
        Asking { begun: Some(begun), ..self }
    }

    /// The next number of an ascending series.
    pub fn position(&self) -> u64 {
        if let Numbers::Ascending { next, .. } = self.numbers { next } else { 0 }
    }
}

impl Work for Asking<'_> {
    fn next(&mut self, request: &mut Vec<u8>) -> Option<u64> {
        let number = self.numbers.next()?;
        if let Some(begun) = self.begun.take() {
            // Nobody may wait for it any more.
            let _ = begun.try_send(());
        }
        self.dialect.write(self.ask, number, self.graph, &self.host, request);
        Some(number)
    }

    fn take(&mut self, number: u64, body: &[u8]) -> bool {
        let is_right = self.dialect.is_right(self.ask, number, self.graph, body);
        if is_right && self.keeps {
            self.acknowledged.push(number);
        }
        is_right
    }
}
