//! The command `run`: every cell of a suite, one after the other, on a machine that does nothing else.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use tempfile::TempDir;

use super::cell::CellArguments;
use super::install::{DATA, PEERS};
use super::measuring::Measuring;
use super::peer::Peer;
use super::plan::{Planned, cells};
use super::record::{CellRecord, PartRecord, Record, Row, Run, Skip, TargetName};
use super::results::Results;
use super::suite::{Part, Suite};
use super::target::{Kind, Target};
use crate::outcome::Outcome;
use crate::run::{Machine, command_line, make_folder};

/// Longest time to remove the files of a cell before the progress says so.
const REMOVAL_SILENT: Duration = Duration::from_secs(2);

/// Options of `run`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab run threads --quick --target annals,null   # a minute: shows that all answers are right
  annals-lab run threads --target annals,bitsy,neo4j    # after `annals-lab install bitsy neo4j`
  annals-lab run threads --volume 1,10,750 --repeat 5 --budget 30m
  annals-lab run threads --resume lab-data/threads-20260101T120000
  annals-lab run threads --resume lab-data/threads-20260101T120000 --repeat 5
  annals-lab run threads --resume lab-data/threads-20260101T120000 --again xtdb")]
pub struct RunSuite {
    /// Name of the suite, as `annals-lab list` tells it.
    suite: String,
    /// Targets [default: all that are installed].
    #[arg(long, value_delimiter = ',')]
    target: Vec<String>,
    /// Measures a system of your own too: its name, and the command that starts its adapter. ADAPTERS.md says how to
    /// write one.
    #[arg(long, value_name = "NAME=COMMAND")]
    adapter: Vec<Target>,
    /// The form of Annals that the page is about: its title and its first lines name it [default: the first target].
    #[arg(long, value_name = "TARGET")]
    subject: Option<String>,
    /// Volumes [default: all of the suite].
    #[arg(long, value_delimiter = ',')]
    volume: Vec<String>,
    /// Only these parts of the suite.
    #[arg(long, value_delimiter = ',')]
    part: Vec<String>,
    /// Only rows whose name begins so. Can be given several times. A suite whose rows need each other runs all.
    #[arg(long)]
    row: Vec<String>,
    /// Fresh processes for each part and target.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=100))]
    repeat: Option<u16>,
    /// No cell begins later than this after the start, such as 90s, 10m or 2h.
    #[arg(long, value_parser = parse_time)]
    budget: Option<Duration>,
    /// Longest time of a cell, if that is less than the suite's: what it has not measured by then is DNF.
    #[arg(long, value_parser = parse_time)]
    cell_time: Option<Duration>,
    /// Length of the last step of each row of the suite `pressure`, such as 5m as on its page [default: some seconds].
    #[arg(long, value_parser = parse_time)]
    step: Option<Duration>,
    /// A small, short run: it shows that all answers are right; its figures say nothing.
    #[arg(long)]
    quick: bool,
    /// Folder of runs.
    #[arg(long, default_value = DATA)]
    out: PathBuf,
    /// Go on with a run that was broken off, or with more repeats.
    #[arg(long, conflicts_with_all = ["target", "subject", "volume", "part", "row", "quick"])]
    resume: Option<PathBuf>,
    /// Measures these targets of the run again, and drops what it has of them.
    #[arg(long, requires = "resume", value_delimiter = ',', value_name = "TARGET")]
    again: Vec<String>,
    /// Folder of the installed peers.
    #[arg(long, default_value = PEERS)]
    peers: PathBuf,
    /// Folder on the disk to measure; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl RunSuite {
    /// Measures, and keeps what it measured.
    ///
    /// Errors: if an option is wrong. That a system failed is a result.
    pub fn run(&self, suites: &[&'static Suite]) -> Outcome<()> {
        let suite = Suite::named(suites, &self.suite)?;
        let folder = make_folder(self.folder.as_deref())?;
        let mut results = match &self.resume {
            Some(path) => self.read(suite, path)?,
            None => self.begin(suite, folder.path())?,
        };
        let (targets, skips) = self.installed(suite, &results)?;
        let parts: Vec<&Part> = suite
            .parts
            .iter()
            .filter(|part| results.run.parts.iter().any(|wanted| wanted.name == part.name))
            .collect();
        let order: Vec<(&'static str, bool)> =
            parts.iter().map(|part| (part.name, part.counts_syncs)).collect();
        let names: Vec<&'static str> = targets.iter().map(|target| target.name).collect();
        let ended: HashSet<_> = results.ended().collect();
        let is_open =
            |cell: &Planned| !ended.contains(&(cell.target.to_owned(), cell.part.to_owned(), cell.repeat));
        let cells: Vec<Planned> =
            cells(&order, &names, results.run.repeats).into_iter().filter(is_open).collect();
        if self.resume.is_some() {
            if cells.is_empty() {
                let run = results.folder.display();
                return Err(format!("{run}: nothing is left to measure; --repeat adds repeats").into());
            }
            results.go_on(self.later(&Machine::look(folder.path())?), &names)?;
        }
        for skip in skips {
            eprintln!("{}: {}", skip.target, skip.reason);
            results.add_once(Record::Skip(skip))?;
        }
        self.measure(suite, &cells, folder.path(), &mut results)?;
        println!("{}", results.folder.display());
        Ok(())
    }

    /// The run that this command goes on with.
    fn read(&self, suite: &Suite, folder: &Path) -> Outcome<Results> {
        if folder.is_file() {
            return Err(format!(
                "{}: is a kept run; --resume goes on with the folder of a run",
                folder.display()
            )
            .into());
        }
        let mut results = Results::read(folder)?;
        if results.run.suite != suite.name {
            return Err(format!("{}: is a run of {}", folder.display(), results.run.suite).into());
        }
        if let Some(repeats) = self.repeat {
            results.set_repeats(usize::from(repeats))?;
        }
        for name in &self.again {
            results.forget(name)?;
        }
        Ok(results)
    }

    /// The doubts about what is measured when a run goes on.
    fn later(&self, machine: &Machine) -> Vec<String> {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let commit = machine.facts.iter().find(|(name, _)| *name == "commit");
        let commit = commit.map_or("unknown", |(_, text)| text);
        let again = match self.again.as_slice() {
            [] => String::new(),
            again => format!(" to measure {} again,", again.join(", ")),
        };
        let mut doubts = vec![format!(
            "the run went on at {now},{again} with commit {commit}: what it measured from then on was not measured in turn with what came \
             before"
        )];
        doubts.extend(machine.doubts().into_iter().map(|doubt| format!("{doubt}, at {now}")));
        doubts
    }

    /// The new run of this command.
    fn begin(&self, suite: &Suite, folder: &Path) -> Outcome<Results> {
        let machine = Machine::look(folder)?;
        let volumes = if self.quick { suite.quick_volumes } else { suite.volumes };
        let parts: Vec<&Part> = suite
            .parts
            .iter()
            .filter(|part| self.part.is_empty() || self.part.iter().any(|name| name == part.name))
            .collect();
        for name in &self.part {
            suite.part(name)?;
        }
        for volume in &self.volume {
            (suite.check_volume)(volume)?;
        }
        let wants = |name: &str| self.row.is_empty() || self.row.iter().any(|row| name.starts_with(row));
        let rows: Vec<Row> = (suite.rows)().into_iter().filter(|row| wants(&row.name)).collect();
        if rows.is_empty() {
            let names: Vec<String> = (suite.rows)().into_iter().map(|row| row.name).collect();
            return Err(format!("--row: expected how one of these begins: {}", names.join(", ")).into());
        }
        let parts: Vec<&Part> = parts
            .into_iter()
            .filter(|part| self.row.is_empty() || suite.rows_of(part).iter().any(|name| wants(name)))
            .collect();
        let mut names = if self.target.is_empty() {
            suite.targets.iter().map(|target| target.name.to_owned()).collect()
        } else {
            self.target.clone()
        };
        let added = self.adapter.iter().map(|target| target.name.to_owned());
        names.extend(added.filter(|name| !self.target.contains(name)).collect::<Vec<_>>());
        let targets: Vec<Target> =
            names.iter().map(|name| suite.target(name, &self.adapter)).collect::<Outcome<_>>()?;
        for target in &targets {
            if let Some(Peer::Beside(host)) = target.peer
                && !names.iter().any(|name| name == host)
            {
                let name = target.name;
                return Err(format!("target {name}: is measured in turn with {host}; choose both").into());
            }
        }
        self.check_subject(&targets)?;
        let now = jiff::Timestamp::now();
        let mut doubts = machine.doubts();
        if self.quick {
            doubts
                .push("a quick run: it shows that all answers are right, and not how fast they come".into());
        }
        let run = Run {
            suite: suite.name.into(),
            title: suite.title.into(),
            text: suite.text.into(),
            subject: self.subject.clone(),
            rows,
            form: suite.form,
            targets: targets.iter().map(|target| TargetName::of(target, suite)).collect(),
            volumes: if self.volume.is_empty() {
                volumes.iter().map(|volume| (*volume).to_owned()).collect()
            } else {
                self.volume.clone()
            },
            parts: parts
                .iter()
                .map(|part| {
                    let rows = suite.rows_of(part).into_iter().filter(|name| wants(name)).collect();
                    PartRecord { name: part.name.into(), rows }
                })
                .collect(),
            repeats: self.repeat.map_or(if self.quick { 1 } else { suite.repeats }, usize::from),
            is_quick: self.quick,
            started: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command: command_line(without_places(std::env::args().skip(1))),
            sync_us: Some(machine.sync_us),
            environment: machine.facts.into_iter().map(|(name, found)| (name.to_owned(), found)).collect(),
            doubts,
            unfair: suite.unfair.iter().map(|text| (*text).to_owned()).collect(),
        };
        let name = format!("{}-{}", suite.name, now.strftime("%Y%m%dT%H%M%S"));
        Results::create(&self.out.join(name), run)
    }

    /// Errors: if the subject is no form of Annals among the targets.
    fn check_subject(&self, targets: &[Target]) -> Outcome<()> {
        let ours: Vec<&str> =
            targets.iter().filter(|target| target.kind == Kind::Ours).map(|target| target.name).collect();
        match &self.subject {
            Some(name) if !ours.contains(&name.as_str()) => Err(format!(
                "--subject {name}: expected a form of Annals among the targets: {}",
                ours.join(", ")
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// The targets of the run that can be started, and why the others cannot.
    fn installed(&self, suite: &Suite, results: &Results) -> Outcome<(Vec<Target>, Vec<Skip>)> {
        let (mut targets, mut skips) = (Vec::new(), Vec::new());
        for TargetName { name, .. } in &results.run.targets {
            let target = suite.target(name, &self.adapter)?;
            if matches!(target.peer, Some(Peer::Beside(_))) {
                continue;
            }
            if target.peer.as_ref().is_none_or(|peer| peer.is_installed(&self.peers)) {
                targets.push(target);
                continue;
            }
            let reason = format!("not installed; install it by `annals-lab install {name}`");
            skips.push(Skip { target: name.clone(), rows: Vec::new(), reason });
        }
        Ok((targets, skips))
    }

    /// Measures a cell, in the folder that it also returns.
    fn cell(
        &self,
        suite: &Suite,
        cell: &Planned,
        folder: &Path,
        results: &mut Results,
    ) -> Outcome<(CellRecord, TempDir)> {
        let folder = tempfile::Builder::new().prefix(cell.target).tempdir_in(folder)?;
        let part = suite.part(cell.part)?;
        let seconds_max = part.seconds_max(results.run.is_quick);
        let measuring = Measuring {
            program: std::env::current_exe()?,
            part,
            arguments: CellArguments {
                suite: suite.name.into(),
                part: cell.part.into(),
                target: cell.target.into(),
                repeat: cell.repeat,
                volumes: results.run.volumes.clone(),
                quick: results.run.is_quick,
                seconds_max: self.cell_time.map_or(seconds_max, |time| time.as_secs().clamp(1, seconds_max)),
                folder: folder.path().join("data"),
                peers: self.peers.clone(),
                adapter: self.adapter.clone(),
                row: results.run.rows.iter().map(|row| row.name.clone()).collect(),
                step: self.step.map(|step| step.as_secs().max(1)),
            },
            log: results.folder.join(format!("logs/{}-{}-{}.log", cell.target, cell.part, cell.repeat)),
        };
        let record = measuring.run(|record| match record {
            Record::Target(_) => results.add_once(record),
            record => results.add(record),
        })?;
        Ok((record, folder))
    }

    fn measure(&self, suite: &Suite, cells: &[Planned], folder: &Path, results: &mut Results) -> Outcome<()> {
        let start = Instant::now();
        for (number, cell) in cells.iter().enumerate() {
            let left = || {
                let each = start.elapsed().as_secs_f64() / number as f64;
                format!("; about {:.0} min left", each * (cells.len() - number) as f64 / 60.0)
            };
            let left = if number == 0 { String::new() } else { left() };
            let Planned { part, target, repeat } = cell;
            if self.budget.is_some_and(|budget| start.elapsed() > budget) {
                eprintln!("the budget is spent: {} cells are left for --resume", cells.len() - number);
                break;
            }
            if results.wrong().contains(*target) {
                continue;
            }
            eprint!("[{}/{}] {target}, {part}, repeat {}{left} … ", number + 1, cells.len(), repeat + 1);
            let (record, data) = self.cell(suite, cell, folder, results)?;
            eprint!("{} after {:.0} s", record.outcome, record.seconds);
            results.add(Record::Cell(record))?;
            remove(data);
            eprintln!();
            if results.wrong().contains(*target) {
                eprintln!("{target}: its answers are wrong, so it is not measured further");
            }
        }
        Ok(())
    }
}

/// Removes what a cell wrote, and says so if that takes long: a repository can leave hundreds of thousands of files.
fn remove(data: TempDir) {
    let path = data.path().to_owned();
    let removing = std::thread::spawn(move || data.close());
    let start = Instant::now();
    while !removing.is_finished() && start.elapsed() < REMOVAL_SILENT {
        std::thread::sleep(Duration::from_millis(10));
    }
    let is_long = !removing.is_finished();
    if is_long {
        eprint!("; removes its files");
    }
    let removed = removing.join().expect("removing does not panic");
    if is_long {
        eprint!(", {:.0} s", start.elapsed().as_secs_f64());
    }
    if let Err(error) = removed {
        eprint!("; {} is left: {error}", path.display());
    }
}

/// A time such as `90s`, `10m` or `2h`.
fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = || format!("{text:?}: expected a time such as 90s, 10m or 2h");
    let unit = text.chars().last().and_then(|unit| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3_600),
        _ => None,
    });
    let unit = unit.ok_or_else(expected)?;
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    Ok(Duration::from_secs(count.checked_mul(unit).ok_or_else(expected)?))
}

/// The arguments without the folders of this machine, which mean nothing on another one.
fn without_places(arguments: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut is_value = false;
    arguments.filter(move |argument| {
        let name = argument.split('=').next().unwrap_or_default();
        let is_place = ["--out", "--peers", "--folder"].contains(&name);
        let is_dropped = is_value || is_place;
        is_value = !is_value && is_place && name == argument;
        !is_dropped
    })
}

impl TargetName {
    fn of(target: &Target, suite: &Suite) -> TargetName {
        let beside = match target.peer {
            Some(Peer::Beside(host)) => Some(host.to_owned()),
            _ => None,
        };
        let against = suite.against.iter().find(|(name, _)| *name == target.name);
        TargetName {
            name: target.name.into(),
            title: target.title.into(),
            target_kind: target.kind,
            beside,
            against: against.map(|(_, ours)| (*ours).to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_run_again_names_no_folder_of_this_machine() {
        let told = |line: &str| {
            let arguments = line.split(' ').map(str::to_owned);
            without_places(arguments).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told("run threads --out a --peers b --folder=c=d --repeat 3"), "run threads --repeat 3");
        assert_eq!(told("run threads --folder --out --target annals --out"), "run threads --target annals");
        assert_eq!(told("run threads --adapter out=sh"), "run threads --adapter out=sh");
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_secs(7_200)));
        for text in ["", "10", "m", "-1s", "1.5h", "99999999999999999999h", "5ü"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
