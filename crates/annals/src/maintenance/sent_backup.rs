//! A backup as files that come one after the other: a server sends them, and a client writes them into a folder. The
//! folder is as one that [`Repository::backup`] writes.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::backup::{BackupReport, check_vacant, contents_to_copy};
use super::contents::{DamagedContent, NamedContents, name_instances};
use super::folder::{CONTENT, LOG, contents_in, log_folder, open_log};
use crate::contents::{Contents, Hashing};
use crate::log::{
    FileOptions, Log, LogPart, ReadLimit, SegmentPlan, begin_received, finish_received, receive_log_file,
    send_log, spoil_received,
};
use crate::model::Sha256;
use crate::record::{decode_record, each_named_content};
use crate::repository::Repository;
use crate::storage::{Disk, RealDisk, widen};
use crate::{Error, ErrorKind, Position, Result};

/// Units: bytes of zeros that stand for a content that cannot be read.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
/// Units: bytes of a received content that are read together.
const PIECE_BYTES: usize = 256 * 1024;

/// Most contents with other bytes than those of their names: a receiver keeps their names until the report names them.
const DAMAGED_MAX: usize = 10_000;

/// A part of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupPart<'p> {
    /// A file begins.
    File {
        /// Its path in the folder of the backup, with slashes.
        name: &'p str,
        /// Units: bytes.
        length: u64,
    },
    /// Bytes of the file that began last, in order.
    Bytes(&'p [u8]),
}

impl Repository {
    /// Gives the files of a backup of the repository as it is now, one after the other, while writers and readers
    /// continue. It takes constant memory, and no room on the disk. The files that make the log whole come last.
    ///
    /// Shape: contents, then segments of the log, then its marks. A content that turns out to be damaged while it is
    /// given is filled up with zeros; the report names it, and a receiver leaves it out.
    ///
    /// Errors: those of `take`; `Corrupted` if a record is damaged; `Unavailable` if the log is compacted meanwhile.
    pub fn send_backup(&self, mut take: impl FnMut(BackupPart<'_>) -> Result<()>) -> Result<BackupReport> {
        let inner = self.inner();
        let log = inner.committer.source().log();
        let position = self.try_snapshot()?.position();
        let contents = contents_to_copy(inner, position)?;
        // Order: first, because the log notices another generation while it is read.
        let generation = log.generation();
        let (plan, named) = plan(&**log, position)?;
        let mut unreadable = Vec::new();
        let mut given = (0, 0);
        for (sha256, size) in &named {
            match send_content(&contents, *sha256, *size, &mut take)? {
                Some(damage) => unreadable.push(damage),
                None => given = (given.0 + 1, given.1 + size),
            }
        }
        name_instances(&**log, position, &mut unreadable)?;
        send_log(&**log, generation, &plan, &mut |part| match part {
            LogPart::File(name, length) => take(BackupPart::File { name: &format!("{LOG}/{name}"), length }),
            LogPart::Bytes(part) => take(BackupPart::Bytes(part)),
        })?;
        Ok(BackupReport {
            position,
            records_count: position.0,
            bytes: plan.bytes(),
            contents_count: given.0,
            contents_bytes: given.1,
            unreadable,
        })
    }
}

/// The segments of a copy up to a position, and the contents that its records name.
fn plan(log: &dyn Log, position: Position) -> Result<(SegmentPlan, NamedContents)> {
    let (mut plan, mut named) = (SegmentPlan::new(), NamedContents::new());
    let mut next = Position(1);
    while next <= position {
        let records = log.read(next, ReadLimit::default())?;
        if records.is_empty() {
            let text = format!("{}: expected a record at {next}, found none", log.describe());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        for bytes in records {
            if next > position {
                break;
            }
            plan.push(&bytes);
            for change in &decode_record(next, &bytes)?.changes {
                each_named_content(change, &mut |content| {
                    named.insert(content.sha256, content.size);
                    Ok(())
                })?;
            }
            next = next.next();
        }
    }
    Ok((plan, named))
}

/// Gives a content as a file. Shape: what is wrong with it.
///
/// Errors: those of `take`.
fn send_content(
    contents: &Contents,
    sha256: Sha256,
    size: u64,
    take: &mut impl FnMut(BackupPart<'_>) -> Result<()>,
) -> Result<Option<DamagedContent>> {
    let name = format!("{CONTENT}/{sha256}");
    let (mut given, mut refused) = (None, None);
    let outcome = contents.reread(sha256, size, &[], &mut |bytes| {
        let begun = match given {
            Some(before) => before,
            None => {
                take(BackupPart::File { name: &name, length: size }).inspect_err(|_| refused = Some(()))?;
                0
            }
        };
        // More bytes than the file has would be those of the next one.
        let left = usize::try_from(size - begun).unwrap_or(usize::MAX);
        let bytes = bytes.get(..left).unwrap_or(bytes);
        given = Some(begun + widen(bytes.len()));
        if bytes.is_empty() {
            Ok(())
        } else {
            take(BackupPart::Bytes(bytes)).inspect_err(|_| refused = Some(()))
        }
    });
    match (outcome, refused) {
        (Err(error), Some(())) => Err(error),
        (Ok(_), _) => {
            if given.is_none() {
                take(BackupPart::File { name: &name, length: size })?;
            }
            Ok(None)
        }
        (Err(error), None) => {
            let mut left = given.map_or(0, |given| size - given);
            while left > 0 {
                let count = left.min(widen(ZEROS.len()));
                let zeros = ZEROS.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default();
                take(BackupPart::Bytes(zeros))?;
                left -= count;
            }
            Ok(Some(DamagedContent::of(sha256, &error)))
        }
    }
}

/// A backup whose files come one by one. Until [`ReceivedBackup::finish`] the folder does not open, and the next backup
/// into it replaces what is there.
pub struct ReceivedBackup {
    disk: Arc<dyn Disk>,
    target: PathBuf,
    contents: Contents,
    received: (u64, u64),
    /// Contents whose bytes were not those of their names.
    damaged: BTreeSet<Sha256>,
}

impl ReceivedBackup {
    /// Begins a backup in a new folder.
    ///
    /// Errors: `AlreadyExists` if `target` exists and is not empty; `NoRoom`; `Io`.
    pub fn begin(target: impl AsRef<Path>) -> Result<ReceivedBackup> {
        let target = target.as_ref().to_path_buf();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        check_vacant(&*disk, &target)?;
        begin_received(&*disk, &log_folder(&target))?;
        let contents = Contents::new(contents_in(&disk, &target));
        // Contents of an interrupted backup may be purged since.
        let known = contents.store().list().map_err(|error| contents.failed("list contents", "", error))?;
        if !known.is_empty() {
            let removed = contents.store().remove(&known);
            removed.map_err(|error| contents.failed("remove contents", "", error))?;
        }
        Ok(ReceivedBackup { disk, target, contents, received: (0, 0), damaged: BTreeSet::new() })
    }

    /// Writes a file, durably.
    ///
    /// Errors: `InvalidArgument` for a name that no file of a backup has, and for a content that came before; `Corrupted` for an
    /// empty file of a log; `TooLarge` if too many contents are damaged; `NoRoom`; `Io`, also of reading.
    pub fn file(&mut self, name: &str, bytes: &mut dyn Read) -> Result<()> {
        let (folder, in_folder) = name.split_once('/').unwrap_or_default();
        match (folder, Sha256::parse(in_folder)) {
            (LOG, _) => receive_log_file(&*self.disk, &log_folder(&self.target), in_folder, bytes),
            (CONTENT, Some(sha256)) => self.content(sha256, bytes),
            _ => {
                let text = format!("backup: expected the name of a file of a backup, found {name:?}");
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
        }
    }

    fn content(&mut self, sha256: Sha256, bytes: &mut dyn Read) -> Result<()> {
        let name = sha256.to_string();
        let is_there = match self.contents.store().length(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            known => {
                known.map(|_| true).map_err(|error| self.contents.failed("open a content", &name, error))?
            }
        };
        if is_there || self.damaged.contains(&sha256) {
            let text = format!("backup: expected each content once, found {name} again");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if self.damaged.len() >= DAMAGED_MAX {
            let text = format!(
                "backup: expected at most {DAMAGED_MAX} contents with other bytes than those of their names, found more"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let (mut failure, mut size) = (None, 0);
        let outcome = self.contents.store().put_named(&mut |out| {
            let (mut piece, mut hashing) = (vec![0; PIECE_BYTES], Hashing::of(&[]));
            size = 0;
            loop {
                let count = bytes.read(&mut piece).map_err(|error| {
                    failure = Some(Error::io("read the backup", error));
                    io::Error::other("the backup was cut off")
                })?;
                let read = piece.get(..count).unwrap_or_default();
                if read.is_empty() {
                    break;
                }
                hashing.update(read);
                out.write_all(read)?;
                size += widen(count);
            }
            if hashing.finish_apart().0 == sha256 {
                return Ok(name.clone());
            }
            self.damaged.insert(sha256);
            Err(io::Error::other("the content has other bytes"))
        });
        match (failure, outcome) {
            (Some(error), _) => Err(error),
            // The report of the sender says whether this was to be expected.
            (None, Err(_)) if self.damaged.contains(&sha256) => Ok(()),
            (None, Err(error)) => Err(self.contents.failed("write a content", &name, error)),
            (None, Ok(_)) => {
                self.received = (self.received.0 + 1, self.received.1 + size);
                Ok(())
            }
        }
    }

    /// Compares the files with the report of the sender, makes the folder a repository, and reads its log again.
    ///
    /// Errors: `Corrupted` if they differ, or if a record is damaged; `Gap`; `NoRoom`; `Io`.
    pub fn finish(self, sent: &BackupReport) -> Result<BackupReport> {
        let known: BTreeSet<Sha256> = sent.unreadable.iter().map(|damage| damage.sha256).collect();
        let other = self.damaged.iter().find(|sha256| !known.contains(sha256));
        let expected = (sent.contents_count, sent.contents_bytes);
        if other.is_some() || self.received != expected {
            let (count, bytes) = self.received;
            let text = format!(
                "{}: expected {} contents of {} bytes, found {count} of {bytes}{}; make the backup again, into the same folder",
                self.target.display(),
                expected.0,
                expected.1,
                other.map(|sha256| format!(", and other bytes for {sha256}")).unwrap_or_default()
            );
            return Err(Error::new(ErrorKind::Corrupted, text));
        }
        let log_path = log_folder(&self.target);
        finish_received(&*self.disk, &log_path, sent.position)?;
        match self.verify(sent) {
            Ok(()) => Ok(sent.clone()),
            Err(error) => {
                spoil_received(&*self.disk, &log_path)?;
                Err(error)
            }
        }
    }

    fn verify(&self, sent: &BackupReport) -> Result<()> {
        let log = open_log(&self.disk, &self.target, FileOptions::default(), true)?;
        let verified = log.verify()?;
        let found = (log.tail()?, verified.records_count);
        if found == (sent.position, sent.records_count) {
            return Ok(());
        }
        let text = format!(
            "{}: expected {} records, found {}; make the backup again, into the same folder",
            self.target.display(),
            sent.records_count,
            found.1
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewContent, NewEntity};

    /// The files that a repository sends.
    fn sent(repository: &Repository) -> (Vec<(String, Vec<u8>)>, BackupReport) {
        let mut files: Vec<(String, u64, Vec<u8>)> = Vec::new();
        let report = repository.send_backup(|part| {
            match part {
                BackupPart::File { name, length } => files.push((name.to_owned(), length, Vec::new())),
                BackupPart::Bytes(bytes) => files.last_mut().unwrap().2.extend(bytes),
            }
            Ok(())
        });
        for (name, length, bytes) in &files {
            assert_eq!(*length, widen(bytes.len()), "{name}");
        }
        (files.into_iter().map(|(name, _, bytes)| (name, bytes)).collect(), report.unwrap())
    }

    fn received(target: &Path, files: &[(String, Vec<u8>)]) -> ReceivedBackup {
        let mut backup = ReceivedBackup::begin(target).unwrap();
        for (name, bytes) in files {
            backup.file(name, &mut &bytes[..]).unwrap();
        }
        backup
    }

    /// A repository with a content, and its place.
    fn with_content(path: &Path) -> Repository {
        let repository = Repository::open(path).unwrap();
        let stored = repository.contents().unwrap().put(&mut &b"a scan"[..], &NewContent::of("a/b")).unwrap();
        let empty = repository.contents().unwrap().put(&mut &b""[..], &NewContent::of("a/b")).unwrap();
        for stored in [stored, empty] {
            repository
                .transact(|t| t.create_entity(NewEntity::new("page").property("content", stored.value())))
                .unwrap();
        }
        repository
    }

    /// Names and lengths of the files below a folder.
    fn listed(path: &Path) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        for folder in [LOG, CONTENT] {
            for entry in std::fs::read_dir(path.join(folder)).unwrap().flatten() {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                found.push((name, entry.metadata().unwrap().len()));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn received_files_are_those_of_a_backup_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let repository = with_content(&folder.path().join("r"));
        let made = repository.backup(folder.path().join("made")).unwrap();
        let (files, report) = sent(&repository);
        assert_eq!(report, made);
        let target = folder.path().join("received");
        assert_eq!(received(&target, &files).finish(&report).unwrap(), made);
        assert_eq!(listed(&target), listed(&folder.path().join("made")));
        let copy = Repository::open(&target).unwrap();
        assert_eq!(copy.snapshot().entities_count(), 2);
        assert!(copy.fixity(|_, _| ()).unwrap().is_clean());
    }

    #[test]
    fn a_backup_that_is_cut_off_does_not_open_and_the_next_one_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let repository = with_content(&folder.path().join("r"));
        let (files, report) = sent(&repository);
        let target = folder.path().join("received");
        for count in 0..files.len() {
            drop(received(&target, &files[..count]));
            let opened = Repository::open(&target).map(drop).unwrap_err();
            assert_eq!(opened.kind(), ErrorKind::Corrupted, "{count}: {opened}");
        }
        // Without its contents it is not what the sender reports.
        let lacking = received(&target, &files[1..]).finish(&report).unwrap_err();
        assert_eq!(lacking.kind(), ErrorKind::Corrupted, "{lacking}");
        let mut other = files.clone();
        let segment = other.iter_mut().find(|(name, _)| name.ends_with(".seg")).unwrap();
        *segment.1.last_mut().unwrap() ^= 1;
        let damaged = received(&target, &other).finish(&report).unwrap_err();
        assert_eq!(damaged.kind(), ErrorKind::Corrupted, "{damaged}");
        assert!(Repository::open(&target).is_err(), "a damaged copy does not open");
        received(&target, &files).finish(&report).unwrap();
        Repository::open(&target).unwrap().close().unwrap();
        let taken = ReceivedBackup::begin(&target).map(drop).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_content_that_cannot_be_read_is_reported_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let repository = with_content(&folder.path().join("r"));
        let contents = folder.path().join("r").join(CONTENT);
        let whole = std::fs::read_dir(&contents).unwrap().flatten();
        let damaged = whole.map(|entry| entry.path()).find(|path| std::fs::metadata(path).unwrap().len() > 0);
        for bytes in [&b"a scam"[..], b"a", b"longer than it was"] {
            let path = damaged.as_ref().unwrap();
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, bytes).unwrap();
            let (files, report) = sent(&repository);
            assert_eq!((report.unreadable.len(), report.contents_count), (1, 1), "{report:?}");
            let target = folder.path().join(format!("received-{}", bytes.len()));
            assert_eq!(received(&target, &files).finish(&report).unwrap(), report);
            assert_eq!(std::fs::read_dir(target.join(CONTENT)).unwrap().count(), 1);
        }
    }

    /// A server sent files without end that cost it nothing.
    #[test]
    fn empty_files_repeated_contents_and_too_many_damaged_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut backup = ReceivedBackup::begin(folder.path().join("b")).unwrap();
        let name = |bytes: &[u8]| {
            let mut hashing = Hashing::of(&[]);
            hashing.update(bytes);
            format!("content/{}", hashing.finish_apart().0)
        };
        backup.file(&name(b""), &mut io::empty()).unwrap();
        let mut file =
            |name: &str, mut bytes: &[u8]| backup.file(name, &mut bytes).map_err(|error| error.kind());
        assert_eq!(file(&name(b""), b""), Err(ErrorKind::InvalidArgument), "again");
        assert_eq!(file("log/00000000000000000001.seg", b""), Err(ErrorKind::Corrupted));
        for number in 0..DAMAGED_MAX {
            assert_eq!(file(&name(&number.to_le_bytes()), b"other"), Ok(()), "the report may name it");
        }
        assert_eq!(file(&name(&0usize.to_le_bytes()), b"other"), Err(ErrorKind::InvalidArgument), "again");
        assert_eq!(file(&name(&[2]), b"other"), Err(ErrorKind::TooLarge));
    }

    #[test]
    fn other_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut backup = ReceivedBackup::begin(folder.path().join("b")).unwrap();
        for name in ["log/../x", "/etc/x", "log/copying", "content/../../x", "lock", "log/", "content/ab"] {
            let refused = backup.file(name, &mut io::empty()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{name}");
        }
    }
}
