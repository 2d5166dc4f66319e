//! Puts of contents at the same time: they share syncs of their folder, and each answers when its own name is durable.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use annals::log::MemoryLog;
use annals::storage::simulated_disk::SimulatedDisk;
use annals::storage::{Access, Disk, DiskFile, DiskLock, DiskStore, Store};
use annals::*;

const FOLDER: &str = "/content";
const PUTS: usize = 8;
/// Bytes of a content that are written at once.
const PIECE: usize = 256 << 10;
/// States that a power cut may leave.
const CUTS: u64 = 32;
/// Far longer than a put takes.
const LONG: Duration = Duration::from_secs(60);
/// Long enough for a put that does not wait.
const MOMENT: Duration = Duration::from_millis(100);

/// A simulated disk on which each sync of a folder lasts until the test ends it. A name that is given while it lasts is
/// left out, as the worst disk would do.
struct LongSyncs {
    disk: SimulatedDisk,
    begun: Sender<()>,
    /// Once the test has dropped the sender, syncs end at once.
    may_end: Mutex<Receiver<()>>,
}

impl Disk for LongSyncs {
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.disk.sync_folder(folder)?;
        self.begun.send(()).unwrap();
        let _ = self.may_end.lock().unwrap().recv();
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(path)
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create_unnamed(folder)
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path, access)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.disk.create_folder(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        self.disk.lock(path)
    }

    fn is_locked(&self, path: &Path) -> io::Result<bool> {
        self.disk.is_locked(path)
    }
}

fn bytes_of(name: &str) -> Vec<u8> {
    name.repeat(1_000).into_bytes()
}

fn put(store: &dyn Store, name: &str) {
    let mut write = |out: &mut dyn Write| {
        out.write_all(&bytes_of(name))?;
        Ok(name.to_owned())
    };
    store.put_named(&mut write).unwrap();
}

fn is_durable(disk: &SimulatedDisk, name: &str) -> bool {
    let path = Path::new(FOLDER).join(name);
    (0..CUTS).all(|seed| disk.after_power_cut(seed).contents(&path) == Some(bytes_of(name)))
}

#[test]
fn puts_share_a_sync_of_their_folder_that_began_after_all_of_them_had_given_their_names() {
    let disk = SimulatedDisk::new();
    let ((begun, has_begun), (end, may_end), (tell, answered)) = (channel(), channel(), channel());
    let slow = LongSyncs { disk: disk.clone(), begun, may_end: Mutex::new(may_end) };
    let store = Arc::new(DiskStore::new(Arc::new(slow), FOLDER));
    let start = |name: String| {
        let (store, disk, tell) = (Arc::clone(&store), disk.clone(), tell.clone());
        std::thread::spawn(move || {
            put(&*store, &name);
            // Order: looked at before others can sync the folder again.
            tell.send((is_durable(&disk, &name), name)).unwrap();
        })
    };
    let first = start("first".into());
    has_begun.recv_timeout(LONG).unwrap();
    let others: Vec<_> = (0..PUTS).map(|number| start(format!("other-{number}"))).collect();
    for number in 0..PUTS {
        while disk.contents(&Path::new(FOLDER).join(format!("other-{number}"))).is_none() {
            std::thread::yield_now();
        }
    }
    assert_eq!(answered.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout), "no sync has ended");
    end.send(()).unwrap();
    assert_eq!(answered.recv_timeout(LONG), Ok((true, "first".into())));
    has_begun.recv_timeout(LONG).expect("the sync that began before cannot count for the others");
    assert_eq!(answered.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout), "their sync has not ended");
    drop(end);
    for _ in 0..PUTS {
        let (is_durable, name) = answered.recv_timeout(LONG).unwrap();
        assert!(is_durable, "{name}");
    }
    first.join().unwrap();
    others.into_iter().for_each(|other| other.join().unwrap());
    let more = has_begun.try_iter().count();
    assert!(more < PUTS / 2, "{more} syncs beside the first two: they were not shared");
}

/// Gives few bytes at once, and an error after all of them, if asked to.
struct InParts<'b> {
    bytes: &'b [u8],
    breaks_off: bool,
}

impl Read for InParts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && self.breaks_off {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let length = buffer.len().min(60_001);
        self.bytes.read(&mut buffer[..length])
    }
}

#[test]
fn contents_of_any_number_of_pieces_have_the_digests_of_their_bytes() {
    let repository = Repository::in_memory();
    let contents = repository.contents().unwrap();
    let about = NewContent { algorithms: DigestAlgorithm::ALL.to_vec(), ..NewContent::default() };
    for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 7 * PIECE + 5] {
        let bytes: Vec<u8> = (0..length).map(|number| (number % 251) as u8).collect();
        let stored = contents.put(&mut InParts { bytes: &bytes, breaks_off: false }, &about).unwrap();
        let mut hashing = Hashing::of(&DigestAlgorithm::ALL);
        hashing.update(&bytes);
        let found: Vec<_> = DigestAlgorithm::ALL.map(|algorithm| stored.digest(algorithm).unwrap()).into();
        let mut expected = hashing.finish();
        expected.sort_by_key(Digest::algorithm);
        assert_eq!((found, stored.size), (expected, length as u64));
        let mut read = Vec::new();
        contents.open(&stored).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes, "{length} bytes");
    }
}

#[test]
fn long_contents_that_are_refused_leave_nothing() {
    let disk = SimulatedDisk::new();
    let options = Options {
        contents: Some(Arc::new(DiskStore::new(Arc::new(disk.clone()), FOLDER))),
        ..Options::default()
    };
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).unwrap();
    let contents = repository.contents().unwrap();
    let bytes = vec![7; 5 * PIECE + 5];
    let put = |breaks_off, about: &NewContent| {
        contents.put(&mut InParts { bytes: &bytes, breaks_off }, about).err().map(|error| error.kind())
    };
    let about = NewContent::default();
    assert_eq!(put(true, &about), Some(ErrorKind::Io));
    let short = NewContent { size: Some(4 * PIECE as u64), ..about.clone() };
    assert_eq!(put(false, &short), Some(ErrorKind::InvalidArgument));
    let small = NewContent { bytes_max: Some(4 * PIECE as u64), ..about.clone() };
    assert_eq!(put(false, &small), Some(ErrorKind::TooLarge));
    let lie = Digest::from_hex(DigestAlgorithm::Md5, "900150983cd24fb0d6963f7d28e17f72").unwrap();
    assert_eq!(put(false, &about.clone().expecting(lie)), Some(ErrorKind::DigestMismatch));
    disk.fail_write_at(disk.writes_count() + 2);
    assert_eq!(put(false, &about), Some(ErrorKind::NoRoom));
    disk.fail_sync_at(disk.syncs_count());
    assert_eq!(put(false, &about), Some(ErrorKind::Io));
    assert_eq!(disk.list(Path::new(FOLDER)).unwrap(), [""; 0]);
    assert_eq!(put(false, &about), None);
}

#[test]
fn a_put_answers_when_its_bytes_and_its_name_are_durable() {
    let disk = SimulatedDisk::new();
    let store = DiskStore::new(Arc::new(disk.clone()), FOLDER);
    for name in ["new", "again", "again"] {
        put(&store, name);
        assert!(is_durable(&disk, name), "{name}");
    }
    store.remove(&["again".to_owned()]).unwrap();
    let path = Path::new(FOLDER).join("again");
    assert!((0..CUTS).all(|seed| disk.after_power_cut(seed).contents(&path).is_none()));
}
