//! Reads foreign files one thing at a time, says for every bad part where it is and why, and loads the rest in batches.
//!
//! Every reader is an iterator over `Result<Checked<T>>`: the outer error (disk, broken gzip) ends the reading, the
//! inner one refuses a single stanza, row or line, and reading goes on behind it.

// In the order a newcomer should read them.
mod source;
mod refused;
mod line_sums;
pub mod jsonl;
mod instance_line;
pub mod csv;
pub mod debian;
mod operation;
mod report;
mod mark;
mod declarations;
mod merge;
mod missing;
mod loader;
mod history;
mod graph_jsonl;
mod survey;
mod plan;
mod graph_csv;
mod graph_debian;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;

pub use declarations::Declarations;
pub use graph_csv::load_csv;
pub use graph_debian::load_debian;
pub use graph_jsonl::{JsonlOptions, load_jsonl};
pub use jsonl::LineBounds;
pub use loader::{BATCH_BYTES_MAX, LoadOptions, Loader};
pub use mark::Run;
pub use merge::Merge;
pub use missing::{DeleteMax, Missing};
pub use plan::{Candidate, Step, check_dates, plan};
pub use refused::{Checked, Refused};
pub use report::{Report, Summary};
pub use source::Source;
pub use survey::Survey;
