//! Opens damaged records and segments. Shared by the tests and by the fuzz targets in `fuzz/`.

use std::path::Path;
use std::sync::Arc;

use annals::log::{FileLog, FileOptions, Log, MemoryLog};
use annals::storage::simulated_disk::SimulatedDisk;
use annals::storage::{Access, Disk};
use annals::{ErrorKind, Options, Position, Repository};

pub const FOLDER: &str = "/log";
pub const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 4 };

/// Opens a repository on these records, and if it opens looks at everything in it.
///
/// Shape: true if it opened. A record that decodes and fits is a record, whoever made it.
pub fn survives(records: &[Vec<u8>]) -> bool {
    let log = MemoryLog::new();
    let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    if !slices.is_empty() {
        log.append(Position(1), &slices).expect("a memory log takes all records of this size");
    }
    match Repository::with_log(Arc::new(log), Options::read_only()) {
        Ok(repository) => {
            look_at(&repository);
            true
        }
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::NewerFormat | ErrorKind::Gap),
                "{error:?}"
            );
            false
        }
    }
}

/// Reads every version. Damaged anchors may make a version unreadable, but reading it must give an error.
fn look_at(repository: &Repository) {
    let snapshot = repository.snapshot();
    let page = snapshot.find_entities(&annals::Find::all().limit(100)).expect("the present needs no history");
    for entity in &page.items {
        if let Ok(versions) = snapshot.versions(&entity.instance_id(), 0, 100) {
            for version in versions {
                let _ = snapshot.entity_version(entity.id(), version.version).map(drop);
            }
        }
    }
}

/// Opens a file log whose only segment has these bytes. Shape: true if it opened.
pub fn survives_segment(bytes: &[u8]) -> bool {
    let disk = SimulatedDisk::new();
    let log = FileLog::open_on(Arc::new(disk.clone()), FOLDER, OPTIONS).expect("an empty folder opens");
    log.append(Position(1), &[b"first"]).expect("a simulated disk has room");
    drop(log);
    let names = disk.list(Path::new(FOLDER)).expect("the folder is there");
    let name = names.iter().find(|name| name.ends_with(".seg")).expect("the segment is there");
    overwrite(&disk, &Path::new(FOLDER).join(name), bytes);
    opens(&disk)
}

/// Opens the repository in [`FOLDER`], and if it opens looks at everything in it. Shape: true if it opened.
pub fn opens(disk: &SimulatedDisk) -> bool {
    let open = || {
        let log = FileLog::open_on(Arc::new(disk.clone()), FOLDER, OPTIONS)?;
        let repository = Repository::with_log(Arc::new(log), Options::default())?;
        look_at(&repository);
        Ok::<_, annals::Error>(())
    };
    open().is_ok()
}

/// Puts these bytes in the place of all others.
pub fn overwrite(disk: &SimulatedDisk, path: &Path, bytes: &[u8]) {
    let file = disk.open(path, Access::Write).expect("the file is there");
    file.set_len(0).expect("it can be cut");
    file.write_at(bytes, 0).expect("a simulated disk has room");
}

/// Records in a file of the corpus. Shape: length (4, big endian), bytes; again and again.
pub fn pack(records: &[Vec<u8>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for record in records {
        packed.extend_from_slice(&(record.len() as u32).to_be_bytes());
        packed.extend_from_slice(record);
    }
    packed
}

pub fn unpack(mut packed: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while let Some((length, rest)) = packed.split_first_chunk::<4>() {
        // A length that was damaged takes what is left.
        let length = (u32::from_be_bytes(*length) as usize).min(rest.len());
        records.push(rest[..length].to_vec());
        packed = &rest[length..];
    }
    records
}
