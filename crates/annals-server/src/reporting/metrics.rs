//! Metrics for Prometheus.

use std::time::{Duration, Instant as Clock};

use annals::{Error, ErrorKind, Following, Receipt, Repository, Standing};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

/// The media type of the text: OpenMetrics, which Prometheus reads since 2.5.
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the histograms. Units: seconds.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Reasons to refuse writes: one value of the gauge each.
const REFUSALS: [ErrorKind; 3] = [ErrorKind::Unavailable, ErrorKind::NoRoom, ErrorKind::Io];

/// Labels of a request. They are bounded: methods and routes come from the list of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusal {
    kind: &'static str,
}

/// A gauge of a number with a fraction.
type Seconds = ConstGauge<f64>;

/// The counters of the door.
pub struct Metrics {
    /// Open connections.
    pub connections: Gauge,
    /// Subscribers of the feed.
    pub subscribers: Gauge,
    /// Lines of the log that no reader took.
    pub dropped_lines: Counter,
    /// Logins that failed.
    pub failed_logins: Counter,
    commits: Counter,
    conflicts: Counter,
    in_flight: Gauge,
    requests: Family<Request, Counter>,
    durations: Family<Request, Histogram, fn() -> Histogram>,
    appends: Histogram,
    records: Counter,
    checkpoints: Histogram,
    /// When the last checkpoint was written.
    last_checkpoint: std::sync::Mutex<Option<Clock>>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        Metrics {
            connections: Gauge::default(),
            subscribers: Gauge::default(),
            dropped_lines: Counter::default(),
            failed_logins: Counter::default(),
            commits: Counter::default(),
            conflicts: Counter::default(),
            in_flight: Gauge::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            appends: histogram(),
            records: Counter::default(),
            checkpoints: histogram(),
            last_checkpoint: std::sync::Mutex::default(),
        }
    }
}

/// Counts a gauge down again when it is dropped.
pub struct Counted(Gauge);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// Counts a request in progress.
    pub fn request_begins(&self) -> Counted {
        self.in_flight.inc();
        Counted(self.in_flight.clone())
    }

    /// Counts commits that became durable.
    pub fn count_commits(&self, count: u64) {
        self.commits.inc_by(count);
    }

    /// Counts the outcome of a commit.
    pub fn count_commit(&self, outcome: &annals::Result<Receipt>) {
        match outcome {
            Ok(_) => drop(self.commits.inc()),
            Err(error) if error.kind() == ErrorKind::Conflict => drop(self.conflicts.inc()),
            Err(_) => {}
        }
    }

    /// Counts a request that was answered.
    pub fn observe(&self, method: &'static str, route: &'static str, status: u16, taken: Duration) {
        let labels = Request { method, route, status };
        self.requests.get_or_create(&labels).inc();
        self.durations.get_or_create(&labels).observe(taken.as_secs_f64());
    }

    /// Counts an append to the log.
    pub fn count_append(&self, records_count: usize, taken: Duration) {
        self.records.inc_by(records_count as u64);
        self.appends.observe(taken.as_secs_f64());
    }

    /// Counts a checkpoint.
    pub fn count_checkpoint(&self, taken: Duration) {
        self.checkpoints.observe(taken.as_secs_f64());
        *self.lock_last_checkpoint() = Some(Clock::now());
    }

    fn lock_last_checkpoint(&self) -> std::sync::MutexGuard<'_, Option<Clock>> {
        self.last_checkpoint.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The state of the server that the metrics show beside their counts.
pub struct Readings<'s> {
    /// The repository; `None` until it is open.
    pub repository: Option<&'s Repository>,
    /// The reason why it refuses writes now.
    pub refusal: Option<&'s Error>,
    /// Records replayed while it was being opened.
    pub replayed: u64,
    /// The time since the server started.
    pub uptime: Duration,
    /// Imports under way.
    pub imports: usize,
}

impl Metrics {
    /// All metrics as text.
    ///
    /// Source: <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>.
    pub fn render(&self, readings: &Readings<'_>) -> String {
        let mut registry = Registry::with_prefix("annals");
        register_repository(&mut registry, readings);
        self.register(&mut registry, readings);
        let mut text = String::new();
        encode(&mut text, &registry).expect("a String takes every write");
        text
    }

    fn register(&self, registry: &mut Registry, readings: &Readings<'_>) {
        let Metrics { connections, subscribers, commits, conflicts, in_flight, requests, durations, .. } =
            self;
        let Metrics { appends, records, checkpoints, .. } = self;
        registry.register("commits", "Commits of this server that became durable", commits.clone());
        registry.register("conflicts", "Commits that lost a race", conflicts.clone());
        registry.register("records", "Records appended to the log by this server", records.clone());
        registry.register(
            "append_duration_seconds",
            "Time to write and sync a batch of records",
            appends.clone(),
        );
        registry.register("checkpoint_duration_seconds", "Time to write a checkpoint", checkpoints.clone());
        if let Some(last) = *self.lock_last_checkpoint() {
            let age = Seconds::new(last.elapsed().as_secs_f64());
            registry.register("checkpoint_age_seconds", "Time since this server wrote a checkpoint", age);
        }
        registry.register("logins_failed", "Logins that failed", self.failed_logins.clone());
        let dropped = self.dropped_lines.clone();
        registry.register("log_lines_dropped", "Lines of the server's log that no reader took", dropped);
        if let Some(bytes) = resident_bytes() {
            registry.register(
                "resident_memory_bytes",
                "Memory of this process",
                ConstGauge::<u64>::new(bytes),
            );
        }
        let uptime = Seconds::new(readings.uptime.as_secs_f64());
        registry.register("uptime_seconds", "Time since the server started", uptime);
        let build = [("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "The program that serves", Info::new(build));
        registry.register("feed_subscribers", "Subscribers of the feed", subscribers.clone());
        let imports = ConstGauge::<u64>::new(readings.imports as u64);
        registry.register("imports", "Imports under way", imports);
        registry.register("http_connections", "Open connections", connections.clone());
        registry.register("http_requests_in_flight", "Requests worked on", in_flight.clone());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time from request to answer", durations.clone());
    }
}

fn register_repository(registry: &mut Registry, readings: &Readings<'_>) {
    let Readings { repository, refusal, replayed, .. } = *readings;
    let mut gauge = |name: &str, help: &str, value: u64| {
        registry.register(name, help, ConstGauge::<u64>::new(value));
    };
    let of = |value: fn(&Repository) -> u64| repository.map_or(0, value);
    gauge("ready", "1 once the repository is open", repository.is_some().into());
    gauge("replayed_records", "Records replayed while opening", replayed);
    gauge("commit_queue_length", "Transactions waiting", of(|known| known.queue_length() as u64));
    gauge("position", "Position of the last visible record", of(|known| known.snapshot().position().0));
    gauge("entities", "Live entities", of(|known| known.snapshot().entities_count()));
    gauge("relationships", "Live relationships", of(|known| known.snapshot().relationships_count()));
    let failed = of(|known| known.failure().is_some().into());
    gauge("write_failed", "1 if writes are refused after a failed sync", failed);
    gauge("warnings", "Warnings kept by the repository", of(|known| known.warnings().len() as u64));
    gauge("log_bytes", "Size of the log", of(Repository::log_bytes));
    gauge("memory_bytes_max", "Memory budget; 0 for none", of(|known| known.memory_bytes_max().unwrap_or(0)));
    // A writer is never behind.
    let following = repository.and_then(Repository::following);
    let is = |what: fn(&Following) -> bool| following.as_ref().is_some_and(what).into();
    gauge("follower_failing", "1 while the log cannot be read on", is(|known| known.problem.is_some()));
    gauge("follower_of_other_log", "1 if the log is another one now", is(|known| known.is_of_other_log));
    let opening_help = "1 while it has no graph and reads the log anew, for want of memory";
    gauge("follower_opening", opening_help, is(|known| known.opening.is_some()));
    gauge("writer", "1 while this server writes to its log", of(|known| (!known.is_read_only()).into()));
    let standing = repository.and_then(Repository::standing);
    gauge("writer_term", "Term of the server that writes", standing.as_ref().map_or(0, |known| known.term.0));
    let behind =
        |known: &Standing| known.position.0.saturating_sub(of(|known| known.snapshot().position().0));
    let lag_help = "Records that the writer has told of, and that are not visible here";
    gauge("follower_lag_records", lag_help, standing.as_ref().map_or(0, behind));
    let is_failing = standing.as_ref().is_some_and(|known| known.problem.is_some());
    gauge("lease_failing", "1 while the lease of a shared log cannot be read or renewed", is_failing.into());
    let age = following.as_ref().map_or(0.0, |known| known.age.as_secs_f64());
    let age_help = "Time since every record of the log was visible; 0 in a writer";
    registry.register("follower_age_seconds", age_help, Seconds::new(age));
    let refusals = Family::<Refusal, Gauge>::default();
    for kind in REFUSALS {
        let is_it = refusal.is_some_and(|error| error.kind() == kind);
        refusals.get_or_create(&Refusal { kind: kind.name() }).set(is_it.into());
    }
    registry.register("writes_refused", "1 while writes are refused, by kind of error", refusals);
}

/// The resident memory of this process; `None` if the system does not report it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}
