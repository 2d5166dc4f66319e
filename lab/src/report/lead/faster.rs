//! Where another system is faster than Annals, and why.

use crate::harness::Reason;
use crate::report::comparison::Comparison;
use crate::report::document::Block;
use crate::report::measured::Measured;
use crate::report::numbers::{self, figure};
use crate::report::statistics::Ratio;

/// A system that is better than a form of Annals in a row.
struct Better<'c> {
    row: &'c str,
    target: &'c str,
    ours: &'c str,
    /// By volume: how many times.
    times: Vec<(&'c str, Ratio)>,
}

/// Every row in which another system is better, at which volumes, and why as far as it is known.
pub fn faster(measured: &Measured, reasons: &[Reason]) -> Vec<Block> {
    let row = |name: &str| measured.title(name).to_owned();
    let target = |name: &str| measured.target_title(name).to_owned();
    let counts = |name: &str| measured.counts(name).map(str::to_owned);
    let titles = Titles { row: &row, counts: &counts, target: &target };
    of_comparisons(&measured.comparisons(), titles, reasons)
}

/// The titles of rows and of targets, and the things that the volumes of rows count, by their names.
#[derive(Clone, Copy)]
struct Titles<'t> {
    row: &'t dyn Fn(&str) -> String,
    counts: &'t dyn Fn(&str) -> Option<String>,
    target: &'t dyn Fn(&str) -> String,
}

fn of_comparisons(comparisons: &[Comparison], titles: Titles<'_>, reasons: &[Reason]) -> Vec<Block> {
    if comparisons.is_empty() {
        return Vec::new();
    }
    let better = better(comparisons);
    if better.is_empty() {
        let text = match comparisons.len() {
            1 => "Not in the one figure that is compared.".to_owned(),
            compared => format!("In none of the {compared} figures that are compared."),
        };
        return vec![Block::Text(text)];
    }
    let used = reasons.iter().filter(|reason| better.iter().any(|found| found.has(reason)));
    let mut why: Vec<String> = used.map(|reason| reason.text.to_owned()).collect();
    let unknown = better.iter().filter(|found| !reasons.iter().any(|reason| found.has(reason)));
    let unknown: Vec<String> = unknown
        .map(|found| format!("{} ({})", (titles.row)(found.row), (titles.target)(found.target)))
        .collect();
    if !unknown.is_empty() {
        why.push(format!("Nobody has found out yet: {}.", unknown.join(", ")));
    }
    let told = better.iter().map(|found| found.text(titles)).collect();
    vec![Block::List(told), Block::Text("Why:".into()), Block::List(why)]
}

fn better(comparisons: &[Comparison]) -> Vec<Better<'_>> {
    let mut all: Vec<Better> = Vec::new();
    for Comparison { row, volume, ours, target, ratio } in comparisons {
        if ratio.ratio >= 1.0 || ratio.is_no_difference() {
            continue;
        }
        let is_same = |found: &&mut Better| [found.row, found.target, found.ours] == [row, target, ours];
        let times = (volume.as_str(), ratio.inverse());
        match all.iter_mut().find(is_same) {
            Some(found) => found.times.push(times),
            None => all.push(Better { row, target, ours, times: vec![times] }),
        }
    }
    all
}

impl Better<'_> {
    /// True if the reason is one of these.
    fn has(&self, reason: &Reason) -> bool {
        reason.targets.contains(&self.target) && reason.rows.iter().any(|row| self.row.starts_with(row))
    }

    fn text(&self, titles: Titles<'_>) -> String {
        let Better { row, target, ours, times } = self;
        let [title, target, ours] = [(titles.row)(row), (titles.target)(target), (titles.target)(ours)];
        let volumes: Vec<&str> = times.iter().map(|(volume, _)| *volume).collect();
        let volumes = numbers::volumes(&volumes, (titles.counts)(row).as_deref());
        let ratios = || times.iter().map(|(_, ratio)| ratio.ratio);
        let least = figure(ratios().fold(f64::MAX, f64::min));
        let most = figure(ratios().fold(f64::MIN, f64::max));
        let times = match times.as_slice() {
            [(_, ratio)] => {
                let interval =
                    ratio.interval_text().map_or(String::new(), |interval| format!(" ({interval})"));
                format!("{} times better than {ours}{interval}", figure(ratio.ratio))
            }
            _ => format!("{least} to {most} times better than {ours}"),
        };
        format!("{title} at {volumes}: {target} is {times}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(row: &str, volume: &str, target: &str, ratio: f64) -> Comparison {
        let own = |value: f64| std::iter::once((0, value)).collect();
        let ratio = Ratio::of(&own(ratio), &own(1.0)).expect("both have a value");
        let [row, volume, ours, target] = [row, volume, "annals", target].map(str::to_owned);
        Comparison { row, volume, ours, target, ratio }
    }

    fn of(comparisons: &[Comparison]) -> Vec<Block> {
        let counts = |row: &str| (row == "read").then(|| "threads".to_owned());
        let titles =
            Titles { row: &str::to_uppercase, counts: &counts, target: &|name| format!("the {name}") };
        of_comparisons(comparisons, titles, REASONS)
    }

    const REASONS: &[Reason] = &[
        Reason { targets: &["quick"], rows: &["read"], text: "it forgets" },
        Reason { targets: &["slow"], rows: &["read"], text: "it never is" },
    ];

    #[test]
    fn a_system_is_named_once_for_a_row_with_all_volumes_and_the_reason_if_it_is_known() {
        let comparisons = [
            comparison("read", "1", "quick", 0.5),
            comparison("read", "1", "slow", 3.0),
            comparison("read", "10", "quick", 0.25),
            comparison("read", "100", "quick", 2.0),
            comparison("write", "1", "quick", 0.5),
        ];
        let told = vec![
            "READ at 1, 10 threads: the quick is 2.00 to 4.00 times better than the annals.".to_owned(),
            "WRITE at 1: the quick is 2.00 times better than the annals.".to_owned(),
        ];
        let why = vec!["it forgets".to_owned(), "Nobody has found out yet: WRITE (the quick).".to_owned()];
        let expected = [Block::List(told), Block::Text("Why:".into()), Block::List(why)];
        assert_eq!(of(&comparisons), expected);
    }

    #[test]
    fn a_page_on_which_nothing_is_faster_counts_what_it_compares_and_one_without_other_systems_says_nothing()
    {
        let ahead = comparison("read", "1", "slow", 3.0);
        let told = |text: &str| vec![Block::Text(text.into())];
        assert_eq!(of(std::slice::from_ref(&ahead)), told("Not in the one figure that is compared."));
        assert_eq!(of(&[ahead.clone(), ahead]), told("In none of the 2 figures that are compared."));
        assert_eq!(of(&[]), []);
    }
}
