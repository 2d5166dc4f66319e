//! A memory budget that has room for some changes: a refused one leaves everything as it is.

use annals::ErrorKind;

use crate::world::{World, push};

/// Room beside what the process holds already. Units: bytes.
const ROOM: u64 = 4 << 20;
/// Units: bytes of a page of memory.
const PAGE_BYTES: u64 = 4 << 10;

/// The resident set of this process; `None` where the system does not tell. Units: bytes.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE_BYTES)
}

impl World {
    /// Changes with long messages, whose records need more room than there is, or less.
    pub(crate) fn work_with_little_memory(&mut self) {
        let Some(resident) = resident() else { return };
        self.open_within(Some(resident + ROOM));
        for _ in 0..4 {
            let Some(change) = self.any_change() else { continue };
            let message = "m".repeat(self.random.below(4) * (2 << 20));
            let position = self.position();
            let mut next = self.model.clone();
            let expected = next.apply((position + 1, 0), &change);
            let stored = self.store(&change);
            let outcome = self.repository().transact(|t| {
                t.message(&message);
                push(t, &change, stored.as_ref())
            });
            let found = outcome.as_ref().map(drop).map_err(annals::Error::kind);
            let told = format!("{}: {change:?}, message {}: {found:?}", position + 1, message.len());
            self.history.push(told);
            if found != Err(ErrorKind::NoRoom) {
                assert_eq!(found, expected.map(drop), "{outcome:?}: {}", self.what());
            }
            match (found, expected) {
                (Ok(()), Ok(true)) => self.accept(next, &[change]),
                _ => assert_eq!(self.position(), position, "{}", self.what()),
            }
            self.compare();
        }
        self.open_within(None);
    }
}
