//! The HTTP door: translates requests into calls of the engine and results into JSON. It decides nothing.

// In the order a newcomer should read them.
#[rustfmt::skip]
mod server;
mod connection;
mod open_connections;
mod eager;
mod linger;
mod limits;
mod traffic;
mod door;
mod hosts;
mod router;
mod endpoint;
mod parameters;
mod query;
mod body;
mod patience;
mod upload;
mod call;
mod answer;
mod sending;
mod etag;
mod commit;
mod problem;
mod instances;
mod lifecycle;
mod versions;
mod neighbors;
mod walks;
mod graph;
mod offset;
mod lines;
mod find;
mod classifications;
mod types;
mod transactions;
mod log;
mod import;
mod export;
mod feed;
mod health;
mod metrics;
mod openapi;
mod schemas;
mod line_schemas;

pub use hosts::Host;
pub use limits::{Limits, STREAMS_MAX};
pub use linger::STAY_TIME_MAX;
pub use server::{Settings, serve};
