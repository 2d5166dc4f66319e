//! Bounds how often something begins.

use std::time::Instant as Clock;

/// How many of something may begin now.
#[derive(Debug)]
pub struct Rate {
    left: f64,
    since: Clock,
}

impl Rate {
    /// As many as may begin at once.
    pub fn new() -> Rate {
        Rate { left: f64::INFINITY, since: Clock::now() }
    }

    /// True if one more begins: `per_second` become possible within a second, and at most `most` at once.
    pub fn begins(&mut self, per_second: u32, most: u32, now: Clock) -> bool {
        let more = now.saturating_duration_since(self.since).as_secs_f64() * f64::from(per_second);
        let left = (self.left + more).min(f64::from(most));
        if left < 1.0 {
            return false;
        }
        *self = Rate { left: left - 1.0, since: now };
        true
    }
}
