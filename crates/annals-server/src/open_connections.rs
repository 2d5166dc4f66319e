//! The open connections, so that one on which nothing is done makes room for another when there are too many.

use std::sync::{Arc, Weak};

use super::connection::Activity;

/// What happens on the connections that are open. The thread that accepts has it.
#[derive(Default)]
pub struct OpenConnections {
    // Those that were closed are in it until it is looked through. Weak: what a connection holds is given back with it.
    list: Vec<Weak<Activity>>,
}

impl OpenConnections {
    /// Notes a connection that is opened now; `connections_max` are open at once.
    pub fn add(&mut self, connections_max: usize) -> Arc<Activity> {
        // Twice as many as can be open: looking through them costs little for each that is opened.
        if self.list.len() / 2 >= connections_max {
            self.forget_closed();
        }
        let activity = Arc::new(Activity::default());
        self.list.push(Arc::downgrade(&activity));
        activity
    }

    /// Asks a connection to close on which nothing is done: of those that never had a request the oldest, otherwise the
    /// one whose last request is longest ago. False if requests are worked on, or answers sent, on all of them.
    pub fn close_idlest(&mut self) -> bool {
        self.forget_closed();
        let open = self.list.iter().filter_map(Weak::upgrade);
        let idle = open.filter_map(|activity| Some((activity.idleness()?, activity)));
        let Some((_, idlest)) = idle.max_by_key(|(idleness, _)| *idleness) else { return false };
        idlest.evicted.notify_one();
        true
    }

    fn forget_closed(&mut self) {
        // The task of a connection has its activity as long as it is open.
        self.list.retain(|activity| activity.strong_count() > 0);
    }
}
