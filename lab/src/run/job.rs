//! A round of an experiment: the request to a fresh process, and its answer.

use std::path::PathBuf;

use clap::Args;

use super::sample::Sample;
use super::size::Size;
use crate::outcome::Outcome;

/// One round of one experiment.
#[derive(Args, Clone, Debug)]
pub struct Job {
    /// Name of the experiment.
    pub experiment: String,
    #[command(flatten)]
    pub size: Size,
    /// The folder to write to; empty, unless an earlier round left files.
    #[arg(long)]
    pub folder: PathBuf,
    /// Number of the round; in odd ones the limit comes first.
    #[arg(long, default_value_t = 0)]
    pub round: usize,
    /// The wanted lines.
    #[arg(long, value_delimiter = ',')]
    pub lines: Vec<String>,
    /// Seed, threads or versions, as the experiment needs it.
    #[arg(long, default_value_t = 0)]
    pub number: u64,
}

impl Job {
    /// True if a wanted line has a name that begins so.
    pub fn wants(&self, start: &str) -> bool {
        self.lines.iter().any(|line| line.starts_with(start))
    }

    /// Numbers of the turns within one round, in which Annals and the limit alternate further.
    pub fn turns(&self, full: usize) -> std::ops::Range<usize> {
        self.round..self.round + self.size.operations(full, 1)
    }
}

/// Parses printed samples, one per line.
///
/// Errors: if it is anything else.
pub fn read_samples(text: &str) -> Outcome<Vec<Sample>> {
    let read = |line| serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}").into());
    text.lines().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_they_were_printed() {
        let samples = [Sample::new("get-1", 0.1, 1e9), Sample::new("as-of-10", 3.0, 1.0 / 3.0)];
        let text: String =
            samples.iter().map(|sample| serde_json::to_string(sample).unwrap() + "\n").collect();
        assert_eq!(read_samples(&text).unwrap(), samples);
    }
}
