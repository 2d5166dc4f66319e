//! Runs the real binary in temporary folders.

mod support;
#[path = "../support/mod.rs"]
mod server;
#[path = "../../../annals-logs/tests/postgres/server.rs"]
#[allow(dead_code, reason = "these tests use a part of it")]
mod postgres;
#[path = "../../../annals-logs/tests/s3/server.rs"]
#[allow(dead_code, reason = "these tests use a part of it")]
mod moto;
mod twin;
mod terminal;
mod remote;
mod impostors;
mod reading;
mod columns;
mod starting;
mod grouping;
mod writing;
mod hints;
mod importing;
mod spreadsheets;
mod kinds;
mod logging;
mod resuming;
mod merging;
mod plain_json;
mod contained;
mod serving;
mod exporting;
mod failing;
mod trees;
mod typing;
mod explaining;
mod walking;
mod mistakes;
mod as_of;
mod contents;
mod shell;
mod backing_up;
mod by_id;
mod sending;
mod stores;
mod stores_in_s3;
mod manual;
mod doctoring;
