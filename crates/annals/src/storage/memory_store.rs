//! A store in memory, for repositories in memory and for tests.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::widen;
use super::store::{Store, StoreReader};

/// Objects in memory. They are lost when the store is dropped.
#[derive(Default)]
pub struct MemoryStore {
    objects: Mutex<BTreeMap<String, Arc<[u8]>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, name: &str) -> io::Result<Arc<[u8]>> {
        self.objects().get(name).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

impl Store for MemoryStore {
    fn put(&self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        self.objects().insert(name.to_owned(), bytes.into());
        Ok(())
    }

    fn put_named(&self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<String>) -> io::Result<bool> {
        let mut bytes = Vec::new();
        let name = write(&mut bytes)?;
        let mut objects = self.objects();
        let is_new = objects.get(&name).is_none_or(|known| known.len() != bytes.len());
        objects.insert(name, bytes.into());
        Ok(is_new)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        self.object(name).map(|object| widen(object.len()))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreReader>> {
        Ok(Box::new(Cursor::new(self.object(name)?)))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.objects().keys().cloned().collect())
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        let mut objects = self.objects();
        for name in names {
            objects.remove(name);
        }
        Ok(())
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        Ok(())
    }

    fn describe(&self, name: &str) -> String {
        format!("{name} in memory")
    }
}
