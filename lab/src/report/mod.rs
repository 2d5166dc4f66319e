//! The report: pages from what runs have kept, and from nothing else.

mod measured;
mod statistics;
mod comparison;
mod numbers;
pub mod document;
mod figures;
mod beside;
mod peak;
mod lead;
mod page;
mod percentiles;
mod pressure;
mod plots;
mod markdown;
mod page_html;
mod index;
mod csv;
mod compare;
mod gate;
mod bundle;
mod notebook;
pub mod html;
pub mod plot;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

pub use bundle::Bundle;
pub use compare::Compare;
pub use gate::Gate;

use crate::harness::{DATA, Results, Suite, newest_runs};
use crate::outcome::Outcome;
use crate::published::write_pages;
use document::{Block, Document};
use measured::Measured;
use page::{Extent, page};
use plot::standalone;

/// Options of `report`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  annals-lab report published                            # the five pages as they were published
  annals-lab report                                      # the newest run of each suite in lab-data
  annals-lab report lab-data/threads-20260101T120000 --out page
  annals-lab report --markdown --plot threads-commit --out docs/results"
)]
pub struct Report {
    #[command(subcommand)]
    other: Option<Other>,
    /// Folders of runs [default: the newest run of each suite].
    runs: Vec<PathBuf>,
    /// The folder in which runs are looked for.
    #[arg(long, default_value = DATA)]
    data: PathBuf,
    /// Also a notebook with the raw data, for Jupyter.
    #[arg(long)]
    notebook: bool,
    /// Only Markdown, to be kept beside the sources: without plots, except for those that --plot names, and with the
    /// latencies of each row at its last volume only.
    #[arg(long, conflicts_with = "notebook")]
    markdown: bool,
    /// Name of a plot that the Markdown keeps: its file without `.svg`.
    #[arg(long, requires = "markdown")]
    plot: Vec<String>,
    /// Where the pages go [default: the folder `report` beside the runs].
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Reports of something else than runs.
#[derive(Subcommand)]
enum Other {
    /// Writes the published performance pages of five other projects again, from their data: HTML and Markdown with plots, and
    /// CSV.
    Published {
        /// The folder for the pages.
        #[arg(long, default_value = "lab-data/report")]
        out: PathBuf,
    },
}

impl Report {
    /// Writes the pages of each run: HTML, Markdown with plots, and comma-separated values; then the five published pages, and
    /// `index.html`, which leads to all of them. Any server of files can show the folder.
    ///
    /// Errors: if there is no run, or one cannot be read.
    pub fn run(&self, suites: &[&Suite]) -> Outcome<()> {
        if let Some(Other::Published { out }) = &self.other {
            return write_pages(out).map(drop);
        }
        let runs = if self.runs.is_empty() { newest_runs(&self.data)? } else { self.runs.clone() };
        if runs.is_empty() {
            let data = self.data.display();
            return Err(format!("{data}: holds no run; measure one by `annals-lab run SUITE`").into());
        }
        let out = self.out.clone().unwrap_or_else(|| self.data.join("report"));
        fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        let mut missing: Vec<&String> = self.plot.iter().collect();
        let mut written = HashSet::new();
        let mut index = Vec::new();
        for run in runs {
            let measured = Measured::of(Results::read(&run)?)?;
            let name = measured.results.run.suite.clone();
            if !written.insert(name.clone()) {
                let run = run.display();
                return Err(format!(
                    "{run}: a second run of {name}; write its page by itself, with another --out"
                )
                .into());
            }
            let suite = suite_of(suites, &name);
            if self.markdown {
                let mut document = page(&measured, suite, Extent::Short);
                document.keep_plots(&self.plot);
                missing.retain(|name| document.plot(name).is_none());
                plots(&out, &document)?;
                write(&out.join(format!("{name}.md")), &markdown::markdown(&document))?;
                continue;
            }
            write(&out.join(format!("{name}.csv")), &csv::csv(&measured)?)?;
            let document = page(&measured, suite, Extent::Whole);
            write_document(&out, &name, &document)?;
            index.push(index::Entry {
                file: format!("{name}.html"),
                title: document.title,
                text: document.finding.first().cloned().unwrap_or_default(),
            });
            if self.notebook {
                write(&out.join(format!("{name}.ipynb")), &notebook::notebook(&measured)?)?;
            }
        }
        if !self.markdown {
            let published = write_pages(&out)?.into_iter();
            index.extend(published.map(|(file, title)| index::Entry {
                file,
                title,
                text: "As its authors published it, on their machine.".into(),
            }));
            write(&out.join("index.html"), &index::html(&index))?;
        }
        match missing.first() {
            None => Ok(()),
            Some(name) => Err(format!(
                "plot {name:?}: no page has it; the folder `plots` of a report without --markdown shows the names"
            )
            .into()),
        }
    }
}

/// The suite of this name, unless there is none any more.
fn suite_of<'s>(suites: &[&'s Suite], name: &str) -> Option<&'s Suite> {
    suites.iter().find(|suite| suite.name == name).copied()
}

/// Writes the pages of a document, in HTML and in Markdown with its plots, and prints the names of both.
pub fn write_document(out: &Path, name: &str, document: &Document) -> Outcome<()> {
    plots(out, document)?;
    write(&out.join(format!("{name}.html")), &page_html::html(document))?;
    write(&out.join(format!("{name}.md")), &markdown::markdown(document))
}

/// Writes the plots of a document, each in a file of its own.
fn plots(out: &Path, document: &Document) -> Outcome<()> {
    let plots = out.join("plots");
    for block in &document.blocks {
        if let Block::Plot(plot) = block {
            fs::create_dir_all(&plots).map_err(|error| format!("{}: {error}", plots.display()))?;
            let path = plots.join(format!("{}.svg", plot.name));
            fs::write(&path, standalone(&plot.svg))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Writes a file, and prints its name.
pub fn write(path: &Path, text: &str) -> Outcome<()> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}
