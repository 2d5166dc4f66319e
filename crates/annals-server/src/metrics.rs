//! Counters, and their text form for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use annals::{Error, ErrorKind, Receipt, Repository};

use super::door::Door;

/// Upper bounds of the latency histogram. Units: seconds.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// A number that requests count up and down.
#[derive(Default)]
pub struct Count(AtomicI64);

impl Count {
    /// Adds to it.
    pub fn add(&self, number: i64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// Its value.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Default)]
struct Latency {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// Method, route and status. Bounded: methods and routes come from the list of endpoints.
type Key = (&'static str, &'static str, u16);

/// The counters of the door.
#[derive(Default)]
pub struct Metrics {
    /// Commits that became durable.
    pub commits: Count,
    /// Commits that lost a race.
    pub conflicts: Count,
    /// Open connections.
    pub connections: Count,
    /// Subscribers of the feed.
    pub subscribers: Count,
    requests: Mutex<BTreeMap<Key, Latency>>,
}

impl Metrics {
    /// Counts what became of a commit.
    pub fn count_commit(&self, outcome: &annals::Result<Receipt>) {
        match outcome {
            Ok(_) => self.commits.add(1),
            Err(error) if error.kind() == ErrorKind::Conflict => self.conflicts.add(1),
            Err(_) => {}
        }
    }

    /// Counts a request that was answered.
    pub fn observe(&self, method: &'static str, route: &'static str, status: u16, taken: Duration) {
        let seconds = taken.as_secs_f64();
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = requests.entry((method, route, status)).or_default();
        latency.count += 1;
        latency.seconds += seconds;
        if let Some(bucket) = BUCKETS.iter().position(|bound| seconds <= *bound) {
            latency.buckets[bucket] += 1;
        }
    }

    fn requests(&self) -> BTreeMap<Key, Latency> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Why writes may be refused: one value of the gauge each.
const REFUSALS: [ErrorKind; 3] = [ErrorKind::Unavailable, ErrorKind::NoRoom, ErrorKind::Io];

/// All metrics in the text format of Prometheus; `refusal` tells why writes are refused now.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
pub fn render(door: &Door, refusal: Option<&Error>) -> String {
    let mut text = String::new();
    let metrics = &door.metrics;
    let repository = door.opened();
    let mut metric = |name: &str, kind: &str, help: &str, value: f64| {
        writeln!(text, "# HELP annals_{name} {help}\n# TYPE annals_{name} {kind}\nannals_{name} {value}")
            .expect("a String takes every write");
    };
    let of = |value: fn(&Repository) -> u64| repository.map_or(0.0, |repository| value(repository) as f64);
    metric("ready", "gauge", "1 once the repository is open.", f64::from(u8::from(repository.is_some())));
    metric("replayed_records", "gauge", "Records replayed while opening.", door.replayed()[0] as f64);
    metric(
        "commits_total",
        "counter",
        "Commits of this server that became durable.",
        metrics.commits.get() as f64,
    );
    metric("conflicts_total", "counter", "Commits that lost a race.", metrics.conflicts.get() as f64);
    metric("commit_queue_length", "gauge", "Transactions waiting.", of(|known| known.queue_length() as u64));
    metric(
        "position",
        "gauge",
        "Position of the last visible record.",
        of(|known| known.snapshot().position().0),
    );
    metric("entities", "gauge", "Live entities.", of(|known| known.snapshot().entities_count()));
    metric(
        "relationships",
        "gauge",
        "Live relationships.",
        of(|known| known.snapshot().relationships_count()),
    );
    metric(
        "write_failed",
        "gauge",
        "1 if writes are refused after a failed sync.",
        of(|known| known.failure().is_some().into()),
    );
    metric(
        "warnings",
        "gauge",
        "Warnings kept by the repository.",
        of(|known| known.warnings().len() as u64),
    );
    metric("feed_subscribers", "gauge", "Subscribers of the feed.", metrics.subscribers.get() as f64);
    let imports = super::limits::IMPORTS_MAX - door.gates.imports.available_permits();
    metric("imports", "gauge", "Imports under way.", imports as f64);
    metric("http_connections", "gauge", "Open connections.", metrics.connections.get() as f64);
    metric("http_requests_in_flight", "gauge", "Requests worked on.", door.traffic.in_flight() as f64);
    render_refusal(&mut text, refusal)
        .and_then(|()| render_requests(&mut text, &metrics.requests()))
        .expect("a String takes every write");
    text
}

fn render_refusal(text: &mut String, refusal: Option<&Error>) -> std::fmt::Result {
    let name = "annals_writes_refused";
    writeln!(text, "# HELP {name} 1 while writes are refused, by kind of error.\n# TYPE {name} gauge")?;
    for kind in REFUSALS {
        let is_it = refusal.is_some_and(|error| error.kind() == kind);
        writeln!(text, "{name}{{kind=\"{}\"}} {}", kind.name(), u8::from(is_it))?;
    }
    Ok(())
}

fn render_requests(text: &mut String, requests: &BTreeMap<Key, Latency>) -> std::fmt::Result {
    writeln!(
        text,
        "# HELP annals_http_requests_total Requests answered.\n# TYPE annals_http_requests_total counter"
    )?;
    for ((method, route, status), latency) in requests {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        writeln!(text, "annals_http_requests_total{{{labels}}} {}", latency.count)?;
    }
    let name = "annals_http_request_duration_seconds";
    writeln!(text, "# HELP {name} Time from request to answer.\n# TYPE {name} histogram")?;
    for ((method, route, status), latency) in requests {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        let mut count = 0;
        for (bound, bucket) in BUCKETS.iter().zip(latency.buckets) {
            count += bucket;
            writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
        }
        writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", latency.count)?;
        writeln!(text, "{name}_sum{{{labels}}} {}", latency.seconds)?;
        writeln!(text, "{name}_count{{{labels}}} {}", latency.count)?;
    }
    Ok(())
}
