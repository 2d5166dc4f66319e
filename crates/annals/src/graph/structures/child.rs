//! The place of a child in its parent, and its keys.

use super::symbols::Symbol;
use crate::structures::key_set::Key;

/// Property of a containment relationship with the name of the child, unless its type has keys. Shape: a string.
pub(crate) const NAME_PROPERTY: &str = "name";
/// Property of a containment relationship of an ordered type: the place of the child among its siblings. Shape: bytes,
/// in groups of four that are not all zero.
pub(crate) const ORDER_PROPERTY: &str = "order";

/// Ends the order of a child in keys. No order has four zeros at a multiple of four.
const ORDER_END: [u8; 4] = [0; 4];

/// The place of a child in its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    /// Slot of its parent.
    pub(crate) parent: u32,
    /// The group of the child: see [`ChildGroup`].
    pub(crate) group: ChildGroup,
    /// Its unique name in the group; the default order of children.
    pub(crate) name: Vec<u8>,
    /// Its order, if users order the children.
    pub(crate) order: Option<Vec<u8>>,
    /// Keys of the values by which its parent lists it: those that are unique together, and references.
    pub(crate) values: Vec<Vec<u8>>,
}

/// Children with names of one form: those of one entity type with keys, which form a list; or all that have names of
/// their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChildGroup(pub(crate) u32);

/// The group of all children that have names of their own.
pub(crate) const NAMED_GROUP: ChildGroup = ChildGroup(0);

/// The group of the children of a type that has keys.
pub(crate) fn group_of_type(type_name: Symbol) -> ChildGroup {
    ChildGroup(type_name.0 + 1)
}

/// Appends a name in the form for keys: no name is a prefix of another.
pub(crate) fn append_name(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.push(0);
}

/// The common prefix of the keys of a group.
pub(crate) fn prefix_of(parent: u32, group: ChildGroup) -> [u8; 8] {
    let mut prefix = [0; 8];
    prefix[..4].copy_from_slice(&parent.to_be_bytes());
    prefix[4..].copy_from_slice(&group.0.to_be_bytes());
    prefix
}

/// The relationship at the end of a key.
pub(crate) fn relationship_of(key: Key) -> u32 {
    key.last_u32()
}

/// The group in a key.
pub(crate) fn group_of(key: Key) -> ChildGroup {
    ChildGroup(u32::from_be_bytes(key.bytes_at(4)))
}

/// The order in a key of the list of orders.
pub(crate) fn order_of(key: Key) -> Vec<u8> {
    let mut order = key.without_last(ORDER_END.len() + 4).to_vec();
    order.drain(..8);
    order
}

/// The common prefix of the keys of children with these values.
pub(crate) fn values_prefix(parent: u32, values: &[u8]) -> Vec<u8> {
    [&parent.to_be_bytes()[..], values].concat()
}

pub(crate) fn values_key(relationship: u32, parent: u32, values: &[u8]) -> Vec<u8> {
    [&values_prefix(parent, values)[..], &relationship.to_be_bytes()].concat()
}

pub(crate) fn name_prefix(parent: u32, group: ChildGroup, name: &[u8]) -> Vec<u8> {
    [&prefix_of(parent, group)[..], name].concat()
}

pub(crate) fn name_key(relationship: u32, child: &Child) -> Vec<u8> {
    let mut key = name_prefix(child.parent, child.group, &child.name);
    key.extend_from_slice(&relationship.to_be_bytes());
    key
}

pub(crate) fn order_key(relationship: u32, child: &Child) -> Option<Vec<u8>> {
    Some(key_of_order(relationship, child.parent, child.group, child.order.as_deref()?))
}

pub(crate) fn key_of_order(relationship: u32, parent: u32, group: ChildGroup, order: &[u8]) -> Vec<u8> {
    [&prefix_of(parent, group)[..], order, &ORDER_END, &relationship.to_be_bytes()].concat()
}
