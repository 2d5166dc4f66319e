//! Long answers: lines, files, exports and events.

mod lines;
mod graph_files;
mod grouping;
mod exporting;
mod feed;
