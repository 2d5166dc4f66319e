//! Looking at memory again and again, and moving what stays.

use std::collections::HashMap;
use std::io::Result;
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::Collapsed;
use crate::advice::{collapse, is_known};
use crate::regions::Regions;

/// Shortest time from one look to the next.
const REST_MIN: Duration = Duration::from_secs(10);
/// So many times as long as it has worked, the thread rests.
const RESTS: u32 = 99;

/// The memory of the process, and what was seen of it.
pub struct Watch {
    pub regions: Regions,
    seen: HashMap<usize, Seen>,
    /// So many times as long as moving a region takes, it rests then.
    rests: u32,
}

/// What was seen of a region at the last look, if it had enough that is resident.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Resident,
    Huge,
}

/// Starts the thread.
pub fn start() -> Result<()> {
    let mut watch = Watch::new(RESTS)?;
    Builder::new().name("annals-huge".into()).spawn(move || {
        while let Ok(worked) = watch.look() {
            sleep((worked * RESTS).max(REST_MIN));
        }
    })?;
    Ok(())
}

/// Moves everything that is resident.
pub fn collapse_now() -> Result<Collapsed> {
    let mut watch = Watch::new(0)?;
    watch.look()?;
    watch.look()?;
    Ok(watch.collapsed())
}

impl Watch {
    /// Errors: `Unsupported` if the system has no huge pages or cannot move to them.
    pub fn new(rests: u32) -> Result<Watch> {
        is_known()?;
        Ok(Watch { regions: Regions::new()?, seen: HashMap::new(), rests })
    }

    /// Moves what was resident at the look before and is now. Returns how long it has worked apart from that.
    pub fn look(&mut self) -> Result<Duration> {
        let begin = Instant::now();
        let mut moving = Duration::ZERO;
        let mut seen = HashMap::new();
        for start in self.regions.starts()? {
            let (resident, pages) = self.regions.resident(start)?;
            // A huge page needs memory for what was not resident, too.
            if resident < pages / 4 * 3 {
                continue;
            }
            let now = match self.seen.get(&start) {
                Some(Seen::Huge) if resident == pages => Seen::Huge,
                Some(Seen::Resident) => {
                    let begin = Instant::now();
                    let moved = collapse(start, self.regions.huge_bytes);
                    sleep(begin.elapsed() * self.rests);
                    moving += begin.elapsed();
                    // What is refused may be taken the next time.
                    if moved.is_ok() { Seen::Huge } else { Seen::Resident }
                }
                // New, or the allocator has given back a part of it: that splits a huge page, and may go on.
                None | Some(Seen::Huge) => Seen::Resident,
            };
            seen.insert(start, now);
        }
        self.seen = seen;
        Ok(begin.elapsed().saturating_sub(moving))
    }

    /// What is where after the last look.
    pub fn collapsed(&self) -> Collapsed {
        let bytes = |wanted| {
            let count = self.seen.values().filter(|seen| **seen == wanted).count();
            (count * self.regions.huge_bytes) as u64
        };
        Collapsed { huge_bytes: bytes(Seen::Huge), refused_bytes: bytes(Seen::Resident) }
    }
}
