//! State that clients push under leases: in the operational view beside the tree of the repository, in no record, and
//! gone when its lease ends or the repository is opened again.

use std::collections::BTreeMap;
use std::time::Duration;

use annals::*;

use crate::generate::NAMES;
use crate::model::{Age, Fields, item_step};
use crate::world::World;

/// The leases, and the state that the model expects under each.
pub(crate) struct Leases {
    operational: Operational,
    held: BTreeMap<String, Option<View>>,
}

/// An item of a view.
#[derive(Clone, Debug, PartialEq)]
struct View {
    origin: String,
    /// Each value with its origin.
    values: BTreeMap<String, (i64, String)>,
    children: BTreeMap<String, View>,
}

impl View {
    fn of(origin: &str) -> View {
        View { origin: origin.to_owned(), values: BTreeMap::new(), children: BTreeMap::new() }
    }

    fn merge(&mut self, other: &View) {
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

    fn at(&self, path: &[&str]) -> Option<&View> {
        path.iter().try_fold(self, |at, name| at.children.get(*name))
    }
}

fn seen(item: &OperationalItem) -> View {
    let origin = |origin: &Origin| match origin {
        Origin::Running => String::new(),
        Origin::Lease(name) | Origin::Provider(name) => name.to_string(),
    };
    let values = item.properties.iter().filter_map(|(name, value, whose)| {
        let Value::Integer(number) = value else { return None };
        Some((name.to_string(), (*number, origin(whose))))
    });
    let step = |child: &OperationalBranch| match child.item.property("n") {
        Some((Value::Integer(n), _)) if child.is_listed => item_step(*n),
        _ => child.name.to_string(),
    };
    let children = item.children.iter().map(|child| (step(child), seen(&child.item)));
    View { origin: origin(&item.origin), values: values.collect(), children: children.collect() }
}

impl World {
    /// Opens a lease, pushes state under one, deletes a part of it or ends the lease, and compares the views.
    pub(crate) fn work_on_leases(&mut self) {
        let mut leases = self.leases.take().unwrap_or_else(|| Leases {
            operational: Operational::over(self.repository()).expect("a thread starts"),
            held: BTreeMap::new(),
        });
        let position = self.position();
        let name = format!("lease{}", self.random.below(3));
        let path: Vec<&str> = (0..1 + self.random.below(2)).map(|_| *self.random.choose(&NAMES)).collect();
        let at = TreePath::parse(&format!("/{}", path.join("/"))).expect("a path");
        let n = self.random.below(3) as i64;
        let Leases { operational, held } = &mut leases;
        match held.get_mut(&name) {
            None => {
                operational.open_lease(&name, Duration::from_secs(3_600)).expect("a lease opens");
                held.insert(name.clone(), None);
            }
            Some(_) if self.random.one_in(5) => {
                operational.end_lease(&name).expect("it is there");
                held.remove(&name);
            }
            Some(Some(tree)) if self.random.one_in(4) => {
                let is_there = operational.push(&name, |tree| tree.remove(&at)).expect("a push");
                let (last, above) = path.split_last().expect("a step");
                let parent = above.iter().try_fold(tree, |at, name| at.children.get_mut(*name));
                let removed = parent.and_then(|parent| parent.children.remove(*last));
                assert_eq!(is_there, removed.is_some(), "{name} {path:?}: {}", self.what());
            }
            Some(tree) => {
                let item = Item::new().property("n", n);
                operational.push(&name, |tree| tree.merge(&at, &item)).expect("a push");
                let mut place = tree.get_or_insert_with(|| View::of(&name));
                for step in &path {
                    place = place.children.entry((*step).to_owned()).or_insert_with(|| View::of(&name));
                }
                place.values.insert("n".into(), (n, name.clone()));
            }
        }
        self.history.push(format!("lease {name}, {path:?}, {n}"));
        assert_eq!(self.position(), position, "a lease writes a record: {}", self.what());
        self.leases = Some(leases);
        self.compare_views(&path);
    }

    fn compare_views(&self, path: &[&str]) {
        let Some(Leases { operational, held }) = &self.leases else { return };
        let mut whole = self.model.live(false, ROOT_ID).ok().map(|root| self.running(root));
        for pushed in held.values().flatten() {
            match &mut whole {
                Some(whole) => whole.merge(pushed),
                None => whole = Some(pushed.clone()),
            }
        }
        let top = operational.get(&TreePath::root(), None).expect("a view");
        assert_eq!(top.as_ref().map(seen), whole, "the view: {}", self.what());
        let at = TreePath::parse(&format!("/{}", path.join("/"))).expect("a path");
        let part = operational.get(&at, None).expect("a view");
        let expected = whole.as_ref().and_then(|whole| whole.at(path));
        assert_eq!(part.as_ref().map(seen).as_ref(), expected, "the view of {path:?}: {}", self.what());
    }

    /// The part of the view that the repository has.
    fn running(&self, age: Age) -> View {
        let Fields { n, code, .. } = &self.model.all[&age].now().fields;
        let values = [("n", n), ("code", code)].into_iter();
        let values = values.filter_map(|(name, value)| Some((name.to_owned(), ((*value)?, String::new()))));
        let children = self.model.steps(age).into_iter();
        let children = children.map(|(_, step, child)| (step, self.running(child)));
        View { values: values.collect(), children: children.collect(), ..View::of("") }
    }
}
