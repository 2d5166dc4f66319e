//! A system that does nothing: what is measured of it is the harness.

use std::time::Duration;

use serde_json::{Value, json};

use super::closed_and_open::repeat;
use super::request::Request;
use crate::harness::System;
use crate::outcome::Outcome;

/// Counts, and keeps nothing.
pub struct Null;

impl System for Null {
    fn ask(&mut self, request: &Value, _: Duration) -> Outcome<Value> {
        match serde_json::from_value(request.clone())? {
            Request::Open { .. } => Ok(json!({ "version": "-", "durability": "memory", "settings": {} })),
            Request::Commits(wanted) => {
                Ok(serde_json::to_value(repeat(wanted, |_| Ok(()), |_, (): &mut ()| Ok(1))?.0)?)
            }
            Request::Close => Ok(json!({})),
            _ => Ok(json!({ "skip": "keeps nothing, so that there is nothing to read" })),
        }
    }
}
