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
mod overview;
mod csv;
mod compare;
mod gate;
mod bundle;
mod keep;
mod notebook;
pub mod html;
pub mod plot;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

pub use bundle::Bundle;
pub use compare::Compare;
pub use gate::Gate;
pub use keep::Keep;

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
    /// Folders of runs, or files of kept ones [default: the newest run of each suite].
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
    /// Also README.md, the first page of the folder. Its text below the line `The text below was written by hand` stays.
    #[arg(long, requires = "markdown")]
    index: bool,
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
    /// `index.html`, which leads to all of them. Any server of files can show the folder. Or only Markdown.
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
        let measured = read(&runs)?;
        if self.markdown {
            self.beside_sources(&out, measured, suites)
        } else {
            self.pages(&out, &measured, suites)
        }
    }

    /// Only Markdown, and the plots that were named.
    fn beside_sources(&self, out: &Path, all: Vec<Measured>, suites: &[&Suite]) -> Outcome<()> {
        let mut missing: Vec<&String> = self.plot.iter().collect();
        let mut pictures = Vec::new();
        let mut listed = Vec::new();
        for measured in all {
            let suite = suite_of(suites, &measured.results.run.suite);
            let mut document = page(&measured, suite, Extent::Short);
            document.keep_plots(&self.plot);
            missing.retain(|name| document.plot(name).is_none());
            pictures.extend(
                self.plot
                    .iter()
                    .enumerate()
                    .filter_map(|(place, name)| Some((place, document.plot(name)?.clone()))),
            );
            plots(out, &document)?;
            write(&out.join(format!("{}.md", measured.page)), &markdown::markdown(&document))?;
            listed.push(overview::Listed { measured, suite, title: document.title });
        }
        if let Some(name) = missing.first() {
            let shown = "the folder `plots` of a report without --markdown shows the names";
            return Err(format!("plot {name:?}: no page has it; {shown}").into());
        }
        if self.index {
            if let Some(quick) = listed.iter().find(|page| page.measured.results.run.is_quick) {
                let name = &quick.measured.page;
                return Err(format!("{name}: a quick run finds nothing; --index needs full runs").into());
            }
            let order = |page: &overview::Listed<'_>| {
                suites.iter().position(|suite| suite.name == page.measured.results.run.suite)
            };
            listed.sort_by_key(order);
            pictures.sort_by_key(|(place, _)| *place);
            let picture = pictures.into_iter().next().map(|(_, plot)| plot);
            let path = out.join("README.md");
            let before = fs::read_to_string(&path).unwrap_or_default();
            write(&path, &overview::overview(&listed, picture, &before))?;
        }
        Ok(())
    }

    /// Whole pages, in all forms.
    fn pages(&self, out: &Path, all: &[Measured], suites: &[&Suite]) -> Outcome<()> {
        let mut index = Vec::new();
        for measured in all {
            let name = &measured.page;
            write(&out.join(format!("{name}.csv")), &csv::csv(measured)?)?;
            let document = page(measured, suite_of(suites, &measured.results.run.suite), Extent::Whole);
            write_document(out, name, &document)?;
            index.push(index::Entry {
                file: format!("{name}.html"),
                title: document.title,
                text: document.finding.first().cloned().unwrap_or_default(),
            });
            if self.notebook {
                write(&out.join(format!("{name}.ipynb")), &notebook::notebook(measured)?)?;
            }
        }
        let published = write_pages(out)?.into_iter();
        index.extend(published.map(|(file, title)| index::Entry {
            file,
            title,
            text: "As its authors published it, on their machine.".into(),
        }));
        write(&out.join("index.html"), &index::html(&index))
    }
}

/// The figures of runs.
///
/// Errors: if two of them have pages of one name, or one cannot be read.
fn read(runs: &[PathBuf]) -> Outcome<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    for run in runs {
        let mut measured = Measured::of(Results::read(run)?)?;
        // Several pages of one suite may be kept, each in a file of its own name.
        if let Some(name) = keep::page_name(run) {
            measured.page = name;
        }
        if all.iter().any(|other| other.page == measured.page) {
            let (run, name) = (run.display(), &measured.page);
            return Err(format!(
                "{run}: a second run of {name}; write its page by itself, with another --out"
            )
            .into());
        }
        all.push(measured);
    }
    Ok(all)
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
