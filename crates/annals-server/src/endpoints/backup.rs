//! A backup of the running server as one stream: a tar of the files that `annals backup` writes into a folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::{BackupPart, BackupReport, Error, ErrorKind, Find, Hashing, Repository, Snapshot};
use annals_json::backup_to_json;
use http::Method;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value as Json;

use crate::answer::lines::{self, CHUNK_BYTES, Lines};
use crate::description::endpoint::Endpoint;
use crate::ldp::EXTERNAL;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::Call;

/// The name of the last file, which says what came before it.
pub const BACKUP_END: &str = "backup.json";
/// The media type of the stream: generators of clients know no tar.
const TAR: &str = "application/octet-stream";
/// A tar consists of blocks of this size. Units: bytes.
const BLOCK_BYTES: usize = 512;
/// The rights of each file: a backup holds everything.
const MODE: u32 = 0o600;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/backup", "Read a backup of everything as one tar", get)
            .describe(
                "The files that `annals backup` writes: contents, then the log up to one position. Unpacked into an empty folder \
                 they are a repository. Reads and writes continue. The last file, `backup.json`, has the report and the \
                 SHA-256 of each file of the log; without it the backup is not whole. It takes some 100 bytes of memory for each content, and no room on \
                 the disk. One runs at a time, and none beside a compaction or a check.",
            )
            .tag("operation")
            .streaming()
            .answers_as(200, "The backup.", TAR, "")
            .fails(&["busy", "corrupted", "unavailable", "io"]),
    ]
}

async fn get(call: Box<Call>) -> Outcome {
    call.check_reads_all()?;
    let repository = call.door.repository()?.clone();
    // A compaction would rewrite the log that is being sent.
    let held = Arc::clone(&call.door.bounds.gates.compactions).try_acquire_owned().map_err(|_| {
        Problem::busy("a backup, a check or a compaction is under way; try again when it is done")
    })?;
    let snapshot = repository.try_snapshot()?;
    let answer = lines::send_whole(call, snapshot, move |_, _, lines| {
        let _held = held;
        let mut tar = Tar { lines, sums: BTreeMap::new(), open: None, left: 0, padding: 0, problem: None };
        let sent = repository.send_backup(|part| tar.part(part));
        match (sent, tar.problem.take()) {
            (_, Some(problem)) => Err(problem),
            (Err(error), None) => {
                tracing::error!(kind = error.kind().name(), "not backed up: {error}");
                Err(error.into())
            }
            (Ok(report), None) => tar.end(&end_to_json(&repository, &report)?),
        }
    });
    let mut answer = answer.await?;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TAR));
    Ok(answer)
}

fn end_to_json(repository: &Repository, report: &BackupReport) -> annals::Result<Json> {
    let mut json = backup_to_json(report);
    json["externalContents"] = external_contents_count(&repository.try_snapshot()?)?.into();
    Ok(json)
}

/// Number of binaries of the LDP door whose bytes are elsewhere, so that no backup has them.
///
/// Errors: those of reading.
pub fn external_contents_count(snapshot: &Snapshot) -> annals::Result<u64> {
    let condition = format!("`{EXTERNAL}` exists");
    let find = Find { visited_max: usize::MAX, ..Find::parse(&condition)? };
    match snapshot.count_entities(&find) {
        // No instance has this property.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        counted => counted,
    }
}

/// The tar that is being sent.
struct Tar<'l> {
    lines: &'l mut Lines,
    /// The SHA-256 of each file of the log.
    sums: BTreeMap<String, String>,
    /// The file of the log that is being sent.
    open: Option<(String, Hashing)>,
    /// Units: bytes of the present file that are still to come, and that fill its last block.
    left: u64,
    padding: usize,
    /// Why the answer could not be sent.
    problem: Option<Problem>,
}

impl Tar<'_> {
    fn part(&mut self, part: BackupPart<'_>) -> annals::Result<()> {
        match part {
            BackupPart::File { name, length } => self.begin(name, length),
            BackupPart::Bytes(bytes) => {
                if let Some((_, hashing)) = &mut self.open {
                    hashing.update(bytes);
                }
                let sent = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                assert!(sent <= self.left, "a file has the length that its header tells");
                self.left -= sent;
                self.send(bytes)
            }
        }
    }

    /// Ends the file before, and sends the header of the next one.
    fn begin(&mut self, name: &str, length: u64) -> annals::Result<()> {
        self.finish_file()?;
        let broken = |source| Error::io("write the header of a file", source).with("name", name);
        let mut header = tar::Header::new_ustar();
        header.set_path(name).map_err(broken)?;
        header.set_mode(MODE);
        header.set_mtime(0);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(length);
        header.set_cksum();
        self.left = length;
        let last = length % u64::try_from(BLOCK_BYTES).unwrap_or(1);
        self.padding = (BLOCK_BYTES - usize::try_from(last).unwrap_or_default()) % BLOCK_BYTES;
        self.open = name.starts_with("log/").then(|| (name.to_owned(), Hashing::of(&[])));
        self.send(header.as_bytes())
    }

    fn finish_file(&mut self) -> annals::Result<()> {
        assert_eq!(self.left, 0, "a file has the length that its header tells");
        if let Some((name, hashing)) = self.open.take() {
            let sum = hashing.finish().first().map(ToString::to_string).unwrap_or_default();
            self.sums.insert(name, sum);
        }
        let padding = std::mem::take(&mut self.padding);
        self.send(&[0; BLOCK_BYTES][..padding])
    }

    /// Sends the last file and the end of the tar.
    fn end(mut self, report: &Json) -> Result<(), Problem> {
        let outcome = self.finish_file().and_then(|()| {
            let sums = self.sums.iter().map(|(name, sum)| (name.clone(), sum.clone().into()));
            let mut report = report.clone();
            report["files"] = Json::Object(sums.collect());
            let text = format!("{report}\n");
            self.begin(BACKUP_END, u64::try_from(text.len()).unwrap_or_default())?;
            self.part(BackupPart::Bytes(text.as_bytes()))?;
            self.finish_file()?;
            self.send(&[0; 2 * BLOCK_BYTES])
        });
        match self.problem.take() {
            Some(problem) => Err(problem),
            None => Ok(outcome?),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> annals::Result<()> {
        for piece in bytes.chunks(CHUNK_BYTES) {
            self.lines.part(piece).map_err(|problem| {
                self.problem = Some(problem);
                Error::new(ErrorKind::Cancelled, "the client takes no more of the backup")
            })?;
        }
        Ok(())
    }
}
