//! Answers of handlers: JSON documents and pages, lines, and events without end. Must not know which endpoints there
//! are.

// In the order a newcomer should read them.
mod documents;
pub mod lines;
pub mod event_stream;

pub use documents::{
    SEGMENT, json, page, parts, receipt_to_json, with_etag, with_location, with_position, written,
};
