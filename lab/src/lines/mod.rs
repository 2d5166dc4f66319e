//! The experiments: each measures one or more lines, with Annals and the limit in turn.

mod count_commits;
mod hand_over;
mod commit;
mod commit_async;
mod standard_graph;
mod bulk;
mod get;
mod hop2;
mod scan;
mod find;
mod read_under_write;
mod reopen;
mod hop_small;
mod history_tax;
mod as_of;
mod wide;
mod many_values;
mod methods;
mod grants;
mod http;
mod content;
mod suite;

pub use hand_over::HandOver;
pub use suite::SUITE;

use std::path::Path;

use crate::outcome::Outcome;
use crate::run::{Job, Sample, Size};

/// An experiment: it is set up once per round and measures some lines.
pub struct Experiment {
    pub name: &'static str,
    /// Names of its lines.
    pub lines: &'static [&'static str],
    /// Threads or versions.
    pub number: u64,
    /// True if each round runs in its own process; otherwise the experiment starts processes itself.
    pub is_fresh: bool,
    /// One round.
    pub run: fn(&Job) -> Outcome<Vec<Sample>>,
}

impl Experiment {
    /// The experiment of this name.
    pub fn named(name: &str) -> Outcome<&'static Experiment> {
        let found = EXPERIMENTS.iter().chain(HELPERS).find(|experiment| experiment.name == name);
        Ok(found.ok_or_else(|| format!("experiment {name}: there is none of this name"))?)
    }

    /// Measures these lines in one round, in a new folder in `folder`.
    pub fn measure(
        &self,
        size: Size,
        round: usize,
        lines: impl Iterator<Item = &'static str>,
        folder: &Path,
    ) -> Outcome<Vec<Sample>> {
        let folder = tempfile::Builder::new().prefix(self.name).tempdir_in(folder)?;
        let job = Job {
            experiment: self.name.into(),
            size,
            folder: folder.path().to_path_buf(),
            round,
            lines: lines.map(str::to_owned).collect(),
            number: self.number,
        };
        if self.is_fresh { job.run_fresh() } else { (self.run)(&job) }
    }
}

/// Runs a round in this process, and prints the samples.
///
/// Errors: if there is no such experiment; those of the experiment.
pub fn run_round(job: &Job) -> Outcome<()> {
    for sample in (Experiment::named(&job.experiment)?.run)(job)? {
        println!("{}", serde_json::to_string(&sample)?);
    }
    Ok(())
}

const fn fresh(
    name: &'static str,
    lines: &'static [&'static str],
    number: u64,
    run: fn(&Job) -> Outcome<Vec<Sample>>,
) -> Experiment {
    Experiment { name, lines, number, is_fresh: true, run }
}

/// All experiments, in the order in which they run.
#[rustfmt::skip]
pub const EXPERIMENTS: &[Experiment] = &[
    fresh("commit-1", &["commit-1", "commit-1-p99"], 1, commit::round),
    fresh("commit-10", &["commit-10", "commit-10-p99"], 10, commit::round),
    fresh("commit-100", &["commit-100", "commit-100-p99"], 100, commit::round),
    fresh("commit-750", &["commit-750", "commit-750-p99"], 750, commit::round),
    fresh("commit-3000", &["commit-3000", "commit-3000-p99"], 3000, commit::round),
    fresh("commit-async", &["commit-async"], 0, commit_async::round),
    fresh("standard-graph", &[
        "bulk", "get-1", "get-1-same-work", "get-1-memory", "get-2", "get-2-same-work", "get-2-memory", "get-2-to-1", "hop2", "hop2-same-work", "hop2-frontier", "hop2-frontier-same-work", "scan-random",
        "read-under-write-get", "read-under-write-get-memory", "read-under-write-get-raw", "read-under-write-get-p99.9", "read-under-write-hop2", "read-under-write-hop2-same-work", "read-under-write-hop2-raw", "read-under-write-hop2-p99.9",
        "read-under-write-find", "read-under-write-find-same-work", "read-under-write-find-raw", "read-under-write-find-p99.9",
        "find-one", "find-one-same-work", "find-eq", "find-eq-same-work", "find-range", "find-range-same-work", "find-order", "find-order-same-work", "memory", "disk", "reopen-checkpoint", "reopen-log",
    ], 0, standard_graph::round),
    fresh("hop-small", &["hop-small-1", "hop-small-1-same-work", "hop-small-2", "hop-small-2-same-work", "hop-small-2-to-1"], 0, hop_small::round),
    fresh("scan-power-law", &["scan-power-law"], 0, scan::power_law_round),
    fresh("history-tax", &["history-tax-commit", "history-tax-get", "history-tax-get-same-work"], 0, history_tax::round),
    fresh("as-of-10", &["as-of-10", "as-of-10-same-work"], 10, as_of::round),
    fresh("as-of-1000", &["as-of-1000", "as-of-1000-same-work"], 1_000, as_of::round),
    fresh("as-of-100000", &["as-of-100000", "as-of-100000-same-work"], 100_000, as_of::round),
    fresh("wide", &["wide-add", "wide-page-start", "wide-page-900000", "wide-degree"], 0, wide::round),
    fresh("many-values", &["many-values-add", "many-values-add-same-work", "many-values-bytes"], 0, many_values::round),
    fresh("methods", &[
        "methods-write", "methods-read", "methods-history", "methods-page", "methods-walk", "methods-linking",
        "methods-purge-hub",
    ], 0, methods::round),
    fresh("grants", &["granted-page", "granted-walk", "grants-load"], 0, grants::round),
    Experiment { is_fresh: false, ..fresh("granted-get", &["granted-get"], 0, grants::get_round) },
    Experiment { is_fresh: false, ..fresh("http-get", &["http-get"], 0, http::get_round) },
    Experiment { is_fresh: false, ..fresh("http-commit-64", &["http-commit-64"], 64, http::commit_round) },
    Experiment { is_fresh: false, ..fresh("http-commit-512", &["http-commit-512"], 512, http::commit_round) },
    Experiment { is_fresh: false, ..fresh("content", &["content-put", "content-get"], 0, content::round) },
];

/// Experiments that others run.
const HELPERS: &[Experiment] = &[
    fresh("commit-64", &[], 64, commit::round),
    fresh("commit-512", &[], 512, commit::round),
    fresh("reopen", &[], 0, reopen::round),
];
