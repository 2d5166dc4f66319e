//! The data of the page: a container with two lists of numbered entries.

use serde::{Deserialize, Serialize};

/// One of the two lists. No row fills both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `lst`, with two keys: its entries are in the order of the keys.
    Keyed,
    /// `usr-lst`, with one key: users order its entries.
    Ordered,
}

/// In which order the numbers of entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Up,
    /// Used by the check, to see that each list keeps its own order.
    Down,
}

/// The content of the container, in order, and its JSON form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lst: Vec<Entry>,
    #[serde(default, rename = "usr-lst", skip_serializing_if = "Vec::is_empty")]
    pub usr_lst: Vec<OrderedEntry>,
}

/// An entry of `lst`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub k1: u32,
    pub k2: String,
    /// The leaf, if it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<String>,
}

/// An entry of `usr-lst`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderedEntry {
    pub k: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<String>,
}

impl List {
    /// The list as a path.
    pub fn path(self) -> &'static str {
        match self {
            List::Keyed => "/cont/lst",
            List::Ordered => "/cont/usr-lst",
        }
    }

    /// The leaf of the entry with this number as a path: every key in brackets of its own.
    pub fn leaf_path(self, number: u32) -> String {
        match self {
            List::Keyed => format!("/cont/lst[k1='{number}'][k2='str{number}']/l"),
            List::Ordered => format!("/cont/usr-lst[k='{number}']/l"),
        }
    }
}

impl Order {
    /// The numbers of `count` entries.
    pub fn numbers(self, count: u32) -> Box<dyn Iterator<Item = u32>> {
        match self {
            Order::Up => Box::new(0..count),
            Order::Down => Box::new((0..count).rev()),
        }
    }
}

impl Content {
    /// The first `count` entries in one list.
    pub fn of(list: List, order: Order, count: u32) -> Content {
        let mut content = Content::default();
        match list {
            List::Keyed => content.lst = order.numbers(count).map(Entry::new).collect(),
            List::Ordered => content.usr_lst = order.numbers(count).map(OrderedEntry::new).collect(),
        }
        content
    }

    /// Counts the entries of both lists.
    pub fn count(&self) -> usize {
        self.lst.len() + self.usr_lst.len()
    }

    /// The first entry in which it differs from `expected`, in words.
    pub fn difference(&self, expected: &Content) -> Option<String> {
        if self.lst.len() != expected.lst.len() || self.usr_lst.len() != expected.usr_lst.len() {
            let counts = |content: &Content| (content.lst.len(), content.usr_lst.len());
            return Some(format!(
                "expected {:?} entries in lst and usr-lst, found {:?}",
                counts(expected),
                counts(self)
            ));
        }
        first_difference("lst", &self.lst, &expected.lst)
            .or_else(|| first_difference("usr-lst", &self.usr_lst, &expected.usr_lst))
    }
}

impl Entry {
    /// The entry with this number.
    pub fn new(number: u32) -> Entry {
        Entry { k1: number, k2: format!("str{number}"), l: Some(leaf(number)) }
    }
}

impl OrderedEntry {
    /// The entry with this number.
    pub fn new(number: u32) -> OrderedEntry {
        OrderedEntry { k: number, l: Some(leaf(number)) }
    }
}

/// The leaf that the entry with this number has.
pub fn leaf(number: u32) -> String {
    format!("l{number}")
}

fn first_difference<T: PartialEq + std::fmt::Debug>(
    list: &str,
    found: &[T],
    expected: &[T],
) -> Option<String> {
    let place = found.iter().zip(expected).position(|(found, expected)| found != expected)?;
    Some(format!("entry {place} of {list}: expected {:?}, found {:?}", expected[place], found[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_the_json_form_of_a_configuration() {
        let content = Content::of(List::Keyed, Order::Up, 2);
        let text = r#"{"lst":[{"k1":0,"k2":"str0","l":"l0"},{"k1":1,"k2":"str1","l":"l1"}]}"#;
        assert_eq!(serde_json::to_string(&content).unwrap(), text);
        assert_eq!(serde_json::from_str::<Content>(text).unwrap(), content);
    }

    #[test]
    fn a_difference_names_the_first_entry_that_is_wrong() {
        let up = Content::of(List::Ordered, Order::Up, 3);
        let down = Content::of(List::Ordered, Order::Down, 3);
        let told = down.difference(&up).unwrap();
        assert!(told.starts_with("entry 0 of usr-lst: expected OrderedEntry { k: 0"), "{told}");
        assert!(Content::default().difference(&up).unwrap().contains("found (0, 0)"));
        assert_eq!(up.difference(&up.clone()), None);
    }
}
