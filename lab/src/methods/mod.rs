//! The suite `methods`: every row of the published tables of a metadata repository, with the same calls and data.

// In the order a newcomer should read them.
mod volume;
mod row;
mod archive;
mod values;
mod book;
mod call;
mod record;
mod run;
mod phases;
mod engine;
mod operation;
mod http;
mod http_body;
mod datalog;
mod documents;
mod report;
mod egeria;
mod suite;

use std::path::{Path, PathBuf};
use std::time::Instant;

use annals::Repository;
use clap::Args;

use crate::outcome::Outcome;
use crate::run::page::FormOptions;
use crate::run::{Server, make_folder, resident_bytes};
use archive::Archive;
use engine::Engine;
use http::Http;
use record::Record;
use report::{Report, Total};
use run::Run;
pub use suite::SUITE;
use volume::Volume;

/// Pages of the HTTP door, unless the volume has more instances per type.
const PAGE_MAX: usize = 1_000;

/// Settings of `methods`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab methods                                  # 4,920 instances: a minute
  annals-lab methods --volume 0005-02 --volume 0020-10 --rows find
  annals-lab methods --markdown > methods.md          # the page of figures, to keep outside the repository
  annals-lab methods --volume 1280-10 --json > methods.jsonl   # 1,259,520 instances: half an hour

docs/metadata-methods.md says what each row is; the phases print to the other stream how long they took.")]
pub struct Methods {
    /// Instances per type and size of a page. Can be given several times.
    #[arg(long, default_value = "0005-02")]
    volume: Vec<Volume>,
    /// Print only rows whose name contains this. Can be given several times. All rows run, because each needs those
    /// before it.
    #[arg(long)]
    rows: Vec<String>,
    #[command(flatten)]
    form: FormOptions,
    /// Run everything again through the HTTP door, and print the difference for each row.
    #[arg(long)]
    http: bool,
    /// Folder to write in; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Methods {
    /// Measures and reports.
    ///
    /// Errors: if an answer was wrong, or nothing can be measured.
    pub fn run(&self) -> Outcome<()> {
        let parent = self.folder.as_deref();
        let archive = Archive::new()?;
        let mut report = Report::new(self.form.form(), self.rows.clone())?;
        report.begin(make_folder(parent)?.path())?;
        for volume in &self.volume {
            let folder = make_folder(parent)?;
            let (record, total) = in_process(&archive, *volume, folder.path())?;
            report.volume(*volume, &record, &total);
            if self.http {
                let folder = make_folder(parent)?;
                report.http(*volume, &record, &over_http(&archive, *volume, folder.path())?);
            }
        }
        report.finish();
        Ok(())
    }
}

/// A run with the engine in this process.
fn in_process(archive: &Archive, volume: Volume, folder: &Path) -> Outcome<(Record, Total)> {
    let repository = Repository::open(folder.join("repository"))?;
    repository.transact(|transaction| transaction.define_types(archive.definitions.clone()))?;
    let mut engine = Engine { repository };
    let start = Instant::now();
    let mut resident = 0;
    let record = phases(&mut engine, archive, volume, folder, "", || {
        let now = resident_bytes();
        resident = resident.max(now);
        now
    })?;
    Ok((record, Total { elapsed: start.elapsed(), resident_bytes: resident }))
}

/// A run through the HTTP door of another process.
fn over_http(archive: &Archive, volume: Volume, folder: &Path) -> Outcome<Record> {
    let page_max = volume.instances.max(PAGE_MAX).to_string();
    let server = Server::annals_with(&folder.join("repository"), &["--page-max", &page_max])?;
    let mut door = Http::connect(server.address)?;
    door.define_types(archive::ARCHIVE)?;
    phases(&mut door, archive, volume, folder, " over HTTP", resident_bytes)
}

/// Runs all phases; prints to the other stream the time of each, and the memory that `memory` returns.
fn phases(
    target: &mut dyn call::Target,
    archive: &Archive,
    volume: Volume,
    folder: &Path,
    how: &str,
    mut memory: impl FnMut() -> u64,
) -> Outcome<Record> {
    let mut run = Run::new(target, archive, volume, folder)?;
    phases::all(&mut run, |name, elapsed| {
        let mebibytes = memory() >> 20;
        eprintln!("{volume}{how} {name}: {:.1} s, {mebibytes} MiB", elapsed.as_secs_f64());
    })?;
    Ok(run.record)
}

/// One run at the smallest volume, for the table of limits.
///
/// Shape: for each line, the figure of its worst row, and the median of all its rows.
pub fn worst_of_smallest(folder: &Path) -> Outcome<Vec<(&'static str, f64, f64)>> {
    let volume = Volume { instances: 5, page: 2 };
    let (record, _) = in_process(&Archive::new()?, volume, folder)?;
    let mut lines: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for (number, row) in row::ROWS.iter().enumerate() {
        for judged in report::judge(row, volume, record.at(number)) {
            match lines.iter_mut().find(|(line, _)| *line == judged.line) {
                Some((_, values)) => values.push(judged.value),
                None => lines.push((judged.line, vec![judged.value])),
            }
        }
    }
    let summary = |(line, mut values): (&'static str, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        (line, values[values.len() - 1], values[values.len() / 2])
    };
    Ok(lines.into_iter().map(summary).collect())
}
