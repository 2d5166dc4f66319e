//! `annals backup`: a copy at one position, made while writers continue.

use std::path::PathBuf;

use annals::BackupReport;
use annals_exchange::text::count;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::output::bytes;
use crate::progress::Progress;
use crate::stop::Outcome;

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
    print(context, "backed up", &report?, &arguments.folder)
}

/// Prints the size of a copy.
pub fn print(context: &mut Context, verb: &str, report: &BackupReport, folder: &std::path::Path) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&json!({
            "position": report.position.0,
            "records": report.records_count,
            "bytes": report.bytes,
            "contents": report.contents_count,
            "contentsBytes": report.contents_bytes,
            "folder": folder.display().to_string(),
        }));
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
