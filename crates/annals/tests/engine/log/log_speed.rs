//! Measures the file log; ignored unless asked for:
//! `cargo test --release -p annals --test engine log_speed -- --ignored --nocapture --test-threads 1`.
//!
//! The folder is `LOG_SPEED_FOLDER`, or a temporary one: name a folder of the disk to be measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::Position;
use annals::log::{FileLog, FileOptions, Log, ReadLimit};
use annals::storage::simulated_disk::SimulatedDisk;
use annals::storage::{Access, Disk, DiskFile, DiskLock, RealDisk};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let parent = std::env::var_os("LOG_SPEED_FOLDER").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(parent).expect("temporary folder");
    let path = folder.path().join("log");
    (folder, path)
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what}: median {:?}, 99 % {:?}, worst {:?}, {} times", at(0.5), at(0.99), at(1.0), times.len());
}

fn append_times(log: &FileLog, record: &[u8], count: u64) -> Vec<Duration> {
    let first = log.tail().expect("tail").0 + 1;
    let append = |position| {
        let start = Instant::now();
        log.append(Position(position), &[record]).expect("append");
        start.elapsed()
    };
    (first..first + count).map(append).collect()
}

/// A disk that never syncs, and if asked never writes either: what remains is the log and the page cache, or the log.
struct FastDisk {
    disk: Arc<dyn Disk>,
    is_writing: bool,
}

struct FastFile {
    file: Arc<dyn DiskFile>,
    is_writing: bool,
}

impl FastDisk {
    fn real() -> Arc<FastDisk> {
        Arc::new(FastDisk { disk: Arc::new(RealDisk), is_writing: true })
    }
}

impl Disk for FastDisk {
    fn create(&self, path: &std::path::Path) -> std::io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(FastFile { file: self.disk.create(path)?, is_writing: self.is_writing }))
    }
    fn open(&self, path: &std::path::Path, access: Access) -> std::io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(FastFile { file: self.disk.open(path, access)?, is_writing: self.is_writing }))
    }
    fn list(&self, folder: &std::path::Path) -> std::io::Result<Vec<String>> {
        self.disk.list(folder)
    }
    fn rename(&self, from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &std::path::Path) -> std::io::Result<()> {
        self.disk.remove(path)
    }
    fn create_folder(&self, folder: &std::path::Path) -> std::io::Result<()> {
        self.disk.create_folder(folder)
    }
    fn sync_folder(&self, _folder: &std::path::Path) -> std::io::Result<()> {
        Ok(())
    }
    fn lock(&self, path: &std::path::Path) -> std::io::Result<Option<Box<dyn DiskLock>>> {
        self.disk.lock(path)
    }
    fn is_locked(&self, path: &std::path::Path) -> std::io::Result<bool> {
        self.disk.is_locked(path)
    }
    fn create_unnamed(&self, folder: &std::path::Path) -> std::io::Result<Arc<dyn DiskFile>> {
        self.disk.create_unnamed(folder)
    }
}

impl DiskFile for FastFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        if self.is_writing { self.file.write_at(bytes, offset) } else { Ok(()) }
    }
    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }
    fn sync_all(&self) -> std::io::Result<()> {
        Ok(())
    }
    fn set_len(&self, bytes: u64) -> std::io::Result<()> {
        if self.is_writing { self.file.set_len(bytes) } else { Ok(()) }
    }
    fn len(&self) -> std::io::Result<u64> {
        self.file.len()
    }
    fn has_name(&self) -> std::io::Result<bool> {
        self.file.has_name()
    }
    fn identity(&self) -> std::io::Result<u128> {
        self.file.identity()
    }
}

#[test]
#[ignore = "a measurement"]
fn append_speed() {
    let record = [7u8; 200];
    let (_keep, path) = folder();
    print("append 200 bytes, durable", append_times(&FileLog::open(&path).expect("open"), &record, 2_000));
    let (_keep, path) = folder();
    let log = FileLog::open_on(FastDisk::real(), &path, FileOptions::default()).expect("open");
    print("append 200 bytes, not synced", append_times(&log, &record, 200_000));
    let disk = Arc::new(FastDisk { disk: Arc::new(SimulatedDisk::new()), is_writing: false });
    let log = FileLog::open_on(disk, "/log", FileOptions::default()).expect("open");
    print("append 200 bytes, the log alone", append_times(&log, &record, 200_000));
    // The yardstick: the same writes and syncs without a log.
    let (keep, _) = folder();
    let file = RealDisk.create(&keep.path().join("file")).expect("create");
    file.write_at(&vec![0; 4_000_000], 0).expect("write");
    file.sync_all().expect("sync");
    let write = |number: u64| {
        let start = Instant::now();
        file.write_at(&[7; 228], number * 228).expect("write");
        file.sync_data().expect("sync");
        start.elapsed()
    };
    print("write 228 bytes over zeros and fdatasync", (0..2_000).map(write).collect());
}

#[test]
#[ignore = "a measurement"]
fn open_and_read_speed() {
    let (_keep, path) = folder();
    let log = FileLog::open_on(FastDisk::real(), &path, FileOptions::default()).expect("open");
    let records = vec![[7u8; 1_000]; 1_000];
    let slices: Vec<&[u8]> = records.iter().map(|record| record.as_slice()).collect();
    while log.tail().expect("tail").0 < 1_040_000 {
        log.append(log.tail().expect("tail").next(), &slices).expect("append");
    }
    let tail = log.tail().expect("tail").0;
    drop(log);
    let start = Instant::now();
    let log = FileLog::open(&path).expect("open");
    println!("open 1 GiB, last segment scanned: {:?}", start.elapsed());
    let start = Instant::now();
    let verified = log.verify().expect("verify");
    println!("verify 1 GiB: {:?} {verified:?}", start.elapsed());
    let start = Instant::now();
    let mut next = 1;
    while next <= tail {
        next += log.read(Position(next), ReadLimit::default()).expect("read").len() as u64;
    }
    println!("read 1 GiB in order, building the indexes: {:?}", start.elapsed());
    let mut random = 1u64;
    let read = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let position = Position(1 + (random >> 33) % tail);
        let start = Instant::now();
        log.read(position, ReadLimit::ONE).expect("read");
        start.elapsed()
    };
    print("read one record of 1 000 bytes anywhere", (0..200_000).map(read).collect());
}
