//! The log in PostgreSQL beside a real server: conformance, the engine on it, faults, and refusals.

mod server;
mod proxy;
mod support;
mod conformance;
mod stored;
mod rewriting;
mod engine;
mod opening;
mod answers;
mod bars;
mod outages;
mod speed;
