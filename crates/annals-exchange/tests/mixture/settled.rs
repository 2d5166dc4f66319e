//! Reads as of settled instants, again and again: they show the same, whatever happened meanwhile.

use std::time::Duration;

use annals::*;

use crate::world::World;

/// Most instants that are read again.
const READ_MAX: usize = 200;
/// Longest wait for an instant to be settled.
const PATIENCE: Duration = Duration::from_secs(60);

/// The last record that a read as of an instant shows. The content as of each position is compared elsewhere.
fn position_at(repository: &Repository, instant: Instant) -> Position {
    let as_of = AsOf { instant: Some(instant), ..AsOf::default() };
    repository.snapshot().as_of(as_of).expect("an instant of the past").position()
}

impl World {
    /// Reads as of the present now and then, and as of an earlier instant again.
    pub(crate) fn check_settled(&mut self) {
        let repository = self.repository().clone();
        if self.random.one_in(4) {
            // The clock of the repository may be ahead, and a read refuses instants of the future.
            let now = Instant::now();
            repository.wait_settled(now, PATIENCE).expect("nothing is in flight");
            if self.settled.len() >= READ_MAX {
                let at = self.random.below(READ_MAX);
                self.settled.swap_remove(at);
            }
            self.settled.push((now, position_at(&repository, now)));
        }
        if !self.settled.is_empty() {
            let (instant, position) = *self.random.choose(&self.settled);
            self.check_read(&repository, instant, position);
        }
    }

    /// The same in a reader beside the writer.
    pub(crate) fn check_settled_in(&self, follower: &Repository) {
        let until = follower.settled_until();
        for (instant, position) in self.settled.iter().filter(|(instant, _)| *instant < until) {
            self.check_read(follower, *instant, *position);
        }
    }

    fn check_read(&self, repository: &Repository, instant: Instant, position: Position) {
        assert_eq!(position_at(repository, instant), position, "as of {instant}: {}", self.what());
    }
}
