//! Annals in this process, on real files: each transaction is durable before the next.

mod subscribers;

use std::hint::black_box;
use std::path::PathBuf;

use annals::{
    AttributeDefinition, EndDefinition, ErrorKind, Item, Repository, Transaction, TreePath, TypeDefinition,
    Value, ValueType,
};
use tempfile::TempDir;

use super::content::{Content, Entry, List, Order, OrderedEntry, leaf};
use super::target::{Answer, Call, Keys, Store, Target, Whole, middle};
use crate::outcome::Outcome;
use crate::run::make_folder;
use subscribers::Subscribers;

/// Notes for readers of the figures, for embedded and HTTP.
pub const UNFAIR: &[&str] = &[
    "Annals has each transaction on the disk before it acknowledges it. The page's default plugin syncs nothing.",
    "Annals keeps every version: removed items stay in the history, and each try makes the history longer.",
    "Annals checks types, keys, parents and names, and keeps indexes. The plugin checks the schema of the page, which has no constraints.",
    "Annals has everything in memory, always: a cached row is the same operation as its twin.",
    "Embedded, Annals is in the process of the caller, as is the library of the page. Over HTTP it is in another process: the clock stops \
     when the last byte of an answer is read, and only answers about one leaf, and receipts, are parsed.",
];

/// The engine, without a door.
pub struct Embedded {
    parent: Option<PathBuf>,
    count: u32,
    opened: Option<Opened>,
}

/// Order: the repository is closed before its folder goes.
struct Opened {
    subscribers: Option<Subscribers>,
    repository: Repository,
    _folder: TempDir,
}

impl Embedded {
    /// Repositories will lie in new folders in `parent`.
    pub fn new(parent: Option<PathBuf>) -> Embedded {
        Embedded { parent, count: 0, opened: None }
    }

    fn opened(&mut self) -> &mut Opened {
        self.opened.as_mut().expect("begin is called before anything else")
    }

    fn repository(&self) -> &Repository {
        &self.opened.as_ref().expect("begin is called before anything else").repository
    }

    /// Commits; a refusal is an answer.
    fn change(&self, work: impl FnMut(&mut Transaction) -> annals::Result<()>) -> Outcome<Answer> {
        let before = self.repository().snapshot().position();
        match self.repository().transact(work) {
            Ok((_, receipt)) => Ok(Answer::Changed(receipt.position > before)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Answer::Refused(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn leaf_path(&self) -> annals::Result<TreePath> {
        TreePath::parse(&Keys::Apart.leaf_path(middle(self.count)))
    }
}

impl Target for Embedded {
    fn title(&self) -> &'static str {
        "Annals, embedded"
    }

    fn lacks(&self, call: Call) -> Option<&'static str> {
        lacks(call)
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn unfair(&self) -> &'static [&'static str] {
        UNFAIR
    }

    fn begin(&mut self, count: u32, _: bool) -> Outcome<()> {
        self.opened = None;
        let folder = make_folder(self.parent.as_deref())?;
        let repository = Repository::open(folder.path().join("repository"))?;
        repository.transact(declare)?;
        self.count = count;
        self.opened = Some(Opened { subscribers: None, repository, _folder: folder });
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
            Call::All(_) => {
                let found = self.repository().snapshot().tree().get(&root()?, None)?;
                Ok(Answer::Whole(found.map(|item| Box::new(item) as Box<dyn Whole>)))
            }
            Call::Merge(list) => {
                let item = (0..self.count).fold(Item::new(), |item, number| entry(item, list, number));
                let path = root()?;
                self.change(|transaction| transaction.tree().merge(&path, &item).map(drop))
            }
            Call::SetAll(_, list, order) => self.set_all(list, order),
            Call::CreateLeaf(value) => {
                let path = self.leaf_path()?;
                self.change(|transaction| transaction.tree().create_property(&path, value))
            }
            Call::SetLeaf(_, value) => {
                let path = self.leaf_path()?;
                self.change(|transaction| transaction.tree().set(&path, value))
            }
            Call::RemoveLeaf(_) => {
                let path = self.leaf_path()?;
                self.change(|transaction| transaction.tree().remove(&path).map(drop))
            }
            Call::RemoveEntries(_, list) => {
                let path = TreePath::parse(list.path())?;
                self.change(|transaction| transaction.tree().remove(&path).map(drop))
            }
            Call::RemoveContainer => {
                let path = root()?;
                self.change(|transaction| transaction.tree().remove(&path).map(drop))
            }
            Call::Subscribe(count) => {
                let opened = self.opened();
                opened.subscribers = Some(Subscribers::start(&opened.repository, count)?);
                Ok(Answer::Changed(true))
            }
            Call::Hear => {
                let opened = self.opened();
                let position = opened.repository.snapshot().position();
                let subscribers = opened.subscribers.as_mut().ok_or("there are no subscribers")?;
                subscribers.wait(position).map(|()| Answer::Changed(true))
            }
            Call::Unsubscribe => {
                let subscribers = self.opened().subscribers.take().ok_or("there are no subscribers")?;
                Ok(Answer::Heard(subscribers.end()?))
            }
            Call::Provide => Err(format!("{call:?}: it is lacking").into()),
        }
    }
}

impl Embedded {
    /// As the page does it: the path of each is written, read and followed.
    fn set_all(&self, list: List, order: Order) -> Outcome<Answer> {
        let count = self.count;
        self.change(|transaction| {
            let mut tree = transaction.tree();
            order
                .numbers(count)
                .try_for_each(|number| tree.set(&TreePath::parse(&list.leaf_path(number))?, leaf(number)))
        })
    }
}

/// Why Annals cannot answer a call yet, embedded and over HTTP.
pub fn lacks(call: Call) -> Option<&'static str> {
    let is_operational = matches!(
        call,
        Call::Provide
            | Call::All(Store::Operational)
            | Call::SetAll(Store::Operational, ..)
            | Call::SetLeaf(Store::Operational, _)
            | Call::RemoveLeaf(Store::Operational)
            | Call::RemoveEntries(Store::Operational, _)
    );
    is_operational.then_some("no operational view yet")
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

/// The container with one entry more.
fn entry(container: Item, list: List, number: u32) -> Item {
    let entry = Item::new().property("l", leaf(number));
    let number = i64::from(number);
    match list {
        List::Keyed => {
            let entry = entry.property("k1", number).property("k2", format!("str{number}"));
            container.listed("lst", entry)
        }
        List::Ordered => container.listed("usr-lst", entry.property("k", number)),
    }
}

impl Whole for Item {
    fn content(&self) -> Outcome<Content> {
        let mut content = Content::default();
        for child in &self.children {
            let key = |name: &str| -> Outcome<u32> {
                let value = child.item.get(name).and_then(Value::as_integer);
                Ok(u32::try_from(value.ok_or_else(|| format!("{}: {name} is no number", child.name))?)?)
            };
            let text_of = |name: &str| child.item.get(name).cloned().map(text).transpose();
            match &*child.name {
                "lst" => {
                    let k2 = text_of("k2")?.ok_or("lst: k2 is missing")?;
                    content.lst.push(Entry { k1: key("k1")?, k2, l: text_of("l")? });
                }
                "usr-lst" => content.usr_lst.push(OrderedEntry { k: key("k")?, l: text_of("l")? }),
                other => return Err(format!("expected lst and usr-lst, found {other}").into()),
            }
        }
        Ok(content)
    }
}

fn text(value: Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        other => Err(format!("expected a text, found {other:?}").into()),
    }
}
