//! The command `limits`: runs every experiment in rounds and reports every line.

use std::path::{Path, PathBuf};

use clap::Args;

use super::catalogue::{LINES, Line, MEMORY, RAW, SAME_WORK};
use super::folder::make_folder;
use super::growth;
use super::machine::Usage;
use super::measured::{Figures, Measured};
use super::report::{Form, Report};
use super::sample::Sample;
use super::size::Size;
use crate::lines::EXPERIMENTS;
use crate::outcome::Outcome;

/// Settings of `limits`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab limits                          # a quarter of an hour, on a machine that does nothing else
  annals-lab limits --only get --only hop2   # get-1, get-2, get-2-to-1 and hop2
  annals-lab limits --markdown > limits.md   # the page of figures, to keep outside the repository
  annals-lab limits --json > limits.jsonl
  annals-lab limits --growth --only bulk     # also with ten times the elements

Some lines need wrk, nginx and the binary annals beside this one; `cargo run` builds the latter.")]
pub struct Limits {
    /// Run only the line of this name, or all lines whose name begins so. Can be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// A page in Markdown: the figures, the machine, how to run it again, and what is unfair.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    #[command(flatten)]
    size: Size,
    /// Rounds of every experiment, each in fresh processes [default: 5, in a quick run 1].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: Option<u16>,
    /// Run all again with ten times the elements, and compare the cost of one operation. This takes long.
    #[arg(long)]
    growth: bool,
    /// Folder to write in; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Limits {
    /// Measures and reports.
    ///
    /// Errors: if a line is unknown, if an experiment failed, and so also if an answer was wrong.
    pub fn run(&self) -> Outcome<()> {
        let lines = chosen(&self.only)?;
        let folder = make_folder(self.folder.as_deref())?;
        let form = match self {
            Limits { markdown: true, .. } => Form::Markdown,
            Limits { json: true, .. } => Form::Json,
            _ => Form::Text,
        };
        let mut report = Report::new(form, self.size);
        report.begin(folder.path())?;
        let first = self.measure(self.size, &lines, folder.path(), |measured, _| report.add(measured))?;
        if self.growth {
            let grown = self.size.grown();
            let compare = |large: &Measured, all: &[Measured]| {
                if let Some(row) = growth::compare(large, [(self.size, &first), (grown, all)]) {
                    report.row(row);
                }
            };
            self.measure(grown, &growing(&lines), folder.path(), compare)?;
        }
        report.finish();
        let failed = first.iter().filter(|measured| measured.figures.is_err()).count();
        if failed > 0 {
            return Err(format!("{failed} lines could not be measured").into());
        }
        Ok(())
    }

    /// Runs every experiment that `lines` need; continues when one fails. Reports each line when its experiment has
    /// ended, together with the lines measured so far.
    fn measure(
        &self,
        size: Size,
        lines: &[&'static Line],
        folder: &Path,
        mut tell: impl FnMut(&Measured, &[Measured]),
    ) -> Outcome<Vec<Measured>> {
        let mut all = Vec::new();
        for experiment in EXPERIMENTS {
            let lines: Vec<&'static Line> =
                lines.iter().copied().filter(|line| experiment.lines.contains(&line.name)).collect();
            if lines.is_empty() {
                continue;
            }
            let (before, usage) = (all.len(), Usage::now());
            let rounds: Outcome<Vec<Vec<Sample>>> =
                (0..self.rounds.map_or(size.operations(5, 1), usize::from))
                    .map(|round| experiment.measure(size, round, lines.iter().map(|line| line.name), folder))
                    .collect();
            let others = usage.others();
            for line in lines {
                let figures = match &rounds {
                    Ok(rounds) => Figures::of(line, rounds, others),
                    Err(error) => Err(error.to_string()),
                };
                all.push(Measured { line, figures });
            }
            all[before..].iter().for_each(|measured| tell(measured, &all));
        }
        Ok(all)
    }
}

/// The lines that `only` names: a full name, which includes its percentile and its comparison lines, or the common
/// beginning of several names.
fn chosen(only: &[String]) -> Outcome<Vec<&'static Line>> {
    let mut is_chosen = vec![only.is_empty(); LINES.len()];
    for name in only {
        let is_line = Line::named(name).is_some();
        let is_meant = |line: &Line| match line.name.strip_prefix(name.as_str()) {
            None => false,
            Some(rest) => {
                !is_line
                    || rest.is_empty()
                    || rest.starts_with("-p99")
                    || [SAME_WORK, MEMORY, RAW].contains(&rest)
            }
        };
        if !LINES.iter().any(is_meant) {
            let names: Vec<&str> = LINES.iter().map(|line| line.name).collect();
            return Err(
                format!("--only {name}: expected the beginning of one of {}", names.join(", ")).into()
            );
        }
        for (is_chosen, line) in is_chosen.iter_mut().zip(LINES) {
            *is_chosen |= is_meant(line);
        }
    }
    Ok(LINES.iter().zip(is_chosen).filter(|(_, is_chosen)| *is_chosen).map(|(line, _)| line).collect())
}

fn growing(lines: &[&'static Line]) -> Vec<&'static Line> {
    lines.iter().copied().filter(|line| growth::is_compared(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &str) -> Vec<&'static str> {
        chosen(&[only.to_owned()]).unwrap().iter().map(|line| line.name).collect()
    }

    #[test]
    fn a_full_name_chooses_one_line_and_a_beginning_all_that_begin_so() {
        assert_eq!(names("commit-10"), ["commit-10", "commit-10-p99"]);
        assert_eq!(names("reopen"), ["reopen-checkpoint", "reopen-log"]);
        assert_eq!(names("hop2"), ["hop2", "hop2-same-work"]);
        assert!(chosen(&["nothing".to_owned()]).is_err());
    }

    #[test]
    fn the_page_on_performance_tells_what_each_line_measures() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
        let page = std::fs::read_to_string(path).unwrap();
        // Listed once for all lines with these suffixes.
        let ends = ["-p99.9", "-p99", SAME_WORK, RAW, MEMORY];
        assert!(ends.iter().all(|end| page.contains(&format!("*{end}*"))));
        let row =
            page.lines().filter(|line| line.starts_with("| `")).map(|line| line.split(" | ").next().unwrap());
        let mut told: Vec<&str> = row.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        let name = |line: &Line| ends.iter().find_map(|end| line.name.strip_suffix(end)).unwrap_or(line.name);
        let mut expected: Vec<&str> = LINES.iter().map(name).collect();
        for names in [&mut told, &mut expected] {
            names.sort_unstable();
        }
        expected.dedup();
        assert_eq!(told, expected);
    }

    #[test]
    fn every_line_is_measured_by_one_experiment() {
        for line in LINES {
            let count = EXPERIMENTS.iter().filter(|found| found.lines.contains(&line.name)).count();
            assert_eq!(count, 1, "{}", line.name);
        }
        let measured: usize = EXPERIMENTS.iter().map(|experiment| experiment.lines.len()).sum();
        assert_eq!(measured, LINES.len(), "experiments name lines of the table only");
    }
}
