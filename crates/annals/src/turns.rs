//! Turns of the processor, for the threads of a repository.

use std::time::Duration;

/// What the scheduler takes as the shortest.
const TURN: Duration = Duration::from_micros(100);

/// Asks for short turns for the calling thread, or takes that back. Who is waited for is not to wait for its own turn behind all who
/// wait for it; it has no more of the processor for that.
pub(crate) fn ask_for_short(is_short: bool) {
    // Where there is no such thing, it waits as long as others do.
    let _ = if is_short { annals_time_slice::request(TURN) } else { annals_time_slice::reset() };
}
