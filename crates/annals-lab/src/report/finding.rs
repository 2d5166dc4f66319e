//! What a run found, in a sentence for each row that matters.

use super::measured::Measured;
use super::numbers::figure;
use crate::harness::{Kind, Row};

/// A sentence for each row of a closed loop: the comparison with another system, at any volume, in which Annals is least
/// ahead.
pub fn findings(measured: &Measured) -> Vec<String> {
    if measured.results.run.is_quick {
        return vec![
            "A quick run: it shows that all answers are right, and finds nothing about speed.".to_owned(),
        ];
    }
    let found: Vec<String> = measured
        .rows()
        .into_iter()
        .filter(|row| !measured.is_open_loop(&row.name))
        .filter_map(|row| finding(measured, row))
        .collect();
    if found.is_empty() {
        return vec!["This run compares Annals with no other system.".to_owned()];
    }
    found
}

fn finding(measured: &Measured, row: &Row) -> Option<String> {
    let peers = measured.of_kind(&[Kind::Peer, Kind::Tuned]);
    let hardest = measured
        .volumes(&row.name)
        .into_iter()
        .flat_map(|volume| peers.iter().map(move |peer| (volume, peer)))
        .filter_map(|(volume, peer)| measured.compare(row, volume, peer).ok().map(|found| (found, peer)))
        .min_by(|(one, _), (other, _)| one.ratio.ratio.total_cmp(&other.ratio.ratio))?;
    let (found, peer) = hardest;
    let verdict = if found.ratio.is_no_difference() {
        format!("no difference to {}", peer.title)
    } else if found.ratio.ratio > 1.0 {
        format!(
            "Annals is at least {} times better than every system that it is compared with",
            figure(found.ratio.ratio)
        )
    } else {
        format!("{} is {} times better than Annals", peer.title, figure(1.0 / found.ratio.ratio))
    };
    Some(format!(
        "{}: {verdict} (at {}, beside {}; {}).",
        row.title,
        found.volume,
        peer.title,
        found.ratio.interval_text()
    ))
}
