//! The suite `datastore`: every row of a published benchmark of a configuration datastore, on several targets.

// In the order a newcomer should read them.
mod content;
mod target;
mod row;
mod check;
mod measure;
mod cost;
mod report;
mod subscribers;
mod embedded;
mod http;
mod file;
mod stores;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::outcome::Outcome;
use crate::run::{RawFile, make_folder};
use embedded::Embedded;
use file::JsonFile;
use http::Http;
use measure::{Form, Plan, measure};
use report::{Found, Measured, Table};
use row::{PUBLISHED_ITEMS, ROWS, Row};
pub use suite::SUITE;
use target::Target;

/// Fewer entries make rows that change nothing; more make transactions that are too large.
const ITEMS_MIN: u32 = 10;
const ITEMS_MAX: u32 = 1_000_000;
/// Sizes and tries of a quick run.
const QUICK_ITEMS: [u32; 2] = [10, 200];
const QUICK_TRIES: usize = 2;
/// Tries, as on the page.
const TRIES: usize = 10;
/// A row of short tries makes more tries for this long.
const ROW_TIME_MIN: Duration = Duration::from_millis(200);

/// Notes for readers of the figures.
const UNFAIR: &[&str] = &[
    "One run measured these figures, one target after the other. It has no interval for the next run.",
    "One caller waits for each answer. The rows say nothing of many callers at a time.",
    "The published figures come from another machine and another program, and are means that include tries without work. No figure here \
     compares with a figure there.",
    "The model is two flat lists without constraints. Yours differs.",
];

/// Settings of `datastore`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab datastore                                    # all rows at three sizes on all targets: minutes
  annals-lab datastore --quick                            # shows that everything runs and answers right
  annals-lab datastore --target embedded --row 'get item' --row 'modify an item'
  annals-lab datastore --page --items 1000                # the same tries and means as the page
  annals-lab datastore --json > datastore.jsonl

docs/datastore.md describes the rows and the targets. Progress goes to standard error.")]
pub struct Datastore {
    /// Sizes: entries of the list. 1000,10000,100000 unless given.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(ITEMS_MIN as i64..=ITEMS_MAX as i64))]
    items: Vec<u32>,
    /// Only this row. Can be given several times.
    #[arg(long)]
    row: Vec<String>,
    /// Which targets.
    #[arg(long, value_delimiter = ',', default_value = "embedded,http,file")]
    target: Vec<Name>,
    /// Tries of each row: 10 unless given. In the honest form rows of short tries make more tries, and rows of long tries fewer.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    tries: Option<u16>,
    /// As on the page: nothing is restored between tries, and the figure is the mean of all tries.
    #[arg(long)]
    page: bool,
    /// One JSON object for each row, size and target.
    #[arg(long)]
    json: bool,
    /// Small sizes and few tries.
    #[arg(long)]
    quick: bool,
    /// Folder to write in; a temporary one in the present folder unless given. The JSON file lies in shared memory.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Names of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Annals in this process, durable.
    Embedded,
    /// Annals through its HTTP door, durable.
    Http,
    /// A JSON file that is read and written for each transaction, not synced.
    File,
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Name::Embedded => "embedded",
            Name::Http => "http",
            Name::File => "file",
        }
    }

    fn target(self, folder: Option<PathBuf>) -> Outcome<Box<dyn Target>> {
        Ok(match self {
            Name::Embedded => Box::new(Embedded::new(folder)),
            Name::Http => Box::new(Http::new(folder)),
            Name::File => Box::new(JsonFile::new(folder.as_deref())?),
        })
    }
}

/// How rows are timed.
fn plan(is_quick: bool, tries: Option<u16>, is_page: bool) -> Plan {
    let form = if is_page { Form::Page } else { Form::Honest };
    let (default, row_time_min) =
        if is_quick { (QUICK_TRIES, Duration::ZERO) } else { (TRIES, ROW_TIME_MIN) };
    Plan { form, tries: tries.map_or(default, usize::from), row_time_min }
}

impl Datastore {
    /// Measures and reports.
    ///
    /// Errors: all wrong answers and failures, after the other rows and targets.
    pub fn run(&self) -> Outcome<()> {
        let rows = self.rows()?;
        let folder = make_folder(self.folder.as_deref())?;
        let mut file = RawFile::create(&folder.path().join("raw"))?;
        let mut unfair = UNFAIR.to_vec();
        let mut failed = Vec::new();
        for name in &self.target {
            let mut target = name.target(self.folder.clone())?;
            let mut table = Table {
                name: name.text(),
                title: target.title(),
                form: self.plan().form,
                is_judged: !self.quick && !self.page,
                items: self.items(),
                rows: rows.iter().map(|row| Measured { row, sizes: Vec::new() }).collect(),
            };
            let errors = &mut failed;
            if let Err(error) = self.fill(&mut table, &mut *target, &mut file, errors) {
                errors.push(format!("{}: {error}", table.title));
            }
            if !self.json {
                println!("{}", table.text());
                unfair
                    .extend(target.unfair().iter().filter(|text| !unfair.contains(text)).collect::<Vec<_>>());
            }
        }
        if !self.json {
            println!("## Limits of the comparison\n");
            unfair.iter().for_each(|text| println!("- {text}"));
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\nannals-lab: ").into()) }
    }

    /// All rows of a target at all sizes. A row that fails is added to `errors`, and the next row goes on.
    ///
    /// Errors: the first wrong answer of the check.
    fn fill(
        &self,
        table: &mut Table,
        target: &mut dyn Target,
        file: &mut RawFile,
        errors: &mut Vec<String>,
    ) -> Outcome<()> {
        for items in self.items() {
            eprintln!("{}, {items} items: answers", table.title);
            check::check(target, items)?;
            for measured in &mut table.rows {
                let row = measured.row;
                let found = if let Some(reason) = row.calls().find_map(|call| target.lacks(call)) {
                    Found::Skip(reason)
                } else {
                    eprintln!("{}, {items} items: {}", table.title, row.name);
                    match measure(target, row, items, self.plan(), file) {
                        Ok(samples) => Found::Samples(samples),
                        Err(error) => {
                            errors.push(format!("{}, {items} items, {}: {error}", table.title, row.name));
                            Found::Error(error.to_string())
                        }
                    }
                };
                if self.json {
                    println!("{}", report::json(table.name, row, items, table.form, &found));
                }
                measured.sizes.push((items, found));
            }
        }
        Ok(())
    }

    /// The rows that are chosen.
    ///
    /// Errors: if there is no such row.
    fn rows(&self) -> Outcome<Vec<&'static Row>> {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        if let Some(unknown) = self.row.iter().find(|chosen| !names.contains(&chosen.as_str())) {
            return Err(format!("--row {unknown}: expected one of {}", names.join(", ")).into());
        }
        let is_chosen = |row: &&Row| self.row.is_empty() || self.row.iter().any(|chosen| chosen == row.name);
        Ok(ROWS.iter().filter(is_chosen).collect())
    }

    fn plan(&self) -> Plan {
        plan(self.quick, self.tries, self.page)
    }

    fn items(&self) -> Vec<u32> {
        match (self.items.is_empty(), self.quick) {
            (false, _) => self.items.clone(),
            (true, true) => QUICK_ITEMS.to_vec(),
            (true, false) => PUBLISHED_ITEMS.to_vec(),
        }
    }
}
