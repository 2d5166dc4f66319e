//! The container in memory: a list sorted by its keys, and a list in user order with an index by key.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::diff::Diff;
use crate::datastore::content::{Content, Entry, List, Order, OrderedEntry, leaf};
use crate::datastore::target::Keys;

/// A container.
#[derive(Clone, Default)]
pub struct Tree {
    lst: BTreeMap<(u32, String), Option<String>>,
    usr_lst: Vec<OrderedEntry>,
    /// Places in `usr_lst` by key.
    places: HashMap<u32, usize, foldhash::fast::FixedState>,
}

impl Tree {
    /// Sets the leaf of an entry, which is created if it is missing: an ordered one at the end.
    pub fn set(&mut self, list: List, number: u32, value: String, diff: &mut Diff) {
        match list {
            List::Keyed => {
                let key = (number, format!("str{number}"));
                let held = self.lst.get_mut(&key);
                let entry = || Entry { k1: number, k2: format!("str{number}"), l: Some(value.clone()) };
                match held {
                    Some(held) if held.as_ref() == Some(&value) => {}
                    Some(held) => {
                        diff.note(|kept| kept.changed.lst.push(entry()));
                        *held = Some(value);
                    }
                    None => {
                        diff.note(|kept| kept.created.lst.push(entry()));
                        self.lst.insert(key, Some(value));
                    }
                }
            }
            List::Ordered => {
                let entry = || OrderedEntry { k: number, l: Some(value.clone()) };
                match self.places.get(&number) {
                    Some(place) if self.usr_lst[*place].l.as_ref() == Some(&value) => {}
                    Some(place) => {
                        diff.note(|kept| kept.changed.usr_lst.push(entry()));
                        self.usr_lst[*place].l = Some(value);
                    }
                    None => {
                        diff.note(|kept| kept.created.usr_lst.push(entry()));
                        self.places.insert(number, self.usr_lst.len());
                        self.usr_lst.push(OrderedEntry { k: number, l: Some(value) });
                    }
                }
            }
        }
    }

    /// Sets the leaf of every entry.
    pub fn set_all(&mut self, list: List, order: Order, count: u32, diff: &mut Diff) {
        order.numbers(count).for_each(|number| self.set(list, number, leaf(number), diff));
    }

    /// The leaf of an entry of `lst`. Joined keys are compared with every entry.
    pub fn leaf(&self, keys: Keys, number: u32) -> Option<&String> {
        let text = format!("str{number}");
        match keys {
            Keys::Apart => self.lst.get(&(number, text))?.as_ref(),
            Keys::Joined => {
                // The loop visits all entries, because an expression may match several.
                let mut found = None;
                for ((k1, k2), l) in &self.lst {
                    if *k1 == number && *k2 == text {
                        found = l.as_ref();
                    }
                }
                found
            }
        }
    }

    /// Removes the leaf of an entry of `lst`.
    pub fn remove_leaf(&mut self, number: u32, diff: &mut Diff) {
        let key = (number, format!("str{number}"));
        if let Some(held) = self.lst.get_mut(&key)
            && let Some(value) = held.take()
        {
            diff.note(|kept| kept.removed.lst.push(Entry { k1: key.0, k2: key.1, l: Some(value) }));
        }
    }

    /// Removes every entry of a list.
    pub fn clear(&mut self, list: List, diff: &mut Diff) {
        match list {
            List::Keyed => {
                for ((k1, k2), l) in std::mem::take(&mut self.lst) {
                    diff.note(|kept| kept.removed.lst.push(Entry { k1, k2, l }));
                }
            }
            List::Ordered => {
                self.places.clear();
                for entry in std::mem::take(&mut self.usr_lst) {
                    diff.note(|kept| kept.removed.usr_lst.push(entry));
                }
            }
        }
    }

    /// Adds all entries of another one.
    pub fn extend(&mut self, other: Tree) {
        self.lst.extend(other.lst);
        for entry in other.usr_lst {
            self.places.insert(entry.k, self.usr_lst.len());
            self.usr_lst.push(entry);
        }
    }

    /// Its content.
    pub fn content(&self) -> Content {
        let entry = |((k1, k2), l): (&(u32, String), &Option<String>)| Entry {
            k1: *k1,
            k2: k2.clone(),
            l: l.clone(),
        };
        Content { lst: self.lst.iter().map(entry).collect(), usr_lst: self.usr_lst.clone() }
    }
}

impl From<Content> for Tree {
    fn from(content: Content) -> Tree {
        let places = content.usr_lst.iter().enumerate().map(|(place, entry)| (entry.k, place)).collect();
        let lst = content.lst.into_iter().map(|entry| ((entry.k1, entry.k2), entry.l)).collect();
        Tree { lst, usr_lst: content.usr_lst, places }
    }
}

/// The JSON form of [`Content`], without a copy.
impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_struct("Content", 2)?;
        members.serialize_field("lst", &Listed(&self.lst))?;
        members.serialize_field("usr-lst", &self.usr_lst)?;
        members.end()
    }
}

struct Listed<'t>(&'t BTreeMap<(u32, String), Option<String>>);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Borrowed<'t> {
            k1: u32,
            k2: &'t str,
            #[serde(skip_serializing_if = "Option::is_none")]
            l: &'t Option<String>,
        }
        to.collect_seq(self.0.iter().map(|((k1, k2), l)| Borrowed { k1: *k1, k2, l }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_come_back_from_text() {
        let mut tree = Tree::default();
        let mut diff = Diff::kept();
        tree.set_all(List::Keyed, Order::Down, 11, &mut diff);
        tree.set_all(List::Ordered, Order::Down, 11, &mut diff);
        assert_eq!(diff.count(), 22);
        let expected = Content {
            usr_lst: Content::of(List::Ordered, Order::Down, 11).usr_lst,
            ..Content::of(List::Keyed, Order::Up, 11)
        };
        assert_eq!(tree.content().difference(&expected), None);
        let text = serde_json::to_string(&tree).unwrap();
        let read = Tree::from(serde_json::from_str::<Content>(&text).unwrap());
        assert_eq!(read.content().difference(&expected), None);
    }

    #[test]
    fn what_changes_nothing_is_no_difference() {
        let mut tree = Tree::from(Content::of(List::Keyed, Order::Up, 3));
        let mut diff = Diff::kept();
        tree.set(List::Keyed, 1, "l1".into(), &mut diff);
        assert_eq!(diff.count(), 0);
        tree.remove_leaf(1, &mut diff);
        tree.remove_leaf(1, &mut diff);
        assert_eq!((diff.count(), tree.leaf(Keys::Joined, 1), tree.content().lst.len()), (1, None, 3));
        tree.set(List::Keyed, 1, "l0".into(), &mut diff);
        tree.clear(List::Keyed, &mut diff);
        assert_eq!((diff.count(), tree.content()), (5, Content::default()));
    }
}
