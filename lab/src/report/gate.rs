//! The command `gate`: two builds of this program measure Annals in turn; it fails if the new one is slower.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use super::statistics::Ratio;
use crate::harness::{CellArguments, Figure, Measuring, PEERS, Part, Record, Suite};
use crate::outcome::Outcome;
use crate::run::{make_folder, table};

/// Options of `gate`.
#[derive(Args)]
#[command(after_help = "Example, with the lab of an older commit built elsewhere:
  annals-lab gate threads --base ../before/target/dist/annals-lab --part commits --volume 1,10,100 --allow 5")]
pub struct Gate {
    /// Name of the suite.
    suite: String,
    /// The program that was built before the change.
    #[arg(long)]
    base: PathBuf,
    /// The program that was built after it [default: this one].
    #[arg(long)]
    head: Option<PathBuf>,
    /// The measured target.
    #[arg(long, default_value = "annals")]
    target: String,
    /// Parts of the suite [default: all that measure rows].
    #[arg(long, value_delimiter = ',')]
    part: Vec<String>,
    /// Volumes [default: all of the suite].
    #[arg(long, value_delimiter = ',')]
    volume: Vec<String>,
    /// Fresh processes of each program.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=100))]
    repeat: u16,
    /// The loss that is allowed. Units: percent.
    #[arg(long, default_value_t = 5.0)]
    allow: f64,
    /// A small, short run.
    #[arg(long)]
    quick: bool,
    /// Folder on the disk to measure; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Figures by row and volume, and then by repeat.
type Figures = BTreeMap<(String, String), BTreeMap<usize, f64>>;

impl Gate {
    /// Measures both programs in turn and compares.
    ///
    /// Errors: if a row lost more than is allowed, and the interval leaves no doubt of it; if a cell failed.
    pub fn run(&self, suites: &[&'static Suite]) -> Outcome<()> {
        let suite = Suite::named(suites, &self.suite)?;
        suite.target(&self.target, &[])?;
        if !(0.0..100.0).contains(&self.allow) {
            return Err(format!("--allow {}: expected a percentage from 0 to 100", self.allow).into());
        }
        let head = self.head.clone().map_or_else(std::env::current_exe, Ok)?;
        let folder = make_folder(self.folder.as_deref())?;
        let mut figures = [Figures::new(), Figures::new()];
        let parts = self.parts(suite)?;
        for repeat in 0..usize::from(self.repeat) {
            for part in &parts {
                let programs = [&self.base, &head];
                // In odd repeats the new build comes first.
                let order = if repeat.is_multiple_of(2) { [0, 1] } else { [1, 0] };
                for side in order {
                    let found = self.cell(suite, part, programs[side], repeat, folder.path())?;
                    for (key, value) in found {
                        figures[side].entry(key).or_default().insert(repeat, value);
                    }
                }
            }
        }
        self.judge(suite, &figures)
    }

    fn parts(&self, suite: &'static Suite) -> Outcome<Vec<&'static Part>> {
        if self.part.is_empty() {
            return Ok(suite.parts.iter().filter(|part| !part.counts_syncs).collect());
        }
        self.part.iter().map(|name| suite.part(name)).collect()
    }

    fn cell(
        &self,
        suite: &Suite,
        part: &'static Part,
        program: &Path,
        repeat: usize,
        folder: &Path,
    ) -> Outcome<Vec<((String, String), f64)>> {
        let folder = tempfile::tempdir_in(folder)?;
        let volumes = if self.quick { suite.quick_volumes } else { suite.volumes };
        let volumes = if self.volume.is_empty() {
            volumes.iter().map(|volume| (*volume).to_owned()).collect()
        } else {
            self.volume.clone()
        };
        let measuring = Measuring {
            program: program.to_owned(),
            part,
            arguments: CellArguments {
                suite: suite.name.into(),
                part: part.name.into(),
                target: self.target.clone(),
                repeat,
                volumes,
                quick: self.quick,
                seconds_max: part.seconds_max(self.quick),
                folder: folder.path().join("data"),
                peers: PEERS.into(),
                adapter: Vec::new(),
                row: Vec::new(),
                step: None,
            },
            log: folder.path().join("log"),
        };
        let mut figures = Vec::new();
        let ended = measuring.run(|record| {
            let Record::Figure(figure) = record else { return Ok(()) };
            let Figure { row, volume, value, state, offered, .. } = *figure;
            if let Some(state) = state {
                return Err(format!("{}, {row} at {volume}: {state}", program.display()).into());
            }
            // An open loop offers each build a share of its own peak, so its rate says nothing.
            if let (Some(value), None) = (value, offered) {
                figures.push(((row, volume), value));
            }
            Ok(())
        })?;
        if ended.outcome != "ok" {
            return Err(format!("{}, {}: {}", program.display(), part.name, ended.outcome).into());
        }
        Ok(figures)
    }

    fn judge(&self, suite: &Suite, [base, head]: &[Figures; 2]) -> Outcome<()> {
        let head_line = ["row", "volume", "new / old", "95 %", "verdict"].map(str::to_owned).to_vec();
        let mut lines = vec![head_line];
        let mut lost = Vec::new();
        for row in (suite.rows)() {
            for ((name, volume), before) in base.iter().filter(|((name, _), _)| *name == row.name) {
                let after = head.get(&(name.clone(), volume.clone()));
                let ratio = after.and_then(|after| Ratio::of(after, before));
                let ratio =
                    ratio.ok_or_else(|| format!("{name} at {volume}: the new build has no figure"))?;
                let ratio = ratio.for_row(&row);
                let is_lost = ratio.interval[1] < 1.0 - self.allow / 100.0;
                if is_lost {
                    lost.push(format!("{name} at {volume}"));
                }
                let worse = if is_lost { "SLOWER" } else { "within what is allowed" };
                lines.push([&[name.clone(), volume.clone()][..], &ratio.cells(worse)].concat());
            }
        }
        if lines.len() == 1 {
            return Err("expected figures to compare, found none; choose parts that measure rows".into());
        }
        print!("{}", table::aligned(&lines));
        if lost.is_empty() {
            return Ok(());
        }
        Err(format!("slower by more than {} %: {}", self.allow, lost.join(", ")).into())
    }
}
