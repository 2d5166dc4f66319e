//! FerretDB, a stand-in for MongoDB: a database for each store, with a collection for each list and a document for each
//! entry. FerretDB 1 has no transactions, so a change of several documents is several commands.

mod wire;

use std::collections::HashMap;

use bson::{Document, doc};

use super::tree::{Tree, name};
use crate::datastore::content::{Content, Entry, List, OrderedEntry};
use crate::datastore::subscribers::{Feed, Position};
use crate::datastore::target::Store;
use crate::harness::TargetRecord;
use crate::outcome::Outcome;
use wire::Connection;

/// Why it has no row with subscribers.
const NO_SUBSCRIBERS: &str = "FerretDB 1 has no change streams";
/// The collection with one document, if the container is there.
const CONTAINER: &str = "cont";

/// A connection.
pub struct Ferretdb {
    connection: Connection,
}

/// An entry to set.
struct Given<'e> {
    /// Its keys in one text.
    id: String,
    /// Its keys, which the document has too.
    keys: Document,
    leaf: &'e str,
}

/// The counts of an answer about documents that match a condition.
struct Counts {
    matched: i32,
    changed: i32,
}

impl Ferretdb {
    /// Connects.
    pub fn connect(port: u16) -> Outcome<Ferretdb> {
        let mut connection = Connection::connect(port)?;
        connection.run("admin", doc! { "ping": 1 })?;
        Ok(Ferretdb { connection })
    }

    fn find_one(&mut self, store: Store, collection: &str, filter: Document) -> Outcome<Option<Document>> {
        Ok(self.connection.find(name(store), collection, filter, doc! {})?.pop())
    }

    fn update(&mut self, store: Store, list: List, filter: Document, update: Document) -> Outcome<Counts> {
        let command = doc! { "update": collection(list), "updates": [{ "q": filter, "u": update }] };
        let answer = self.connection.run(name(store), command)?;
        Ok(Counts { matched: answer.get_i32("n")?, changed: answer.get_i32("nModified")? })
    }

    /// Empties a collection. FerretDB deletes documents by one statement with a variable for each, and SQLite takes no
    /// more than 32,766 of them; so this drops the collection, and the next insertion makes it again.
    ///
    /// Shape: false if it was empty.
    fn drop(&mut self, store: Store, collection: &str) -> Outcome<bool> {
        let count = self.connection.run(name(store), doc! { "count": collection })?.get_i32("n")?;
        if count > 0 {
            self.connection.run(name(store), doc! { "drop": collection })?;
        }
        Ok(count > 0)
    }

    /// Creates the container unless it is there.
    fn create_container(&mut self, store: Store) -> Outcome<()> {
        if self.find_one(store, CONTAINER, doc! {})?.is_none() {
            self.connection.insert(name(store), CONTAINER, &[doc! { "_id": CONTAINER }])?;
        }
        Ok(())
    }

    /// Reads the list, and writes what differs: FerretDB would read it once for each document that it must look for.
    fn set_all(&mut self, store: Store, list: List, given: &[Given<'_>]) -> Outcome<bool> {
        let mut before = HashMap::new();
        let mut last = 0;
        let documents: Vec<Document> =
            self.connection.find(name(store), collection(list), doc! {}, doc! {})?;
        for document in documents {
            if list == List::Ordered {
                last = last.max(document.get_i64("place")?);
            }
            let leaf = document.get_str("l").ok().map(str::to_owned);
            before.insert(document.get_str("_id")?.to_owned(), leaf);
        }
        let (mut missing, mut is_changed) = (Vec::new(), false);
        for given in given {
            match before.get(&given.id) {
                None => {
                    last += 1;
                    missing.push(given.document(list, last));
                }
                Some(leaf) if leaf.as_deref() == Some(given.leaf) => {}
                Some(_) => is_changed |= self.set_leaf(store, list, given)?.changed > 0,
            }
        }
        if !missing.is_empty() {
            self.create_container(store)?;
            self.connection.insert(name(store), collection(list), &missing)?;
        }
        Ok(is_changed || !missing.is_empty())
    }

    fn set_leaf(&mut self, store: Store, list: List, given: &Given<'_>) -> Outcome<Counts> {
        self.update(store, list, doc! { "_id": &given.id }, doc! { "$set": { "l": given.leaf } })
    }

    /// Sets one leaf.
    fn set_one(&mut self, store: Store, list: List, given: &Given<'_>) -> Outcome<bool> {
        let done = self.set_leaf(store, list, given)?;
        if done.matched > 0 {
            return Ok(done.changed > 0);
        }
        self.set_all(store, list, std::slice::from_ref(given))
    }
}

fn collection(list: List) -> &'static str {
    match list {
        List::Keyed => "lst",
        List::Ordered => "usr-lst",
    }
}

impl Given<'_> {
    fn of(entry: &Entry) -> Outcome<Given<'_>> {
        let leaf = entry.l.as_deref().ok_or("an entry without a leaf")?;
        let keys = doc! { "k1": i64::from(entry.k1), "k2": &entry.k2 };
        Ok(Given { id: id(entry), keys, leaf })
    }

    fn of_ordered(entry: &OrderedEntry) -> Outcome<Given<'_>> {
        let leaf = entry.l.as_deref().ok_or("an entry without a leaf")?;
        Ok(Given { id: entry.k.to_string(), keys: doc! { "k": i64::from(entry.k) }, leaf })
    }

    /// The whole document. `place` is the order that users gave.
    fn document(&self, list: List, place: i64) -> Document {
        let mut document = doc! { "_id": &self.id };
        document.extend(self.keys.clone());
        document.insert("l", self.leaf);
        if list == List::Ordered {
            document.insert("place", place);
        }
        document
    }
}

fn id(entry: &Entry) -> String {
    format!("{}:{}", entry.k1, entry.k2)
}

impl Tree for Ferretdb {
    fn record(&mut self) -> Outcome<TargetRecord> {
        let build = self.connection.run("admin", doc! { "buildInfo": 1 })?;
        let (own, mongodb) = (build.get_str("ferretdbVersion")?, build.get_str("version")?);
        Ok(TargetRecord {
            version: format!("FerretDB {own}, a stand-in for MongoDB {mongodb}"),
            // The script that starts it says so to SQLite.
            durability: "synced".into(),
            settings: vec![
                ("backend".into(), "SQLite with a write-ahead log".into()),
                ("synchronous".into(), "full".into()),
            ],
            ..TargetRecord::default()
        })
    }

    fn begin(&mut self) -> Outcome<()> {
        for store in [Store::Running, Store::Operational] {
            self.connection.run(name(store), doc! { "dropDatabase": 1 })?;
        }
        Ok(())
    }

    fn leaf(&mut self, number: u32) -> Outcome<Option<String>> {
        let entry = doc! { "_id": id(&Entry::new(number)) };
        let found = self.find_one(Store::Running, collection(List::Keyed), entry)?;
        Ok(found.and_then(|entry| entry.get_str("l").ok().map(str::to_owned)))
    }

    fn all(&mut self, store: Store) -> Outcome<Option<Content>> {
        if self.find_one(store, CONTAINER, doc! {})?.is_none() {
            return Ok(None);
        }
        let (database, keys, place) = (name(store), doc! { "k1": 1, "k2": 1 }, doc! { "place": 1 });
        let lst = self.connection.find(database, collection(List::Keyed), doc! {}, keys)?;
        let usr_lst = self.connection.find(database, collection(List::Ordered), doc! {}, place)?;
        Ok(Some(Content { lst, usr_lst }))
    }

    fn set(&mut self, store: Store, entries: &Content) -> Outcome<bool> {
        let keyed: Vec<Given<'_>> = entries.lst.iter().map(Given::of).collect::<Outcome<_>>()?;
        let ordered: Vec<Given<'_>> =
            entries.usr_lst.iter().map(Given::of_ordered).collect::<Outcome<_>>()?;
        let mut is_changed = false;
        for (list, given) in [(List::Keyed, keyed), (List::Ordered, ordered)] {
            is_changed |= match given.as_slice() {
                [] => false,
                [one] => self.set_one(store, list, one)?,
                all => self.set_all(store, list, all)?,
            };
        }
        Ok(is_changed)
    }

    fn create_leaf(&mut self, entry: &Entry) -> Outcome<bool> {
        let given = Given::of(entry)?;
        let without = doc! { "_id": &given.id, "l": { "$exists": false } };
        let set = doc! { "$set": { "l": given.leaf } };
        if self.update(Store::Running, List::Keyed, without, set)?.matched > 0 {
            return Ok(true);
        }
        let entry = doc! { "_id": &given.id };
        if self.find_one(Store::Running, collection(List::Keyed), entry)?.is_some() {
            return Ok(false);
        }
        self.set_all(Store::Running, List::Keyed, &[given])
    }

    fn remove_leaf(&mut self, store: Store, number: u32) -> Outcome<bool> {
        let entry = doc! { "_id": id(&Entry::new(number)) };
        Ok(self.update(store, List::Keyed, entry, doc! { "$unset": { "l": "" } })?.changed > 0)
    }

    fn remove_entries(&mut self, store: Store, list: List) -> Outcome<bool> {
        self.drop(store, collection(list))
    }

    fn remove_container(&mut self) -> Outcome<bool> {
        self.remove_entries(Store::Running, List::Keyed)?;
        self.remove_entries(Store::Running, List::Ordered)?;
        self.drop(Store::Running, CONTAINER)
    }

    fn lacks_subscribers(&self) -> Option<&'static str> {
        Some(NO_SUBSCRIBERS)
    }

    fn subscribe(&mut self, _: usize) -> Outcome<Vec<Box<dyn Feed>>> {
        Err(NO_SUBSCRIBERS.into())
    }

    fn position(&mut self) -> Outcome<Position> {
        Err(NO_SUBSCRIBERS.into())
    }

    fn unsubscribe(&mut self) -> Outcome<()> {
        Err(NO_SUBSCRIBERS.into())
    }
}
