//! `annals-debian`: loads releases of Debian into a repository, one on top of the other.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use annals::{ErrorKind, Instant, Repository, Result};
use annals_debian::{Candidate, Step, Survey, check_dates, load_debian, plan};
use annals_exchange::import::{BATCH_BYTES_MAX, LoadOptions, Loader, Report, Run};
use annals_exchange::text::{count, counted};
use annals_exchange::user::user_name;
use annals_exchange::{Outcome, Progress, RefusedLine, Stop};
use clap::Parser;

/// Refused or failed.
const FAILED: u8 = 1;
/// The command line is malformed.
const USAGE: u8 = 2;
/// Done, but some stanzas were refused.
const REFUSED_STANZAS: u8 = 6;

/// Load releases of Debian (Packages indexes), each true from its date
#[derive(Parser, Debug)]
#[command(
    name = "annals-debian",
    version,
    after_help = "\
Example:
  annals-debian 2023-06-10=bookworm.Packages.gz 2025-08-09=trixie.Packages.gz

A file may be gzip. Releases are given in the order of their dates. The same command again is enough: what is imported
already is skipped, what was interrupted goes on. What a release does not name is deleted, but only if no stanza of it was
refused; an empty line stands behind its last stanza. One that would delete more than half of the packages is refused
without --allow-shrink."
)]
struct Arguments {
    /// Releases, in the order of their dates
    #[arg(value_name = "DATE=FILE", required = true)]
    releases: Vec<String>,
    /// Folder of the repository
    #[arg(long, short = 'r', env = "ANNALS_REPOSITORY", default_value = "annals-data", value_name = "PATH")]
    repository: PathBuf,
    /// Changes in one batch
    #[arg(long, default_value_t = 5000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    /// The author of the import [default: the name of the user; '' for none]
    #[arg(long, env = "ANNALS_AUTHOR")]
    author: Option<String>,
    /// Why
    #[arg(long, short = 'm', default_value = "")]
    message: String,
    /// Date of the releases that are given without one [default: now]
    #[arg(long, value_name = "INSTANT")]
    valid_from: Option<Instant>,
    /// Let a release delete more than half of the packages
    #[arg(long = "allow-shrink")]
    is_shrinking: bool,
}

/// Tells refused stanzas and remarks on standard error.
struct Errors;

impl Progress for Errors {
    fn note_refused(&self, refused: &RefusedLine<'_>) {
        let RefusedLine { file, line, kind, reason, .. } = refused;
        eprintln!("{file}:{line}: {reason} [{}]", kind.name());
    }

    fn note_remark(&self, text: &dyn Display) {
        eprintln!("note: {text}");
    }
}

fn main() -> ExitCode {
    let (error, code) = match run(&Arguments::parse()) {
        Ok(refused_count) => return ExitCode::from(if refused_count > 0 { REFUSED_STANZAS } else { 0 }),
        Err(Stop::Failed(error)) => {
            let is_usage = matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::FutureInstant);
            (error, if is_usage { USAGE } else { FAILED })
        }
        Err(Stop::Refused(error)) => (error, FAILED),
        Err(Stop::AtRefusal) => return ExitCode::from(REFUSED_STANZAS),
        Err(Stop::Output(error)) => (annals::Error::io("write to standard output", error), FAILED),
    };
    eprintln!("error: {error} [{}]", error.kind().name());
    ExitCode::from(code)
}

/// Loads the releases; returns how many stanzas were refused.
fn run(arguments: &Arguments) -> Outcome<u64> {
    let releases = arguments.releases.iter().map(|release| dated(release, arguments.valid_from));
    let releases = releases.collect::<Result<Vec<_>>>()?;
    check_dates(&releases)?;
    // Order: look at the files before the repository is created.
    let surveys = releases.iter().map(|(file, _)| Survey::read(Path::new(file), u64::MAX, &()));
    let surveys = surveys.collect::<Outcome<Vec<_>>>()?;
    let repository = Repository::open(&arguments.repository)?;
    let candidates = releases.iter().zip(&surveys);
    let candidates: Vec<_> = candidates
        .map(|((name, date), survey)| Candidate { name: name.clone(), date: *date, survey })
        .collect();
    let steps = plan(&repository, &candidates, arguments.is_shrinking, &())?;
    let options = LoadOptions {
        batch_changes: arguments.batch as usize,
        batch_bytes_max: BATCH_BYTES_MAX,
        author: arguments.author.clone().unwrap_or_else(user_name),
        message: arguments.message.clone(),
        check: None,
    };
    let mut report = Report::new(Arc::new(Errors), false);
    for (((name, date), survey), step) in releases.into_iter().zip(surveys).zip(steps) {
        match step {
            Step::Skip { refused_count } => {
                report.remark(format!("{name}: already imported, skipped"));
                report.summary.refused_count += refused_count;
            }
            Step::Load { is_begun } => {
                let mut loader =
                    Loader::new(&repository, &options, &mut report, &name, Run::begin(&repository));
                let outcome = load_debian(&mut loader, &repository, Path::new(&name), date, survey, is_begun);
                loader.end(outcome)?;
            }
        }
    }
    let summary = report.summary;
    println!(
        "imported {} in {}, refused {}, skipped {}; now at position {}",
        counted(summary.changes_count, "change"),
        counted(summary.records_count, "record"),
        count(summary.refused_count),
        count(summary.skipped_count),
        repository.snapshot().position(),
    );
    repository.close()?;
    Ok(summary.refused_count)
}

/// A release as it is given: `DATE=FILE`, or a file alone.
fn dated(release: &str, date: Option<Instant>) -> Result<(String, Option<Instant>)> {
    match release.split_once('=').filter(|_| !Path::new(release).exists()) {
        Some((date, file)) => Ok((file.to_owned(), Some(date.parse()?))),
        None => Ok((release.to_owned(), date)),
    }
}
