//! The operational view as JSON: items as those of trees, with their origins; and leases.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use annals::{Lease, OperationalItem, Origin, Result, Snapshot, Value};
use serde_json::{Number, Value as Json, json};

use super::form::{Form, JsonText, Members, ObjectOf};
use super::tree::{CHILDREN, LISTS, PROPERTIES};
use super::tree_text::{LeafForm, is_special, lists_of};
use super::wire::{LeaseTime, NewLease};
use super::{invalid, read};

/// Member: the origin of an item, if it differs from the origin of the item above.
const ORIGIN: &str = "@origin";
/// Member: origins of properties that differ from the origin of their item.
const ORIGINS: &str = "@origins";

/// An item of the operational view with its subtree.
pub struct OperationalForm<'i> {
    item: &'i OperationalItem,
    /// Names of all lists.
    lists: HashSet<Arc<str>>,
}

impl<'i> OperationalForm<'i> {
    /// The form of an item, with the lists that a snapshot declares.
    pub fn new(item: &'i OperationalItem, snapshot: &Snapshot) -> OperationalForm<'i> {
        OperationalForm { item, lists: lists_of(snapshot) }
    }
}

impl Form for OperationalForm<'_> {
    fn write(&self, to: &mut JsonText) {
        ItemForm { item: self.item, above: None, lists: &self.lists }.write(to);
    }
}

struct ItemForm<'i> {
    item: &'i OperationalItem,
    above: Option<&'i Origin>,
    lists: &'i HashSet<Arc<str>>,
}

/// The children under one name.
enum Below<'i> {
    Child(ItemForm<'i>),
    List(Vec<ItemForm<'i>>),
}

impl Form for Below<'_> {
    fn write(&self, to: &mut JsonText) {
        match self {
            Below::Child(item) => item.write(to),
            Below::List(items) => items.write(to),
        }
    }
}

impl<'i> ItemForm<'i> {
    /// Its children by name, each list once.
    fn below(&self) -> Vec<(&'i str, Below<'i>)> {
        let (mut below, mut places): (Vec<(&str, Below)>, HashMap<&str, usize>) = Default::default();
        for child in &self.item.children {
            let item = ItemForm { item: &child.item, above: Some(&self.item.origin), lists: self.lists };
            if !child.is_listed {
                below.push((&child.name, Below::Child(item)));
                continue;
            }
            let place = *places.entry(&child.name).or_insert_with(|| {
                below.push((&child.name, Below::List(Vec::new())));
                below.len() - 1
            });
            if let Below::List(items) = &mut below[place].1 {
                items.push(item);
            }
        }
        below
    }
}

impl Form for ItemForm<'_> {
    fn write(&self, to: &mut JsonText) {
        let origin = &self.item.origin;
        let mut properties: Vec<Property> = self.item.properties.iter().collect();
        properties.sort_unstable_by_key(|(name, ..)| &**name);
        let is_aside = |(name, below): &(&str, Below)| {
            let is_list = matches!(below, Below::Child(_)) && self.lists.contains(*name);
            is_special(name) || is_list || properties.binary_search_by_key(name, |(known, ..)| known).is_ok()
        };
        let (aside, beside): (Vec<_>, Vec<_>) = self.below().into_iter().partition(is_aside);
        to.object(|members| {
            if self.above != Some(origin) {
                members.add(ORIGIN, origin_to_text(origin));
            }
            let others = || properties.iter().filter(|(.., whose)| whose != origin);
            add_part(members, ORIGINS, others, |members, (name, _, whose)| {
                members.entry(name, origin_to_text(whose));
            });
            for (name, value, _) in properties.iter().filter(|(name, ..)| !is_special(name)) {
                members.entry(name, LeafForm::shown(value));
            }
            let special = || properties.iter().filter(|(name, ..)| is_special(name));
            add_part(members, PROPERTIES, special, |members, (name, value, _)| members.entry(name, value));
            beside.iter().for_each(|(name, below)| members.entry(name, below));
            let children = || aside.iter().filter(|(_, below)| matches!(below, Below::Child(_)));
            add_part(members, CHILDREN, children, |members, (name, below)| members.entry(name, below));
            let lists = || aside.iter().filter(|(_, below)| matches!(below, Below::List(_)));
            add_part(members, LISTS, lists, |members, (name, below)| members.entry(name, below));
        });
    }
}

type Property<'i> = &'i (Arc<str>, Value, Origin);

/// Adds an object of the entries, unless there are none.
fn add_part<I: Iterator>(
    members: &mut Members,
    name: &'static str,
    all: impl Fn() -> I,
    add: impl Fn(&mut Members, I::Item),
) {
    if all().next().is_some() {
        members.add(name, ObjectOf(|members: &mut Members| all().for_each(|one| add(members, one))));
    }
}

fn origin_to_text(origin: &Origin) -> String {
    match origin {
        Origin::Running => "running".into(),
        Origin::Lease(name) => format!("lease:{name}"),
        Origin::Provider(name) => format!("provider:{name}"),
    }
}

/// The JSON form of a lease.
pub fn lease_to_json(lease: &Lease) -> Json {
    json!({ "name": &*lease.name, "seconds": lease.left.as_secs_f64() })
}

/// A lease to open: its name, and its time.
///
/// Errors: `InvalidArgument`, also for `recorded`, which earlier versions had.
pub fn lease_from_json(json: &Json) -> Result<(String, Duration)> {
    if json.get("recorded").is_some() {
        let text = "lease: expected no \"recorded\", which is removed: the history has no pushed state; leave it out, or \
                    write a tree of the repository (/v1/tree/…?root=ID) and delete it yourself";
        return Err(invalid(text));
    }
    let given: NewLease = read(json, "lease")?;
    Ok((given.name, time(&given.seconds)?))
}

/// The time of a lease from now on.
///
/// Errors: `InvalidArgument`.
pub fn lease_time_from_json(json: &Json) -> Result<Duration> {
    time(&read::<LeaseTime>(json, "lease")?.seconds)
}

fn time(seconds: &Number) -> Result<Duration> {
    // A time that is far too long need not fit into a `Duration`.
    let longest = f64::from(u32::MAX);
    Duration::try_from_secs_f64(seconds.as_f64().unwrap_or(longest).min(longest))
        .map_err(|_| invalid(format!("lease: expected more than 0 as \"seconds\", found {seconds}")))
}

#[cfg(test)]
mod tests {
    use annals::{Branch, Item, Operational, Repository, TreePath};

    use super::*;
    use crate::form::tree;

    #[test]
    fn names_that_mean_something_else_stand_apart_as_in_trees() {
        let repository = Repository::in_memory();
        let key = annals::AttributeDefinition::new("k", annals::ValueType::Integer).key();
        repository
            .transact(|t| t.define_type(annals::TypeDefinition::entity("lst").attribute(key.clone())))
            .unwrap();
        let operational = Operational::over(&repository).unwrap();
        let (path, child) = (TreePath::parse("/c").unwrap(), Item::new().property("n", 1));
        let listed =
            |k: i64| Branch { name: "lst".into(), is_listed: true, item: Item::new().property("k", k) };
        let mut told = Item::new()
            .property("@odd", 1)
            .property("same", 2)
            .property("tags", Value::set(["a"].map(Value::from)).unwrap());
        for name in ["same", "$odd", "lst", "plain"] {
            told = told.child(name, child.clone());
        }
        // Items of a list need not be adjacent.
        told.children.insert(0, listed(1));
        told.children.push(listed(2));
        let provider = operational.provide("p", &path, move |_| Ok(Some(told.clone()))).unwrap();
        let found = operational.get(&path, None).unwrap().unwrap();
        let n = json!({ "n": 1 });
        let expected = json!({
            "@origin": "provider:p", "@properties": { "@odd": 1 }, "same": 2, "tags": ["a"], "plain": n,
            "lst": [{ "k": 1 }, { "k": 2 }], "@children": { "same": n, "$odd": n, "lst": n },
        });
        assert_eq!(tree(&OperationalForm::new(&found, &repository.snapshot())), expected);
        drop(provider);
        let lists = Item { children: vec![listed(1)], ..Item::new().property("lst", 1) };
        let _provider = operational.provide("p", &path, move |_| Ok(Some(lists.clone()))).unwrap();
        let found = operational.get(&path, None).unwrap().unwrap();
        let expected = json!({ "@origin": "provider:p", "lst": 1, "@lists": { "lst": [{ "k": 1 }] } });
        assert_eq!(tree(&OperationalForm::new(&found, &repository.snapshot())), expected);
    }
}
