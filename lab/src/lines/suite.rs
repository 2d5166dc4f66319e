//! The suite `limits`: every line, beside the limit that is measured in turn with it in the same process.

use super::{EXPERIMENTS, Experiment};
use crate::harness::{Cell, Figure, Form, Kind, Part, Peer, Row, Suite, Target, TargetRecord, whole};
use crate::outcome::Outcome;
use crate::run::{Growth, LINES, Line, Mark, Size, median};

/// The lines without their bars, which the command `limits` judges.
pub const SUITE: Suite = Suite {
    name: "limits",
    title: "Annals beside the limits of a machine",
    text: "Each line is measured beside a limit: what this machine takes for the same work with a plain structure, a plain loop or a \
           plain file. Both run in turn, in one process. docs/performance.md says what each line measures.",
    rows,
    form: Form::RowsDown,
    volumes: &["1"],
    check_volume: |text| scale(text).map(drop),
    quick_volumes: &["1"],
    repeats: 5,
    parts: &PARTS,
    targets: &[
        Target { name: "annals", title: "Annals", kind: Kind::Ours, peer: None },
        Target { name: "limit", title: "the limit", kind: Kind::Limit, peer: Some(Peer::Beside("annals")) },
    ],
    unfair: &[
        "The limits do less than Annals. A hash map, a packed array or a loop of writes keeps no history, checks no types and knows no \
         transactions.",
        "Where the limit is Annals itself in an easier case, the ratio says nothing of the machine.",
        "`annals-lab limits` lists further reasons, and judges each line by its bar.",
    ],
    reasons: &[],
    against: &[],
    quotes: &[],
};

/// An experiment that has lines is a part.
const PARTS: [Part; EXPERIMENTS.len()] = {
    let part = Part { name: "", rows: &[], seconds_max: 1_800, counts_syncs: false, run };
    let mut parts = [part; EXPERIMENTS.len()];
    let mut at = 0;
    while at < parts.len() {
        parts[at].name = EXPERIMENTS[at].name;
        parts[at].rows = EXPERIMENTS[at].lines;
        at += 1;
    }
    parts
};

/// How many times the size of a volume is that of the command `limits`.
fn scale(volume: &str) -> Outcome<u64> {
    Ok(whole(volume, "times the size", 1..=100)?.into())
}

fn rows() -> Vec<Row> {
    let row = |line: &Line| {
        let found = Row::new(line.name, format!("{}, beside {}", line.name, line.limit), line.unit);
        if is_cost(line) { found.less() } else { found }
    };
    LINES.iter().map(row).collect()
}

/// True if less is better.
fn is_cost(line: &Line) -> bool {
    match line.growth {
        Growth::Rate => false,
        Growth::Cost | Growth::Tail | Growth::Total => true,
        Growth::Apart => {
            let marks = line.bar.iter().any(|mark| matches!(mark, Mark::RatioAtMost(_) | Mark::AtMost(_)));
            marks && !line.unit.ends_with("/s")
        }
    }
}

fn run(cell: &mut Cell) -> Outcome<()> {
    for (target, durability) in [("annals", "synced-group"), ("limit", "synced")] {
        cell.introduce(TargetRecord { target: target.into(), ..TargetRecord::of_lab(durability) })?;
    }
    let experiment = Experiment::named(&cell.arguments.part)?;
    for volume in cell.arguments.volumes.clone() {
        let size = Size { quick: cell.arguments.quick, scale: scale(&volume)? };
        let lines = experiment.lines.iter().copied();
        let samples = experiment.measure(size, cell.arguments.repeat, lines, &cell.arguments.folder);
        match samples {
            Ok(samples) => {
                for line in experiment.lines {
                    let own: Vec<_> = samples.iter().filter(|sample| sample.line == *line).collect();
                    if own.is_empty() {
                        cell.tell(&volume, line, Figure::state("ERR(the round ended without it)"))?;
                        continue;
                    }
                    let ours = median(own.iter().map(|sample| sample.ours).collect());
                    let limit = median(own.iter().map(|sample| sample.limit).collect());
                    cell.tell_of("annals", &volume, line, Figure::of(ours))?;
                    cell.tell_of("limit", &volume, line, Figure::of(limit))?;
                }
            }
            Err(error) => {
                for line in experiment.lines {
                    cell.tell(&volume, line, Figure::state(format!("ERR({error})")))?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rates_more_is_better_and_of_times_and_bytes_less() {
        for row in rows() {
            let is_rate = row.unit.ends_with("/s") || row.unit == "times";
            let more = row.better == crate::harness::Better::More;
            assert_eq!(is_rate, more, "{}, {}", row.name, row.unit);
        }
    }
}
