//! The open connections. When there are too many, an idle one is closed to make room.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::activity::Activity;

/// Open connections that are looked at to make room for one. The next look begins where the last one ended, so a full
/// server refuses the next connection in some microseconds.
const LOOKED_AT_MAX: usize = 512;
/// A connection that has had a request makes room only after this time without one: its client may just be thinking.
const IDLE_MIN: Duration = Duration::from_secs(5);

/// The activity of the open connections. The accepting thread owns it.
#[derive(Default)]
pub struct OpenConnections {
    // Closed connections stay in the list until it is cleaned. Weak, so that a closed connection frees its memory.
    list: Vec<Weak<Activity>>,
    // Where the next look begins.
    next: usize,
}

impl OpenConnections {
    /// Notes a connection that is being opened; at most `connections_max` are open at once.
    pub fn add(&mut self, connections_max: usize) -> Arc<Activity> {
        // Twice as many as can be open, so that cleaning the list costs little per connection.
        if self.list.len() / 2 >= connections_max {
            // The task of a connection holds its activity while the connection is open.
            self.list.retain(|activity| activity.strong_count() > 0);
        }
        let activity = Arc::new(Activity::default());
        self.list.push(Arc::downgrade(&activity));
        activity
    }

    /// Asks an idle connection to close, of a bounded number that it looks at: the oldest one that never had a request,
    /// otherwise the one with the oldest last request. False if none of them makes room.
    pub fn close_idlest(&mut self) -> bool {
        let (mut idlest, mut looked_at) = (None, 0);
        for _ in 0..self.list.len() {
            self.next = if self.next + 1 < self.list.len() { self.next + 1 } else { 0 };
            let Some(activity) = self.list[self.next].upgrade() else { continue };
            if let Some(idleness) = activity.idleness()
                && makes_room(idleness)
                && idlest.as_ref().is_none_or(|(most, _)| idleness > *most)
            {
                idlest = Some((idleness, activity));
            }
            looked_at += 1;
            if looked_at == LOOKED_AT_MAX {
                break;
            }
        }
        idlest.inspect(|(_, activity)| activity.evicted.notify_one()).is_some()
    }
}

fn makes_room((is_fresh, idle_time): (bool, Duration)) -> bool {
    is_fresh || idle_time >= IDLE_MIN
}
