//! The command `keep`: a run as one small file beside the sources, so that its page can be written again by any later lab.

use std::path::PathBuf;

use clap::Args;

use crate::harness::{Results, kept};
use crate::outcome::Outcome;

/// Options of `keep`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab keep lab-data/threads-20260101T120000 --out lab/runs/threads.jsonl.gz
  annals-lab report --markdown lab/runs/threads.jsonl.gz --plot threads-commit --out docs/results")]
pub struct Keep {
    /// The folder of a run.
    run: PathBuf,
    /// The file. Its name is the name of the page, and ends in `.jsonl.gz`.
    #[arg(long)]
    out: PathBuf,
}

impl Keep {
    /// Writes what the page of a run needs, and prints the name of the file and its size.
    ///
    /// Errors: if there is no run, or it is too large to be kept beside sources.
    pub fn run(&self) -> Outcome<()> {
        if page_name(&self.out).is_none() {
            let out = self.out.display();
            return Err(format!("--out {out}: expected a name that ends in {}", kept::SUFFIX).into());
        }
        let bytes = kept::kept(&Results::read(&self.run)?)?;
        kept::write(&self.out, &bytes)?;
        println!("{}: {} bytes", self.out.display(), bytes.len());
        Ok(())
    }
}

/// The name of the page of a kept run; `None` of any other file or folder.
pub fn page_name(path: &std::path::Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(kept::SUFFIX)?;
    (!name.is_empty()).then(|| name.to_owned())
}
