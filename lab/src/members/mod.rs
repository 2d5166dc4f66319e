//! The suite `members`: the scripts of a published page on repositories with many members, against any LDP server.

// In the order a newcomer should read them.
mod script;
mod client;
mod count;
mod measure;
mod published;
mod report;
mod suite;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;

use crate::outcome::Outcome;
use crate::run::page::{Form, FormOptions};
use crate::run::{Machine, Server, make_folder};
use client::Place;
use measure::{Figures, Plan, measure};
use report::{Row, Target};
use script::{SCRIPTS, Script, Wording, Work};
pub use suite::SUITE;

/// Sizes of the page.
const ITEMS: [u32; 2] = [1_000, 10_000];
const ITEMS_MAX: u32 = 1_000_000;
/// Size and binary of a quick run.
const QUICK_ITEMS: u32 = 20;
const QUICK_BINARY_KB: u32 = 10;
/// The page has 1,000 binaries of this size; a run with more items makes as many as this.
const BINARY_KB: u32 = 1_000;
const BINARIES_MAX: u32 = 1_000;
/// Warm retrievals of a script.
const TRIES: usize = 5;
const QUICK_TRIES: usize = 2;
/// Where `annals serve` has its LDP door.
const DOOR: &str = "/ldp";

/// Settings of `members`.
#[derive(Args)]
#[command(after_help = "Examples:
  annals-lab members                                        # all scripts at 1,000 and 10,000 on Annals: minutes
  annals-lab members --quick                                # shows that everything runs and counts right
  annals-lab members --url http://localhost:8080/rest --items 1000
  annals-lab members --url http://localhost:8080/rest --items 1000 --fedora6
  annals-lab members --script n-children --script n-uris --json > members.jsonl
  annals-lab members --markdown > members.md                # the page of figures, to keep outside the repository

Each script makes its resources below a new path of the server. The lab deletes nothing there.
docs/many-members.md describes the scripts and the measurements. Progress goes to standard error.")]
pub struct Members {
    /// An LDP container of a running server. Without it the lab starts `annals serve` on a new folder for each script.
    #[arg(long)]
    url: Option<String>,
    /// Sizes: items of each script. 1000,10000 unless given; at most 1,000 binaries.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=ITEMS_MAX as i64))]
    items: Vec<u32>,
    /// Only this script. Can be given several times.
    #[arg(long)]
    script: Vec<Script>,
    /// Write the requests as Fedora 6 needs them, which refuses n-members and n-memberof as the page has them: objects
    /// are posted as Turtle, the header Link makes an indirect container, Prefer has the newer IRI, and n-memberof counts
    /// the proxies. The results say so.
    #[arg(long)]
    fedora6: bool,
    /// Connections that load. Values of one resource are added with one.
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    connections: u16,
    /// Size of a binary, in units of 1,000 bytes. 1000 unless given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    binary_kb: Option<u32>,
    /// Longest time of the load of one script, in seconds.
    #[arg(long, default_value = "1800", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    load_limit: u32,
    /// Few items and small binaries.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    form: FormOptions,
    /// Folder to write in; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Members {
    /// Measures and reports.
    ///
    /// Errors: all failures and wrong counts, after the other scripts.
    pub fn run(&self) -> Outcome<()> {
        let place = self.url.as_deref().map(Place::parse).transpose()?;
        let folder = make_folder(self.folder.as_deref())?;
        let form = self.form.form();
        if form == Form::Markdown {
            print!("{}", report::head(&Machine::look(folder.path())?));
        }
        let wording = if self.fedora6 { Wording::Fedora6 } else { Wording::Page };
        let server = self.url.as_deref().unwrap_or("annals serve");
        let target = Target { server, wording };
        let mut rows = Vec::new();
        for items in self.items() {
            for script in self.scripts() {
                eprintln!("{server}: {}, {items} items", script.name());
                let row = self.row(script, wording, items, place.as_ref(), folder.path());
                if form == Form::Json {
                    println!("{}", report::json(&row, target));
                }
                rows.push(row);
            }
        }
        if form != Form::Json {
            print!("{}", report::table(&rows, target, form));
        }
        let error = |row: &Row| {
            let error = row.result.as_ref().err()?;
            Some(format!("{}, {} items: {error}", row.script.name(), row.items))
        };
        let errors: Vec<String> = rows.iter().filter_map(error).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\nannals-lab: ").into()) }
    }

    fn row(&self, script: Script, wording: Wording, items: u32, place: Option<&Place>, folder: &Path) -> Row {
        let items = if script == Script::Binaries { items.min(BINARIES_MAX) } else { items } as usize;
        let binary_kb = self.binary_kb.unwrap_or(if self.quick { QUICK_BINARY_KB } else { BINARY_KB });
        let binary_bytes = binary_kb as usize * 1_000;
        let plan = Plan {
            items,
            connections: self.connections.into(),
            tries: if self.quick { QUICK_TRIES } else { TRIES },
            load_time_max: Duration::from_secs(self.load_limit.into()),
        };
        let result = match place {
            Some(place) => on_server(script, wording, place, plan, binary_bytes, folder),
            None => self.on_annals(script, wording, plan, binary_bytes),
        };
        Row { script, items, binary_bytes, result: result.map_err(|error| error.to_string()) }
    }

    /// Runs a script on a new repository.
    fn on_annals(
        &self,
        script: Script,
        wording: Wording,
        plan: Plan,
        binary_bytes: usize,
    ) -> Outcome<Figures> {
        let folder = make_folder(self.folder.as_deref())?;
        let server = Server::annals(&folder.path().join("repository"))?;
        let place = Place::parse(&format!("http://{}{DOOR}", server.address))?;
        on_server(script, wording, &place, plan, binary_bytes, folder.path())
    }

    fn items(&self) -> Vec<u32> {
        match (self.items.is_empty(), self.quick) {
            (false, _) => self.items.clone(),
            (true, true) => vec![QUICK_ITEMS],
            (true, false) => ITEMS.to_vec(),
        }
    }

    fn scripts(&self) -> Vec<Script> {
        if self.script.is_empty() { SCRIPTS.to_vec() } else { self.script.clone() }
    }
}

/// Runs a script below a path that the server does not have yet.
fn on_server(
    script: Script,
    wording: Wording,
    place: &Place,
    plan: Plan,
    binary_bytes: usize,
    folder: &Path,
) -> Outcome<Figures> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let base = format!("{}/{}", place.path, now.as_nanos());
    measure(&Work::new(script, wording, place, base, binary_bytes), place, plan, folder)
}
