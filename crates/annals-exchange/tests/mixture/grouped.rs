//! Groups: they count what a reader sees, of now, of any time and under grants.

use std::collections::BTreeMap;

use annals::{Find, Grouping, Snapshot, Value};

use crate::see::{Name, Seen};

/// Compares the groups of entities by `n`, each with the sum and the greatest value of `code`, with what the snapshot shows.
pub fn check_groups(snapshot: &Snapshot, found: &BTreeMap<Name, Seen>, what: impl Fn() -> String) {
    let mut expected: BTreeMap<i64, (usize, Option<i64>, Option<i64>)> = BTreeMap::new();
    for ((is_link, ..), seen) in found {
        let Some(n) = seen.fields.n.filter(|_| !is_link) else { continue };
        let (count, sum, greatest) = expected.entry(n).or_default();
        *count += 1;
        if let Some(code) = seen.fields.code {
            *sum = Some(sum.unwrap_or_default() + code);
            *greatest = (*greatest).max(Some(code));
        }
    }
    let find: Find = "* where n is not null".parse().expect("a search");
    let grouping = Grouping::default().by("n").sum("code").max("code");
    let groups = snapshot.group_entities(&find, &grouping).expect("groups");
    let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_integer);
    let told = groups.groups.iter().map(|group| {
        let n = number(&group.values[0]).expect("a number");
        (n, (group.count, number(&group.aggregates[0]), number(&group.aggregates[1])))
    });
    assert_eq!(told.collect::<BTreeMap<_, _>>(), expected, "groups: {}", what());
    assert_eq!(groups.count, expected.values().map(|(count, ..)| count).sum::<usize>(), "groups: {}", what());
}
