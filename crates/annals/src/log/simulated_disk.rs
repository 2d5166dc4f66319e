//! A disk in memory that can lose its power: for tests of everything that claims to be durable.
//!
//! What a power cut may leave is modelled pessimistically: of each file, every sector of 512 bytes is as it was after
//! any number of the writes since the last sync, independently of the others, and so is the length; of each folder,
//! any subset of the names given and taken since the last sync of the folder.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::{Access, Disk, DiskFile, DiskLock};
use super::fault::next_random;

/// Units: bytes that are written whole or not at all.
const SECTOR_BYTES: usize = 512;

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    // Files are never forgotten, as open handles may outlive names.
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
    power_cut_at: Option<u64>,
    failing_sync: Option<u64>,
    writes_count: u64,
    failing_write: Option<u64>,
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

    /// How many operations were made that change something or sync it.
    pub fn operations_count(&self) -> u64 {
        self.state().operations_count
    }

    /// How many syncs were asked for, of files and of folders.
    pub fn syncs_count(&self) -> u64 {
        self.state().syncs_count
    }

    /// The power fails during the operation with this number, counted from 0; nothing works from then on.
    pub fn cut_power_at(&self, operation: u64) {
        self.state().power_cut_at = Some(operation);
    }

    /// The sync with this number, counted from 0, fails as Linux does: what it should have written is taken for
    /// written, is still seen by every process, and never reaches the disk.
    pub fn fail_sync_at(&self, sync: u64) {
        self.state().failing_sync = Some(sync);
    }

    /// How many writes to files were asked for.
    pub fn writes_count(&self) -> u64 {
        self.state().writes_count
    }

    /// The write with this number, counted from 0, writes its first half only: the disk is full.
    pub fn fail_write_at(&self, write: u64) {
        self.state().failing_write = Some(write);
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

    /// The bytes of a file as processes see them.
    pub fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|&file| state.files[file].seen.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation; false once, when the power fails during it.
    fn operate(&self) -> io::Result<(MutexGuard<'_, State>, bool)> {
        let mut state = self.state();
        let number = state.operations_count;
        match state.power_cut_at {
            Some(cut) if number > cut => return Err(io::Error::other("the power is cut")),
            _ => {}
        }
        state.operations_count += 1;
        let has_power = state.power_cut_at != Some(number);
        Ok((state, has_power))
    }
}

impl State {
    /// True if the sync counted now is to fail.
    fn fails_sync(&mut self) -> bool {
        let number = self.syncs_count;
        self.syncs_count += 1;
        self.failing_sync == Some(number)
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
        // States of the file after each number of changes. Each sector and the length choose one.
        let mut states = vec![self.durable.clone()];
        for change in &self.changes {
            let mut next = states.last().expect("at least one state").clone();
            change.apply(&mut next);
            states.push(next);
        }
        let style = next_random(random) % 4;
        let mut choose = || -> usize {
            match style {
                0 => 0,
                1 => states.len() - 1,
                _ => (next_random(random) % states.len() as u64) as usize,
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
        let (mut state, has_power) = self.operate()?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = state.files.len();
        state.files.push(FileState::default());
        state.names.insert(path.to_path_buf(), file);
        state.name_changes.push(NameChange::Create(path.to_path_buf(), file));
        powered(has_power)?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn open(&self, path: &Path, _access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.state();
        let file = *state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let inside = state.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_string())).collect())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (mut state, has_power) = self.operate()?;
        let file = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_path_buf(), file);
        state.name_changes.push(NameChange::Rename(from.to_path_buf(), to.to_path_buf(), file));
        powered(has_power)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (mut state, has_power) = self.operate()?;
        state.names.remove(path).ok_or(io::ErrorKind::NotFound)?;
        state.name_changes.push(NameChange::Remove(path.to_path_buf()));
        powered(has_power)
    }

    fn create_folder(&self, _folder: &Path) -> io::Result<()> {
        // Folders are implied by the names in them.
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let (mut state, has_power) = self.operate()?;
        let fails = state.fails_sync();
        powered(has_power)?;
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

    fn lock(&self, path: &Path) -> io::Result<Option<DiskLock>> {
        let mut state = self.state();
        if state.locks.iter().any(|held| held == path) {
            return Ok(None);
        }
        state.locks.push(path.to_path_buf());
        drop(state);
        Ok(Some(Box::new(SimulatedLock { disk: self.clone(), path: path.to_path_buf() })))
    }
}

struct SimulatedLock {
    disk: SimulatedDisk,
    path: PathBuf,
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
    fn change(&self, change: FileChange) -> io::Result<()> {
        let (mut state, has_power) = self.disk.operate()?;
        state.files[self.file].change(change);
        powered(has_power)
    }

    fn sync(&self) -> io::Result<()> {
        let (mut state, has_power) = self.disk.operate()?;
        let fails = state.fails_sync();
        powered(has_power)?;
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
        let fails = {
            let mut state = self.disk.state();
            state.writes_count += 1;
            state.failing_write == Some(state.writes_count - 1)
        };
        let written = if fails { &bytes[..bytes.len() / 2] } else { bytes };
        self.change(FileChange::Write { offset: offset as usize, bytes: written.to_vec() })?;
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.change(FileChange::SetLen(bytes as usize))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().files[self.file].seen.len() as u64)
    }
}

/// The answer to the operation during which the power fails: what it did may have happened or not.
fn powered(has_power: bool) -> io::Result<()> {
    if has_power { Ok(()) } else { Err(io::Error::other("the power is cut")) }
}
