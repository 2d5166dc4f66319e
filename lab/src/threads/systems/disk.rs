//! The limit of commits: threads hand bytes to one thread that writes them, syncs, and wakes the threads.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::closed_and_open::repeat;
use super::request::Request;
use crate::harness::System;
use crate::lines::HandOver;
use crate::outcome::Outcome;

/// Bytes that a commit of Annals takes in the log.
const COMMIT_BYTES: usize = 256;

/// The file that bytes are written to.
#[derive(Default)]
pub struct Disk(PathBuf);

impl System for Disk {
    fn ask(&mut self, request: &Value, _: Duration) -> Outcome<Value> {
        match serde_json::from_value(request.clone())? {
            Request::Open { folder } => {
                self.0 = folder.join("raw");
                let durability = "synced-group";
                Ok(json!({ "version": "-", "durability": durability, "settings": {} }))
            }
            Request::Commits(wanted) => {
                let hand_over = HandOver::start(&self.0, wanted.threads, COMMIT_BYTES)?;
                let (answer, _) = repeat(
                    wanted,
                    |_| Ok(()),
                    |thread, (): &mut ()| {
                        hand_over.pass(thread)?;
                        Ok(1)
                    },
                )?;
                Ok(serde_json::to_value(answer)?)
            }
            Request::Close => Ok(json!({})),
            _ => Ok(json!({ "skip": "a file is no graph" })),
        }
    }
}
