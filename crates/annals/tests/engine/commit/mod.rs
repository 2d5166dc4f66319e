//! Commits: the queue, tickets, the leader, the clock, hooks, and several writers.

mod isolation;
mod writers;
mod another_log;
mod unanswered;
mod repeats;
mod takeovers;
mod shared_stores;
mod own_caches;
mod tags_of_logs;
mod compacted_log;
mod tickets;
mod leaders;
mod clock;
mod settled;
mod validation;
