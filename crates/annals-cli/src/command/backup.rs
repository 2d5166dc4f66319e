//! `annals backup`: a copy at one position, made while writers continue.

use std::path::PathBuf;

use annals::{BackupReport, ErrorKind, Find, Repository, Result};
use annals_exchange::text::count;
use annals_server::EXTERNAL;
use clap::Args;
use serde_json::json;

use super::content::{damaged_to_json, damaged_to_text};
use crate::context::Context;
use crate::output::bytes;
use crate::progress::Progress;
use crate::stop::{DAMAGED, Outcome, Stop};

/// Copy the repository as it is now into a new folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals backup /backup/monday
  annals -r /backup/monday stats           a backup is a repository
  annals restore /backup/monday again      verifies while it copies
It may run while another process writes. The copy holds everything up to one position.")]
pub struct Arguments {
    /// New folder, or an empty one
    folder: PathBuf,
}

/// Makes the copy and prints its size.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let progress = Progress::watch_folder("backup", &arguments.folder, repository.log_bytes());
    let report = repository.backup(&arguments.folder);
    progress.finish();
    let report = report?;
    let external_count = external_count(&repository)?;
    print(context, "backed up", &report, &arguments.folder, Some(external_count))?;
    if external_count > 0 && !context.output.is_json() {
        let number = count(external_count);
        context
            .output
            .line(format!("not in the copy: the bytes of {number} external contents of the LDP door"))?;
    }
    if report.unreadable.is_empty() {
        return Ok(());
    }
    if !context.output.is_json() {
        let number = count(report.unreadable.len() as u64);
        context.output.line(format!("not in the copy: {number} contents that could not be read"))?;
        for damage in &report.unreadable {
            context.output.line(damaged_to_text(damage))?;
        }
    }
    Err(Stop::Silent(DAMAGED))
}

/// Number of binaries of the LDP door whose bytes are elsewhere.
fn external_count(repository: &Repository) -> Result<u64> {
    let condition = format!("`{EXTERNAL}` exists");
    let find = Find { visited_max: usize::MAX, ..Find::parse(&condition)? };
    match repository.snapshot().count_entities(&find) {
        // No instance has this property.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        counted => counted,
    }
}

/// Prints the size of a copy, and how many external contents have no bytes in it, if that is known.
pub fn print(
    context: &mut Context,
    verb: &str,
    report: &BackupReport,
    folder: &std::path::Path,
    external_count: Option<u64>,
) -> Outcome {
    if context.output.is_json() {
        let mut json = json!({
            "position": report.position.0,
            "records": report.records_count,
            "bytes": report.bytes,
            "contents": report.contents_count,
            "contentsBytes": report.contents_bytes,
            "unreadable": damaged_to_json(&report.unreadable),
            "folder": folder.display().to_string(),
        });
        if let Some(number) = external_count {
            json["externalContents"] = number.into();
        }
        return context.output.json(&json);
    }
    let (records, size) = (count(report.records_count), bytes(report.bytes));
    let contents = match report.contents_count {
        0 => String::new(),
        number => format!(", with {} contents, {}", count(number), bytes(report.contents_bytes)),
    };
    context.output.line(format!(
        "{verb} {records} records, {size}{contents}, up to position {} to {}",
        report.position,
        folder.display()
    ))
}
