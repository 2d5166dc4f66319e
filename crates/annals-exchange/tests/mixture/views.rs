//! The operational view: the tree of the repository, and over it the state that clients push.

use std::collections::BTreeMap;

use annals::*;

use crate::model::{Age, Fields, Model, item_step};

/// An item of a view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    origin: String,
    /// Each value with its origin.
    values: BTreeMap<String, (i64, String)>,
    children: BTreeMap<String, View>,
}

impl View {
    /// The tree below the root of a model; the repository has no origin.
    pub fn of(model: &Model, origin: &str) -> Option<View> {
        let root = model.live(false, ROOT_ID).ok()?;
        Some(View::below(model, root, origin))
    }

    fn below(model: &Model, age: Age, origin: &str) -> View {
        let Fields { n, code, .. } = &model.all[&age].now().fields;
        let values = [("n", n), ("code", code)].into_iter();
        let values =
            values.filter_map(|(name, value)| Some((name.to_owned(), ((*value)?, origin.to_owned()))));
        let children = model.steps(age).into_iter();
        let children = children.map(|(_, step, child)| (step, View::below(model, child, origin)));
        View { values: values.collect(), children: children.collect(), origin: origin.to_owned() }
    }

    /// Merges later state over it.
    pub fn merge(&mut self, other: &View) {
        for (name, (value, origin)) in &other.values {
            if self.values.get(name).is_none_or(|(known, _)| known != value) {
                self.values.insert(name.clone(), (*value, origin.clone()));
            }
        }
        for (name, child) in &other.children {
            match self.children.get_mut(name) {
                Some(known) => known.merge(child),
                None => drop(self.children.insert(name.clone(), child.clone())),
            }
        }
    }

    pub fn at(&self, path: &[String]) -> Option<&View> {
        path.iter().try_fold(self, |at, name| at.children.get(name))
    }

    /// This many levels of it.
    pub fn cut(mut self, depth: usize) -> View {
        self.children = match depth.checked_sub(1) {
            None => BTreeMap::new(),
            Some(depth) => self.children.into_iter().map(|(name, child)| (name, child.cut(depth))).collect(),
        };
        self
    }

    /// The view that a repository shows. Fails if children are not in their order: first those with names, then those of lists.
    pub fn seen(item: &OperationalItem) -> View {
        let places: Vec<_> = item.children.iter().map(place).collect();
        assert!(places.is_sorted(), "the order of {places:?}");
        let origin = |origin: &Origin| match origin {
            Origin::Running => String::new(),
            Origin::Lease(name) | Origin::Provider(name) => name.to_string(),
        };
        let values = item.properties.iter().filter_map(|(name, value, whose)| {
            let Value::Integer(number) = value else { return None };
            Some((name.to_string(), (*number, origin(whose))))
        });
        let step = |child: &OperationalBranch| match place(child) {
            (true, n, _) => item_step(n),
            (false, _, name) => name,
        };
        let children = item.children.iter().map(|child| (step(child), View::seen(&child.item)));
        View { origin: origin(&item.origin), values: values.collect(), children: children.collect() }
    }
}

fn place(child: &OperationalBranch) -> (bool, i64, String) {
    match child.item.property("n") {
        Some((Value::Integer(n), _)) if child.is_listed => (true, *n, String::new()),
        _ => (false, 0, child.name.to_string()),
    }
}
