//! The report of a backup as JSON.

use annals::{BackupReport, DamagedContent};
use serde_json::{Value as Json, json};

/// The JSON form of the report of a backup.
pub fn backup_to_json(report: &BackupReport) -> Json {
    json!({
        "position": report.position.0,
        "records": report.records_count,
        "bytes": report.bytes,
        "contents": report.contents_count,
        "contentsBytes": report.contents_bytes,
        "unreadable": damaged_to_json(&report.unreadable),
    })
}

/// Damaged contents as JSON.
pub fn damaged_to_json(damaged: &[DamagedContent]) -> Json {
    let one = |damage: &DamagedContent| {
        let instances: Vec<String> = damage.instances.iter().map(ToString::to_string).collect();
        json!({ "sha256": damage.sha256.to_string(), "problem": damage.problem, "instances": instances })
    };
    damaged.iter().map(one).collect()
}
