//! States the finding of a run in a few lines: a reader who reads nothing else knows what it found.

use super::comparison::Comparison;
use super::measured::Measured;
use super::numbers::figure;
use crate::harness::{Kind, TargetName};

/// How often Annals is better or worse, beside which systems it leads and lags most, and how sure that is.
pub fn findings(measured: &Measured) -> Vec<String> {
    if measured.results.run.is_quick {
        return vec![
            "A quick run: it shows that all answers are right, and finds nothing about speed.".to_owned(),
        ];
    }
    let peers = measured.of_kind(&[Kind::Peer, Kind::Tuned]);
    let comparisons = measured.comparisons();
    let Some(most) = extreme(&comparisons, |ratio| ratio) else {
        return vec!["This run compares Annals with no other system.".to_owned()];
    };
    let mut lines = vec![counts(&comparisons, peers.len())];
    lines.extend(always(&peers, &comparisons));
    if most.ratio.ratio > 1.0 {
        lines.push(format!("Annals leads most in {}.", place(measured, &peers, most, most.ratio.ratio)));
    }
    let least = extreme(&comparisons, |ratio| -ratio).filter(|found| found.ratio.ratio < 1.0);
    lines.push(match least {
        Some(least) => {
            format!("Annals lags most in {}.", place(measured, &peers, least, least.ratio.inverse().ratio))
        }
        None => "No system is better in any of them.".to_owned(),
    });
    if measured.is_once() {
        lines.push("Every figure was measured once, so small differences say nothing.".to_owned());
    }
    lines
}

fn counts(comparisons: &[Comparison], systems: usize) -> String {
    let of = |is: fn(&Comparison) -> bool| comparisons.iter().filter(|found| is(found)).count();
    let equal = of(|found| found.ratio.is_no_difference());
    let better = of(|found| !found.ratio.is_no_difference() && found.ratio.ratio > 1.0);
    let worse = comparisons.len() - equal - better;
    let systems = if systems == 1 { "one system".to_owned() } else { format!("{systems} systems") };
    format!(
        "Beside {systems}, in {} figures that both have, Annals is better in {better}, worse in {worse}; {equal} show no \
         difference.",
        comparisons.len()
    )
}

/// The systems that Annals is better than in every figure.
fn always(peers: &[&TargetName], comparisons: &[Comparison]) -> Option<String> {
    let is_beaten = |peer: &&&TargetName| {
        let mut own = comparisons.iter().filter(|found| found.target == peer.name).peekable();
        own.peek().is_some() && own.all(|found| found.ratio.ratio > 1.0 && !found.ratio.is_no_difference())
    };
    let beaten: Vec<&str> = peers.iter().filter(is_beaten).map(|peer| peer.title.as_str()).collect();
    (!beaten.is_empty() && beaten.len() < peers.len())
        .then(|| format!("It is better in every figure than {}.", beaten.join(", ")))
}

fn extreme(comparisons: &[Comparison], key: impl Fn(f64) -> f64) -> Option<&Comparison> {
    comparisons.iter().max_by(|one, other| key(one.ratio.ratio).total_cmp(&key(other.ratio.ratio)))
}

fn place(measured: &Measured, peers: &[&TargetName], found: &Comparison, times: f64) -> String {
    let peer = peers.iter().find(|peer| peer.name == found.target);
    let peer = peer.map_or(found.target.as_str(), |peer| peer.title.as_str());
    format!("\"{}\" at {}: {} times, beside {peer}", measured.title(&found.row), found.volume, figure(times))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::measured::tests::{figure, measured};
    use super::*;

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
            "Beside one system, in 2 figures that both have, Annals is better in 1, worse in 1; 0 show no difference.",
            "Annals leads most in \"read\" at 1: 4.00 times, beside other.",
            "Annals lags most in \"write\" at 1: 3.00 times, beside other.",
            "Every figure was measured once, so small differences say nothing.",
        ];
        assert_eq!(findings(&found), expected);
    }

    #[test]
    fn a_page_without_other_systems_and_one_without_a_better_one_say_so() {
        let alone = measured(json!([figure("annals", "read", 0, 8.0)]));
        assert_eq!(findings(&alone), ["This run compares Annals with no other system."]);
        let ahead = measured(json!([figure("annals", "read", 0, 8.0), figure("other", "read", 0, 2.0)]));
        assert!(findings(&ahead).contains(&"No system is better in any of them.".to_owned()));
    }
}
