//! The report of a compaction as JSON.

use annals::CompactReport;
use serde_json::{Value as Json, json};

/// The JSON form of the report of a compaction.
pub fn compaction_to_json(report: &CompactReport) -> Json {
    json!({
        "segments": report.segments_count,
        "records": report.records_count,
        "changes": report.changes_count,
        "contents": report.contents_count,
        "contentsBytes": report.contents_bytes,
        "bytesBefore": report.bytes_before,
        "bytesAfter": report.bytes_after,
    })
}
