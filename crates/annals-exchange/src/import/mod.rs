//! Reads foreign files one item at a time, reports place and reason of every bad part, and loads the rest in batches.
//!
//! Every reader is an iterator over `Result<Checked<T>>`: the outer error (disk, broken gzip) ends the reading, the
//! inner one refuses a single stanza, row or line, and reading continues after it.

// In the order a newcomer should read them.
mod source;
mod refused;
mod line_sums;
mod json;
pub mod jsonl;
mod instance_line;
mod plain_object;
pub mod csv;
mod operation;
mod change_check;
mod unit;
mod report;
mod mark;
mod declarations;
mod merge;
mod missing;
mod returning;
mod batch;
mod loader;
mod exchanged;
mod history;
mod graph_jsonl;
mod declared;
mod graph_csv;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;

pub use change_check::ChangeCheck;
pub use declarations::Declarations;
pub use declared::parse as value_of_text;
pub use graph_csv::{CsvLoad, load_csv};
pub use graph_jsonl::{JsonlOptions, load_jsonl};
pub use jsonl::LineBounds;
pub use loader::{BATCH_BYTES_MAX, LoadOptions, Loader};
pub use mark::Run;
pub use merge::{Merge, MergeOptions, last_version};
pub use missing::{DeleteMax, Missing};
pub use operation::Operation;
pub use plain_object::PlainObjects;
pub use refused::{Checked, Refused, quote};
pub use report::{EXISTING, Report, Summary};
pub use source::{GZIP_MAGIC, Source, read_error};
pub use unit::Place;
