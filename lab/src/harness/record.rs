//! The records of a run: one JSON object a line. The report is made from them.

use serde::{Deserialize, Serialize};

use super::target::Kind;

/// A run, its machine, and the meaning of its figures: the file `run.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    pub suite: String,
    pub title: String,
    pub text: String,
    /// The form of Annals that the page is about; the first of `targets` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub rows: Vec<Row>,
    #[serde(default)]
    pub form: Form,
    pub targets: Vec<TargetName>,
    pub volumes: Vec<String>,
    pub parts: Vec<PartRecord>,
    pub repeats: usize,
    pub is_quick: bool,
    /// RFC 3339.
    pub started: String,
    /// How to run it again.
    pub command: String,
    /// Shape: name, what was found.
    pub environment: Vec<(String, String)>,
    /// Median of a small durable write before the run; runs before it was kept have none. Units: microseconds.
    #[serde(default)]
    pub sync_us: Option<f64>,
    /// Reasons to distrust all figures.
    pub doubts: Vec<String>,
    pub unfair: Vec<String>,
}

/// The rows of the tables of figures, as on the published page. The columns are systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A table for each row of the suite.
    #[default]
    VolumesDown,
    /// A table for each volume.
    RowsDown,
}

/// A figure that a suite measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub title: String,
    pub unit: String,
    pub better: Better,
    /// Figures of writes are compared only between targets that are equally durable.
    pub is_write: bool,
    /// The things that its volumes count, such as threads; none if they are only names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
}

/// A mark that the figure of a target at a volume has to reach.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bar {
    pub target: String,
    pub volume: String,
    pub height: Height,
}

/// How high a bar is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Height {
    /// At most so much. Units: that of the row.
    AtMost(f64),
    /// At most so many durable writes of the machine, and so much more. Units: `more` is milliseconds, as the row.
    Syncs { times: f64, more: f64 },
    /// At least so much. Units: that of the row.
    AtLeast(f64),
    /// At least so many times as good as another target at the same volume.
    TimesOf { target: String, times: f64 },
}

/// Which of two figures is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    More,
    Less,
}

impl Row {
    /// A row of reads, of which more is better.
    pub fn new(name: impl Into<String>, title: impl Into<String>, unit: &str) -> Row {
        let (name, title) = (name.into(), title.into());
        Row {
            name,
            title,
            unit: unit.to_owned(),
            better: Better::More,
            is_write: false,
            counts: None,
            bars: Vec::new(),
        }
    }

    /// The same of writes.
    pub fn of_writes(self) -> Row {
        Row { is_write: true, ..self }
    }

    /// The same, whose volumes count these things.
    pub fn over(self, things: &str) -> Row {
        Row { counts: Some(things.to_owned()), ..self }
    }

    /// The same, of which less is better.
    pub fn less(self) -> Row {
        Row { better: Better::Less, ..self }
    }

    /// The same with one more bar.
    pub fn at_most(self, target: &str, volume: &str, most: f64) -> Row {
        self.with_bar(target, volume, Height::AtMost(most))
    }

    /// The same with one more bar.
    pub fn at_least(self, target: &str, volume: &str, least: f64) -> Row {
        self.with_bar(target, volume, Height::AtLeast(least))
    }

    /// The same with one more bar: `target` is at least so many times as good as `other`.
    pub fn times_of(self, target: &str, volume: &str, times: f64, other: &str) -> Row {
        self.with_bar(target, volume, Height::TimesOf { target: other.to_owned(), times })
    }

    /// The same with one more bar: at most `times` durable writes of the machine, and `more` milliseconds.
    pub fn syncs(self, target: &str, volume: &str, times: f64, more: f64) -> Row {
        self.with_bar(target, volume, Height::Syncs { times, more })
    }

    fn with_bar(mut self, target: &str, volume: &str, height: Height) -> Row {
        self.bars.push(Bar { target: target.to_owned(), volume: volume.to_owned(), height });
        self
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetName {
    pub name: String,
    pub title: String,
    pub target_kind: Kind,
    /// The target in whose cells it is measured, if it has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// The form of Annals that it is compared with, if that is another one than the subject of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartRecord {
    pub name: String,
    pub rows: Vec<String>,
}

/// One line of the file `records.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    Target(TargetRecord),
    Skip(Skip),
    Figure(Box<Figure>),
    Cell(CellRecord),
}

/// The version, durability and settings of a target, as it states them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    pub target: String,
    pub version: String,
    /// `synced`, `synced-group`, `unsynced` or `memory`.
    pub durability: String,
    /// Settings that are not the defaults.
    pub settings: Vec<(String, String)>,
    /// Commits by a lone thread, and the calls that sync which the system made meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncs: Option<Syncs>,
}

impl TargetRecord {
    /// Of a target that is a part of this program.
    pub fn of_lab(durability: &str) -> TargetRecord {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        TargetRecord { version, durability: durability.to_owned(), ..TargetRecord::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syncs {
    pub commits: u64,
    pub syncs: u64,
}

/// Why a target has no figures, or none of some rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skip {
    pub target: String,
    /// All rows if empty.
    #[serde(default)]
    pub rows: Vec<String>,
    pub reason: String,
}

/// One measured figure, or a state instead of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub target: String,
    pub part: String,
    pub repeat: usize,
    pub volume: String,
    pub row: String,
    /// In the unit of the row; none if there is a `state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// `DNF(…)`, `OOM`, `ERR(…)` or `SKIP(…)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Latencies in nanoseconds: an HdrHistogram, form V2 deflated, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// Operations in each tenth of a second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<u64>,
    /// Seconds until the system was warm; a run that never got steady says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_after: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_steady: bool,
    /// The rate at which operations were due, of an open loop. Units: operations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<f64>,
    /// Share of the operations that began late or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<f64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u64,
    /// The counts of a load on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRecord>,
}

/// A load on a server, beside the latencies of its right answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadRecord {
    /// Connections.
    pub callers: usize,
    /// Until no more requests began.
    pub seconds: f64,
    /// Requests with a right answer, and how many of them came a second. A batch counts once.
    pub right: u64,
    pub throughput: f64,
    /// Requests without a right answer, and those of them that were answered 503 with `Retry-After`.
    pub errors: u64,
    pub refused: u64,
    /// Of all answers.
    pub bytes: u64,
    /// How often the server synced meanwhile, as it counts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    pub server_cpu_seconds: f64,
    /// Resident memory at the end.
    pub server_memory_bytes: u64,
    pub generator_cpu_seconds: f64,
    /// Share of the requests that the generator sent late, of an open loop.
    pub late: f64,
    /// True if the generator could not have done much more.
    pub is_generator_limit: bool,
    /// Requests that nginx answers to the same generator. Units: requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_ceiling: Option<f64>,
    /// The load at half of the highest rate that was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<LoadStep>,
    /// Every step of the search that led to the figure, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LoadStep>,
}

/// A step of a search: a load for a few seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadStep {
    pub callers: usize,
    /// Of an open loop. Units: requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<f64>,
    /// Units: right answers per second.
    pub reached: f64,
    /// Units: seconds.
    pub p99: f64,
    pub errors: u64,
    pub is_held: bool,
}

/// The end of a cell. Figures of a cell without an end are measured again when the run is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    pub target: String,
    pub part: String,
    pub repeat: usize,
    /// `ok`, `DNF(…)`, `OOM` or `ERR(…)`.
    pub outcome: String,
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Of all its processes together.
    pub memory_bytes_max: u64,
    /// The size of its folder at the end.
    pub disk_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
