//! An item of a tree with its subtree.

use std::sync::Arc;

use crate::model::{Id, Value};

/// An item: the properties of an entity, and its children.
///
/// ```
/// use annals::Item;
/// let tree = Item::new().property("mtu", 1500).child("state", Item::new().property("up", true));
/// assert_eq!(tree.children.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Id of the entity; if `None`, that of the existing item, or a new one.
    pub id: Option<Id>,
    /// Its type; if `None`, the type of its name.
    pub type_name: Option<Arc<str>>,
    /// Its properties, keys included.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its children, in their order.
    pub children: Vec<Branch>,
}

/// A child: its name in a path, and the item.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Its name, or the type of the list that it is in.
    pub name: Arc<str>,
    /// True if it is in a list, in which its keys name it.
    pub is_listed: bool,
    /// The child.
    pub item: Item,
}

impl Item {
    /// An item without properties and children.
    pub fn new() -> Item {
        Item::default()
    }

    /// The same with another property.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Value>) -> Item {
        self.properties.push((name.into(), value.into()));
        self
    }

    /// The same with this type.
    #[must_use]
    pub fn of_type(mut self, name: &str) -> Item {
        self.type_name = Some(name.into());
        self
    }

    /// The same with another child with a name of its own.
    #[must_use]
    pub fn child(mut self, name: &str, item: Item) -> Item {
        self.children.push(Branch { name: name.into(), is_listed: false, item });
        self
    }

    /// The same with another item in a list: the type `list` has keys.
    #[must_use]
    pub fn listed(mut self, list: &str, item: Item) -> Item {
        self.children.push(Branch { name: list.into(), is_listed: true, item });
        self
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Counts the item and everything below it.
    pub fn items_count(&self) -> usize {
        1 + self.children.iter().map(|child| child.item.items_count()).sum::<usize>()
    }
}
