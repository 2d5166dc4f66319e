//! Turns of the processor, for the threads of a repository.

use std::time::Duration;

/// What the scheduler takes as the shortest.
const TURN: Duration = Duration::from_micros(100);

/// Asks for short turns for the calling thread. Everybody who commits waits for what it does, so it is not to wait for its own turn
/// behind all of them; it has no more of the processor for that.
pub(crate) fn ask_for_short() {
    // Where there is no such thing, it waits as long as others do.
    let _ = annals_time_slice::request(TURN);
}
