//! The log alone: every implementation, damage of its files, and its bytes.

mod log_conformance;
mod log_recovery;
mod log_maintenance;
mod log_reader;
mod log_speed;
mod stores;
