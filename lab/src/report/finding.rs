//! States the finding of a run: a sentence for each other system.

use super::comparison::Comparison;
use super::measured::Measured;
use super::numbers::figure;
use super::statistics::geometric_mean;
use crate::harness::{Kind, TargetName};

/// A sentence for each system that Annals is compared with: the mean of all ratios, the least and the greatest.
pub fn findings(measured: &Measured) -> Vec<String> {
    if measured.results.run.is_quick {
        return vec![
            "A quick run: it shows that all answers are right, and finds nothing about speed.".to_owned(),
        ];
    }
    let comparisons = measured.comparisons();
    let peers = measured.of_kind(&[Kind::Peer, Kind::Tuned]);
    let found: Vec<String> =
        peers.into_iter().filter_map(|peer| finding(measured, peer, &comparisons)).collect();
    if found.is_empty() {
        return vec!["This run compares Annals with no other system.".to_owned()];
    }
    found
}

fn finding(measured: &Measured, peer: &TargetName, comparisons: &[Comparison]) -> Option<String> {
    let mut own: Vec<&Comparison> = comparisons.iter().filter(|found| found.target == peer.name).collect();
    own.sort_by(|one, other| one.ratio.ratio.total_cmp(&other.ratio.ratio));
    let ratios: Vec<f64> = own.iter().map(|found| found.ratio.ratio).collect();
    let (mean, least, greatest) = (geometric_mean(&ratios)?, own.first()?, own.last()?);
    let place = |found: &Comparison| {
        let title = measured.results.run.rows.iter().find(|row| row.name == found.row);
        let title = title.map_or(found.row.as_str(), |row| row.title.as_str());
        format!(
            "{} in \"{title}\" at {} ({})",
            figure(found.ratio.ratio),
            found.volume,
            found.ratio.interval_text()
        )
    };
    let figures =
        if ratios.len() == 1 { "the one figure".to_owned() } else { format!("{} figures", ratios.len()) };
    let range = if ratios.len() == 1 {
        place(least)
    } else {
        format!("from {} to {}", place(least), place(greatest))
    };
    Some(format!(
        "Annals beside {}: {} times as good in the geometric mean of {figures} that both have, {range}.",
        peer.title,
        figure(mean)
    ))
}
