//! The lines of a page that others may quote: of a few figures the lowest ratio, of many the range.

use super::finding::keeping;
use crate::harness::{Kind, Quote, TargetName};
use crate::report::comparison::Comparison;
use crate::report::measured::{CellFigures, Measured};
use crate::report::numbers::figure;
use crate::report::statistics::Ratio;

/// More figures than these are told by their range.
const FEW: usize = 4;

/// A line for each quote of the suite that the run has figures of.
pub fn lines(measured: &Measured, quotes: &[Quote]) -> Vec<String> {
    if measured.results.run.is_quick {
        return Vec::new();
    }
    quotes.iter().filter_map(|quote| line(measured, quote)).collect()
}

fn line(measured: &Measured, quote: &Quote) -> Option<String> {
    let peers = measured.of_kind(&[Kind::Peer, Kind::Tuned]);
    let parts: Vec<String> = peers.iter().filter_map(|peer| beside(measured, quote, peer)).collect();
    (!parts.is_empty()).then(|| format!("{}: {}.", quote.text, parts.join("; ")))
}

/// How many times as good Annals is as one system.
fn beside(measured: &Measured, quote: &Quote, peer: &TargetName) -> Option<String> {
    let mut ratios: Vec<Ratio> = Vec::new();
    let mut of_annals = 0;
    let mut is_unlike = false;
    let subject = measured.subject()?;
    for row in measured.closed_loops() {
        for volume in measured.volumes(&row.name).into_iter().filter(|volume| quote.has(&row.name, volume)) {
            let has_figure = |cell: &CellFigures| !cell.values.is_empty();
            of_annals += usize::from(measured.cell(&row.name, volume, &subject.name).is_some_and(has_figure));
            let alike = measured.compare(row, volume, peer).ok().filter(|found| is_of(measured, found, peer));
            let unlike = || measured.times_of_unsynced(row, volume, &subject.name, &peer.name);
            let found = alike.map(|found| found.ratio).or_else(|| unlike().inspect(|_| is_unlike = true));
            ratios.extend(found);
        }
    }
    let least = *ratios.iter().min_by(|one, other| one.ratio.total_cmp(&other.ratio))?;
    let most = ratios.iter().map(|found| found.ratio).fold(least.ratio, f64::max);
    let how =
        if is_unlike { format!(" (which {})", keeping(measured.class(&peer.name))) } else { String::new() };
    let of = if ratios.len() < of_annals {
        format!(" in {} of {of_annals} figures, all that it has", ratios.len())
    } else {
        String::new()
    };
    let title = &peer.title;
    if ratios.len() > FEW {
        let range = match (least.ratio, most) {
            (least, most) if most < 1.0 => format!("{} to {}", figure(1.0 / most), times(least)),
            (least, most) if least >= 1.0 => format!("{} to {}", figure(least), times(most)),
            (least, most) => format!("from {} to {}", times(least), times(most)),
        };
        return Some(format!("{range} than {title}{how}{of}"));
    }
    let bound = match ratios.len() {
        1 => "",
        _ if least.ratio < 1.0 => "at worst ",
        _ => "at least ",
    };
    let shown = if least.ratio < 1.0 { least.inverse() } else { least };
    let interval = shown.interval_text().map_or(String::new(), |interval| format!(" ({interval})"));
    Some(format!("{bound}{}{interval} than {title}{how}{of}", times(least.ratio)))
}

/// How many times better or worse Annals is.
fn times(ratio: f64) -> String {
    if ratio < 1.0 {
        format!("{} times worse", figure(1.0 / ratio))
    } else {
        format!("{} times better", figure(ratio))
    }
}

/// True if the subject of the page is compared, or the form of Annals that is asked as the other system is.
fn is_of(measured: &Measured, found: &Comparison, peer: &TargetName) -> bool {
    let subject = measured.subject().map(|subject| subject.name.as_str());
    peer.against.as_deref().or(subject) == Some(&found.ours)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::finding::tests::told;
    use super::*;
    use crate::report::measured::tests::{figure, measured};

    const BOTH: &[Quote] = &[Quote { text: "Both", rows: &["read", "write"], volumes: &[] }];

    fn of(figures: [[f64; 2]; 2], more: &[Value]) -> Measured {
        let rows = ["read", "write"].into_iter().zip(figures);
        let figures = rows.flat_map(|(row, [ours, theirs])| {
            [figure("annals", row, 0, ours), figure("other", row, 0, theirs)]
        });
        let mut found = measured(json!(figures.chain(more.iter().cloned()).collect::<Vec<Value>>()));
        found.results.run.rows[1] = found.results.run.rows[1].clone().of_writes();
        found
    }

    #[test]
    fn of_two_figures_the_lower_is_quoted() {
        assert_eq!(
            lines(&of([[6.0, 1.0], [4.4, 1.0]], &[]), BOTH),
            ["Both: at least 4.40 times better than other."]
        );
        assert_eq!(
            lines(&of([[6.0, 1.0], [1.0, 2.0]], &[]), BOTH),
            ["Both: at worst 2.00 times worse than other."]
        );
        let one = [Quote { text: "One", rows: &["rea"], volumes: &[] }];
        assert!(lines(&of([[6.0, 1.0], [4.4, 1.0]], &[]), &one).is_empty(), "rows begin with whole words");
    }

    #[test]
    fn a_line_says_what_the_other_system_does_not_keep_and_how_many_figures_it_has() {
        let durable = [told("annals", "synced-group"), told("other", "unsynced")];
        let found = of([[6.0, 1.0], [5.0, 1.0]], &durable);
        assert_eq!(
            lines(&found, BOTH),
            ["Both: at least 5.00 times better than other (which does not sync)."]
        );
        let found = measured(json!([
            figure("annals", "read", 0, 6.0),
            figure("annals", "write", 0, 6.0),
            figure("other", "read", 0, 1.0),
        ]));
        assert_eq!(
            lines(&found, BOTH),
            ["Both: 6.00 times better than other in 1 of 2 figures, all that it has."]
        );
    }

    #[test]
    fn of_many_figures_the_range_is_quoted() {
        let of = |ratios: [f64; 5]| {
            let figures = ratios.into_iter().enumerate().flat_map(|(volume, ratio)| {
                [("annals", ratio), ("other", 1.0)].map(|(target, value)| {
                    let mut record = figure(target, "read", 0, value);
                    record["volume"] = volume.to_string().into();
                    record
                })
            });
            let mut found = measured(json!(figures.collect::<Vec<Value>>()));
            found.results.run.volumes = (0..5).map(|volume| volume.to_string()).collect();
            lines(&found, BOTH).concat()
        };
        assert_eq!(of([2.0, 3.0, 4.0, 5.0, 6.0]), "Both: 2.00 to 6.00 times better than other.");
        assert_eq!(of([0.5, 0.25, 0.5, 0.5, 0.1]), "Both: 2.00 to 10.00 times worse than other.");
        assert_eq!(
            of([0.5, 2.0, 2.0, 2.0, 4.0]),
            "Both: from 2.00 times worse to 4.00 times better than other."
        );
    }
}
