//! `annals backup`: a copy at one position, made while writers continue.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use annals::{BackupReport, DamagedContent, Error, ErrorKind, Hashing, Position, ReceivedBackup, Sha256};
use annals_exchange::text::{count, counted, one_line};
use annals_json::backup_to_json;
use annals_server::{BACKUP_END, external_contents_count};
use clap::Args;
use hyper::body::Bytes;
use serde_json::Value as Json;

use super::listing::json_of_line;
use crate::context::Context;
use crate::output::bytes;
use crate::place::Answer;
use crate::progress::Progress;
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::{DAMAGED, Outcome, Stop};

/// Longest report at the end of a backup that a server sends. Units: bytes.
const END_BYTES_MAX: u64 = 16 << 20;

/// Copy the repository as it is now into a new folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals backup /backup/monday
  annals --server https://annals.example backup /backup/monday
  annals -r /backup/monday stats           a backup is a repository
  annals restore /backup/monday again      verifies while it copies
It may run while another process writes. The copy holds everything up to one position. A backup that was cut off does
not open; make it again, into the same folder.")]
pub struct Arguments {
    /// New folder, or an empty one
    folder: PathBuf,
}

/// Makes the copy and prints its size.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    let report = match context.asks_server() {
        true => receive(context, folder)?,
        false => copy(context, folder)?,
    };
    print(context, "backed up", &report, folder)?;
    let shown = Shown(&report);
    let external_count = shown.number("externalContents");
    if external_count > 0 && !context.output.is_json() {
        let number = count(external_count);
        context
            .output
            .line(format!("not in the copy: the bytes of {number} external contents of the LDP door"))?;
    }
    let unreadable: Vec<Shown> = shown.all("unreadable").collect();
    if unreadable.is_empty() {
        return Ok(());
    }
    if !context.output.is_json() {
        let contents = counted(unreadable.len() as u64, "content");
        context.output.line(format!("not in the copy: {contents} that could not be read"))?;
        for damage in unreadable {
            let instances: Vec<&str> =
                damage.all("instances").filter_map(|instance| instance.0.as_str()).collect();
            let text = format!("{} ({})", damage.text("problem"), instances.join(", "));
            context.output.line(one_line(&text))?;
        }
    }
    Err(Stop::Silent(DAMAGED))
}

/// Copies the repository of a folder.
fn copy(context: &Context, folder: &Path) -> Outcome<Json> {
    let repository = context.open_to_read()?;
    let progress = Progress::watch_folder("backup", folder, repository.log_bytes());
    let report = repository.backup(folder);
    progress.finish();
    let mut json = backup_to_json(&report?);
    json["externalContents"] = external_contents_count(&repository.snapshot())?.into();
    Ok(json)
}

/// Writes the files that a server sends.
fn receive(context: &mut Context, folder: &Path) -> Outcome<Json> {
    let answer = context.ask(Request::get("/v1/backup").patient())?;
    let mut backup = ReceivedBackup::begin(folder)?;
    let failure = Rc::new(RefCell::new(None));
    let progress = Progress::new("backup", "bytes");
    let body =
        Body { answer, rest: Bytes::new(), failure: Rc::clone(&failure), progress: &progress, done: 0 };
    let received = receive_files(body, &mut backup, folder);
    progress.finish();
    // The reason why the answer ended is more useful than the error that it ended.
    if let Some(stop) = failure.borrow_mut().take() {
        return Err(stop);
    }
    let end = received?;
    backup.finish(&report_of(&end)?)?;
    let mut json = end;
    if let Some(members) = json.as_object_mut() {
        members.remove("files");
    }
    Ok(json)
}

/// Writes each file. Shape: the report at the end.
///
/// Errors: `Io` if the end is missing; `Corrupted` if a file is not the one that was sent.
fn receive_files(body: Body, backup: &mut ReceivedBackup, folder: &Path) -> Outcome<Json> {
    let mut archive = tar::Archive::new(body);
    let mut sums = BTreeMap::new();
    let mut end: Option<Json> = None;
    let broken = |source| Error::io("read the backup", source);
    // Raw: a header of an extension would be read into memory, however long it is. The server sends none.
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.size();
        if name == BACKUP_END {
            if size > END_BYTES_MAX {
                let text =
                    format!("backup: expected at most {END_BYTES_MAX} bytes in {BACKUP_END}, found {size}");
                return Err(Error::new(ErrorKind::TooLarge, text).into());
            }
            let mut text = Vec::new();
            entry.read_to_end(&mut text).map_err(broken)?;
            end = Some(json_of_line(&text)?);
            continue;
        }
        if end.is_some() {
            let text = format!("backup: expected nothing behind {BACKUP_END}, found {}", one_line(&name));
            return Err(Error::new(ErrorKind::Corrupted, text).into());
        }
        check_room(folder, size)?;
        let mut summed = Summed { from: &mut entry, hashing: Hashing::of(&[]) };
        backup.file(&name, &mut summed)?;
        // A content is named by its sum, which is compared while it is written.
        if name.starts_with("log/") {
            sums.insert(name, summed.hashing.finish().first().map(ToString::to_string).unwrap_or_default());
        }
    }
    // The connection may break behind the last file, too.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    let missing = || {
        let text = "backup: expected its end, found that the server sends no more; make it again, into the same folder";
        Error::new(ErrorKind::Io, text)
    };
    let end = end.ok_or_else(missing)?;
    let expected: BTreeMap<String, String> = Shown(&end["files"])
        .members()
        .map(|(name, sum)| (name.to_owned(), sum.as_str().unwrap_or_default().to_owned()))
        .collect();
    if sums == expected {
        return Ok(end);
    }
    let text = "backup: expected the files of the log with the sums that the server told, found others; make it again, into \
                the same folder";
    Err(Error::new(ErrorKind::Corrupted, text).into())
}

/// Refuses a file before its bytes come, if the disk has no room for it.
fn check_room(folder: &Path, size: u64) -> Result<(), Error> {
    let known = rustix::fs::statvfs(folder);
    let known = known.map_err(|error| Error::io("ask for the room on the disk", error.into()))?;
    let room = known.f_bavail.saturating_mul(known.f_frsize);
    if size <= room {
        return Ok(());
    }
    let text = format!("{}: expected room for a file of {size} bytes, found {room}", folder.display());
    Err(Error::new(ErrorKind::NoRoom, text))
}

/// The report that a server sends.
fn report_of(end: &Json) -> Result<BackupReport, Error> {
    let end = Shown(end);
    let damaged = |damage: Shown| {
        let sha256 = Sha256::parse(damage.text("sha256"))?;
        Some(DamagedContent { sha256, problem: damage.text("problem").to_owned(), instances: Vec::new() })
    };
    let unreadable: Option<Vec<DamagedContent>> = end.all("unreadable").map(damaged).collect();
    let unreadable = unreadable.ok_or_else(|| {
        Error::new(ErrorKind::Corrupted, "backup: expected digests of contents in its end, found other text")
    })?;
    Ok(BackupReport {
        position: Position(end.number("position")),
        records_count: end.number("records"),
        bytes: end.number("bytes"),
        contents_count: end.number("contents"),
        contents_bytes: end.number("contentsBytes"),
        unreadable,
    })
}

/// The body of an answer, read as a file.
struct Body<'p> {
    answer: Answer,
    rest: Bytes,
    /// Why the answer ended early.
    failure: Rc<RefCell<Option<Stop>>>,
    progress: &'p Progress,
    done: u64,
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.answer.part() {
                Ok(Some(part)) => self.rest = part,
                Ok(None) => return Ok(0),
                Err(stop) => {
                    self.failure.borrow_mut().get_or_insert(stop);
                    return Err(io::Error::other("the answer was cut off"));
                }
            }
        }
        let length = self.rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest.split_to(length));
        self.done += length as u64;
        self.progress.set(self.done, None);
        Ok(length)
    }
}

/// A file whose bytes are summed while they are read.
struct Summed<'r, R> {
    from: &'r mut R,
    hashing: Hashing,
}

impl<R: Read> Read for Summed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.hashing.update(&buffer[..count]);
        Ok(count)
    }
}

/// Prints the size of a copy.
pub fn print(context: &mut Context, verb: &str, report: &Json, folder: &Path) -> Outcome {
    if context.output.is_json() {
        let mut json = report.clone();
        json["folder"] = folder.display().to_string().into();
        return context.output.json(&json);
    }
    let report = Shown(report);
    let (records, size) = (counted(report.number("records"), "record"), bytes(report.number("bytes")));
    let contents = match report.number("contents") {
        0 => String::new(),
        number => format!(", with {}, {}", counted(number, "content"), bytes(report.number("contentsBytes"))),
    };
    context.output.line(format!(
        "{verb} {records}, {size}{contents}, up to position {} to {}",
        report.number("position"),
        folder.display()
    ))
}
