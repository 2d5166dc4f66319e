//! Every line of the table: its unit, its limit, its bar and its goal.

use Growth::{Apart, Cost, Rate, Tail, Total};
use Mark::{AtLeast, AtMost, RatioAtLeast, RatioAtMost};

/// A line of the table.
pub struct Line {
    pub name: &'static str,
    pub unit: &'static str,
    /// The comparison that is measured with it.
    pub limit: &'static str,
    /// The bar: all of these must hold.
    pub bar: &'static [Mark],
    /// The goal; empty where the issue names nothing beyond the bar.
    pub goal: &'static [Mark],
    pub growth: Growth,
}

/// A value that a line must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    RatioAtLeast(f64),
    RatioAtMost(f64),
    /// In the unit of the line.
    AtLeast(f64),
    /// In the unit of the line.
    AtMost(f64),
}

/// The relation of the value of a line to the cost of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Operations per time: a higher rate is a lower cost.
    Rate,
    /// Cost of one operation.
    Cost,
    /// The value that few operations exceed: at any size it must meet the bar of the line.
    Tail,
    /// Cost of all elements together: it may grow with their number.
    Total,
    /// Not comparable between sizes.
    Apart,
}

impl Line {
    /// The line with this name.
    pub fn named(name: &str) -> Option<&'static Line> {
        LINES.iter().find(|line| line.name == name)
    }

    /// True if the limit is Annals itself.
    pub fn is_beside_itself(&self) -> bool {
        OWN.contains(&self.limit)
    }

    /// The bar at this scale: a total grows with the elements, so its marks do too.
    pub fn at_scale(&self, marks: &[Mark], scale: u64) -> Vec<Mark> {
        let factor = if self.growth == Total { scale as f64 } else { 1.0 };
        let scaled = |mark: &Mark| match mark {
            AtLeast(value) => AtLeast(value * factor),
            AtMost(value) => AtMost(value * factor),
            ratio => *ratio,
        };
        marks.iter().map(scaled).collect()
    }
}

impl Mark {
    /// True if a value, or its ratio to the limit, reaches the mark.
    pub fn holds(self, value: f64, ratio: f64) -> bool {
        match self {
            RatioAtLeast(least) => ratio >= least,
            RatioAtMost(most) => ratio <= most,
            AtLeast(least) => value >= least,
            AtMost(most) => value <= most,
        }
    }

    /// The ratio of the mark, if it is a ratio.
    pub fn ratio(self) -> Option<f64> {
        match self {
            RatioAtLeast(ratio) | RatioAtMost(ratio) => Some(ratio),
            AtLeast(_) | AtMost(_) => None,
        }
    }
}

const fn line(
    name: &'static str,
    unit: &'static str,
    limit: &'static str,
    bar: &'static [Mark],
    goal: &'static [Mark],
    growth: Growth,
) -> Line {
    Line { name, unit, limit, bar, goal, growth }
}

/// Suffix of a line with the time of a plain structure, or of a library, for the same work.
pub const SAME_WORK: &str = "-same-work";
/// Suffix of a line with reads beside a loop that only writes and syncs.
pub const RAW: &str = "-raw";
/// Suffix of a line with the time of as many dependent reads of memory.
pub const MEMORY: &str = "-memory";
const HAND_OVER: &str = "same threads to write + fdatasync";
const HASH_MAP: &str = "HashMap<Uuid, Arc<Entity>>";
const CSR: &str = "CSR + vector of records";
const CSR_IDS: &str = "CSR + vectors of ids";
const CSR_VALUES: &str = "CSR + vector of values";
const NO_WRITER: &str = "the same with no writer";
const ONE_VERSION: &str = "the same, one version";
const CURRENT: &str = "get of the current version";
const TREE: &str = "BTreeMap from value to ids";
const NARROW: &str = "the 10th";
const NARROW_PAGE: &str = "page of an entity with 100";
const NARROW_DEGREE: &str = "degree of an entity with 10";
const SAME_FILES: &str = "reading the same files";
const OTHER_ROWS: &str = "the median of such rows";
/// Limits that are Annals itself: they do not show the limit of the machine.
const OWN: &[&str] = &[NO_WRITER, ONE_VERSION, CURRENT, NARROW, NARROW_PAGE, NARROW_DEGREE];
const NO_GRANTS: &str = "the same reads of everything";
const THREADS: &str = "2 threads to 1 of the limit";
/// 1.85 of the best possible 2, as a share of what the limit reaches on this machine.
const DOUBLE: &[Mark] = &[RatioAtLeast(0.925)];
const P99: &[Mark] = &[RatioAtMost(3.0)];
const P999: &[Mark] = &[RatioAtMost(10.0)];

/// Every line, in the order of the issue. How bars are set: `docs/decisions/015-limits.md`.
#[rustfmt::skip]
pub const LINES: &[Line] = &[
    line("commit-1", "commits/s", HAND_OVER, &[RatioAtLeast(0.80)], &[RatioAtLeast(0.90)], Rate),
    line("commit-1-p99", "µs", HAND_OVER, P99, &[], Tail),
    line("commit-10", "commits/s", HAND_OVER, &[RatioAtLeast(0.55)], &[RatioAtLeast(0.85)], Rate),
    line("commit-10-p99", "µs", HAND_OVER, P99, &[], Tail),
    line("commit-100", "commits/s", HAND_OVER, &[RatioAtLeast(0.40)], &[RatioAtLeast(0.70)], Rate),
    line("commit-100-p99", "µs", HAND_OVER, P99, &[], Tail),
    line("commit-750", "commits/s", HAND_OVER, &[RatioAtLeast(0.40)], &[RatioAtLeast(0.70)], Rate),
    line("commit-750-p99", "µs", HAND_OVER, P99, &[], Tail),
    line("commit-3000", "commits/s", HAND_OVER, &[RatioAtLeast(0.35)], &[RatioAtLeast(0.70)], Rate),
    line("commit-3000-p99", "µs", HAND_OVER, P99, &[], Tail),
    line("commit-async", "commits/s", "256 KiB blocks, write + fdatasync", &[AtLeast(200_000.0)], &[AtLeast(400_000.0)], Rate),
    line("bulk", "elements/s", "writing the same bytes", &[AtLeast(400_000.0)], &[AtLeast(2_500_000.0)], Rate),
    line("get-1", "gets/s", HASH_MAP, &[RatioAtLeast(0.35)], &[RatioAtLeast(0.70)], Rate),
    line("get-1-same-work", "gets/s", HASH_MAP, &[], &[], Apart),
    line("get-1-memory", "look-ups/s", HASH_MAP, &[], &[], Rate),
    line("get-2", "gets/s", HASH_MAP, &[RatioAtLeast(0.35)], &[RatioAtLeast(0.70)], Rate),
    line("get-2-same-work", "gets/s", HASH_MAP, &[], &[], Apart),
    line("get-2-memory", "look-ups/s", HASH_MAP, &[], &[], Rate),
    line("get-2-to-1", "times", THREADS, DOUBLE, &[], Apart),
    line("hop2", "visits/s", CSR, &[RatioAtLeast(0.20)], &[RatioAtLeast(0.60)], Rate),
    line("hop2-same-work", "visits/s", CSR, &[], &[], Apart),
    line("hop2-frontier", "visits/s", CSR, &[RatioAtLeast(0.20)], &[RatioAtLeast(0.60)], Rate),
    line("hop2-frontier-same-work", "visits/s", CSR, &[], &[], Apart),
    line("hop-small-1", "visits/s", CSR_IDS, &[RatioAtLeast(0.15), AtLeast(60e6)], &[RatioAtLeast(0.50), AtLeast(100e6)], Rate),
    line("hop-small-1-same-work", "visits/s", CSR_IDS, &[], &[], Apart),
    line("hop-small-2", "visits/s", CSR_IDS, &[RatioAtLeast(0.15), AtLeast(60e6)], &[RatioAtLeast(0.50), AtLeast(200e6)], Rate),
    line("hop-small-2-same-work", "visits/s", CSR_IDS, &[], &[], Apart),
    line("hop-small-2-to-1", "times", THREADS, DOUBLE, &[], Apart),
    line("scan-random", "visits/s", CSR_VALUES, &[RatioAtLeast(0.10)], &[RatioAtLeast(0.35)], Rate),
    line("scan-power-law", "visits/s", CSR_VALUES, &[RatioAtLeast(0.10)], &[RatioAtLeast(0.35)], Rate),
    line("read-under-write-get", "gets/s", NO_WRITER, &[RatioAtLeast(0.85)], &[RatioAtLeast(0.95)], Rate),
    line("read-under-write-get-memory", "gets/s", NO_WRITER, &[], &[], Rate),
    line("read-under-write-get-raw", "gets/s", NO_WRITER, &[], &[], Apart),
    line("read-under-write-get-p99.9", "µs", NO_WRITER, P999, &[], Tail),
    line("read-under-write-hop2", "walks/s", NO_WRITER, &[RatioAtLeast(0.85)], &[RatioAtLeast(0.95)], Rate),
    line("read-under-write-hop2-same-work", "walks/s", NO_WRITER, &[], &[], Rate),
    line("read-under-write-hop2-raw", "walks/s", NO_WRITER, &[], &[], Apart),
    line("read-under-write-hop2-p99.9", "µs", NO_WRITER, P999, &[], Tail),
    line("read-under-write-find", "pages/s", NO_WRITER, &[], &[], Rate),
    line("read-under-write-find-same-work", "pages/s", NO_WRITER, &[], &[], Rate),
    line("read-under-write-find-raw", "pages/s", NO_WRITER, &[], &[], Apart),
    line("read-under-write-find-p99.9", "µs", NO_WRITER, P999, &[], Tail),
    line("history-tax-commit", "commits/s", ONE_VERSION, &[RatioAtLeast(0.85)], &[RatioAtLeast(0.97)], Rate),
    line("history-tax-get", "gets/s", ONE_VERSION, &[RatioAtLeast(0.85)], &[RatioAtLeast(0.97)], Rate),
    line("history-tax-get-same-work", "gets/s", ONE_VERSION, &[], &[], Rate),
    line("as-of-10", "µs", CURRENT, &[AtMost(20.0)], &[AtMost(3.0)], Cost),
    line("as-of-10-same-work", "µs", CURRENT, &[], &[], Cost),
    line("as-of-1000", "µs", CURRENT, &[AtMost(30.0)], &[AtMost(5.0)], Cost),
    line("as-of-1000-same-work", "µs", CURRENT, &[], &[], Cost),
    line("as-of-100000", "µs", CURRENT, &[AtMost(60.0)], &[AtMost(8.0)], Cost),
    line("as-of-100000-same-work", "µs", CURRENT, &[], &[], Cost),
    line("find-one", "pages/s", TREE, &[RatioAtLeast(0.40)], &[RatioAtLeast(0.70)], Rate),
    line("find-one-same-work", "pages/s", TREE, &[], &[], Apart),
    line("find-eq", "pages/s", TREE, &[RatioAtLeast(0.06)], &[RatioAtLeast(0.70)], Rate),
    line("find-eq-same-work", "pages/s", TREE, &[], &[], Apart),
    line("find-range", "pages/s", TREE, &[RatioAtLeast(0.25)], &[RatioAtLeast(0.70)], Rate),
    line("find-range-same-work", "pages/s", TREE, &[], &[], Apart),
    line("find-order", "pages/s", TREE, &[RatioAtLeast(0.20)], &[RatioAtLeast(0.70)], Rate),
    line("find-order-same-work", "pages/s", TREE, &[], &[], Apart),
    line("wide-add", "µs", NARROW, &[RatioAtMost(4.0)], &[RatioAtMost(1.2)], Cost),
    line("wide-page-start", "µs", NARROW_PAGE, &[AtMost(100.0)], &[AtMost(10.0)], Cost),
    line("wide-page-900000", "µs", NARROW_PAGE, &[AtMost(100.0)], &[AtMost(10.0)], Cost),
    line("wide-degree", "µs", NARROW_DEGREE, &[RatioAtMost(4.0)], &[RatioAtMost(1.2)], Cost),
    line("many-values-add", "µs", NARROW, &[RatioAtMost(4.0)], &[RatioAtMost(1.2)], Cost),
    line("many-values-add-same-work", "µs", NARROW, &[], &[], Cost),
    line("many-values-bytes", "bytes", NARROW, &[AtMost(400.0)], &[AtMost(100.0)], Cost),
    line("memory", "GiB", "packed vectors", &[AtMost(1.5)], &[AtMost(1.2)], Total),
    line("disk", "GiB", "plain CBOR sequence", &[RatioAtMost(1.3)], &[RatioAtMost(1.1)], Total),
    line("reopen-checkpoint", "s", SAME_FILES, &[AtMost(3.0)], &[AtMost(0.5)], Total),
    line("reopen-log", "elements/s", SAME_FILES, &[AtLeast(300_000.0)], &[AtLeast(1e6)], Rate),
    line("methods-write", "fdatasyncs", OTHER_ROWS, &[AtMost(3.0)], &[], Apart),
    line("methods-read", "µs", OTHER_ROWS, &[AtMost(5.0)], &[], Apart),
    line("methods-history", "µs", OTHER_ROWS, &[AtMost(20.0)], &[], Apart),
    line("methods-page", "µs", OTHER_ROWS, &[AtMost(200.0)], &[], Apart),
    line("methods-walk", "ns/element", OTHER_ROWS, &[AtMost(1_000.0)], &[], Apart),
    line("methods-linking", "µs", OTHER_ROWS, &[AtMost(5_000.0)], &[], Apart),
    line("methods-purge-hub", "µs", OTHER_ROWS, &[AtMost(50_000.0)], &[], Apart),
    line("granted-page", "pages/s", NO_GRANTS, &[RatioAtLeast(0.50)], &[], Rate),
    line("granted-walk", "entities/s", NO_GRANTS, &[RatioAtLeast(0.67)], &[], Rate),
    line("grants-load", "s", "one second", &[AtMost(1.0)], &[], Apart),
    line("granted-get", "requests/s", "the same server without credentials", &[RatioAtLeast(0.85)], &[], Apart),
    line("http-get", "requests/s", "nginx, the same bytes from a file", &[RatioAtLeast(0.50)], &[RatioAtLeast(0.80)], Apart),
    line("http-commit-64", "commits/s", "commit-T, T = 64", &[RatioAtLeast(0.40)], &[RatioAtLeast(0.60)], Apart),
    line("http-commit-512", "commits/s", "commit-T, T = 512", &[RatioAtLeast(0.40)], &[RatioAtLeast(0.60)], Apart),
    line("content-put", "binaries/s", "the client writes and syncs files of 1 MB itself", &[RatioAtLeast(0.70)], &[RatioAtLeast(0.90)], Apart),
    line("content-get", "binaries/s", "nginx without sendfile, the same bytes from a file", &[RatioAtLeast(0.70)], &[RatioAtLeast(0.90)], Apart),
];
