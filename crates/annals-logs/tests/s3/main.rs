//! Logs, objects and registers in S3 beside Moto: conformance, the engine on them, faults, and refusals.

mod proxy;
mod server;
mod raw;
mod support;
mod conformance;
mod objects;
mod engine;
mod opening;
mod lost_answers;
mod log;
