//! The open connections. When there are too many, an idle one is closed to make room.

use std::sync::{Arc, Weak};

use super::connection::Activity;

/// The activity of the open connections. The accepting thread owns it.
#[derive(Default)]
pub struct OpenConnections {
    // Closed connections stay in the list until it is cleaned. Weak, so that a closed connection frees its memory.
    list: Vec<Weak<Activity>>,
}

impl OpenConnections {
    /// Notes a connection that is being opened; at most `connections_max` are open at once.
    pub fn add(&mut self, connections_max: usize) -> Arc<Activity> {
        // Twice as many as can be open, so that cleaning the list costs little per connection.
        if self.list.len() / 2 >= connections_max {
            self.forget_closed();
        }
        let activity = Arc::new(Activity::default());
        self.list.push(Arc::downgrade(&activity));
        activity
    }

    /// Asks an idle connection to close: the oldest one that never had a request, otherwise the one with the oldest
    /// last request. False if all of them have requests in progress or answers to send.
    pub fn close_idlest(&mut self) -> bool {
        self.forget_closed();
        let open = self.list.iter().filter_map(Weak::upgrade);
        let idle = open.filter_map(|activity| Some((activity.idleness()?, activity)));
        let Some((_, idlest)) = idle.max_by_key(|(idleness, _)| *idleness) else { return false };
        idlest.evicted.notify_one();
        true
    }

    fn forget_closed(&mut self) {
        // The task of a connection holds its activity while the connection is open.
        self.list.retain(|activity| activity.strong_count() > 0);
    }
}
