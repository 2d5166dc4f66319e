//! Redis: a list is a sorted set of its keys, and a hash of the leaves by key; the container is a key of its own. A change
//! is one transaction (MULTI and EXEC) in one message. Where it depends on what is there, keys are watched and read before.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{Connection, IntoConnectionInfo, Pipeline, cmd, pipe};
use serde::{Deserialize, Serialize};

use super::tree::{Tree, name};
use crate::datastore::content::{Content, Entry, List, OrderedEntry};
use crate::datastore::subscribers::{Event, Feed, Position};
use crate::datastore::target::Store;
use crate::harness::TargetRecord;
use crate::outcome::Outcome;

/// The stream of changes: an entry for each transaction.
const CHANGES: &str = "changes";
/// The field of such an entry.
const FIELD: &str = "content";

/// Entries of a stream, each with its id and fields.
type Entries = Vec<(String, HashMap<String, String>)>;

/// A connection.
pub struct Redis {
    connection: Connection,
    port: u16,
    is_synced: bool,
    /// Whether changes are kept for subscribers.
    is_heard: bool,
    /// Of the last change that was kept.
    position: Position,
}

/// The keys of a list.
struct Keys {
    container: String,
    order: String,
    leaves: String,
}

/// The message about a transaction that subscribers receive.
#[derive(Default, Serialize, Deserialize)]
struct Change {
    set: Content,
    removed: Content,
}

/// An entry to set.
struct Given<'e> {
    /// Its keys, as a member of the sorted set and a field of the hash.
    member: String,
    /// Its place in `lst`; members with the same one are in the order of their texts.
    score: f64,
    leaf: &'e str,
}

impl Redis {
    /// Connects.
    pub fn connect(port: u16) -> Outcome<Redis> {
        let mut connection = connect(port)?;
        let append: HashMap<String, String> =
            cmd("CONFIG").arg("GET").arg("append*").query(&mut connection)?;
        let is = |name: &str, value: &str| append.get(name).is_some_and(|found| found == value);
        let is_synced = is("appendonly", "yes") && is("appendfsync", "always");
        Ok(Redis { connection, port, is_synced, is_heard: false, position: 0 })
    }

    fn set_list(&mut self, store: Store, list: List, mut given: Vec<Given<'_>>) -> Outcome<bool> {
        let keys = Keys::of(store, list);
        let members: Vec<&str> = given.iter().map(|given| given.member.as_str()).collect();
        if list == List::Keyed && !self.is_heard {
            let mut all = pipe();
            all.atomic().cmd("HMGET").arg(&keys.leaves).arg(&members);
            keys.set(&mut all, &given);
            let (before,): (Vec<Option<String>>,) = all.query(&mut self.connection)?;
            return Ok(before
                .iter()
                .zip(&given)
                .any(|(before, given)| before.as_deref() != Some(given.leaf)));
        }
        let mut read = pipe();
        read.cmd("WATCH").arg(&keys.container).arg(&keys.order).arg(&keys.leaves).ignore();
        read.cmd("ZREVRANGE").arg(&keys.order).arg(0).arg(0).arg("WITHSCORES");
        read.cmd("HMGET").arg(&keys.leaves).arg(&members);
        let (last, before): (Vec<(String, f64)>, Vec<Option<String>>) = read.query(&mut self.connection)?;
        let mut before = before.into_iter();
        given.retain(|given| before.next().flatten().as_deref() != Some(given.leaf));
        if given.is_empty() {
            cmd("UNWATCH").exec(&mut self.connection)?;
            return Ok(false);
        }
        if list == List::Ordered {
            let end = last.first().map_or(0.0, |(_, score)| *score);
            given.iter_mut().zip(1_u32..).for_each(|(given, place)| given.score = end + f64::from(place));
        }
        let mut all = pipe();
        keys.set(all.atomic(), &given);
        let leaves = given.iter().map(|given| (given.member.as_str(), Some(given.leaf.to_owned())));
        let set = content(list, leaves)?;
        self.commit(all, &Change { set, ..Change::default() })?;
        Ok(true)
    }

    /// Commits a transaction on watched keys. It also tells subscribers, if there are some.
    ///
    /// Errors: if another client has changed a watched key.
    fn commit(&mut self, mut all: Pipeline, change: &Change) -> Outcome<()> {
        if self.is_heard {
            all.cmd("XADD").arg(CHANGES).arg("*").arg(FIELD).arg(serde_json::to_string(change)?);
        }
        let done: Option<Vec<String>> = all.query(&mut self.connection)?;
        let done = done.ok_or("another client wrote meanwhile")?;
        if let Some(id) = done.last() {
            self.position = position(id)?;
        }
        Ok(())
    }
}

fn connect(port: u16) -> Outcome<Connection> {
    let info = format!("redis://127.0.0.1:{port}/").into_connection_info()?;
    let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
    Ok(redis::Client::open(info)?.get_connection()?)
}

impl Keys {
    fn of(store: Store, list: List) -> Keys {
        let (store, list) = (name(store), list.path().trim_start_matches('/'));
        Keys {
            container: format!("{store}:/cont"),
            order: format!("{store}:/{list}:order"),
            leaves: format!("{store}:/{list}:leaves"),
        }
    }

    /// Adds the commands that set these entries, and create the missing ones and the container.
    fn set(&self, all: &mut Pipeline, given: &[Given<'_>]) {
        all.cmd("SET").arg(&self.container).arg("").arg("NX").ignore();
        let places: Vec<(f64, &str)> =
            given.iter().map(|given| (given.score, given.member.as_str())).collect();
        all.cmd("ZADD").arg(&self.order).arg("NX").arg(places).ignore();
        let leaves: Vec<(&str, &str)> =
            given.iter().map(|given| (given.member.as_str(), given.leaf)).collect();
        all.cmd("HSET").arg(&self.leaves).arg(leaves).ignore();
    }
}

impl Given<'_> {
    fn of(entry: &Entry) -> Outcome<Given<'_>> {
        let leaf = entry.l.as_deref().ok_or("an entry without a leaf")?;
        Ok(Given { member: member(entry), score: entry.k1.into(), leaf })
    }

    fn of_ordered(entry: &OrderedEntry) -> Outcome<Given<'_>> {
        let leaf = entry.l.as_deref().ok_or("an entry without a leaf")?;
        Ok(Given { member: entry.k.to_string(), score: 0.0, leaf })
    }
}

/// The keys of an entry of `lst` in one text.
fn member(entry: &Entry) -> String {
    format!("{}:{}", entry.k1, entry.k2)
}

/// The content with these entries of a list. Shape: keys in one text, the leaf.
fn content<'m>(list: List, entries: impl Iterator<Item = (&'m str, Option<String>)>) -> Outcome<Content> {
    let mut content = Content::default();
    for (member, l) in entries {
        match list {
            List::Keyed => {
                let (k1, k2) = member.split_once(':').ok_or_else(|| format!("{member}: one key"))?;
                content.lst.push(Entry { k1: k1.parse()?, k2: k2.to_owned(), l });
            }
            List::Ordered => content.usr_lst.push(OrderedEntry { k: member.parse()?, l }),
        }
    }
    Ok(content)
}

/// Source: an id of a stream is milliseconds and a number, <https://redis.io/docs/latest/develop/data-types/streams/>.
fn position(id: &str) -> Outcome<Position> {
    let (time, number) =
        id.split_once('-').ok_or_else(|| format!("expected the id of an event, found {id}"))?;
    Ok(u128::from(time.parse::<u64>()?) << 64 | u128::from(number.parse::<u64>()?))
}

impl Tree for Redis {
    fn record(&mut self) -> Outcome<TargetRecord> {
        let info: String = cmd("INFO").arg("server").query(&mut self.connection)?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        let version = version.ok_or("INFO: expected redis_version")?.to_owned();
        let names = ["appendonly", "appendfsync", "save"];
        let found: HashMap<String, String> =
            cmd("CONFIG").arg("GET").arg(&names).query(&mut self.connection)?;
        let settings = names.map(|name| (name.to_owned(), found.get(name).cloned().unwrap_or_default()));
        Ok(TargetRecord {
            version,
            durability: if self.is_synced { "synced" } else { "unsynced" }.into(),
            settings: settings.into(),
            ..TargetRecord::default()
        })
    }

    fn begin(&mut self) -> Outcome<()> {
        (self.is_heard, self.position) = (false, 0);
        Ok(cmd("FLUSHALL").exec(&mut self.connection)?)
    }

    fn leaf(&mut self, number: u32) -> Outcome<Option<String>> {
        let keys = Keys::of(Store::Running, List::Keyed);
        let member = member(&Entry::new(number));
        Ok(cmd("HGET").arg(keys.leaves).arg(member).query(&mut self.connection)?)
    }

    fn all(&mut self, store: Store) -> Outcome<Option<Content>> {
        let lists = [List::Keyed, List::Ordered];
        let mut read = pipe();
        read.atomic().cmd("EXISTS").arg(Keys::of(store, List::Keyed).container);
        for list in lists {
            let keys = Keys::of(store, list);
            read.cmd("ZRANGE").arg(keys.order).arg(0).arg(-1).cmd("HGETALL").arg(keys.leaves);
        }
        type Read = (Vec<String>, HashMap<String, String>);
        let (is_there, order, leaves, user_order, user_leaves): (bool, _, _, _, _) =
            read.query(&mut self.connection)?;
        if !is_there {
            return Ok(None);
        }
        let of = |list, (order, mut leaves): Read| {
            content(list, order.iter().map(|member| (member.as_str(), leaves.remove(member))))
        };
        let Content { usr_lst, .. } = of(List::Ordered, (user_order, user_leaves))?;
        Ok(Some(Content { usr_lst, ..of(List::Keyed, (order, leaves))? }))
    }

    fn set(&mut self, store: Store, entries: &Content) -> Outcome<bool> {
        let keyed: Vec<Given<'_>> = entries.lst.iter().map(Given::of).collect::<Outcome<_>>()?;
        let ordered: Vec<Given<'_>> =
            entries.usr_lst.iter().map(Given::of_ordered).collect::<Outcome<_>>()?;
        let mut is_changed = false;
        for (list, given) in [(List::Keyed, keyed), (List::Ordered, ordered)] {
            is_changed |= !given.is_empty() && self.set_list(store, list, given)?;
        }
        Ok(is_changed)
    }

    fn create_leaf(&mut self, entry: &Entry) -> Outcome<bool> {
        let keys = Keys::of(Store::Running, List::Keyed);
        let given = Given::of(entry)?;
        let mut all = pipe();
        // Where the leaf is there, the other commands find what they create.
        all.atomic().cmd("HSETNX").arg(&keys.leaves).arg(&given.member).arg(given.leaf);
        all.cmd("ZADD").arg(&keys.order).arg("NX").arg(given.score).arg(&given.member).ignore();
        all.cmd("SET").arg(&keys.container).arg("").arg("NX").ignore();
        let (is_created,): (bool,) = all.query(&mut self.connection)?;
        Ok(is_created)
    }

    fn remove_leaf(&mut self, store: Store, number: u32) -> Outcome<bool> {
        let keys = Keys::of(store, List::Keyed);
        Ok(cmd("HDEL").arg(keys.leaves).arg(member(&Entry::new(number))).query(&mut self.connection)?)
    }

    fn remove_entries(&mut self, store: Store, list: List) -> Outcome<bool> {
        let keys = Keys::of(store, list);
        if !self.is_heard {
            let removed: u64 = cmd("UNLINK").arg(keys.order).arg(keys.leaves).query(&mut self.connection)?;
            return Ok(removed > 0);
        }
        let mut read = pipe();
        read.cmd("WATCH").arg(&keys.order).arg(&keys.leaves).ignore();
        read.cmd("ZRANGE").arg(&keys.order).arg(0).arg(-1).cmd("HGETALL").arg(&keys.leaves);
        let (order, mut leaves): (Vec<String>, HashMap<String, String>) = read.query(&mut self.connection)?;
        if order.is_empty() {
            cmd("UNWATCH").exec(&mut self.connection)?;
            return Ok(false);
        }
        let removed = content(list, order.iter().map(|member| (member.as_str(), leaves.remove(member))))?;
        let mut all = pipe();
        all.atomic().cmd("UNLINK").arg(keys.order).arg(keys.leaves).ignore();
        self.commit(all, &Change { removed, ..Change::default() })?;
        Ok(true)
    }

    fn remove_container(&mut self) -> Outcome<bool> {
        let mut all = cmd("UNLINK");
        for list in [List::Keyed, List::Ordered] {
            let keys = Keys::of(Store::Running, list);
            all.arg(keys.container).arg(keys.order).arg(keys.leaves);
        }
        let removed: u64 = all.query(&mut self.connection)?;
        Ok(removed > 0)
    }

    fn subscribe(&mut self, count: usize) -> Outcome<Vec<Box<dyn Feed>>> {
        self.is_heard = true;
        let feed = |_| {
            let feed = Changes { connection: connect(self.port)?, last: "0-0".into() };
            Ok(Box::new(feed) as Box<dyn Feed>)
        };
        (0..count).map(feed).collect()
    }

    fn position(&mut self) -> Outcome<Position> {
        Ok(self.position)
    }

    fn unsubscribe(&mut self) -> Outcome<()> {
        (self.is_heard, self.position) = (false, 0);
        Ok(cmd("UNLINK").arg(CHANGES).exec(&mut self.connection)?)
    }
}

/// Reads the stream of changes.
struct Changes {
    connection: Connection,
    /// The id of the last entry that it has read.
    last: String,
}

impl Changes {
    fn read(&mut self, time_max: Duration) -> Outcome<Option<Event>> {
        let mut read = cmd("XREAD");
        read.arg("BLOCK").arg(time_max.as_millis() as u64).arg("STREAMS").arg(CHANGES).arg(&self.last);
        let found: Option<Vec<(String, Entries)>> = read.query(&mut self.connection)?;
        let Some((_, entries)) = found.and_then(|mut found| found.pop()) else { return Ok(None) };
        let mut changes_count = 0;
        for (id, fields) in entries {
            let change: Change = serde_json::from_str(fields.get(FIELD).ok_or("an event without content")?)?;
            changes_count += change.set.count() + change.removed.count();
            black_box(change);
            self.last = id;
        }
        Ok(Some(Event { position: position(&self.last)?, changes_count }))
    }
}

impl Feed for Changes {
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
        self.read(time_max).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_ordered_as_redis_orders_ids() {
        let positions = ["0-0", "1-18446744073709551615", "2-0", "10-1"].map(|id| position(id).unwrap());
        assert!(positions.is_sorted() && positions[0] == 0);
        assert!(position("12").is_err());
    }

    #[test]
    fn an_entry_is_read_from_its_member() {
        let entry = Entry { k1: 7, k2: "a:b".into(), l: Some("x".into()) };
        let read = content(List::Keyed, [(member(&entry).as_str(), entry.l.clone())].into_iter()).unwrap();
        assert_eq!(read, Content { lst: vec![entry], ..Content::default() });
    }
}
