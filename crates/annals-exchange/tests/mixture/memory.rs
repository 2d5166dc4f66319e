//! A memory budget that has room for some changes: a refused one leaves everything as it is.

use annals::{Error, ErrorKind};

use crate::push::push_all;
use crate::world::World;

/// Room beside what the process holds already. Units: bytes.
const ROOM: u64 = 4 << 20;
/// Room for all changes, but not for all that is pushed under a lease. Units: bytes.
const MORE_ROOM: u64 = 96 << 20;
/// Units: bytes of a page of memory.
const PAGE_BYTES: u64 = 4 << 10;

/// The resident set of this process; `None` where the system does not tell. Units: bytes.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE_BYTES)
}

/// A budget for what the process holds and nearly as much again. Units: bytes.
pub(crate) fn room_for_one_graph() -> Option<u64> {
    resident().map(|bytes| bytes * 19 / 10)
}

impl World {
    /// Changes with long messages, whose records need more room than there is, or less.
    pub(crate) fn work_with_little_memory(&mut self) {
        let Some(resident) = resident() else { return };
        let room = if self.random.one_in(2) { ROOM } else { MORE_ROOM };
        let budget = self.told_without_room.is_none().then_some(resident + room);
        self.open_within(budget);
        for _ in 0..4 {
            for _ in 0..self.random.below(16) {
                self.work_on_a_lease(true);
                self.compare_views();
            }
            let works = self.any_works();
            let message = "m".repeat(self.random.below(4) * (2 << 20));
            let position = self.position();
            let mut next = self.model.clone();
            let expected = next.attempt(position + 1, &works, &mut self.count);
            let stored = self.stored(&works);
            let number = self.tight_count;
            self.tight_count += 1;
            let is_told = self.told_without_room.as_ref().is_some_and(|told| told.contains(&number));
            let outcome = self.repository().transact(|t| {
                t.message(&message);
                push_all(t, &stored)?;
                if is_told { Err(Error::new(ErrorKind::NoRoom, "as it was told")) } else { Ok(()) }
            });
            let found = outcome.as_ref().map(drop).map_err(Error::kind);
            let told = format!("{}: {works:?}, message {}: {found:?}", position + 1, message.len());
            self.history.push(told);
            if found == Err(ErrorKind::NoRoom) {
                self.without_room.push(number);
                println!("without room: {number}");
            } else {
                self.judge(&works, outcome.as_ref().map(drop), &expected);
            }
            match (found, expected) {
                (Ok(()), Ok(changes)) if !changes.is_empty() => self.accept(next, &changes),
                _ => assert_eq!(self.position(), position, "{}", self.what()),
            }
            self.compare();
        }
        self.open_within(None);
    }
}
