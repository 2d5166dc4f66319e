//! The explanation of a search.

use super::access::Places;
use super::by_plan::{Search, Steps};
use super::plan::{ValueWalk, Walk};
use crate::read::operators::sort::Key;

/// The steps by which a page was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The parsed search in its text form.
    pub search: String,
    /// The order of the hits.
    pub order: String,
    /// The index that was walked, or the way of gathering; a second one if the first took too long.
    pub plans: Vec<String>,
    /// Upper bound of the number of instances with the types and classifications of the search.
    pub domain: usize,
    /// Candidates from indexes.
    pub candidates: usize,
    /// Candidates whose conditions were checked.
    pub verified: usize,
    /// Values and links that were read, including candidates.
    pub visited: usize,
    /// Skipped branches of indexes, of some thousand keys and more, whose texts lack the trigrams of a pattern.
    pub branches_skipped: usize,
    /// Instances on the page.
    pub found: usize,
    /// For a search that finds nothing: why that may be, for people.
    pub hints: Vec<String>,
}

impl Explanation {
    pub(super) fn new(search: &Search, steps: Steps) -> Explanation {
        let names = &search.snapshot.graph().names;
        let mut order = String::new();
        for (key, is_descending) in &search.sorting.keys {
            match key {
                Key::Property(Some(name)) => order.push_str(names.name(*name)),
                Key::Property(None) => order.push_str("a property that nothing has"),
                Key::Header(header) => {
                    order.push('@');
                    order.push_str(header.name());
                }
            }
            order.push_str(if *is_descending { " desc, then " } else { ", then " });
        }
        order.push_str("age");
        Explanation {
            search: search.find.to_string(),
            order,
            plans: steps.plans,
            domain: search.domain.len_max(),
            candidates: steps.candidates,
            verified: steps.verified,
            visited: search.bound.visited(),
            branches_skipped: search.bound.branches_skipped(),
            found: steps.found,
            hints: Vec::new(),
        }
    }
}

/// The description of a walk for people.
pub(super) fn of_walk(walk: &Walk, places: &Places) -> String {
    let names = &places.snapshot.graph().names;
    let way = |is_descending: &bool| if *is_descending { "youngest first" } else { "oldest first" };
    match walk {
        Walk::Slots { is_descending } => {
            format!("walk everything of the types and classifications, {}", way(is_descending))
        }
        Walk::Stamps { is_updated, is_descending } => {
            format!(
                "walk times of {}, {} first",
                if *is_updated { "changes" } else { "creation" },
                if *is_descending { "latest" } else { "earliest" }
            )
        }
        Walk::Ids { is_descending } => {
            format!("walk all ids, {} first", if *is_descending { "greatest" } else { "smallest" })
        }
        Walk::Run(run) => format!("walk one value of {}, oldest first", names.name(run.property)),
        Walk::Values(ValueWalk { property, bounds, is_descending, with_absent, .. }) => format!(
            "walk {} values of {}, {} first{}",
            if bounds.is_narrow() { "a range of the" } else { "all" },
            names.name(*property),
            if *is_descending { "largest" } else { "smallest" },
            if *with_absent { ", then what lacks it" } else { "" }
        ),
    }
}
