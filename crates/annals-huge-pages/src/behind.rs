//! Looks at memory at intervals, and moves regions that stay resident.

use std::collections::HashMap;
use std::io::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::advice::{collapse, is_known};
use crate::regions::Regions;

/// Time between two looks.
const LOOK_REST_MIN: Duration = Duration::from_secs(10);
const LOOK_REST_MAX: Duration = Duration::from_secs(300);
pub const BEHIND: Pace = Pace { rests: 99, refusals_max: 16 };
/// Longest rest after one region. A region may seem to have taken long because the process was stopped.
const MOVE_REST_MAX: Duration = Duration::from_secs(10);
/// After this many looks a moved region is checked again.
const HUGE_LOOKS: u64 = 60;

/// Bounds on the time of the process and of the system.
#[derive(Clone, Copy)]
pub struct Pace {
    /// The thread rests this many times as long as it has worked.
    pub rests: u32,
    /// After this many refusals in a row, it rests until the next look: each attempt makes the system search for room.
    pub refusals_max: usize,
}

/// The memory of the process, and its state at the last look.
pub struct Watch {
    pub regions: Regions,
    /// Moves the memory at an address, with a length in bytes.
    pub collapse: fn(usize, usize) -> Result<()>,
    pace: Pace,
    pub seen: HashMap<usize, Seen>,
    looks: u64,
    /// The address at which the next look begins, so that regions after refused ones get their turn.
    first: usize,
}

/// The state of a region at the last look, if enough of it is resident.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Resident,
    Refused,
    /// Moved at the look with this number.
    Huge(u64),
}

/// Starts the thread, unless it runs already.
pub fn start() -> Result<()> {
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    let mut watch = Watch::new(BEHIND)?;
    if IS_STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let started = Builder::new().name("annals-huge".into()).spawn(move || {
        loop {
            // A read that fails now, because there is no file handle, may work next time.
            let worked = watch.look().unwrap_or_default();
            sleep((worked * BEHIND.rests).clamp(LOOK_REST_MIN, LOOK_REST_MAX));
        }
    });
    IS_STARTED.store(started.is_ok(), Ordering::Relaxed);
    started.map(|_| ())
}

impl Watch {
    /// Errors: `Unsupported` if the system has no huge pages or cannot move to them.
    pub fn new(pace: Pace) -> Result<Watch> {
        is_known()?;
        Ok(Watch { regions: Regions::new()?, collapse, pace, seen: HashMap::new(), looks: 0, first: 0 })
    }

    /// Moves regions that were resident at the last look and are now. Returns the time of its other work.
    pub fn look(&mut self) -> Result<Duration> {
        let begin = Instant::now();
        let mut moving = Duration::ZERO;
        let mut refusals = 0;
        let mut seen = HashMap::new();
        self.looks += 1;
        let mut starts = self.regions.starts()?;
        let first = starts.partition_point(|start| *start < self.first);
        starts.rotate_left(first);
        for start in starts {
            let resident = self.regions.resident(start)?;
            if !resident.is_enough() {
                continue;
            }
            let now = match self.seen.get(&start) {
                // The region is new; or the allocator has returned a part of it, which splits a huge page, and may
                // return more.
                None => Seen::Resident,
                Some(Seen::Huge(_)) if !resident.is_all() => Seen::Resident,
                Some(Seen::Huge(moved)) if self.looks - moved < HUGE_LOOKS => Seen::Huge(*moved),
                Some(_) if refusals == self.pace.refusals_max => Seen::Refused,
                Some(_) => {
                    let begin = Instant::now();
                    let moved = (self.collapse)(start, self.regions.huge_bytes).is_ok();
                    sleep((begin.elapsed() * self.pace.rests).min(MOVE_REST_MAX));
                    moving += begin.elapsed();
                    refusals = if moved { 0 } else { refusals + 1 };
                    self.first = start;
                    if moved { Seen::Huge(self.looks) } else { Seen::Refused }
                }
            };
            seen.insert(start, now);
        }
        self.seen = seen;
        Ok(begin.elapsed().saturating_sub(moving))
    }
}
