//! The command `bundle`: what others need to check a page, in one file.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::measured::Measured;
use super::page::{Extent, page};
use super::{csv, markdown, suite_of};
use crate::harness::{Results, Suite};
use crate::outcome::Outcome;

/// Options of `bundle`.
#[derive(Args)]
pub struct Bundle {
    /// The folder of a run.
    run: PathBuf,
    /// The archive [default: the folder's name with `.tar.gz`].
    #[arg(long)]
    out: Option<PathBuf>,
}

impl Bundle {
    /// Packs the summary, the configurations of the targets, the raw samples and the logs.
    ///
    /// Errors: if there is no run, or the archive exists.
    pub fn run(&self, suites: &[&Suite]) -> Outcome<()> {
        if self.run.is_file() {
            return Err(format!("{}: expected the folder of a run, found a file", self.run.display()).into());
        }
        let measured = Measured::of(Results::read(&self.run)?)?;
        let out = self.out.clone().unwrap_or_else(|| self.run.with_extension("tar.gz"));
        let at = |error: std::io::Error| format!("{}: {error}", out.display());
        let name = self.run.file_name().ok_or("expected the folder of a run")?;
        let mut archive =
            tar::Builder::new(GzEncoder::new(File::create_new(&out).map_err(at)?, Compression::best()));
        let folder = Path::new(name);
        let mut add = |name: &str, text: &str| -> Outcome<()> {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            Ok(archive.append_data(&mut header, folder.join(name), text.as_bytes()).map_err(at)?)
        };
        let suite = suite_of(suites, &measured.results.run.suite);
        add("summary.md", &markdown::markdown(&page(&measured, suite, Extent::Whole)))?;
        add("summary.csv", &csv::csv(&measured)?)?;
        let targets: Vec<_> = measured
            .results
            .run
            .targets
            .iter()
            .filter_map(|target| measured.introduction(&target.name))
            .collect();
        add("targets.json", &serde_json::to_string_pretty(&targets)?)?;
        for name in ["run.json", "records.jsonl", "logs"] {
            let path = self.run.join(name);
            let to = folder.join(name);
            if path.is_dir() {
                archive.append_dir_all(to, &path)
            } else {
                archive.append_path_with_name(&path, to)
            }
            .map_err(at)?;
        }
        archive.into_inner().and_then(GzEncoder::finish).and_then(|file| file.sync_all()).map_err(at)?;
        println!("{}", out.display());
        Ok(())
    }
}
