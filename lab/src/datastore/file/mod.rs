//! A JSON file: the whole tree is read from it, and written again, for each transaction, as the page's default plugin does.

// In the order a newcomer should read them.
mod diff;
mod tree;
mod threads;

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::content::{Content, List, Order};
use super::target::{Answer, Call, Keys, Store, Target, Whole, middle};
use crate::outcome::Outcome;
use crate::run::make_folder;
use diff::Diff;
use threads::{Provider, Told};
use tree::Tree;

/// Folder of the page's plugin for the running store. Its files stay in memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// The files of two stores, in one folder.
pub struct JsonFile {
    folder: TempDir,
    count: u32,
    /// The running store in memory. Shape: outer `None` without a cache, inner `None` without a container.
    cache: Option<Option<Tree>>,
    subscribers: Option<Told>,
    provider: Option<Provider>,
}

impl JsonFile {
    /// Files lie in shared memory if there is any, or else in `parent`.
    pub fn new(parent: &Path) -> Outcome<JsonFile> {
        let shared = Path::new(SHARED_MEMORY);
        let folder = make_folder(Some(if shared.is_dir() { shared } else { parent }))?;
        Ok(JsonFile { folder, count: 0, cache: None, subscribers: None, provider: None })
    }

    fn path(&self, store: Store) -> PathBuf {
        self.folder.path().join(match store {
            Store::Running => "running.json",
            Store::Operational => "operational.json",
        })
    }

    fn load(&self, store: Store) -> Outcome<Option<Tree>> {
        match fs::read(self.path(store)) {
            Ok(bytes) => Ok(Some(Tree::from(serde_json::from_slice::<Content>(&bytes)?))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn save(&self, store: Store, tree: Option<&Tree>) -> Outcome<()> {
        let path = self.path(store);
        let Some(tree) = tree else { return Ok(fs::remove_file(path)?) };
        let temporary = path.with_extension("tmp");
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&temporary)?);
        serde_json::to_writer(&mut file, tree)?;
        file.flush()?;
        Ok(fs::rename(temporary, path)?)
    }

    /// One transaction: load or copy the tree, change it, notify, store, notify.
    fn change(
        &mut self,
        store: Store,
        edit: impl FnOnce(&mut Option<Tree>, &mut Diff) -> Result<(), String>,
    ) -> Outcome<Answer> {
        let cached = if store == Store::Running { self.cache.clone() } else { None };
        let mut tree = cached.map_or_else(|| self.load(store), Ok)?;
        let was_there = tree.is_some();
        let mut diff = if self.subscribers.is_some() { Diff::kept() } else { Diff::default() };
        if let Err(refusal) = edit(&mut tree, &mut diff) {
            return Ok(Answer::Refused(refusal));
        }
        if diff.count() == 0 && was_there == tree.is_some() {
            return Ok(Answer::Changed(false));
        }
        let text: Option<Arc<str>> = diff.changes().map(serde_json::to_string).transpose()?.map(Into::into);
        self.tell(text.as_ref(), false)?;
        self.save(store, tree.as_ref())?;
        self.tell(text.as_ref(), true)?;
        if store == Store::Running && self.cache.is_some() {
            self.cache = Some(tree);
        }
        Ok(Answer::Changed(true))
    }

    fn tell(&mut self, text: Option<&Arc<str>>, is_done: bool) -> Outcome<()> {
        match (&mut self.subscribers, text) {
            (Some(subscribers), Some(text)) => subscribers.tell(text, is_done),
            _ => Ok(()),
        }
    }

    /// The leaf of the middle entry.
    fn leaf(&self, keys: Keys) -> Outcome<Answer> {
        let number = middle(self.count);
        let find = |tree: Option<&Tree>| tree.and_then(|tree| tree.leaf(keys, number)).cloned();
        Ok(Answer::Leaf(match &self.cache {
            Some(cached) => find(cached.as_ref()),
            None => find(self.load(Store::Running)?.as_ref()),
        }))
    }

    /// Everything in a store.
    fn all(&self, store: Store) -> Outcome<Option<Tree>> {
        let mut found = self.load(store)?;
        if let (Store::Operational, Some(provider)) = (store, &self.provider) {
            let told: Content = serde_json::from_str(&provider.ask()?)?;
            found.get_or_insert_default().extend(Tree::from(told));
        }
        Ok(found)
    }
}

impl Target for JsonFile {
    fn begin(&mut self, count: u32, is_cached: bool) -> Outcome<()> {
        for store in [Store::Running, Store::Operational] {
            if self.path(store).exists() {
                self.save(store, None)?;
            }
        }
        (self.subscribers, self.provider) = (None, None);
        (self.count, self.cache) = (count, is_cached.then_some(None));
        Ok(())
    }

    fn call(&mut self, call: Call) -> Outcome<Answer> {
        let (count, number) = (self.count, middle(self.count));
        match call {
            Call::Find(keys) | Call::Get(keys) => self.leaf(keys),
            Call::All(store) => {
                let found = self.all(store)?;
                Ok(Answer::Whole(found.map(|tree| Box::new(tree) as Box<dyn Whole>)))
            }
            // The same as `SetAll`, because this target parses no paths.
            Call::Merge(list) => self.change(Store::Running, |tree, diff| {
                tree.get_or_insert_default().set_all(list, Order::Up, count, diff);
                Ok(())
            }),
            Call::SetAll(store, list, order) => self.change(store, |tree, diff| {
                tree.get_or_insert_default().set_all(list, order, count, diff);
                Ok(())
            }),
            Call::CreateLeaf(value) => self.change(Store::Running, |tree, diff| {
                let tree = tree.get_or_insert_default();
                if let Some(found) = tree.leaf(Keys::Apart, number) {
                    return Err(format!("the leaf is there: {found}"));
                }
                tree.set(List::Keyed, number, value.into(), diff);
                Ok(())
            }),
            Call::SetLeaf(store, value) => self.change(store, |tree, diff| {
                tree.get_or_insert_default().set(List::Keyed, number, value.into(), diff);
                Ok(())
            }),
            Call::RemoveLeaf(store) => self.change(store, |tree, diff| {
                tree.iter_mut().for_each(|tree| tree.remove_leaf(number, diff));
                Ok(())
            }),
            Call::RemoveEntries(store, list) => self.change(store, |tree, diff| {
                tree.iter_mut().for_each(|tree| tree.clear(list, diff));
                Ok(())
            }),
            Call::RemoveContainer => self.change(Store::Running, |tree, diff| {
                if let Some(mut tree) = tree.take() {
                    tree.clear(List::Keyed, diff);
                    tree.clear(List::Ordered, diff);
                }
                Ok(())
            }),
            Call::Provide => {
                self.provider = Some(Provider::start(count));
                Ok(Answer::Done)
            }
            Call::Subscribe(count) => {
                self.subscribers = Some(Told::start(count));
                Ok(Answer::Done)
            }
            // `change` waits for all subscribers.
            Call::Hear => Ok(Answer::Done),
            Call::Unsubscribe => {
                let subscribers = self.subscribers.take().ok_or("there are no subscribers")?;
                Ok(Answer::Heard(subscribers.end()?))
            }
        }
    }
}

impl Whole for Tree {
    fn content(&self) -> Outcome<Content> {
        Ok(Tree::content(self))
    }
}
