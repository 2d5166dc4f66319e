//! States the finding of a run in a few lines: a reader who reads nothing else knows what it found.

use std::collections::BTreeMap;

use crate::harness::{Kind, TargetName};
use crate::report::comparison::Comparison;
use crate::report::figures::kind_of;
use crate::report::measured::{Measured, Shown};
use crate::report::numbers::{figure, volumes};

/// How often each form of Annals is better or worse, first the one that the page is about; what that leaves out; beside
/// which systems it leads and lags most; and how sure that is.
pub fn findings(measured: &Measured) -> Vec<String> {
    if measured.results.run.is_quick {
        return vec![
            "A quick run: it shows that all answers are right, and finds nothing about speed.".to_owned(),
        ];
    }
    let comparisons = measured.comparisons();
    let Some(subject) = measured.subject() else {
        return vec!["This run measured no form of Annals.".to_owned()];
    };
    let of = |ours: &TargetName| -> Vec<&Comparison> {
        comparisons.iter().filter(|found| found.ours == ours.name).collect()
    };
    let left_out = left_out(measured, subject);
    if comparisons.is_empty() && left_out.is_none() {
        return std::iter::once("This run compares Annals with no other system.".to_owned())
            .chain(once(measured))
            .collect();
    }
    let none = || format!("{}: no figure of another system can be compared with it.", subject.title);
    let mut lines = vec![counts(measured, subject, &of(subject)).unwrap_or_else(none)];
    lines.extend(left_out);
    lines.extend(extremes(measured, &of(subject)));
    let others = measured.ours().into_iter().skip(1);
    lines.extend(others.filter_map(|ours| counts(measured, ours, &of(ours))));
    lines.extend(once(measured));
    lines
}

/// A warning for readers if no figure has a second repeat.
fn once(measured: &Measured) -> Option<String> {
    measured.is_once().then(|| "Every figure was measured once, so small differences say nothing.".to_owned())
}

/// How often a form of Annals is better and worse; none if it is compared with nothing.
fn counts(measured: &Measured, ours: &TargetName, own: &[&Comparison]) -> Option<String> {
    let mut systems: Vec<&str> = Vec::new();
    for found in own {
        let title = measured.target_title(&found.target);
        if !systems.contains(&title) {
            systems.push(title);
        }
    }
    let systems = match systems.as_slice() {
        [] => return None,
        [system] => (*system).to_owned(),
        systems => format!("{} systems", systems.len()),
    };
    let of = |is: fn(&Comparison) -> bool| own.iter().filter(|found| is(found)).count();
    let equal = of(|found| found.ratio.is_no_difference());
    let better = of(|found| !found.ratio.is_no_difference() && found.ratio.ratio > 1.0);
    let equal_text = match equal {
        0 => String::new(),
        1 => "; 1 shows no difference".to_owned(),
        equal => format!("; {equal} show no difference"),
    };
    Some(format!(
        "{}, beside {systems}: better in {better} of {} that both have, worse in {}{equal_text}.",
        ours.title,
        many(own.len(), "figure"),
        own.len() - equal - better
    ))
}

/// The figures that the page does not compare with the subject, and why; none if it compares all.
fn left_out(measured: &Measured, subject: &TargetName) -> Option<String> {
    let peers = measured.of_kind(&[Kind::Peer, Kind::Tuned]);
    let unlike = measured.unlike();
    let mut parts = Vec::new();
    for peer in &peers {
        let own: Vec<_> = unlike.iter().filter(|found| found.target.name == peer.name).collect();
        let faster = own.iter().filter(|found| found.ratio.ratio < 1.0).count();
        if !own.is_empty() {
            let how = keeping(measured.class(&peer.name));
            parts.push(format!(
                "{} of writes beside {}, which {how}, and is faster in {faster}",
                many(own.len(), "figure"),
                peer.title
            ));
        }
    }
    let states = states(measured, subject, &peers);
    let lacking: usize = states.values().sum();
    if lacking > 0 {
        let states: Vec<String> = states.iter().map(|(state, count)| format!("`{state}` {count}")).collect();
        parts.push(format!("{} that one side lacks ({})", many(lacking, "figure"), states.join(", ")));
    }
    (!parts.is_empty()).then(|| format!("Left out: {}.", parts.join("; ")))
}

/// The states that stand instead of figures that the subject or a system beside it lacks, with their counts.
fn states(measured: &Measured, subject: &TargetName, peers: &[&TargetName]) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for row in measured.closed_loops() {
        for volume in measured.volumes(&row.name) {
            let state = |target: &TargetName| match measured.shown(&row.name, volume, &target.name) {
                Shown::State(state) => Some(kind_of(&state).to_owned()),
                Shown::Value { .. } => None,
            };
            for peer in peers {
                let ours = peer
                    .against
                    .as_ref()
                    .and_then(|name| measured.ours().into_iter().find(|ours| ours.name == *name));
                if let Some(state) = state(peer).or_else(|| state(ours.unwrap_or(subject))) {
                    *states.entry(state).or_default() += 1;
                }
            }
        }
    }
    states
}

/// How a system of this durability treats what it acknowledged.
pub fn keeping(class: &str) -> &'static str {
    match class {
        "memory" => "keeps nothing",
        "unsynced" => "does not sync",
        "synced" => "syncs",
        _ => "does not say what it keeps",
    }
}

/// Where the subject leads and lags most.
fn extremes(measured: &Measured, own: &[&Comparison]) -> Vec<String> {
    let extreme = |key: fn(f64) -> f64| {
        own.iter().max_by(|one, other| key(one.ratio.ratio).total_cmp(&key(other.ratio.ratio)))
    };
    let text = |found: &Comparison, times: f64| {
        let peer = measured.target_title(&found.target);
        format!("{}: {} times, beside {peer}", place(measured, found), figure(times))
    };
    let most = extreme(|ratio| ratio).filter(|found| found.ratio.ratio > 1.0);
    let least = extreme(|ratio| -ratio).filter(|found| found.ratio.ratio < 1.0);
    let most = most.map(|found| format!("It leads most {}.", text(found, found.ratio.ratio)));
    let least = least.map(|found| format!("It lags most {}.", text(found, found.ratio.inverse().ratio)));
    most.into_iter().chain(least).collect()
}

/// The row and the volume of a comparison.
pub fn place(measured: &Measured, found: &Comparison) -> String {
    let volume = volumes(&[&found.volume], measured.counts(&found.row));
    format!("in \"{}\" at {volume}", measured.title(&found.row))
}

/// A number of things.
fn many(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::measured::tests::{figure, measured};

    pub fn told(target: &str, durability: &str) -> Value {
        json!({"kind": "target", "target": target, "version": "1", "durability": durability, "settings": []})
    }

    #[test]
    fn a_page_begins_with_how_often_annals_is_better_and_where_most() {
        let found = measured(json!([
            figure("annals", "read", 0, 8.0),
            figure("other", "read", 0, 2.0),
            figure("annals", "write", 0, 1.0),
            figure("other", "write", 0, 3.0),
            figure("null", "write", 0, 900.0),
        ]));
        let expected = [
            "annals, beside other: better in 1 of 2 figures that both have, worse in 1.",
            "It leads most in \"read\" at 1: 4.00 times, beside other.",
            "It lags most in \"write\" at 1: 3.00 times, beside other.",
            "Every figure was measured once, so small differences say nothing.",
        ];
        assert_eq!(findings(&found), expected);
    }

    #[test]
    fn a_page_without_other_systems_says_so_and_small_differences_are_counted() {
        let twice = [0, 1].map(|repeat| figure("annals", "read", repeat, 8.0));
        let alone = measured(json!(twice));
        assert_eq!(findings(&alone), ["This run compares Annals with no other system."]);
        let repeats = [8.0, 8.1, 7.9].into_iter().enumerate();
        let near: Vec<Value> = repeats
            .flat_map(|(repeat, value)| {
                [figure("annals", "read", repeat, value), figure("other", "read", repeat, 8.0)]
            })
            .collect();
        let expected = "annals, beside other: better in 0 of 1 figure that both have, worse in 0; 1 shows no difference.";
        assert_eq!(findings(&measured(json!(near)))[0], expected);
    }

    #[test]
    fn the_first_line_names_the_subject_of_the_page_and_compares_no_other_column() {
        let mut found = measured(json!([
            figure("annals", "read", 0, 8.0),
            figure("null", "read", 0, 1.0),
            figure("other", "read", 0, 2.0),
        ]));
        found.results.run.targets[1].target_kind = Kind::Ours;
        found.results.run.targets[1].title = "Annals under another".into();
        found.results.run.subject = Some("null".into());
        let expected = [
            "Annals under another, beside other: better in 0 of 1 figure that both have, worse in 1.",
            "It lags most in \"read\" at 1: 2.00 times, beside other.",
        ];
        assert_eq!(findings(&found)[..2], expected);
        found.results.run.targets[2].against = Some("annals".into());
        let expected = [
            "Annals under another: no figure of another system can be compared with it.",
            "annals, beside other: better in 1 of 1 figure that both have, worse in 0.",
            "Every figure was measured once, so small differences say nothing.",
        ];
        found.results.run.rows.truncate(1);
        let told = findings(&found);
        assert!(
            told[1].starts_with("Left out: 1 figure that one side lacks") || told[1] == expected[1],
            "{told:?}"
        );
        assert!(expected.iter().all(|line| told.iter().any(|told| told == line)), "{told:?}");
    }

    #[test]
    fn figures_that_are_left_out_are_counted_with_the_reason() {
        let mut found = measured(json!([
            figure("annals", "read", 0, 8.0),
            figure("annals", "write", 0, 1.0),
            figure("other", "write", 0, 3.0),
            told("annals", "synced-group"),
            told("other", "memory"),
        ]));
        let row = found.results.run.rows[1].clone();
        found.results.run.rows[1] = row.of_writes();
        let expected = [
            "annals: no figure of another system can be compared with it.",
            "Left out: 1 figure of writes beside other, which keeps nothing, and is faster in 1; 1 figure that one side \
             lacks (`SKIP` 1).",
            "Every figure was measured once, so small differences say nothing.",
        ];
        assert_eq!(findings(&found), expected);
    }
}
