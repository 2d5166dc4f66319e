//! The command that writes the published pages again.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::drawn::{Drawn, drawn};
use super::page::{Page, pages};
use super::{csv, html, markdown};
use crate::outcome::Outcome;
use crate::report::plot::standalone;

/// Writes each published page again, in HTML and Markdown with its plots, and as CSV.
#[derive(Args)]
pub struct Published {
    /// The folder for the pages.
    #[arg(long, default_value = "lab-data/report")]
    out: PathBuf,
}

impl Published {
    /// Writes all pages, and prints the name of each file.
    pub fn run(&self) -> Outcome<()> {
        write_pages(&self.out).map(|_| ())
    }
}

/// Writes all pages into a folder, and prints the name of each file.
///
/// Shape: of each page its HTML file and its title.
pub fn write_pages(out: &Path) -> Outcome<Vec<(String, String)>> {
    fs::create_dir_all(out).map_err(|error| told(out, &error))?;
    let mut written = Vec::new();
    for page in pages() {
        for (name, content) in files(page) {
            let path = out.join(&name);
            fs::write(&path, content).map_err(|error| told(&path, &error))?;
            println!("{}", path.display());
            if name.ends_with(".html") {
                written.push((name, format!("{}: {}", page.project, page.title)));
            }
        }
    }
    Ok(written)
}

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The files of a page: their names and contents.
pub fn files(page: &Page) -> Vec<(String, String)> {
    let drawn = drawn(page);
    let name = |rest: &str| format!("published-{}{rest}", page.name);
    let plot = |drawn: &Drawn| name(&format!("-{}.svg", drawn.name));
    let mut files = vec![
        (name(".html"), html::html(page, &drawn)),
        (name(".md"), markdown::markdown(page, &drawn, &plot)),
        (name(".csv"), csv::csv(page)),
    ];
    let plots = drawn.iter().filter_map(|drawn| Some((plot(drawn), standalone(drawn.whole.as_ref()?))));
    files.extend(plots);
    files
}
