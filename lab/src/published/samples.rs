//! The raw samples behind the first page: the elapsed time of every call, by run, profile and method.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

/// One run of the suite on one repository.
pub struct Run {
    /// As the tables label it.
    pub repository: &'static str,
    /// As the tables label it.
    pub volume: &'static str,
    pub calls: Vec<Calls>,
}

/// All calls of a method.
pub struct Calls {
    pub profile: String,
    pub method: String,
    /// Shape: ascending. Units: milliseconds, cut off to whole ones.
    pub sorted_ms: Vec<f64>,
}

/// A file: repository, volume, content.
type File = (&'static str, &'static str, &'static [u8]);

const XTDB: &str = "XTDB";
const JANUS: &str = "Janus";
const FILES: [File; 7] = [
    (XTDB, "0005-02", include_bytes!("../../published/pts-raw/p0005-02.csv.gz")),
    (XTDB, "0010-05", include_bytes!("../../published/pts-raw/p0010-05.csv.gz")),
    (XTDB, "0020-10", include_bytes!("../../published/pts-raw/p0020-10.csv.gz")),
    (XTDB, "0040-10", include_bytes!("../../published/pts-raw/p0040-10.csv.gz")),
    (JANUS, "0005-02", include_bytes!("../../published/pts-raw/g0005-02.csv.gz")),
    (JANUS, "0010-05", include_bytes!("../../published/pts-raw/g0010-05.csv.gz")),
    (JANUS, "0020-10", include_bytes!("../../published/pts-raw/g0020-10.csv.gz")),
];

/// All runs of which there are samples.
pub fn runs() -> &'static [Run] {
    static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| FILES.iter().map(read).collect());
    &RUNS
}

/// The run of a repository at a volume.
pub fn run(repository: &str, volume: &str) -> Option<&'static Run> {
    runs().iter().find(|run| run.repository == repository && run.volume == volume)
}

impl Run {
    /// The calls of a method, if the run has any.
    pub fn calls(&self, profile: &str, method: &str) -> Option<&Calls> {
        self.calls.iter().find(|calls| calls.profile == profile && calls.method == method)
    }
}

fn read(&(repository, volume, content): &File) -> Run {
    let mut text = String::new();
    GzDecoder::new(content).read_to_string(&mut text).expect("the samples are compressed text");
    Run { repository, volume, calls: text.lines().map(calls).collect() }
}

fn calls(line: &str) -> Calls {
    let mut parts = line.splitn(3, ',');
    let mut part = || parts.next().expect("a line of samples has three parts");
    let (profile, method) = (part().to_owned(), part().to_owned());
    let ms = part().split(' ').map(|text| text.parse().expect("a sample is a number"));
    let mut sorted_ms: Vec<f64> = ms.collect();
    sorted_ms.sort_by(f64::total_cmp);
    Calls { profile, method, sorted_ms }
}
