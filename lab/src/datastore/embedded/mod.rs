//! Annals in this process, on real files: each transaction is durable before the next.

mod feed;

use std::hint::black_box;
use std::path::PathBuf;

use annals::{
    AttributeDefinition, EndDefinition, ErrorKind, Id, Item, LEASE_MAX, Operational, OperationalItem,
    Provider, Repository, Transaction, TreeEdit, TreePath, TypeDefinition, Value, ValueType,
};
use tempfile::TempDir;

use super::content::{Content, Entry, List, Order, OrderedEntry, leaf};
use super::subscribers::Subscribers;
use super::target::{Answer, Call, Keys, Store, Target, Whole, middle};
use crate::outcome::Outcome;
use crate::run::make_folder;
use feed::feeds;

/// The name of the lease, of the provider, and of the root of the state for subscribers.
const LEASE: &str = "lab";

/// The engine, without a door.
pub struct Embedded {
    parent: PathBuf,
    count: u32,
    opened: Option<Opened>,
}

/// Order: the repository is closed before its folder goes.
struct Opened {
    subscribers: Option<Subscribers>,
    provider: Option<Provider>,
    operational: Operational,
    repository: Repository,
    _folder: TempDir,
}

impl Embedded {
    /// Repositories will lie in new folders in `parent`.
    pub fn new(parent: PathBuf) -> Embedded {
        Embedded { parent, count: 0, opened: None }
    }

    fn opened(&mut self) -> &mut Opened {
        self.opened.as_mut().expect("begin is called before anything else")
    }

    fn opened_ref(&self) -> &Opened {
        self.opened.as_ref().expect("begin is called before anything else")
    }

    fn repository(&self) -> &Repository {
        &self.opened_ref().repository
    }

    /// Commits, or pushes. A refusal is an answer.
    fn change(
        &self,
        store: Store,
        mut work: impl FnMut(&mut TreeEdit<'_>) -> annals::Result<()>,
    ) -> Outcome<Answer> {
        let done = match store {
            Store::Running => {
                let before = self.repository().snapshot().position();
                let done = self.repository().transact(|transaction| work(&mut transaction.tree()));
                done.map(|(_, receipt)| Answer::Changed(receipt.position > before))
            }
            // Subscribers follow the repository, so the state is in a tree of its own there.
            Store::Operational if self.opened_ref().subscribers.is_some() => {
                let root = Id::new(LEASE)?;
                let done =
                    self.repository().transact(|transaction| work(&mut transaction.tree_below(root.clone())));
                done.map(|_| Answer::Done)
            }
            Store::Operational => self.opened_ref().operational.push(LEASE, work).map(|()| Answer::Done),
        };
        match done {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Answer::Refused(error.to_string())),
            done => Ok(done?),
        }
    }

    fn leaf_path(&self) -> annals::Result<TreePath> {
        TreePath::parse(&Keys::Apart.leaf_path(middle(self.count)))
    }
}

impl Target for Embedded {
    fn begin(&mut self, count: u32, _: bool) -> Outcome<()> {
        self.opened = None;
        let folder = make_folder(Some(&self.parent))?;
        let repository = Repository::open(folder.path().join("repository"))?;
        repository.transact(declare)?;
        let operational = Operational::over(&repository)?;
        operational.open_lease(LEASE, LEASE_MAX)?;
        self.count = count;
        let (subscribers, provider) = (None, None);
        self.opened = Some(Opened { subscribers, provider, operational, repository, _folder: folder });
        Ok(())
    }

    fn call(&mut self, call: Call) -> Outcome<Answer> {
        let root = || TreePath::parse("/cont");
        match call {
            Call::Find(keys) => {
                let path = TreePath::parse(&keys.leaf_path(middle(self.count)))?;
                let snapshot = self.repository().snapshot();
                let mut found = snapshot.tree().find(&path, usize::MAX)?;
                let found = found.pop();
                // The items above the leaf belong to the answer.
                black_box(found.as_ref().map(|found| found.path()).transpose()?);
                Ok(Answer::Leaf(found.and_then(|found| found.value()).map(text).transpose()?))
            }
            Call::Get(keys) => {
                let path = TreePath::parse(&keys.leaf_path(middle(self.count)))?;
                let snapshot = self.repository().snapshot();
                let found = snapshot.tree().item(&path)?;
                Ok(Answer::Leaf(found.and_then(|found| found.value()).map(text).transpose()?))
            }
            Call::All(Store::Running) => {
                let found = self.repository().snapshot().tree().get(&root()?, None)?;
                Ok(Answer::Whole(found.map(|item| Box::new(item) as Box<dyn Whole>)))
            }
            Call::All(Store::Operational) => {
                let found = self.opened_ref().operational.get(&root()?, None)?;
                Ok(Answer::Whole(found.map(|item| Box::new(item) as Box<dyn Whole>)))
            }
            Call::Merge(list) => {
                let item = entries(list, self.count);
                let path = root()?;
                self.change(Store::Running, |tree| tree.merge(&path, &item).map(drop))
            }
            Call::SetAll(store, list, order) => self.set_all(store, list, order),
            Call::CreateLeaf(value) => {
                let path = self.leaf_path()?;
                self.change(Store::Running, |tree| tree.create_property(&path, value))
            }
            Call::SetLeaf(store, value) => {
                let path = self.leaf_path()?;
                self.change(store, |tree| tree.set(&path, value))
            }
            Call::RemoveLeaf(store) => {
                let path = self.leaf_path()?;
                self.change(store, |tree| tree.remove(&path).map(drop))
            }
            Call::RemoveEntries(store, list) => {
                let path = TreePath::parse(list.path())?;
                self.change(store, |tree| tree.remove(&path).map(drop))
            }
            Call::RemoveContainer => {
                let path = root()?;
                self.change(Store::Running, |tree| tree.remove(&path).map(drop))
            }
            Call::Provide => {
                let (count, path) = (self.count, root()?);
                let provide = move |_: &TreePath| Ok(Some(entries(List::Keyed, count)));
                let opened = self.opened();
                opened.provider = Some(opened.operational.provide(LEASE, &path, provide)?);
                Ok(Answer::Done)
            }
            Call::Subscribe(count) => {
                let opened = self.opened();
                opened.subscribers = Some(Subscribers::start(feeds(&opened.repository, count)?));
                Ok(Answer::Done)
            }
            Call::Hear => {
                let opened = self.opened();
                let position = opened.repository.snapshot().position();
                let subscribers = opened.subscribers.as_mut().ok_or("there are no subscribers")?;
                subscribers.wait(position.0.into()).map(|()| Answer::Done)
            }
            Call::Unsubscribe => {
                let subscribers = self.opened().subscribers.take().ok_or("there are no subscribers")?;
                Ok(Answer::Heard(subscribers.end()?))
            }
        }
    }
}

impl Embedded {
    /// As on the page: each path is written, parsed and followed.
    fn set_all(&self, store: Store, list: List, order: Order) -> Outcome<Answer> {
        self.change(store, |tree| {
            order
                .numbers(self.count)
                .try_for_each(|number| tree.set(&TreePath::parse(&list.leaf_path(number))?, leaf(number)))
        })
    }
}

/// Declares the types of the page's model.
fn declare(transaction: &mut Transaction) -> annals::Result<()> {
    let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
    let text = AttributeDefinition::new("l", ValueType::String);
    let lst = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
    transaction.define_type(lst.attribute(key("k2", ValueType::String)).attribute(text.clone()))?;
    let usr_lst = TypeDefinition::entity("usr-lst").attribute(key("k", ValueType::Integer));
    transaction.define_type(usr_lst.attribute(text))?;
    transaction.define_type(TypeDefinition::relationship("contains").containing())?;
    let orders = TypeDefinition::relationship("orders").containing_in_order();
    transaction.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("usr-lst")))
}

/// The container with the first `count` entries in one list.
fn entries(list: List, count: u32) -> Item {
    (0..count).fold(Item::new(), |container, number| {
        let entry = Item::new().property("l", leaf(number));
        let key = i64::from(number);
        match list {
            List::Keyed => {
                let entry = entry.property("k1", key).property("k2", format!("str{number}"));
                container.listed("lst", entry)
            }
            List::Ordered => container.listed("usr-lst", entry.property("k", key)),
        }
    })
}

impl Whole for Item {
    fn content(&self) -> Outcome<Content> {
        let mut content = Content::default();
        self.children
            .iter()
            .try_for_each(|child| add(&mut content, &child.name, |name| child.item.get(name)))?;
        Ok(content)
    }
}

impl Whole for OperationalItem {
    fn content(&self) -> Outcome<Content> {
        let mut content = Content::default();
        for child in &self.children {
            add(&mut content, &child.name, |name| child.item.property(name).map(|(value, _)| value))?;
        }
        Ok(content)
    }
}

/// Adds the entry of a list with these properties.
fn add<'i>(content: &mut Content, list: &str, get: impl Fn(&str) -> Option<&'i Value>) -> Outcome<()> {
    let key = |name: &str| -> Outcome<u32> {
        let value = get(name).and_then(Value::as_integer);
        Ok(u32::try_from(value.ok_or_else(|| format!("{list}: {name} is no number"))?)?)
    };
    let text_of = |name: &str| get(name).cloned().map(text).transpose();
    match list {
        "lst" => {
            let k2 = text_of("k2")?.ok_or("lst: k2 is missing")?;
            content.lst.push(Entry { k1: key("k1")?, k2, l: text_of("l")? });
        }
        "usr-lst" => content.usr_lst.push(OrderedEntry { k: key("k")?, l: text_of("l")? }),
        other => return Err(format!("expected lst and usr-lst, found {other}").into()),
    }
    Ok(())
}

fn text(value: Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        other => Err(format!("expected a text, found {other:?}").into()),
    }
}
