//! Looking at memory again and again, and moving what stays.

use std::collections::HashMap;
use std::io::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use crate::advice::{collapse, is_known};
use crate::regions::Regions;

/// From one look to the next.
const LOOK_REST_MIN: Duration = Duration::from_secs(10);
const LOOK_REST_MAX: Duration = Duration::from_secs(300);
pub const BEHIND: Pace = Pace { rests: 99, refusals_max: 16 };
/// Longest rest after one region, which may seem to have taken long because the process was stopped.
const MOVE_REST_MAX: Duration = Duration::from_secs(10);
/// For so many looks what has been moved is taken to be where it is.
const HUGE_LOOKS: u64 = 60;

/// How much of the time of a process and of its system is used.
#[derive(Clone, Copy)]
pub struct Pace {
    /// So many times as long as it has worked, the thread rests.
    pub rests: u32,
    /// After so many refusals, one after the other, the rest waits for the next look: each attempt makes the system look for room.
    pub refusals_max: usize,
}

/// The memory of the process, and what was seen of it.
pub struct Watch {
    pub regions: Regions,
    /// Moves the memory at an address, so many bytes.
    pub collapse: fn(usize, usize) -> Result<()>,
    pace: Pace,
    pub seen: HashMap<usize, Seen>,
    looks: u64,
    /// The address at which a look begins: nothing waits for ever behind what is always refused.
    first: usize,
}

/// What was seen of a region at the last look, if enough of it is resident.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Resident,
    Refused,
    /// Moved at the look with this number.
    Huge(u64),
}

/// Starts the thread, unless there is one.
pub fn start() -> Result<()> {
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    let mut watch = Watch::new(BEHIND)?;
    if IS_STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let started = Builder::new().name("annals-huge".into()).spawn(move || {
        loop {
            // What cannot be read now, for want of a file handle, can be the next time.
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

    /// Moves what was resident at the look before and is now. Returns how long it has worked apart from that.
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
                // New, or the allocator has given back a part of it, which splits a huge page, and may go on.
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
