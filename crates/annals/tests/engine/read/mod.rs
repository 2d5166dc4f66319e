//! Searches, walks, the log with its values, and subscriptions.

mod searches;
mod graph_queries;
mod graph_proxies;
mod graph_speed;
mod members_speed;
mod logged;
mod subscriptions;
mod watched_sets;
mod completions;
