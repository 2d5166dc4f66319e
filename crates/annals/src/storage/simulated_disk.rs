//! A disk in memory that can lose its power, have no room, or fail: for tests of everything that claims to be durable.
//!
//! It models a power cut pessimistically. Each sector of 512 bytes of a file has the state after any number of the
//! writes since the last sync, independently of other sectors, and so has the length. Each folder has any subset of the
//! name changes since its last sync.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::{Access, Disk, DiskFile, DiskLock};
use crate::log::next_random;
use crate::structures::number::narrow;

/// Units: bytes that are written whole or not at all.
const SECTOR_BYTES: usize = 512;

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    // Files are never dropped, because open handles may outlive names.
    files: Vec<FileState>,
    /// The names as processes see them.
    names: BTreeMap<PathBuf, usize>,
    /// The names as a power cut leaves them, before `name_changes`.
    durable_names: BTreeMap<PathBuf, usize>,
    /// Not yet synced, in order.
    name_changes: Vec<NameChange>,
    locks: Vec<PathBuf>,
    operations_count: u64,
    syncs_count: u64,
    fault: Option<(u64, Fault)>,
    failing_sync: Option<u64>,
    writes_count: u64,
    failing_write: Option<u64>,
    is_full: bool,
    observer: Option<Observer>,
}

/// Called before each operation that changes or syncs something, with its number.
pub type Observer = Arc<dyn Fn(&SimulatedDisk, u64) + Send + Sync>;

/// The fault of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The power fails: the operation may have happened or not, and nothing works from then on.
    PowerCut,
    /// There is no room: a write writes its first half, a file is not created. A sync fails as with [`Fault::Io`].
    NoRoom,
    /// The device fails: nothing is written, renamed or removed; a sync fails as Linux does, see
    /// [`SimulatedDisk::fail_sync_at`].
    Io,
}

/// The outcome of the operation counted now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Fails(Fault),
}

#[derive(Default)]
struct FileState {
    /// As processes see it.
    seen: Vec<u8>,
    /// As a power cut leaves it, before `changes`.
    durable: Vec<u8>,
    /// Not yet synced, in order.
    changes: Vec<FileChange>,
}

#[derive(Clone)]
enum FileChange {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

enum NameChange {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf, usize),
    Remove(PathBuf),
}

impl NameChange {
    fn folder(&self) -> Option<&Path> {
        match self {
            NameChange::Create(path, _) | NameChange::Rename(_, path, _) | NameChange::Remove(path) => {
                path.parent()
            }
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            NameChange::Create(path, file) => {
                names.insert(path.clone(), *file);
            }
            NameChange::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            NameChange::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> SimulatedDisk {
        SimulatedDisk::default()
    }

    /// How many operations changed or synced something.
    pub fn operations_count(&self) -> u64 {
        self.state().operations_count
    }

    /// How many syncs were called, of files and of folders.
    pub fn syncs_count(&self) -> u64 {
        self.state().syncs_count
    }

    /// The power fails during the operation with this number, counted from 0; nothing works from then on.
    pub fn cut_power_at(&self, operation: u64) {
        self.fail_at(operation, Fault::PowerCut);
    }

    /// The operation with this number, counted from 0, meets `fault`.
    pub fn fail_at(&self, operation: u64, fault: Fault) {
        self.state().fault = Some((operation, fault));
    }

    /// While the disk is full no file is created and none grows.
    pub fn set_full(&self, is_full: bool) {
        self.state().is_full = is_full;
    }

    /// The sync with this number, counted from 0, fails as Linux does: every process still sees the bytes and takes
    /// them for written, but they never reach the disk.
    pub fn fail_sync_at(&self, sync: u64) {
        self.state().failing_sync = Some(sync);
    }

    /// How many writes to files were called.
    pub fn writes_count(&self) -> u64 {
        self.state().writes_count
    }

    /// The write with this number, counted from 0, writes its first half only: the disk is full.
    pub fn fail_write_at(&self, write: u64) {
        self.state().failing_write = Some(write);
    }

    /// Calls `observer` before each later operation: it may take images of the state that a power cut would leave.
    pub fn observe(&self, observer: Option<Observer>) {
        self.state().observer = observer;
    }

    /// A disk as a power cut at this moment may leave it, chosen by `seed`.
    pub fn after_power_cut(&self, seed: u64) -> SimulatedDisk {
        let state = self.state();
        let mut random = seed;
        let mut names = state.durable_names.clone();
        for change in &state.name_changes {
            if next_random(&mut random).is_multiple_of(2) {
                change.apply(&mut names);
            }
        }
        let files = state.files.iter().map(|file| file.after_power_cut(&mut random)).collect();
        let left = State { files, durable_names: names.clone(), names, ..State::default() };
        SimulatedDisk { state: Arc::new(Mutex::new(left)) }
    }

    /// Forgets all files below `folder`, as if they had never been there.
    pub fn remove_all(&self, folder: &str) {
        let mut state = self.state();
        let State { names, durable_names, .. } = &mut *state;
        for names in [names, durable_names] {
            names.retain(|path, _| !path.starts_with(folder));
        }
        state.name_changes.retain(|change| change.folder().is_none_or(|parent| !parent.starts_with(folder)));
    }

    /// The bytes of a file as processes see them.
    pub fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|&file| state.files[file].seen.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation and returns its outcome.
    fn operate(&self) -> io::Result<(MutexGuard<'_, State>, Outcome)> {
        let (observer, number) = {
            let state = self.state();
            (state.observer.clone(), state.operations_count)
        };
        if let Some(observer) = observer {
            observer(self, number);
        }
        let mut state = self.state();
        let number = state.operations_count;
        let outcome = match state.fault {
            Some((cut, Fault::PowerCut)) if number > cut => {
                return Err(io::Error::other("the power is cut"));
            }
            Some((at, fault)) if number == at => Outcome::Fails(fault),
            _ => Outcome::Done,
        };
        state.operations_count += 1;
        Ok((state, outcome))
    }
}

impl State {
    /// True if the sync counted now is to fail.
    fn fails_sync(&mut self, outcome: Outcome) -> bool {
        let number = self.syncs_count;
        self.syncs_count += 1;
        self.failing_sync == Some(number) || matches!(outcome, Outcome::Fails(Fault::NoRoom | Fault::Io))
    }

    fn add_file(&mut self) -> usize {
        self.files.push(FileState::default());
        self.files.len() - 1
    }
}

impl Outcome {
    /// The answer to an operation that does nothing unless the power fails during it.
    fn refused(self) -> io::Result<()> {
        match self {
            Outcome::Fails(Fault::NoRoom) => Err(io::ErrorKind::StorageFull.into()),
            Outcome::Fails(Fault::Io) => Err(io::Error::other("injected failure of the device")),
            Outcome::Done | Outcome::Fails(Fault::PowerCut) => Ok(()),
        }
    }

    /// The answer to an operation that was done; a power cut during it may keep or lose its effect.
    fn powered(self) -> io::Result<()> {
        match self {
            Outcome::Fails(Fault::PowerCut) => Err(io::Error::other("the power is cut")),
            _ => Ok(()),
        }
    }
}

impl FileState {
    fn change(&mut self, change: FileChange) {
        change.apply(&mut self.seen);
        self.changes.push(change);
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            change.apply(&mut self.durable);
        }
    }

    fn after_power_cut(&self, random: &mut u64) -> FileState {
        // States of the file after each number of changes. Each sector, and the length, chooses one of them.
        let mut states = vec![self.durable.clone()];
        let mut state = self.durable.clone();
        for change in &self.changes {
            change.apply(&mut state);
            states.push(state.clone());
        }
        let style = next_random(random) % 4;
        let mut choose = || -> usize {
            match style {
                0 => 0,
                1 => states.len() - 1,
                _ => narrow(next_random(random) % states.len() as u64),
            }
        };
        let mut bytes = vec![0; states[choose()].len()];
        for (number, sector) in bytes.chunks_mut(SECTOR_BYTES).enumerate() {
            let start = number * SECTOR_BYTES;
            let chosen = states[choose()].get(start..).unwrap_or_default();
            let count = sector.len().min(chosen.len());
            sector[..count].copy_from_slice(&chosen[..count]);
        }
        FileState { seen: bytes.clone(), durable: bytes, changes: Vec::new() }
    }
}

impl FileChange {
    fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            FileChange::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*offset..end].copy_from_slice(bytes);
            }
            FileChange::SetLen(bytes) => contents.resize(*bytes, 0),
        }
    }
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let (mut state, outcome) = self.operate()?;
        outcome.refused()?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if state.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = state.add_file();
        state.names.insert(path.to_path_buf(), file);
        state.name_changes.push(NameChange::Create(path.to_path_buf(), file));
        outcome.powered()?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn create_unnamed(&self, _folder: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let (mut state, outcome) = self.operate()?;
        outcome.refused()?;
        let file = state.add_file();
        outcome.powered()?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn open(&self, path: &Path, _access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state();
        let file = *state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let inside = state.names.keys().filter_map(|path| path.strip_prefix(folder).ok());
        let names: BTreeSet<String> =
            inside.filter_map(|path| Some(path.iter().next()?.to_str()?.to_string())).collect();
        Ok(names.into_iter().collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (mut state, outcome) = self.operate()?;
        outcome.refused()?;
        let file = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_path_buf(), file);
        state.name_changes.push(NameChange::Rename(from.to_path_buf(), to.to_path_buf(), file));
        outcome.powered()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if !self.state().names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (mut state, outcome) = self.operate()?;
        outcome.refused()?;
        state.names.remove(path);
        state.name_changes.push(NameChange::Remove(path.to_path_buf()));
        outcome.powered()
    }

    fn create_folder(&self, _folder: &Path) -> io::Result<()> {
        // Folders are implied by the names in them.
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let (mut state, outcome) = self.operate()?;
        let fails = state.fails_sync(outcome);
        outcome.powered()?;
        let changes = std::mem::take(&mut state.name_changes);
        for change in changes {
            if change.folder() != Some(folder) {
                state.name_changes.push(change);
            } else if !fails {
                change.apply(&mut state.durable_names);
            }
        }
        if fails { Err(io::Error::other("injected failure of a sync")) } else { Ok(()) }
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let mut state = self.state();
        if state.locks.iter().any(|held| held == path) {
            return Ok(None);
        }
        state.locks.push(path.to_path_buf());
        drop(state);
        Ok(Some(Box::new(SimulatedLock { disk: self.clone(), path: path.to_path_buf() })))
    }

    fn is_locked(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state().locks.iter().any(|held| held == path))
    }
}

struct SimulatedLock {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl DiskLock for SimulatedLock {
    fn is_held(&self) -> io::Result<bool> {
        Ok(true)
    }
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.disk.state().locks.retain(|held| *held != self.path);
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    file: usize,
}

impl SimulatedFile {
    fn sync(&self) -> io::Result<()> {
        let (mut state, outcome) = self.disk.operate()?;
        let fails = state.fails_sync(outcome);
        outcome.powered()?;
        if fails {
            state.files[self.file].changes.clear();
            return Err(io::Error::other("injected failure of a sync"));
        }
        state.files[self.file].sync();
        Ok(())
    }
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.disk.state();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = state.files[self.file].seen.get(start..).unwrap_or_default();
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut state, outcome) = self.disk.operate()?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let grows = offset + bytes.len() > state.files[self.file].seen.len();
        let is_failing = state.failing_write == Some(state.writes_count);
        state.writes_count += 1;
        let has_room = !is_failing && outcome != Outcome::Fails(Fault::NoRoom) && !(state.is_full && grows);
        if outcome == Outcome::Fails(Fault::Io) {
            return outcome.refused();
        }
        let written = if has_room { bytes } else { &bytes[..bytes.len() / 2] };
        state.files[self.file].change(FileChange::Write { offset, bytes: written.to_vec() });
        outcome.powered()?;
        if has_room { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let (mut state, outcome) = self.disk.operate()?;
        outcome.refused()?;
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        state.files[self.file].change(FileChange::SetLen(bytes));
        outcome.powered()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().files[self.file].seen.len() as u64)
    }

    fn has_name(&self) -> io::Result<bool> {
        Ok(self.disk.state().names.values().any(|file| *file == self.file))
    }

    fn identity(&self) -> io::Result<u128> {
        Ok(self.file as u128)
    }
}
