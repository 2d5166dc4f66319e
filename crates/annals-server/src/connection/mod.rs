//! Connections: TCP or TLS, HTTP/1.1 or HTTP/2, closed when they are idle, stuck or too many. Must not know the door, or
//! which requests there are.

// In the order a newcomer should read them.
pub mod stream;
pub mod outbox;
pub mod activity;
pub mod watched;
pub mod header_names;
pub mod open_connections;
pub mod service;
