//! RDF for the LDP door: reads and writes the four formats, and evaluates SPARQL updates.
//!
//! It knows terms of `oxrdf` and bytes. It knows nothing of Annals and nothing of HTTP but the texts of two headers.

// In the order a newcomer should read them.
pub mod rdf_limits;
pub mod error;
pub mod format;
mod expansion;
mod text_scan;
mod json_scan;
mod xml_scan;
mod collector;
pub mod read;
mod json_ld_writer;
mod rdf_xml_writer;
pub mod write;
mod supported;
mod budget;
mod counted;
mod dataset;
pub mod update;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;
#[cfg(test)]
mod tests;

pub use error::{RdfError, RdfErrorKind};
pub use format::{RdfFormat, negotiate};
pub use rdf_limits::RdfLimits;
pub use read::{expanded_bytes, read};
pub use update::{Changes, Update};
pub use write::RdfWriter;
