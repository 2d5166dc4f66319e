//! Long answers: lines, files, exports and events.

mod lines;
mod graph_files;
mod exporting;
mod feed;
